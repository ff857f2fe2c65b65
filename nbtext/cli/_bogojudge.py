"""
What decides about messages for `nbtext bogofilter`, learns them, and keeps the log.

It is the model as bogofilter's users expect it: one that knows no class or one only is
unsure of everything, and one of other classes than spam and ham is an error.
"""

from collections import Counter as Tally
from collections.abc import Iterable, Sequence
from typing import Final

from nbtext.bogosity import (
    HAM,
    SPAM,
    Bogosity,
    bogosity,
    check_classes,
    log_value,
    no_idea,
)
from nbtext.classifying import Classifier
from nbtext.cli import _status as status
from nbtext.cli._bogorequest import LABELS, Request
from nbtext.cli._pass import MAX_BYTES
from nbtext.cli._teach import summary
from nbtext.cli._terminal import to_stderr
from nbtext.document import Document, Unreadable
from nbtext.errors import NoModelError, TrainingError
from nbtext.lessons import UNKNOWN, Lesson, Teaching
from nbtext.model import load_model
from nbtext.teaching import teach

STATUSES: Final = {
    "Spam": status.IT_IS,
    "Ham": status.IT_IS_NOT,
    "Unsure": status.UNSURE,
}


class Judge:
    """
    What decides about messages, by the model as it is; and learns if it is to.

    What -u has learnt from a batch is known when the next one is decided about.
    """

    def __init__(self, request: Request) -> None:
        self._request = request
        self._is_opened = False
        self._classifier: Classifier | None = None

    def decide(self, documents: list[Document]) -> list[Bogosity]:
        """
        Decide about messages, in their order.

        Raises:
            NbtextError: there is no model, or one of other classes.

        """
        if not self._is_opened:
            self._classifier = self._opened()
            self._is_opened = True
        cutoffs = self._request.cutoffs
        if self._classifier is None:
            return [no_idea(document.name, cutoffs) for document in documents]
        return [bogosity(one, cutoffs) for one in self._classifier.classify(documents)]

    def _opened(self) -> Classifier | None:
        """Open the model; None if it cannot tell spam from ham yet."""
        path = self._request.model
        try:
            model = load_model(path)
        except NoModelError:
            if not self._request.updates:  # bogofilter -u makes an empty one
                raise
            to_stderr(f"note: {path}: no model yet; begin one with -s and -n")
            return None
        check_classes(path, model.classes)
        if len(model.classes) < 2:
            known = " and ".join(model.classes) or "nothing"
            to_stderr(f"note: {path}: it knows {known} alone, so all is unsure")
            return None
        return Classifier(model)

    def update(self, documents: Sequence[Document], found: Sequence[Bogosity]) -> None:
        """
        Learn what was decided, if that is wanted, and enter all of it into the log.

        A message that is known already stays what it is: somebody may have said so.

        Raises:
            NbtextError: the model cannot be written.

        """
        learnt: dict[int, str] = {}
        if self._request.updates:
            for label, letter in ((SPAM, "s"), (HAM, "n")):
                places = [
                    place
                    for place, one in enumerate(found)
                    if one.verdict.lower() == label and self._is_learnt(one)
                ]
                chosen = [documents[place] for place in places]
                learnt |= dict.fromkeys(self._new(places, chosen, label), letter)
        if self._request.logs:
            log(_entries(found, learnt, self._request.field))

    def _is_learnt(self, one: Bogosity) -> bool:
        return self._request.spared <= one.spamicity <= 1 - self._request.spared

    def _new(
        self, places: Sequence[int], documents: Sequence[Document], label: str
    ) -> list[int]:
        """Learn documents, and return the places of those that were not known."""
        if not documents:
            return []
        lessons = taught(documents, Teaching(self._request.model, label, moves=False))
        self._is_opened = False
        return [
            place
            for place, lesson in zip(places, lessons, strict=True)
            if lesson.outcome == "learnt"
        ]

    def status_of(self, last: Bogosity | None) -> int:
        """Return the exit status, which is that of the last message."""
        if self._request.always_done:
            return status.DONE
        return status.UNSURE if last is None else STATUSES[last.verdict]


def teaching_of(request: Request) -> Teaching:
    """
    Return what to learn, or to forget.

    Raises:
        NbtextError: the model has other classes, or cannot be read.

    """
    label, source = LABELS[request.action]
    try:
        check_classes(request.model, load_model(request.model).classes)
    except NoModelError:
        if label is None:
            raise
    return Teaching(
        request.model, label, create=label is not None, format="mail", source=source
    )


def taught(documents: Iterable[Document], teaching: Teaching) -> list[Lesson]:
    """
    Learn or forget documents, all of them.

    Raises:
        NbtextError: one of them cannot be, or the model cannot be written.

    """
    lessons: list[Lesson] = []
    for batch in teach(documents, teaching, max_bytes=MAX_BYTES, complain=refuse):
        lessons += batch
    for lesson in lessons:
        if is_failure(lesson):
            raise TrainingError(lesson.reason)
    return lessons


def refuse(one: object) -> None:
    """
    Make an error of what cannot be read.

    Raises:
        SourceError: it cannot.

    """
    if isinstance(one, Unreadable):
        raise one.error


def is_failure(lesson: Lesson) -> bool:
    """Tell whether something could not be done; what is so already is no failure."""
    return lesson.outcome == "refused" and lesson.reason != UNKNOWN


def report(outcomes: Tally[str], teaching: Teaching, request: Request) -> None:
    """Say what was registered, and enter it into the log, if that is wanted."""
    n_messages = outcomes.total() - outcomes["empty"]
    if request.is_verbose:
        said = f"# {n_messages} message{'s' * (n_messages != 1)}"
        done = summary(teaching, outcomes)
        to_stderr(f"{said}, {done}" if done else said)
    if request.logs:
        log([f"register-{request.action}, {n_messages} messages"])


def _entries(
    found: Sequence[Bogosity], learnt: dict[int, str], field: str
) -> Iterable[str]:
    """Yield what the log says of verdicts and of what was learnt from them."""
    for place, one in enumerate(found):
        entry = f"{field}: {log_value(one)}"
        is_learnt = place in learnt
        yield f"{entry}, register-{learnt[place]}, 1 messages" if is_learnt else entry


def log(entries: Iterable[str]) -> None:
    """Write to the system's log, under the name that is looked for there."""
    import syslog

    syslog.openlog("bogofilter", syslog.LOG_PID, syslog.LOG_MAIL)
    for entry in entries:
        syslog.syslog(syslog.LOG_INFO, entry)
