"""
Classifying a stream of documents in several processes.

The model is opened and arranged once, in the process that starts the others, and handed
to each of them as it begins: forked processes share its memory, others open the file
again. Chunks of the stream go to whichever is free; decisions come back in order.
"""

from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING, Final

from nbtext.counts.counting import chunks
from nbtext.document import Item, Note, OnProblem, Unreadable
from nbtext.scoring.classifying import classify
from nbtext.scoring.decide import Decision

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

    from nbtext.scoring.combining import Decider

CHUNK: Final = 1 << 20
"""Bytes of documents that a process gets at a time: little, so that none of them is
still at work long after the others."""

_CLASSIFIER: "Final[ContextVar[Decider]]" = ContextVar("_CLASSIFIER")
"""The model of a process, or thread, that `initializer_of` has begun."""


def initializer_of(classifier: "Decider") -> Callable[[], None]:
    """
    Return what each process of an executor calls as it begins.

    Args:
        classifier: the model; it is arranged here, so that forked processes need not.
    """
    classifier.arrange(())
    return partial(_begin, classifier)


def _begin(classifier: "Decider") -> None:
    _CLASSIFIER.set(classifier)


def classify_with(
    executor: "Executor",
    jobs: int,
    items: Iterable[Item],
    *,
    headings: bool = False,
    max_bytes: int,
    on_problem: OnProblem,
) -> Iterator[list[Decision]]:
    """
    Do what `classify` does, wherever an executor runs a chunk of the stream.

    Its processes have begun with what `initializer_of` returned.
    """
    pending: list[Future[tuple[list[Decision], list[Unreadable | Note]]]] = []

    def next_result() -> list[Decision]:
        decisions, remarks = pending.pop(0).result()
        for remark in remarks:
            on_problem(remark)
        return decisions

    for chunk in chunks(items, CHUNK):
        if chunk:
            pending.append(executor.submit(_classify_chunk, chunk, headings, max_bytes))
        while len(pending) > jobs or (pending and not chunk):
            yield next_result()
    while pending:
        yield next_result()


def _classify_chunk(
    items: list[Item], headings: bool, max_bytes: int
) -> tuple[list[Decision], list[Unreadable | Note]]:
    remarks: list[Unreadable | Note] = []
    batches = classify(
        items,
        _CLASSIFIER.get(),
        headings=headings,
        max_bytes=max_bytes,
        on_problem=remarks.append,
    )
    return [decision for batch in batches for decision in batch], remarks
