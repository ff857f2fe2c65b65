"""
Classifying a stream of documents: one decision a document, in their order.

Whatever is ready is decided as soon as input would block.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Final, TypeAlias, TypeGuard, TypeVar

from nbtext.document import Document, Item, Note, OnProblem, Pause, Unreadable
from nbtext.errors import NoMemoryError, SourceError
from nbtext.parallel import ahead
from nbtext.scoring.classifier import Classifier
from nbtext.scoring.decide import Decision
from nbtext.tokens.opening import open_documents

if TYPE_CHECKING:
    from nbtext.scoring.combining import Decider

Result = TypeVar("Result")

BATCH: Final = 1 << 19
"""How many bytes of documents are scored at a time, by default."""

MANY: Final = 512
"""How many documents are scored at a time at the most."""


def classify(
    items: Iterable[Item],
    classifier: "Decider",
    *,
    headings: bool = False,
    max_bytes: int,
    on_problem: OnProblem,
    jobs: int = 1,
) -> Iterator[list[Decision]]:
    """
    Decide about a stream of documents.

    Args:
        items: the documents.
        classifier: the model, or models, and how decisions are made.
        headings: whether decisions say who mail is from, and what it is about.
        max_bytes: how much of a document is read.
        on_problem: told of each document that cannot be read, and of what else to know.
        jobs: how many threads work, if it `works_in_threads`.

    Yields:
        One decision a document, in their order, in batches; whatever is ready when
        input pauses.
    """
    act = partial(classifier.classify, headings=headings)
    if jobs > 1 and works_in_threads(classifier):
        classifier.arrange(())
        stream = _with_problems(items, max_bytes)
        yield from _in_threads(stream, act, on_problem, jobs)
        return
    for batch in batches(items, max_bytes, on_problem):
        yield from readable_of(batch, act, on_problem)


def works_in_threads(classifier: "Decider") -> TypeGuard[Classifier]:
    """
    Return whether `classify` needs no processes to do several jobs side by side.

    To find reasons takes the interpreter, which no two threads have at once.
    """
    return (
        isinstance(classifier, Classifier)
        and classifier.reads_together
        and not classifier.n_reasons
    )


Problems: TypeAlias = list[Unreadable | Note]


def _with_problems(
    items: Iterable[Item], max_bytes: int
) -> Iterator[tuple[list[Document], Problems]]:
    """Yield batches, each with what could not be read before; an empty one pauses."""
    problems: Problems = []
    for batch in batches(items, max_bytes, problems.append, marks_pauses=True):
        yield batch, problems.copy()
        problems.clear()
    yield [], problems


def _in_threads(
    stream: Iterable[tuple[list[Document], Problems]],
    act: Callable[[list[Document]], list[Decision]],
    on_problem: OnProblem,
    jobs: int,
) -> Iterator[list[Decision]]:
    """Decide about batches in this and other threads; nothing waits at a pause."""
    decide = partial(_decide, act)
    for is_pause, some in groupby(stream, key=lambda one: not one[0]):
        for decisions, problems in ahead(1 if is_pause else jobs, decide, some):
            for problem in problems:
                on_problem(problem)
            yield from decisions


def _decide(
    act: Callable[[list[Document]], list[Decision]],
    one: tuple[list[Document], Problems],
) -> tuple[list[list[Decision]], Problems]:
    """Return the decisions about a batch, and what there is to say before them."""
    batch, problems = one
    return [*readable_of(batch, act, problems.append)] if batch else [], problems


def readable_of(
    batch: list[Document],
    act: Callable[[list[Document]], Result],
    on_problem: OnProblem,
) -> Iterator[Result]:
    """
    Do something with a batch, or with one document at a time if one cannot be read.

    So it is if there is not enough memory for it, or for all of them together.

    Args:
        batch: the documents.
        act: what is done with them.
        on_problem: told of each that cannot be read, such as by the model's pattern.
    """
    try:
        result = act(batch)
    except (SourceError, MemoryError) as error:
        if len(batch) == 1:
            name = batch[0].name
            why = error if isinstance(error, SourceError) else NoMemoryError(name)
            on_problem(Unreadable(name, why))
            return
    else:
        yield result
        return
    for document in batch:
        yield from readable_of([document], act, on_problem)


def batches(
    items: Iterable[Item],
    max_bytes: int,
    on_problem: OnProblem,
    *,
    size: int = BATCH,
    many: int = MANY,
    marks_pauses: bool = False,
) -> Iterator[list[Document]]:
    """
    Gather documents into batches; a pause in the input ends one.

    Args:
        items: the documents, opened or not.
        max_bytes: how much of a document is read.
        on_problem: told of each document that cannot be read, and of notes.
        size: about how many bytes a batch has at the most.
        many: how many documents.
        marks_pauses: whether an empty batch follows where the input pauses.
    """
    batch: list[Document] = []
    gathered = 0
    for document in open_documents(items, max_bytes, on_problem):
        if isinstance(document, Pause):
            if batch:
                yield batch
            if marks_pauses:
                yield []
            batch, gathered = [], 0
            continue
        batch.append(document)
        gathered += sum(map(len, document.texts))
        if gathered >= size or len(batch) >= many:
            yield batch
            batch, gathered = [], 0
    if batch:
        yield batch
