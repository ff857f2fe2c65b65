"""
A worker of the server: what is asked about a message goes in, the answer comes out.

It is a process of its own, so that whatever happens to it does not happen to the
server. It answers one request after the other until the server is gone. One kind of
worker classifies, another learns and forgets, since that may have to wait for others.
"""

import os
import re
import signal
import socket
from collections.abc import Callable
from typing import Final

from nbtext.document import Document, Note, Unreadable
from nbtext.errors import BusyError, ModelWriteError, NbtextError, RequestError
from nbtext.following import FollowedModel
from nbtext.jobs import Answer, Job, Task, job_of, packed, receive, task_of
from nbtext.lessons import UNKNOWN, Lesson, Teaching
from nbtext.modelfile import open_model
from nbtext.passing import marked
from nbtext.report import probability
from nbtext.spamd import (
    DATA,
    PROTOCOL,
    SOFTWARE,
    TRY_AGAIN,
    UNAVAILABLE,
    Request,
    head_of,
    message_of,
    refusal,
    result,
    told,
)
from nbtext.spamscore import Verdict, mark_of_verdict, report_of, verdict_of
from nbtext.teaching import teach

LONGEST_ID: Final = 128
"""So much of a value is in the log, if it comes from elsewhere."""

LONGEST_REASON: Final = 512

_HEADER_END: Final = re.compile(rb"\n\r?\n")
_MESSAGE_ID: Final = re.compile(rb"^message-id[ \t]*+:\s*+(\S+)", re.IGNORECASE | re.M)
_LOOKED_AT: Final = 65_536


