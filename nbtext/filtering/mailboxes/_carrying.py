"""
Messages of an mbox moved and marked, under the locks of all files that change.

What is done was decided before, when nothing was locked; it is done to those messages
that are still there, which digests identify. Each file is written anew and replaced,
the targets first: a crash leaves a message in both, and every file whole. Parameters
`source`, `target` and `mbox` that are integers are descriptors of open files.
"""

import os
from collections import Counter as Tally
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import NamedTuple

from nbtext.errors import BusyError, MailboxError
from nbtext.files.reading_at import read_at
from nbtext.filtering.mailboxes._content import LONGEST_HEADER
from nbtext.filtering.mailboxes._fields import (
    base_of,
    based,
    header_of,
    keywords_in,
    marked,
    naming,
    unplaced,
)
from nbtext.filtering.mailboxes._late import look_after
from nbtext.filtering.mailboxes._locks import locked
from nbtext.filtering.mailboxes._mbox import Mbox
from nbtext.filtering.mailboxes._message import UNMARKED, Marks
from nbtext.filtering.mailboxes._rewriting import (
    OldFiles,
    Piece,
    blank_line_after,
    put_in_place,
    write_aside,
)
from nbtext.filtering.mailboxes._spans import Span, spans


class Plan(NamedTuple):
    """
    What is to be done to the messages of an mbox.

    Attributes:
        moves: digest of a message to its target.
        marks: digest of a message to the marks that it gets.
        left: returns the size of a target before a run that crashed added messages to
            it; None if no run did.
        begin: remembers, durably, the size of each target before messages are added.
        old_files: remembers, durably, which files were replaced.
    """

    moves: Mapping[bytes, Mbox]
    marks: Mapping[bytes, Marks]
    left: Callable[[Mbox], int | None]
    begin: Callable[[Mapping[str, int]], None]
    old_files: OldFiles


class Carried(NamedTuple):
    """
    What was done.

    Attributes:
        moved: number of messages moved, by digest.
        marked: number of messages marked, by digest.
        digests: the digests of the messages that stay.
        key: the key of the mbox as it is now.
    """

    moved: Tally[bytes]
    marked: Tally[bytes]
    digests: frozenset[bytes]
    key: bytes


def carry_out(source: Mbox, plan: Plan, wait: float) -> Carried:
    """
    Move and mark messages of an mbox that are still there.

    A message is in the target, durably, before it leaves the source, and at every
    moment each of the files is whole.

    Raises:
        BusyError: others have had one of the files locked all the time.
        MailboxError: a file cannot be written; it is as it was.
    """
    targets = {target.place: target for target in plan.moves.values()}
    olds: list[tuple[str, str | None]] = []
    try:
        for target in targets.values():
            target.ensure()
        with locked([source.place, *targets], wait) as opened:
            carried = _carried_out(source, plan, targets, opened, olds)
    except OSError as error:
        message = f"{source.path}: cannot be rewritten: {error.strerror}"
        where = f" ({error.filename})" if error.filename else ""
        raise MailboxError(f"{message}{where}; no message is lost") from error
    for place, old in olds:
        # all is done; if this fails, the next run tries it again and reports errors
        with suppress(BusyError, MailboxError):
            if old is not None:
                look_after(place, old, wait, plan.old_files)
    return carried


def _carried_out(
    source: Mbox,
    plan: Plan,
    targets: Mapping[str, Mbox],
    opened: Mapping[str, int],
    olds: list[tuple[str, str | None]],
) -> Carried:
    descriptor = opened[source.place]
    found = list(spans(descriptor, os.fstat(descriptor).st_size, 0))
    going, staying = _parted(found, plan, targets)
    contents: dict[str, Iterable[Piece]] = {}
    starts = {}
    for place, target in targets.items():
        left = plan.left(target)
        starts[place] = os.fstat(opened[place]).st_size if left is None else left
        added = _missing_in(opened[place], going[place], left)
        if added:
            contents[place] = _added(opened[place], descriptor, added, plan.marks)
    digests = [span.content.digest for span in staying]
    flagged = [digest for digest in digests if digest in plan.marks]
    if any(going.values()) or flagged:
        contents[source.place] = _kept(descriptor, found, staying, plan.marks)
    status = os.fstat(descriptor)
    with _written_aside(contents, opened) as asides:
        if asides:
            status = os.stat(asides[source.place])
            plan.begin(starts)
        for place in list(asides):  # the source is the last
            aside, old_files = asides[place], plan.old_files
            olds.append((place, put_in_place(place, opened[place], aside, old_files)))
            del asides[place]
    return Carried(
        Tally(span.content.digest for those in going.values() for span in those),
        Tally(flagged),
        frozenset(digests),
        source.key_of(status),
    )


