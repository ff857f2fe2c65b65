"""
Handlers: requests about messages go in, answers come out; nothing waits for a client.

Requests that arrive together are answered together: for each of four the batch engine
takes half as long as for one.
"""

import re
from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby
from typing import Any, Final, NamedTuple

from nbtext import wording
from nbtext.document import Document, Note, Unreadable
from nbtext.errors import (
    BusyError,
    ModelMemoryError,
    ModelWriteError,
    NbtextError,
    NoMemoryError,
    RequestError,
    SourceError,
    UnknownClassError,
)
from nbtext.filtering import with_added
from nbtext.filtering.header_field import pieces_with_added
from nbtext.learning import LearnRequest, LearnResult, learn_documents
from nbtext.learning.lesson import UNKNOWN
from nbtext.learning.stored import StoredLearner
from nbtext.policy import PolicyOverrides
from nbtext.scoring import Classifier, Decision, load_model
from nbtext.scoring.decide import probability
from nbtext.serving.reloading import ReloadingModel
from nbtext.serving.spamd import (
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
    tell_answer,
)
from nbtext.serving.spamscore import Verdict, added_by_verdict, report_of, verdict_of
from nbtext.store.reuse import forget_tables

TRANSIENT: Final = (
    BusyError, MemoryError, ModelMemoryError, ModelWriteError, NoMemoryError,
)  # fmt: skip
"""Errors that may be over when the client tries again."""

LONGEST: Final = 128
LONGEST_REASON: Final = 512
"""Maximum characters in the log of a value and of a reason."""

_HEADER_END: Final = re.compile(rb"\n\r?\n")
_MESSAGE_ID: Final = re.compile(rb"message-id[ \t]*+:\s*+(\S+)", re.IGNORECASE)
_LOOKED_AT: Final = 65_536


REASONS: Final = 5
"""How many terms are told in a report."""

MOST_EXPLAINED: Final = 1 << 18
"""Maximum bytes of a message whose terms are told: they take long to look for."""

EXPLAINED: Final = frozenset({"SYMBOLS", "REPORT", "REPORT_IFSPAM"})
"""The requests whose answers tell reasons."""


class HandlerOptions(NamedTuple):
    """
    How messages are classified and learnt.

    Attributes:
        model: the model file.
        spam: the class of spam.
        ham: the class that messages learnt as ham join; None if there is none.
        policy: how decisions are made, where it differs from the model's policy.
        max_size: maximum bytes of a message.
        wait: maximum seconds that a lesson waits for another writer of the model.
        users: the folder with the models of users; None if all have the one.
    """

    model: str
    spam: str
    ham: str | None
    policy: PolicyOverrides
    max_size: int
    wait: float
    users: str | None = None

    @classmethod
    def rebuilt(cls, plain: Sequence[Any]) -> "HandlerOptions":
        """Return what msgpack has made lists of as it was."""
        options = cls(*plain)
        return options._replace(policy=PolicyOverrides.rebuilt(options.policy))


class Answer(NamedTuple):
    """
    The answer to a request.

    Attributes:
        response: what the client is sent.
        log: the values of the log.
        is_busy: whether nothing was done since another process has the model locked.
    """

    response: bytes | bytearray
    log: str = ""
    is_busy: bool = False