class Answerer:
    """What answers jobs; it holds the model, and remembers what there is to log."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._remarks: list[str] = []
        self._reloads = 0
        self._model = FollowedModel(task.model, task.spam, self._remarks.append)

    def warm_up(self) -> Answer:
        """Open the model, and return what is to be said about it."""
        if not self._task.teaches:
            try:
                self._model.classifier()
            except NbtextError:
                return self._answer(b"")  # whose remarks say it
            self._model.wait()
        return self._answer(b"")

    def answer(self, job: Job) -> Answer:
        """Do what a job asks; whatever goes wrong is an answer, too."""
        request = job.request
        message_id = ""
        try:
            message = message_of(request, self._task.max_size)
            message_id = f" id={loggable(message_id_of(message))}"
            if request.verb == "TELL":
                response, said = self._tell(request, message)
            else:
                response, said = self._say(job, message)
        except RequestError as error:
            return self._refused(error, message_id)
        except (BusyError, ModelWriteError, MemoryError) as error:
            return self._refused(RequestError(TRY_AGAIN, str(error)), message_id)
        except NbtextError as error:
            return self._refused(RequestError(UNAVAILABLE, str(error)), message_id)
        except Exception as error:
            # a fault of ours must neither end the worker nor leave a client waiting
            fault = f"a fault in nbtext: {type(error).__name__}: {error}"
            return self._refused(RequestError(SOFTWARE, fault), message_id)
        return self._answer(response, f"{said}{message_id}")

    def _refused(self, error: RequestError, message_id: str) -> Answer:
        reason = loggable(str(error), LONGEST_REASON)
        log = f"refused={error.code} reason={reason}{message_id}"
        return self._answer(refusal(error), log)

    def _answer(self, response: bytes, log: str = "") -> Answer:
        remarks = tuple(self._remarks)
        del self._remarks[: len(remarks)]
        return Answer(response, log, remarks)

    def _say(self, job: Job, message: bytes) -> tuple[bytes, str]:
        """Return the answer to what a message is, and the same for the log."""
        classifier = self._model.classifier(anew=job.reloads > self._reloads)
        self._reloads = job.reloads
        threshold = self._task.threshold
        document = Document("-", (message,))
        (decision,) = classifier.classify([document], threshold=threshold)
        verdict = verdict_of(decision, self._task.spam, threshold)
        body = body_of(job.request, message, verdict)
        label = decision.label if decision.label is not None else "?"
        said = (
            f"label={loggable(label)} probability={probability(decision.probability)} "
            f"score={verdict.score}"
        )
        return result(job.request, verdict.header, body), said

    def _tell(self, request: Request, message: bytes) -> tuple[bytes, str]:
        """Learn or forget a message; return the answer, and the same for the log."""
        label = self._label(request)
        if not (request.sets or request.removes):
            return told(did_set=False, did_remove=False), "did=nothing"
        teaching = Teaching(self._task.model, label, wait=self._task.wait)
        lesson = taught(message, teaching, self._task.max_size)
        if lesson.outcome == "refused" and lesson.reason != UNKNOWN:
            raise RequestError(DATA, lesson.reason)
        did = lesson.outcome in ("learnt", "moved", "forgotten")
        response = told(
            did_set=did and request.sets, did_remove=did and request.removes
        )
        said = "nothing" if lesson.outcome in ("refused", "empty") else lesson.outcome
        of = f" class={loggable(label)}" if label is not None else ""
        return response, f"did={said}{of}"

    def _label(self, request: Request) -> str | None:
        """
        Return the class to learn, None if there is none to learn.

        Raises:
            RequestError: it cannot be told.

        """
        if not request.sets:
            return None
        if request.removes:
            reason = "Unable to set local and remove local in the same operation."
            raise RequestError(PROTOCOL, reason)
        if not request.message_class:
            raise RequestError(PROTOCOL, "(Set without Message-class)")
        label = self._task.spam if request.message_class == "spam" else self._task.ham
        if label is None:
            known = ", ".join(open_model(self._task.model).tables[-1].header.classes)
            reason = f"which of the classes {known} is ham was not said"
            raise RequestError(UNAVAILABLE, reason)
        return label


def body_of(request: Request, message: bytes, verdict: Verdict) -> bytes | None:
    """Return what follows the headers of an answer; None for CHECK."""
    verb = request.verb
    if verb == "CHECK":
        return None
    if verb == "SYMBOLS":
        return verdict.tests.encode()
    if verb == "REPORT" or (verb == "REPORT_IFSPAM" and verdict.is_spam):
        return report_of(verdict).encode()
    if verb == "REPORT_IFSPAM":
        return b""
    processed = marked(message, mark_of_verdict(verdict))
    return head_of(message, processed) if verb == "HEADERS" else processed


def taught(message: bytes, teaching: Teaching, max_size: int) -> Lesson:
    """
    Learn or forget a message; return what became of it.

    Raises:
        NbtextError: it cannot be done, or not now.

    """
    document = Document("-", (message,))
    batches = teach([document], teaching, max_bytes=max_size, complain=_ignore)
    return next(lesson for lessons in batches for lesson in lessons)


def _ignore(_: Unreadable | Note) -> None:
    """Pass over notes: a message that is in memory has none."""


def message_id_of(message: bytes) -> str:
    """Return the Message-ID of a message, `-` if it has none."""
    start = message[:_LOOKED_AT]
    end = _HEADER_END.search(start)
    found = _MESSAGE_ID.search(start, 0, end.start() if end else len(start))
    return found[1].decode("utf-8", "replace") if found else "-"


def loggable(text: str, longest: int = LONGEST_ID) -> str:
    r"""
    Return a text as one value of a line in the log, cut short if it is long.

    Nothing that a message or a client says can end the value or the line, or look like
    another value: backslashes, quotation marks and what is not printable ASCII are
    written as \xHH, \uHHHH or \UHHHHHHHH, and what has a space or an equals sign in it
    stands in quotation marks.
    """
    cut = text if len(text) <= longest else f"{text[: longest - 3]}..."
    safe = "".join(map(_safe, cut))
    return f'"{safe}"' if not safe or " " in safe or "=" in safe else safe


def _safe(character: str) -> str:
    if " " <= character <= "~" and character not in '\\"':
        return character
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return character.encode("ascii", "backslashreplace").decode()


def work(connection: socket.socket, answer: Callable[[Job], Answer]) -> None:
    """Answer one job after the other until nobody asks any more."""
    while True:
        try:
            job = job_of(receive(connection))
            connection.sendall(packed(answer(job)))
        except (EOFError, ConnectionError):
            return


def main() -> None:
    """Be a worker: jobs come from standard input, which is a socket."""
    # the server says when to end; a signal to all of a group is for the server
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    with socket.socket(fileno=os.dup(0)) as connection:
        answerer = Answerer(task_of(receive(connection)))
        connection.sendall(packed(answerer.warm_up()))
        work(connection, answerer.answer)