def _parted(
    found: list[Span], plan: Plan, targets: Iterable[str]
) -> tuple[dict[str, list[Span]], list[Span]]:
    """Return the messages that go to each target, and those that stay."""
    going: dict[str, list[Span]] = {place: [] for place in targets}
    staying: list[Span] = []
    for span in found:
        target = plan.moves.get(span.content.digest)
        if target is None or span.is_internal:
            staying.append(span)
        else:
            going[target.place].append(span)
    return going, staying


@contextmanager
def _written_aside(
    contents: Mapping[str, Iterable[Piece]], opened: Mapping[str, int]
) -> Iterator[dict[str, str]]:
    """Write new contents beside files; those that are not in place at the end go."""
    asides: dict[str, str] = {}
    try:
        for place, pieces in contents.items():
            asides[place] = write_aside(place, opened[place], pieces)
        yield asides
    finally:
        for aside in asides.values():
            with suppress(OSError):
                os.unlink(aside)


def _missing_in(target: int, going: list[Span], left: int | None) -> list[Span]:
    """Return the messages to add to a target that a crashed run has not added."""
    if left is None:
        return going
    size = os.fstat(target).st_size
    there = Tally(span.content.digest for span in spans(target, size, 0, start=left))
    added = []
    for span in going:
        if there[span.content.digest]:
            there[span.content.digest] -= 1
        else:
            added.append(span)
    return added


def _added(
    target: int, source: int, added: list[Span], marks: Mapping[bytes, Marks]
) -> Iterator[Piece]:
    """Yield the bytes of a target to which messages are added, and their keywords."""
    size = os.fstat(target).st_size
    first = next(spans(target, size, 0), None)
    named = dict.fromkeys(
        name for span in added for name in _keywords_of(source, span, marks)
    )
    if first is not None:
        yield target, 0, first.start
        yield from _span_pieces(target, first._replace(end=size), {}, named)
    else:
        yield target, 0, size
    yield blank_line_after(target, size)
    for span in added:
        yield from _moved_pieces(source, span, marks)
        yield blank_line_after(source, span.end)


def _moved_pieces(
    source: int, span: Span, marks: Mapping[bytes, Marks]
) -> Iterator[Piece]:
    """Yield the bytes of a message for another mbox, with its marks."""
    header = header_of(_start_of(source, span))
    if header is None:  # too long to change
        yield source, span.start, span.end
        return
    yield source, span.start, span.text
    yield marked(unplaced(header), marks.get(span.content.digest, UNMARKED))
    yield source, span.text + len(header), span.end


def _keywords_of(
    source: int, span: Span, marks: Mapping[bytes, Marks]
) -> Iterator[str]:
    """Yield the keywords that a message has, and those that it gets."""
    header = header_of(_start_of(source, span))
    yield from () if header is None else keywords_in(header)
    yield from marks.get(span.content.digest, UNMARKED).keywords


def _start_of(mbox: int, span: Span) -> bytes:
    return read_at(mbox, min(LONGEST_HEADER, span.end - span.text), span.text)


def _kept(
    source: int, found: list[Span], staying: list[Span], marks: Mapping[bytes, Marks]
) -> Iterator[Piece]:
    """Yield the bytes of the source without the messages that are moved."""
    added = [marks.get(span.content.digest, UNMARKED) for span in staying]
    keywords = dict.fromkeys(name for mark in added for name in mark.keywords)
    yield source, 0, found[0].start
    base = b""
    if staying and staying[0] is not found[0]:
        base = base_of(header_of(_start_of(source, found[0])) or b"")
    for span in staying[:1]:
        yield from _span_pieces(source, span, marks, keywords, base)
    for span in staying[1:]:
        yield from _span_pieces(source, span, marks)


def _span_pieces(
    mbox: int,
    span: Span,
    marks: Mapping[bytes, Marks],
    keywords: Iterable[str] = (),
    base: bytes = b"",
) -> Iterator[Piece]:
    """Yield the bytes of a message with its marks, and what the first one has."""
    new = marks.get(span.content.digest, UNMARKED)
    is_changed = new != UNMARKED or keywords or base
    header = header_of(_start_of(mbox, span)) if is_changed else None
    if header is None:  # too long to change
        yield mbox, span.start, span.end
        return
    yield mbox, span.start, span.text
    yield naming(based(marked(header, new), base), keywords)
    yield mbox, span.text + len(header), span.end
