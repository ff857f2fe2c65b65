"""
What `nbtext pass` does, apart from reading its command line.

Neither click nor numpy is imported here: mail is delivered through this program.
Nothing that can go wrong costs a message: it is then printed as it came, and the exit
status says so.
"""

import os
import sys
from collections.abc import Iterable
from itertools import chain
from typing import TYPE_CHECKING, Final, NamedTuple

from nbtext.cli import _status as status
from nbtext.cli._keyed import check_keyed
from nbtext.cli._terminal import Output, bytes_to_stdout, name_notes, to_stderr
from nbtext.document import Document
from nbtext.errors import NbtextError, NoMemoryError, UnknownClassError
from nbtext.filtering import added_by
from nbtext.filtering.header_field import FIELD, pieces_with_added
from nbtext.plain_mail import MOST_HELD, Held
from nbtext.scoring import Classifier, load_model

if TYPE_CHECKING:
    from nbtext.policy import PolicyOverrides
    from nbtext.scoring.explanation import Reason

MAX_BYTES: Final = 16 << 20


class PassRequest(NamedTuple):
    """
    What is asked of `nbtext pass`; the options are those of the command.

    Attributes:
        tags: class to what is put before the subject of its messages.
        message: what is held of the message, if that was read already.
    """

    model: str
    field: str = FIELD
    tags: tuple[tuple[str, str], ...] = ()
    policy: "PolicyOverrides | None" = None
    why: int = 0
    max_bytes: int = MAX_BYTES
    output: Output = Output()
    message: Held | None = None
    keyed: str | None = None


def run(request: PassRequest) -> int:
    """Pass the message on standard input through, and return the exit status."""
    if sys.stdin is None:
        to_stderr("Error: standard input is closed; pipe a message in")
        return status.TRY_AGAIN
    message = request.message
    if message is None:
        message = Held(sys.stdin.buffer, max(MOST_HELD, request.max_bytes))
    read_if_printed_to(message)
    try:
        passed = _marked(message, request)
    except Exception as error:  # whatever it is, the message must go on
        say_why(error)
    else:
        _print(chain(passed, message.rest()))
        return status.DONE
    _print(message.whole())
    return status.TRY_AGAIN


def read_if_printed_to(message: Held) -> None:
    """Read all of a message if standard output is the file that it is in."""
    if not message.more or sys.stdout is None:
        return
    try:
        found = os.fstat(sys.stdout.fileno())
    except OSError:  # it is no file of the system
        return
    message.read_if_written_to(found)


def _print(pieces: Iterable[bytes | memoryview]) -> None:
    for piece in pieces:
        bytes_to_stdout(piece)


def say_why(error: Exception) -> None:
    """Say why a message is passed on as it came."""
    if isinstance(error, MemoryError):
        error = NoMemoryError("-")
    if isinstance(error, NbtextError):
        to_stderr(f"Error: {error}; the message is passed on as it came")
    else:
        fault = f"{type(error).__name__}: {error}"
        to_stderr(f"Error: a fault in nbtext ({fault}); the message is as it came")


def pass_unchanged() -> int:
    """Print the message on standard input as it is; return the status of failure."""
    if sys.stdin is not None:
        message = Held(sys.stdin.buffer)
        read_if_printed_to(message)
        _print(message.whole())
    return status.TRY_AGAIN


def _marked(message: Held, request: PassRequest) -> list[bytes | memoryview]:
    """Return what is held of the message, with its field, in pieces."""
    model = load_model(request.model)
    check_keyed(request.keyed, model)
    if request.output.verbose:
        to_stderr(f"model: {request.model}")
    name_notes(model, quiet=request.output.quiet)
    read = message.head[: request.max_bytes]
    is_cut = len(read) < len(message.head) or bool(message.more)
    document = Document("-", (read,), truncated=is_cut)
    for label, _ in request.tags:
        if label not in model.classes:
            error = UnknownClassError("--subject-tag", label, model.classes)
            to_stderr(f"WARNING: {error}")
    policy = None if request.policy is None else request.policy.chosen(model.policy)
    classifier = Classifier(model, policy=policy)
    (decision,) = classifier.classify([document])
    tag = dict(request.tags).get(decision.label or "", "")
    reasons: tuple[Reason, ...] = ()
    if request.why:
        reasons = classifier.explain(document).reasons[: request.why]
    added = added_by(decision, request.field, tag, reasons)
    return pieces_with_added(message.head, added, goes_on=bool(message.more))