class Handler:
    """Answers requests by a model that is reloaded when it has changed."""

    def __init__(
        self,
        options: HandlerOptions,
        on_event: Callable[[str], None],
        on_trouble: Callable[[str], None],
        *,
        is_kept: bool = True,
    ) -> None:
        """
        Open no model yet.

        Args:
            options: how to classify and to learn.
            on_event: called with a line whenever the model is opened.
            on_trouble: called with a line if it cannot be.
            is_kept: whether its counts may be put into memory.
        """
        self._options = options
        self._model = ReloadingModel(
            options.model,
            options.spam,
            options.policy,
            on_event,
            on_trouble,
            is_kept=is_kept,
        )
        self._learner = StoredLearner(options.model, is_kept=is_kept)

    def read_again(self) -> None:
        """Have the model file opened again, changed or not."""
        forget_tables()
        self._model.read_again()

    def warm_up(self) -> None:
        """Open the model, if it can be opened now, and have it ready."""
        try:
            self._model.classifier()
        except NbtextError:
            return  # it is logged, and tried again for the next message
        self._model.wait()

    def may_search_long(self, request: Request) -> bool:
        """Return whether the model has a pattern, which may take seconds to match."""
        is_lesson = request.verb == "TELL"  # for which no model is opened again
        try:
            found = self._model.latest if is_lesson else self._model.classifier()
            return found.model.settings.pattern is not None
        except NbtextError:
            return False  # who asks for an answer is told

    def at_once(self, request: Request) -> Callable[[Request], Answer] | None:
        """
        Return what answers a request that asks what a message is, if it is now.

        Args:
            request: what is asked; its message may come later.

        Returns:
            What takes it with its message. The model is looked at before, and that is
            all: a second look takes a hundredth of what a mail does. None if the
            model has a pattern.
        """
        try:
            classifier = self._model.classifier()
        except NbtextError:
            return self.classify_alone  # which says why
        if classifier.model.settings.pattern is not None:
            return None
        return partial(self._answer_alone, classifier)

    def _answer_alone(self, classifier: Classifier, request: Request) -> Answer:
        try:
            return self._answers([request], classifier)[0]
        except Exception as error:  # whatever it is, a client waits
            return refused(error)

    def classify(self, requests: Sequence[Request]) -> list[Answer]:
        """Answer requests that ask what messages are, in their order."""
        try:
            return self._answers(requests, self._model.classifier())
        except Exception as error:  # whatever it is, a client waits
            if len(requests) == 1:
                return [refused(error)]
        # it may be for one of them only that there is no answer
        return [self.classify_alone(request) for request in requests]

    def learn_alone(self, request: Request) -> Answer:
        """Answer one TELL, when its message is learnt or forgotten."""
        return self.learn([request])[0]

    def classify_alone(self, request: Request) -> Answer:
        """Answer one such request."""
        return self.classify([request])[0]

    def _answers(
        self, requests: Sequence[Request], classifier: Classifier
    ) -> list[Answer]:
        limit = self._options.max_size
        documents = [Document("-", (message_of(one, limit),)) for one in requests]
        decisions = classifier.classify(documents)
        return [
            self._answer(classifier, *row)
            for row in zip(requests, documents, decisions, strict=True)
        ]

    def _answer(
        self,
        classifier: Classifier,
        request: Request,
        document: Document,
        decision: Decision,
    ) -> Answer:
        message = document.texts[0]
        verdict = verdict_of(decision, self._options.spam, classifier.rule)
        if request.verb in EXPLAINED and len(message) <= MOST_EXPLAINED:
            found = classifier.explain(document, label=self._options.spam)
            verdict = verdict._replace(reasons=found.reasons[:REASONS])
        body = body_of(request, message, verdict)
        label = decision.label if decision.label is not None else "?"
        log = (
            f"label={loggable(label)} probability={probability(decision.probability)} "
            f"score={verdict.score} id={loggable(message_id_of(message))}"
        )
        return Answer(result(request, verdict.header, body), log)

    def learn(self, requests: Sequence[Request]) -> list[Answer]:
        """
        Answer TELLs, when their messages are learnt or forgotten, in their order.

        Nothing waits for a model that another process has locked; the answer says so.

        Neighbours that are learnt alike are learnt together: they share a table of the
        model, and the wait until it is on the disk.
        """
        lessons = [self._lesson(request) for request in requests]
        answers: list[Answer] = []
        for _, group in groupby(lessons, key=_class_of):
            some = list(group)
            alike = [one for one in some if isinstance(one, _Lesson)]
            known = [one for one in some if isinstance(one, Answer)]
            answers += known or self._learnt(alike)
        return answers

    def _lesson(self, request: Request) -> "_Lesson | Answer":
        """Return what a TELL asks for; the answer if there is nothing to do."""
        try:
            label = label_to_learn(request, self._options)
            message = message_of(request, self._options.max_size)
        except Exception as error:
            return refused(error)
        if not (request.sets or request.removes):
            nothing = tell_answer(did_set=False, did_remove=False)
            return Answer(nothing, "did=nothing")
        return _Lesson(request, label, message)

    def _learnt(self, lessons: Sequence["_Lesson"]) -> list[Answer]:
        """Answer lessons that are of one class, or are all to be forgotten."""
        label = lessons[0].label
        messages = [lesson.message for lesson in lessons]
        try:
            results = self._results(label, messages)
        except Exception as error:
            return [refused(error)] * len(lessons)
        return [*map(_taught, lessons, results)]

    def _results(
        self, label: str | None, messages: Sequence[bytes]
    ) -> Sequence[LearnResult | NbtextError]:
        """Learn messages, or forget them; return what became of each."""
        outcomes = self._learner.learn(label, messages)
        if outcomes is not None:
            reasons = {"refused": UNKNOWN}
            return [
                LearnResult("-", outcome, reason=reasons.get(outcome, ""))
                for outcome in outcomes
            ]
        path = self._options.model
        check_class(path, label)
        learn_request = LearnRequest(path, label, wait=0)
        return learn_messages(messages, learn_request, self._options.max_size)


