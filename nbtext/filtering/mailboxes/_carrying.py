"""
Messages of an mbox moved and marked, under the locks of all files that change.

What is to be done was decided before, when nothing was locked; it is done to those
messages that are still there, known by their digests. Each file is written anew and
replaced, the targets first: a crash leaves a message in both, and every file whole.
"""

import os
from collections import Counter as Tally
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Final, NamedTuple

from nbtext.errors import BusyError, MailboxError
from nbtext.filtering.mailboxes._content import LONGEST_HEADER
from nbtext.filtering.mailboxes._fields import (
    header_of,
    keywords_in,
    marked,
    naming,
    unplaced,
)
from nbtext.filtering.mailboxes._late import look_after
from nbtext.filtering.mailboxes._locks import locked
from nbtext.filtering.mailboxes._mbox import Mbox
from nbtext.filtering.mailboxes._message import Marks
from nbtext.filtering.mailboxes._rewriting import (
    OldFiles,
    Piece,
    blank_line_after,
    put_in_place,
    write_aside,
)
from nbtext.filtering.mailboxes._spans import Span, spans

_UNMARKED: Final = Marks()


class Plan(NamedTuple):
    """
    What is to be done to the messages of an mbox.

    Attributes:
        moves: digest to where a message goes.
        marks: digest to what it is marked with.
        left: where in a target a run that crashed has begun to add; None if none did.
        begin: remembers, durably, where in each target this run is about to add.
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
        moved: how often a message of each digest was moved.
        marked: how often one was marked.
        digests: the messages that there are now.
        key: that of the mbox as it is now.
    """

    moved: Tally[bytes]
    marked: Tally[bytes]
    digests: frozenset[bytes]
    key: bytes


def carry_out(source: Mbox, plan: Plan, wait: float) -> Carried:
    """
    Move and mark messages of an mbox, those that are still there.

    A message that is moved is in the target, durably, before it leaves the source, and
    at every moment each of the files is whole.

    Args:
        source: the mbox.
        plan: what is to be done.
        wait: how many seconds to wait for locks.

    Raises:
        BusyError: others have had one of the files locked all the time.
        MailboxError: one cannot be written; it is as it was.

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
        # all is done; if this fails, the next run sees to it, and says what is wrong
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
    ours = opened[source.place]
    found = list(spans(ours, os.fstat(ours).st_size, 0))
    going, staying = _parted(found, plan, targets)
    contents: dict[str, Iterable[Piece]] = {}
    starts = {}
    for place, target in targets.items():
        left = plan.left(target)
        starts[place] = os.fstat(opened[place]).st_size if left is None else left
        added = _without_those_there(opened[place], going[place], left)
        if added:
            contents[place] = _added(opened[place], ours, added, plan.marks)
    digests = [span.content.digest for span in staying]
    flagged = [digest for digest in digests if digest in plan.marks]
    if any(going.values()) or flagged:
        contents[source.place] = _kept(ours, found, staying, plan.marks)
    status = os.fstat(ours)
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
    """Return which messages go to each target, and which stay."""
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
    """Write what is to take files' places; at the end those asides go that are left."""
    asides: dict[str, str] = {}
    try:
        for place, pieces in contents.items():
            asides[place] = write_aside(place, opened[place], pieces)
        yield asides
    finally:
        for aside in asides.values():
            with suppress(OSError):
                os.unlink(aside)


def _without_those_there(its: int, going: list[Span], left: int | None) -> list[Span]:
    """Return what is to be added to a target, without what a crash found added."""
    if left is None:
        return going
    size = os.fstat(its).st_size
    there = Tally(span.content.digest for span in spans(its, size, 0, start=left))
    added = []
    for span in going:
        if there[span.content.digest]:
            there[span.content.digest] -= 1
        else:
            added.append(span)
    return added


def _added(
    its: int, ours: int, added: list[Span], marks: Mapping[bytes, Marks]
) -> Iterator[Piece]:
    """Yield the bytes of a target with more messages, whose keywords it names."""
    size = os.fstat(its).st_size
    first = next(spans(its, size, 0), None)
    named = dict.fromkeys(
        name for span in added for name in _keywords_of(ours, span, marks)
    )
    if first is not None:
        yield its, 0, first.start
        yield from _span_pieces(its, first._replace(end=size), {}, named)
    else:
        yield its, 0, size
    yield blank_line_after(its, size)
    for span in added:
        yield from _moved_pieces(ours, span, marks)
        yield blank_line_after(ours, span.end)


def _moved_pieces(
    ours: int, span: Span, marks: Mapping[bytes, Marks]
) -> Iterator[Piece]:
    """Yield the bytes of a message that comes to another mbox, marked."""
    header = header_of(_start_of(ours, span))
    if header is None:  # so long a header is left alone
        yield ours, span.start, span.end
        return
    yield ours, span.start, span.text
    yield marked(unplaced(header), marks.get(span.content.digest, _UNMARKED))
    yield ours, span.text + len(header), span.end


def _keywords_of(ours: int, span: Span, marks: Mapping[bytes, Marks]) -> Iterator[str]:
    """Yield the names that a message is marked with, and is to be."""
    header = header_of(_start_of(ours, span))
    yield from () if header is None else keywords_in(header)
    yield from marks.get(span.content.digest, _UNMARKED).keywords


def _start_of(ours: int, span: Span) -> bytes:
    return os.pread(ours, min(LONGEST_HEADER, span.end - span.text), span.text)


def _kept(
    ours: int, found: list[Span], staying: list[Span], marks: Mapping[bytes, Marks]
) -> Iterator[Piece]:
    """Yield the bytes of a source with fewer messages."""
    new = [marks.get(span.content.digest, _UNMARKED) for span in staying]
    keywords = dict.fromkeys(name for one in new for name in one.keywords)
    yield ours, 0, found[0].start
    for span in staying:
        yield from _span_pieces(ours, span, marks, () if span.start else keywords)


def _span_pieces(
    ours: int,
    span: Span,
    marks: Mapping[bytes, Marks],
    keywords: Iterable[str] = (),
) -> Iterator[Piece]:
    """Yield the bytes of a message, marked; the first one names all keywords."""
    new = marks.get(span.content.digest, _UNMARKED)
    is_changed = new != _UNMARKED or keywords
    header = header_of(_start_of(ours, span)) if is_changed else None
    if header is None:  # so long a header is left alone
        yield ours, span.start, span.end
        return
    yield ours, span.start, span.text
    yield naming(marked(header, new), keywords)
    yield ours, span.text + len(header), span.end
