"""
What `nbtext bogofilter` registers: messages learnt, moved and forgotten.

Only those who learn load this: it takes more than to decide.
"""

from collections import Counter as Tally
from collections.abc import Iterable, Sequence

from nbtext.cli._pass import MAX_BYTES
from nbtext.cli._teach import summary
from nbtext.cli._terminal import to_stderr
from nbtext.cli.bogofilter._bogosity import HAM, SPAM, Bogosity, check_classes
from nbtext.cli.bogofilter._log import log, registered
from nbtext.cli.bogofilter._request import LABELS, Request
from nbtext.document import Document, Item
from nbtext.errors import NoModelError
from nbtext.learning.plan import UNKNOWN, Lesson, Teaching
from nbtext.learning.stream import teach
from nbtext.scoring.classifying import OnProblem
from nbtext.scoring.model import load_model


def register(items: Iterable[Item], request: Request, on_problem: OnProblem) -> bool:
    """
    Learn, move or forget messages, and say so as it is wanted.

    Args:
        items: the messages.
        request: what to do with them.
        on_problem: told of each that cannot be read, and of notes.

    Returns:
        Whether none was refused. One that is not known where it is to be forgotten is
        no failure: it is as it should be.

    Raises:
        NbtextError: the model has other classes, or cannot be read or written.

    """
    teaching = _teaching(request)
    outcomes: Tally[str] = Tally()
    for lessons in teach(items, teaching, max_bytes=MAX_BYTES, on_problem=on_problem):
        for lesson in lessons:
            outcomes["nothing" if _is_known_nowhere(lesson) else lesson.outcome] += 1
            _tell(lesson, teaching)
    n_messages = outcomes.total() - outcomes["empty"]
    if request.is_verbose:
        said = f"# {n_messages} message{'s' * (n_messages != 1)}"
        done = summary(teaching, outcomes)
        to_stderr(f"{said}, {done}" if done else said)
    if request.logs:
        log(registered(request.action, n_messages))
    return not outcomes["refused"]


def _teaching(request: Request) -> Teaching:
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


def _is_known_nowhere(lesson: Lesson) -> bool:
    return lesson.outcome == "refused" and lesson.reason == UNKNOWN


def _tell(lesson: Lesson, teaching: Teaching) -> None:
    """Name a message about which nothing was done."""
    if _is_known_nowhere(lesson):
        to_stderr(f"note: {lesson.name}: it is not known as {teaching.source}")
    elif lesson.outcome == "refused":
        to_stderr(f"refused: {lesson.name}: {lesson.reason}")


def learn_decided(
    documents: Sequence[Document], found: Sequence[Bogosity], request: Request
) -> dict[int, str]:
    """
    Learn what was decided about messages, if it was.

    A message that is known already stays what it is: somebody may have said so.

    Returns:
        The place of each message that was not known, and what was registered.

    Raises:
        NbtextError: the model cannot be written.

    """
    learnt: dict[int, str] = {}
    for label, letter in ((SPAM, "s"), (HAM, "n")):
        places = [
            place
            for place, one in enumerate(found)
            if one.verdict.lower() == label
            and request.spared <= one.spamicity <= 1 - request.spared
        ]
        if places:
            chosen = [documents[place] for place in places]
            lessons = _learnt(chosen, Teaching(request.model, label, moves=False))
            for place, lesson in zip(places, lessons, strict=True):
                if lesson.outcome == "learnt":
                    learnt[place] = letter
    return learnt


def _learnt(documents: Sequence[Document], teaching: Teaching) -> list[Lesson]:
    taught = teach(documents, teaching, max_bytes=MAX_BYTES, on_problem=lambda _: None)
    return [lesson for lessons in taught for lesson in lessons]