class _Lesson(NamedTuple):
    """A TELL with a message that is to be learnt, or forgotten if `label` is None."""

    request: Request
    label: str | None
    message: bytes


def _class_of(lesson: _Lesson | Answer) -> object:
    """Return what lessons have in common that are learnt together."""
    return lesson.label if isinstance(lesson, _Lesson) else Answer


def _taught(lesson: _Lesson, result: LearnResult | NbtextError) -> Answer:
    """Return the answer that says what became of a message."""
    if isinstance(result, NbtextError):
        return refused(result)
    if result.outcome == "refused" and result.reason != UNKNOWN:
        return refused(RequestError(DATA, result.reason))
    is_done = result.outcome in ("learnt", "moved", "forgotten")
    did_set = is_done and lesson.request.sets
    did_remove = is_done and lesson.request.removes
    log = (
        f"did={'nothing' if result.outcome == 'refused' else result.outcome} "
        f"class={loggable(lesson.label or '-')} "
        f"id={loggable(message_id_of(lesson.message))}"
    )
    return Answer(tell_answer(did_set=did_set, did_remove=did_remove), log)


def label_to_learn(request: Request, options: HandlerOptions) -> str | None:
    """
    Return the class that a TELL asks to learn, None if it asks to learn nothing.

    Raises:
        RequestError: it asks for what cannot be done.
    """
    if not request.sets:
        return None
    if request.removes:
        reason = "Unable to set local and remove local in the same operation."
        raise RequestError(PROTOCOL, reason)
    if not request.message_class:
        raise RequestError(PROTOCOL, "(Set without Message-class)")
    label = options.spam if request.message_class == "spam" else options.ham
    if label is None:
        reason = f"the server was started without a {wording.named('ham')}"
        raise RequestError(UNAVAILABLE, reason)
    return label


def check_class(path: str, label: str | None) -> None:
    """
    Refuse a class that the model does not have.

    A model of three or more could have one more. But if another model than the server
    was started with has taken its place, that is no reason to make it look as if it
    were the right one.

    Raises:
        UnknownClassError: the model has other classes.
        ModelFileError: there is none, or it is damaged.
    """
    classes = load_model(path).classes
    if label is not None and label not in classes and len(classes) > 1:
        raise UnknownClassError(path, label, classes)


