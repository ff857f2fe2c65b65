"""
Pruning: a model without the terms that hardly any document has.

Only terms of text go: how many values a category has is part of what it says.

What a document left is not known any more once terms are gone, and the ledger says so:
its fingerprints become `nbtext.store.ledger.FORGOTTEN`, and the records of documents
go. So does what each of them has added to a correction.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nbtext.counts.correction_table import Correction
    from nbtext.store import Contents

from nbtext.counts import LedgerRun, SortedCounts, ledger_of, n_terms
from nbtext.counts.room import Ranges
from nbtext.counts.sorted_counts import NO_KEYS, CountsByClass, ranges
from nbtext.counts.term_table import restricted
from nbtext.store import UndoRecords
from nbtext.store.ledger import FORGOTTEN


@dataclass(frozen=True, slots=True)
class Pruned:
    """
    What pruning makes of a model.

    Attributes:
        contents: the model that is left.
        terms: how many terms there were, and how many are left.
        tokens: how many tokens were counted of those terms, and of those that are left.
    """

    contents: Contents
    terms: tuple[int, int]
    tokens: tuple[int, int]


def prune(contents: Contents, min_documents: int) -> Pruned:
    """
    Return what is left of a model without its rare terms.

    Args:
        contents: the model.
        min_documents: in how many documents a term must occur, over all classes.
    """
    counts = contents.counts
    views = [
        _without_rare(runs, view.column("documents"), min_documents)
        if view.kind == "text"
        else (list(runs), n_terms(runs), n_terms(runs))
        for view, runs in zip(counts.settings.views, counts.runs, strict=True)
    ]
    correction = contents.correction
    if correction is not None:
        correction = _without_gone(correction, [runs for runs, _, _ in views])
    left = replace(
        contents,
        counts=replace(
            counts,
            runs=tuple(tuple(runs) for runs, _, _ in views),
            ledger=tuple(map(_unknown, counts.ledger)),
        ),
        records=UndoRecords(),
        terms=None,
        correction=correction,
    )
    return Pruned(
        left,
        terms=(sum(n for _, n, _ in views), sum(n for _, _, n in views)),
        tokens=(contents.n_tokens, left.n_tokens),
    )


def _without_rare(
    runs: Sequence[SortedCounts], column: int, min_documents: int
) -> tuple[list[SortedCounts], int, int]:
    """Return the runs of a view, and how many terms there were and are left."""
    n_columns = len(runs[0].columns) if runs else 0
    kept, before, after = CountsByClass(len(runs), n_columns), 0, 0
    working = Ranges(array for run in runs for array in (run.keys, *run.columns))
    for slices in ranges([run.keys for run in runs]):
        parts = [run.part(rows) for run, rows in zip(runs, slices, strict=True)]
        keys = np.concatenate([NO_KEYS, *(part.keys for part in parts)])
        terms, places = np.unique(keys, return_inverse=True)
        documents = np.zeros(len(terms), np.int64)
        counted = [part.columns[column] for part in parts]
        np.add.at(documents, places, np.concatenate([documents[:0], *counted]))
        is_common = documents >= min_documents
        before, after = before + len(terms), after + int(is_common.sum())
        start = 0
        for place, part in enumerate(parts):
            of_part = is_common[places[start : start + len(part)]]
            kept.add(place, part.part(np.flatnonzero(of_part)))
            start += len(part)
        working.done(keys.nbytes * (1 + n_columns))
    working.let_go()
    return kept.runs(), before, after


def _without_gone(
    correction: Correction, left: Sequence[Sequence[SortedCounts]]
) -> Correction:
    """
    Return the values of the terms that are left.

    Which document has added what cannot be taken back any more, so it goes.
    """
    terms = []
    for table, runs in zip(correction.terms, left, strict=True):
        is_left = np.zeros(len(table.keys), np.bool_)
        for run in runs:
            for [rows] in ranges([run.keys]):
                is_left[table.find(run.keys[rows])] = True
        terms.append(restricted(table, table.keys[:-1][is_left[:-1]]))
    return correction.without_amounts()._replace(terms=tuple(terms))


def _unknown(ledger: LedgerRun) -> LedgerRun:
    """Return a ledger that does not say any more which counts a document left."""
    entries = ledger.entries.copy()
    entries[:, 2] = FORGOTTEN
    return ledger_of(entries, ledger.counts)
