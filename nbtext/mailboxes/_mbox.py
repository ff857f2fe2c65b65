"""
An mbox: all messages in one file, which is read unlocked and written under locks.

Reading a large mbox takes minutes, and delivery must not wait for it. So what is to be
done is decided from the bytes that were there at one moment, and done later, under the
locks, to those messages that are still there; a message is known by its digest.
"""

import os
from _blake2 import blake2b
from collections import Counter as Tally
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Final, NamedTuple

from nbtext.errors import MailboxError
from nbtext.mailboxes import _disk
from nbtext.mailboxes._content import LONGEST_HEADER
from nbtext.mailboxes._fields import header_of, marked
from nbtext.mailboxes._locks import locked, shared
from nbtext.mailboxes._message import Marks
from nbtext.mailboxes._rewriting import (
    Piece,
    blank_line_after,
    clean_up,
    look_after,
    put_in_place,
    write_aside,
)
from nbtext.mailboxes._spans import Span, spans
from nbtext.sources import cannot_read

_UNMARKED: Final = Marks()


class Mbox:
    """
    An mbox.

    Attributes:
        path: where it is, as the user has it.
        place: the same without symbolic links.
    """

    kind = "mbox"

    def __init__(self, path: str) -> None:
        self.path = path
        self.place = os.path.realpath(path)

    def ensure(self) -> None:
        """
        Make it, empty, if it is missing; for its owner alone.

        Raises:
            OSError: it cannot be made.

        """
        with suppress(FileExistsError):
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
            os.close(os.open(self.place, flags, 0o600))
            _disk.make_durable(os.path.dirname(self.place))

    @contextmanager
    def opened(self, wait: float) -> Iterator["Snapshot"]:
        """
        Open it as it is at a moment when nobody writes to it.

        Raises:
            BusyError: somebody has been writing to it all the time.
            SourceError: it cannot be read.

        """
        try:
            descriptor = os.open(self.place, os.O_RDONLY | os.O_NONBLOCK)
        except OSError as error:
            raise cannot_read(self.path, error) from error
        try:
            with shared(self.path, descriptor, wait):
                status = os.fstat(descriptor)
            yield Snapshot(descriptor, status.st_size, self.key_of(status))
        except OSError as error:
            raise cannot_read(self.path, error) from error
        finally:
            os.close(descriptor)

    def clean_up(self, wait: float) -> None:
        """
        See to what a crash, or a waiting program, has left beside it.

        Raises:
            BusyError: it is locked.
            MailboxError: it cannot be written.

        """
        clean_up(self.place, wait)

    def key_of(self, status: os.stat_result) -> bytes:
        """Return 16 bytes that it no longer has when anybody has written to it."""
        named = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
        text = f"{named}\0".encode() + os.fsencode(self.place)
        return blake2b(text, digest_size=16, person=b"nbtext mbox").digest()


class Snapshot(NamedTuple):
    """
    An mbox as it was at a moment.

    Attributes:
        descriptor: the open file.
        size: how large it was, in bytes; what came later is not looked at.
        key: 16 bytes that it no longer has when anybody has written to it.
    """

    descriptor: int
    size: int
    key: bytes

    def spans(self, max_bytes: int) -> Iterator[Span]:
        """Yield its messages, each with so many bytes to classify."""
        for span in spans(self.descriptor, self.size, max_bytes):
            if not span.is_internal:
                yield span


class Plan(NamedTuple):
    """
    What is to be done to the messages of an mbox.

    Attributes:
        moves: digest to where a message goes.
        marks: digest to what it is marked with.
        left: where in a target a run that crashed has begun to add; None if none did.
        begin: remembers, durably, where in each target this run is about to add.
    """

    moves: Mapping[bytes, Mbox]
    marks: Mapping[bytes, Marks]
    left: Callable[[Mbox], int | None]
    begin: Callable[[Mapping[str, int]], None]


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
        if old is not None:
            look_after(place, old, wait)
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
    going: dict[str, list[Span]] = {place: [] for place in targets}
    staying: list[Span] = []
    for span in found:
        target = plan.moves.get(span.content.digest)
        if target is None or span.is_internal:
            staying.append(span)
        else:
            going[target.place].append(span)
    marks = {span.content.digest for span in staying} & plan.marks.keys()
    contents: dict[str, Iterable[Piece]] = {}
    starts = {}
    for place, target in targets.items():
        left = plan.left(target)
        starts[place] = os.fstat(opened[place]).st_size if left is None else left
        added = _without_those_there(opened[place], going[place], left)
        if added:
            contents[place] = _added(opened[place], ours, added, plan.marks)
    if any(going.values()) or marks:
        contents[source.place] = _kept(ours, found, staying, plan.marks)
    status = os.fstat(ours)
    with _written_aside(contents, opened) as asides:
        if asides:
            status = os.stat(asides[source.place])
            plan.begin(starts)
        for place in list(asides):  # the source is the last
            olds.append((place, put_in_place(place, opened[place], asides[place])))
            del asides[place]
    return Carried(
        Tally(span.content.digest for spans_ in going.values() for span in spans_),
        Tally(one.content.digest for one in staying if one.content.digest in marks),
        frozenset(span.content.digest for span in staying),
        source.key_of(status),
    )


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
    """Yield the bytes of a target with more messages."""
    size = os.fstat(its).st_size
    yield its, 0, size
    yield blank_line_after(its, size)
    for span in added:
        yield from _span_pieces(ours, span, marks)
        yield blank_line_after(ours, span.end)


def _kept(
    ours: int, found: list[Span], staying: list[Span], marks: Mapping[bytes, Marks]
) -> Iterator[Piece]:
    """Yield the bytes of a source with fewer messages."""
    yield ours, 0, found[0].start
    for span in staying:
        yield from _span_pieces(ours, span, marks)


def _span_pieces(
    ours: int, span: Span, marks: Mapping[bytes, Marks]
) -> Iterator[Piece]:
    new = marks.get(span.content.digest, _UNMARKED)
    if new == _UNMARKED:
        yield ours, span.start, span.end
        return
    size = min(LONGEST_HEADER, span.end - span.text)
    header = header_of(os.pread(ours, size, span.text))
    if header is None:  # so long a header is left alone
        yield ours, span.start, span.end
        return
    yield ours, span.start, span.text
    yield marked(header, new)
    yield ours, span.text + len(header), span.end