def refused(error: Exception) -> Answer:
    """Return the answer that says that something went wrong, whatever it was."""
    if isinstance(error, RequestError):
        refused = error
    elif isinstance(error, TRANSIENT):
        refused = RequestError(TRY_AGAIN, str(error) or "out of memory")
    elif isinstance(error, SourceError):
        refused = RequestError(DATA, str(error))
    elif isinstance(error, NbtextError):
        refused = RequestError(UNAVAILABLE, str(error))
    else:
        fault = f"a fault in nbtext: {type(error).__name__}: {error}"
        refused = RequestError(SOFTWARE, fault)
    reason = loggable(str(refused), LONGEST_REASON)
    log = f"refused={refused.code} reason={reason}"
    return Answer(refusal(refused), log, isinstance(error, BusyError))


def body_of(
    request: Request, message: bytes, verdict: Verdict
) -> Sequence[bytes | memoryview] | None:
    """Return what follows the headers of an answer, in pieces; None for CHECK."""
    verb = request.verb
    if verb == "CHECK":
        return None
    if verb == "SYMBOLS":
        return [verdict.symbols.encode()]
    if verb == "REPORT" or (verb == "REPORT_IFSPAM" and verdict.is_spam):
        return [report_of(verdict).encode()]
    if verb == "REPORT_IFSPAM":
        return []
    added = added_by_verdict(verdict)
    if verb == "HEADERS":
        return [head_of(message, with_added(message, added))]
    return pieces_with_added(message, added)


def learn_messages(
    messages: Sequence[bytes], learn_request: LearnRequest, max_size: int
) -> list[LearnResult | NbtextError]:
    """
    Learn or forget messages; return what became of each, or why it cannot be read.

    Raises:
        NbtextError: it cannot be done, or not now.
    """
    found: dict[str, LearnResult | NbtextError] = {}

    def on_problem(problem: Unreadable | Note) -> None:
        if isinstance(problem, Unreadable):
            found[problem.name] = problem.error

    names = ["-", *(f"-:{n}" for n in range(2, len(messages) + 1))]
    documents = [
        Document(name, (message,))
        for name, message in zip(names, messages, strict=True)
    ]
    for results in learn_documents(
        documents, learn_request, max_bytes=max_size, on_problem=on_problem
    ):
        found |= {result.name: result for result in results}
    return [found[document.name] for document in documents]


def message_id_of(message: bytes) -> str:
    """Return the Message-ID of a message, `-` if it has none."""
    start = message[:_LOOKED_AT]
    blank = _HEADER_END.search(start)
    end = blank.start() if blank else len(start)
    lines = b"\n" + start[:end].lower()  # a line begins where its line feed is here
    place = lines.find(b"\nmessage-id")
    while place >= 0:
        if found := _MESSAGE_ID.match(start, place, end):
            return found[1].decode("utf-8", "backslashreplace")
        place = lines.find(b"\nmessage-id", place + 1)
    return "-"


def loggable(text: str, longest: int = LONGEST) -> str:
    r"""
    Return a text as one value of a line in the log, cut short if it is long.

    Nothing that a message or a client says can end the value or the line, or look like
    another value: backslashes, quotation marks and what is not printable ASCII are
    written as \xHH, \uHHHH or \UHHHHHHHH, and what has a space or an equals sign in it
    stands in quotation marks.
    """
    safe = text[: longest + 1]
    if not _PLAIN.fullmatch(safe):
        safe = "".join(map(_safe, safe))
    if len(safe) > longest:
        safe = f"{safe[: longest - 3]}..."
    return f'"{safe}"' if not safe or " " in safe or "=" in safe else safe


_PLAIN: Final = re.compile(r"[!#-\[\]-~ ]*")


def _safe(character: str) -> str:
    if _PLAIN.fullmatch(character):
        return character
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return character.encode("ascii", "backslashreplace").decode()
