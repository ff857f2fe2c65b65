"""
What `nbtext bogofilter -p` does: pass on what comes, with our field in it.

Nothing that can go wrong costs a message, be it the command line: it is then printed as
it came, and the exit status says so. Of a message, or of an mbox, about MOST_HELD bytes
are held; an mbox that is longer is passed on in batches of its messages.
"""

import os
import sys
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from nbtext.cli import _status as status
from nbtext.cli._pass import MAX_BYTES, read_if_printed_to, say_why
from nbtext.cli._terminal import bytes_to_stdout
from nbtext.cli.bogofilter._bogosity import Bogosity, header_value
from nbtext.cli.bogofilter._judge import Judge
from nbtext.cli.bogofilter._options import Parsed
from nbtext.cli.bogofilter._request import Request, request_of
from nbtext.document import Document, raise_unreadable
from nbtext.errors import SourceError, TrainingError
from nbtext.filtering import AddedField
from nbtext.filtering.header_field import pieces_with_added
from nbtext.plain_mail import MOST_HELD, Held
from nbtext.scoring import batches
from nbtext.sources.mbox import pieces, unquoted


class _Batch(NamedTuple):
    """
    What is decided about at once.

    Attributes:
        messages: the messages, as they came.
        goes_on: whether there is more of the last one.
    """

    messages: list[bytes]
    goes_on: bool = False


def pass_on(parsed: Parsed, message: Held | None = None) -> int:
    """
    Pass the input through, and return the exit status.

    Raises:
        SourceError: there is none.
    """
    path = parsed.last("input-file")
    if message is not None:
        return _pass_on(parsed, message)
    if path is not None:
        with open(path, "rb") as file:  # noqa: PTH123  pathlib costs 3 ms
            return _pass_on(parsed, Held(file))
    if sys.stdin is None:
        raise SourceError("-: standard input is closed; pipe a message in")
    return _pass_on(parsed, Held(sys.stdin.buffer))


def _pass_on(parsed: Parsed, message: Held) -> int:
    output = parsed.last("output-file")
    if output is None:
        read_if_printed_to(message)
    elif os.path.exists(output):  # noqa: PTH110  as above
        message.read_if_written_to(os.stat(output))  # noqa: PTH116  as above
    passing = Passing(message)
    try:
        request = request_of(parsed)
    except Exception as error:  # whatever it is, the message must go on
        say_why(error)
    else:
        _write(passing.pieces(request), output)
        return passing.code
    _write(message.whole(), output)
    return status.BOGOFILTER_FAILED


def _write(pieces: Iterable[bytes | memoryview], path: str | None) -> None:
    if path is None:
        for piece in pieces:
            bytes_to_stdout(piece)
        return
    with open(path, "wb") as file:  # noqa: PTH123  pathlib costs 3 ms
        for piece in pieces:
            file.write(piece)


class Passing:
    """
    An input that is passed on with our field in each message.

    Attributes:
        code: the exit status, once all of it was passed on.
    """

    def __init__(self, held: Held, most: int = MOST_HELD) -> None:
        """Take the input, and about how many bytes of an mbox are held."""
        self._held = held
        self._most = most
        self.code = status.DONE

    def pieces(self, request: Request) -> Iterator[bytes | memoryview]:
        """
        Yield the input with our fields; from where something fails on, as it came.

        Raises:
            OSError: it cannot be read.
        """
        judge = Judge(request)
        has_failed = False
        for some in self._batches(is_mbox=request.is_mbox):
            if isinstance(some, bytes):
                yield some
                continue
            marked: list[bytes | memoryview] = [*some.messages]
            if not has_failed:
                try:
                    found = _decided(some, request, judge)
                    self.code = judge.status_of(found[-1])
                    marked = _marked(some, found, request)
                except Exception as error:  # whatever it is, the message must go on
                    say_why(error)
                    has_failed = True
            yield from marked
        if has_failed:
            self.code = status.BOGOFILTER_FAILED

    def _batches(self, *, is_mbox: bool) -> Iterator[_Batch | bytes]:
        """Yield what is decided about, and the rest of messages that are too long."""
        held = self._held
        if not is_mbox:
            yield _Batch([held.head], goes_on=bool(held.more))
            yield from held.rest()
            return
        messages: list[bytes] = []
        size = 0
        for piece in pieces(held.head, held.whole(), self._most):
            if not piece.is_first:
                yield piece.text
                continue
            messages.append(piece.text)
            size += len(piece.text)
            if not piece.is_last or size > self._most:
                yield _Batch(messages, goes_on=not piece.is_last)
                messages, size = [], 0
        if messages:
            yield _Batch(messages)


def _decided(batch: _Batch, request: Request, judge: Judge) -> list[Bogosity]:
    """
    Decide about messages, and learn them if that is wanted.

    Raises:
        NbtextError: something failed.
    """
    documents = [_document(one, request) for one in batch.messages]
    if batch.goes_on:
        documents[-1] = documents[-1]._replace(truncated=True)
    if request.action:
        from nbtext.cli.bogofilter._learn import register

        if not register(documents, request, raise_unreadable):
            raise TrainingError("the message could not be registered")
    found: list[Bogosity] = []
    for some in batches(documents, MAX_BYTES, raise_unreadable):
        decided = judge.decide(some)
        judge.update(some, decided)
        found += decided
    return found


def _marked(
    batch: _Batch, found: list[Bogosity], request: Request
) -> list[bytes | memoryview]:
    """Return messages with our field, in pieces."""
    last = len(found) - 1
    return [
        piece
        for number, (message, one) in enumerate(zip(batch.messages, found, strict=True))
        for piece in pieces_with_added(
            message, _mark(one, request), goes_on=batch.goes_on and number == last
        )
    ]


def _document(piece: bytes, request: Request) -> Document:
    text = unquoted(piece) if request.is_mbox else piece
    return Document("-", (text[:MAX_BYTES],), truncated=len(text) > MAX_BYTES)


def _mark(one: Bogosity, request: Request) -> AddedField:
    tag = request.tags.get(one.verdict, "")
    return AddedField(request.field, header_value(one), tag)
