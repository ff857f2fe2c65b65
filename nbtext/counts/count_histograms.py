"""
Histograms counted from the terms of a model: `nbtext.counts.histograms` by arrays.

The counts of one view go in, by class or by term; out comes for each class how many
terms are in how many of its documents, and how many of them occur nowhere else.
"""

from __future__ import annotations

from collections import Counter as Tally
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from nbtext.counts.sorted_counts import SortedCounts
    from nbtext.counts.table import CountTable
    from nbtext.counts.term_table import TermTable
    from nbtext.settings.views import View

from nbtext.counts.histograms import ByClass, Histogram, Histograms
from nbtext.counts.room import Ranges
from nbtext.counts.sorted_counts import ranges


def histograms_of(table: CountTable) -> Histograms:
    """Count the histograms of a table that takes nothing away, of its text."""
    return tuple(
        _named(table.classes, _of_runs(view, runs)) if view.kind == "text" else {}
        for view, runs in zip(table.settings.views, table.runs, strict=True)
    )


def _named(classes: Sequence[str], counted: Sequence[Histogram]) -> ByClass:
    return {name: one for name, one in zip(classes, counted, strict=True) if any(one)}


def _of_runs(view: View, runs: Sequence[SortedCounts]) -> list[Histogram]:
    """Count those of a view whose counts are sorted class by class."""
    occurrences, documents = view.column("occurrences"), view.column("documents")
    singletons = np.zeros(len(runs), np.int64)
    numbers: list[Tally[int]] = [Tally() for _ in runs]
    working = Ranges(array for run in runs for array in (run.keys, *run.columns))
    for slices in ranges([run.keys for run in runs]):
        parts = [run.part(rows) for run, rows in zip(runs, slices, strict=True)]
        # a model without classes has none: an empty list would be of floats
        singletons += np.array(_singletons_of(parts, occurrences), np.int64)
        for tally, part in zip(numbers, parts, strict=True):
            tally.update(_numbers(part.columns[documents]))
            working.done(part.keys.nbytes * (1 + len(part.columns)))
    working.let_go()
    return [
        Histogram(dict(sorted(tally.items())), number)
        for tally, number in zip(numbers, singletons.tolist(), strict=True)
    ]


def _singletons_of(parts: Sequence[SortedCounts], column: int) -> list[int]:
    """Return how many terms of some range occur once, by the class in which they do."""
    rows = [np.flatnonzero(part.columns[column]) for part in parts]
    keys = [part.keys.take(some) for part, some in zip(parts, rows, strict=True)]
    counts = [
        part.columns[column].take(some) for part, some in zip(parts, rows, strict=True)
    ]
    all_keys = np.concatenate([np.empty(0, np.uint64), *keys])
    order = np.argsort(all_keys, kind="stable")  # merges, since each part is sorted
    return _singletons(
        all_keys.take(order),
        np.repeat(np.arange(len(parts)), [len(part) for part in keys]).take(order),
        np.concatenate([np.empty(0, np.int64), *counts]).take(order),
        len(parts),
    )


def of_terms(view: View, table: TermTable, n_classes: int) -> list[Histogram]:
    """Count those of a view whose counts are arranged by term, for each class."""
    terms = np.repeat(np.arange(table.n_terms), np.diff(table.starts[:-1]))
    counts = table.columns[view.column("occurrences")]
    rows = np.flatnonzero(counts)
    single = _singletons(
        terms.take(rows), table.classes.take(rows), counts.take(rows), n_classes
    )
    documents = table.columns[view.column("documents")]
    return [
        Histogram(_numbers(documents[table.classes == class_]), number)
        for class_, number in enumerate(single)
    ]


def _singletons(
    terms: NDArray[np.integer],
    classes: NDArray[np.integer],
    counts: NDArray[np.integer],
    n_classes: int,
) -> list[int]:
    """
    Return how many terms occur once, by the class in which they do.

    Args:
        terms: shape (n_entries,), ascending: which term an entry is of.
        classes: the class of each entry.
        counts: how often the term occurs there, not zero.
        n_classes: how many classes there are.
    """
    # an entry is its term's only one where its neighbours are of other terms
    differs = np.ones(len(terms) + 1, np.bool_)
    np.not_equal(terms[1:], terms[:-1], out=differs[1:-1])
    is_single = differs[:-1] & differs[1:] & (counts == 1)
    found: list[int] = np.bincount(
        classes[is_single].astype(np.int64), minlength=n_classes
    ).tolist()
    return found


def _numbers(documents: NDArray[np.integer]) -> dict[int, int]:
    """Return each number of documents that there is to how many terms have it."""
    numbers, terms = np.unique(documents[documents > 0], return_counts=True)
    return dict(zip(numbers.tolist(), terms.tolist(), strict=True))
