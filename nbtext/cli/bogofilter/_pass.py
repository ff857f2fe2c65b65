"""
What `nbtext bogofilter -p` does: pass on what comes, with our field in it.

Nothing that can go wrong costs a message, be it the command line: it is then printed as
it came, and the exit status says so. An mbox is held in memory as a single message is.
"""

import sys

from nbtext.cli import _status as status
from nbtext.cli._pass import MAX_BYTES, say_why
from nbtext.cli._terminal import bytes_to_stdout
from nbtext.cli.bogofilter._bogosity import Bogosity, header_value
from nbtext.cli.bogofilter._judge import Judge
from nbtext.cli.bogofilter._options import Parsed
from nbtext.cli.bogofilter._request import Request, request_of
from nbtext.document import Document, raise_unreadable
from nbtext.errors import SourceError, TrainingError
from nbtext.filtering import AddedField, with_added
from nbtext.plain_mail import read_to_end
from nbtext.scoring import batches
from nbtext.sources.mbox import pieces, unquoted


def pass_on(parsed: Parsed, message: bytes | None = None) -> int:
    """
    Pass the input through, and return the exit status.

    Args:
        parsed: the command line.
        message: the input, if it was read already.

    Raises:
        SourceError: there is none.

    """
    if message is None:
        message = _message(parsed.last("input-file"))
    output = parsed.last("output-file")
    try:
        result, code = passed(message, request_of(parsed))
    except Exception as error:  # whatever it is, the message must go on
        say_why(error)
    else:
        _write(result, output)
        return code
    _write(message, output)
    return status.BOGOFILTER_FAILED


def _message(path: str | None) -> bytes:
    """
    Read all of the input.

    Raises:
        SourceError: there is none.

    """
    if path is not None:
        with open(path, "rb") as file:  # noqa: PTH123  pathlib costs 3 ms
            return file.read()
    if sys.stdin is None:
        raise SourceError("-: standard input is closed; pipe a message in")
    return read_to_end(sys.stdin.buffer)


def _write(data: bytes, path: str | None) -> None:
    if path is None:
        bytes_to_stdout(data)
        return
    with open(path, "wb") as file:  # noqa: PTH123  pathlib costs 3 ms
        file.write(data)


def passed(message: bytes, request: Request) -> tuple[bytes, int]:
    """
    Return the input with our field in each message, and the exit status.

    Raises:
        NbtextError: something failed.

    """
    messages = pieces(message) if request.is_mbox else [message]
    documents = [_document(one, request) for one in messages]
    if request.action:
        from nbtext.cli.bogofilter._learn import register

        if not register(documents, request, raise_unreadable):
            raise TrainingError("the message could not be registered")
    judge = Judge(request)
    found: list[Bogosity] = []
    for batch in batches(documents, MAX_BYTES, raise_unreadable):
        decided = judge.decide(batch)
        judge.update(batch, decided)
        found += decided
    passed_on = [
        with_added(piece, _mark(one, request))
        for piece, one in zip(messages, found, strict=True)
    ]
    return b"".join(passed_on), judge.status_of(found[-1])


def _document(piece: bytes, request: Request) -> Document:
    text = unquoted(piece) if request.is_mbox else piece
    return Document("-", (text[:MAX_BYTES],), truncated=len(text) > MAX_BYTES)


def _mark(one: Bogosity, request: Request) -> AddedField:
    tag = request.tags.get(one.verdict, "")
    return AddedField(request.field, header_value(one), tag)
