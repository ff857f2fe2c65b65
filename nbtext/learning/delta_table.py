"""
A delta as a count table, to be added to other tables.

`nbtext.learning.delta_writing` writes a change to a file without numpy, for a few
documents.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nbtext.learning.delta import Delta

from nbtext.counts import CountTable, LedgerRun, SortedCounts, ledger_of
from nbtext.counts.sorted_counts import narrow, no_counts
from nbtext.counts.table import empty_ledger
from nbtext.store.ledger import halves


def count_table(delta: Delta) -> CountTable:
    """Return a change of a model as a count table."""
    settings, classes = delta.settings, delta.classes
    ledger: dict[str, list[tuple[int, ...]]] = {label: [] for label in classes}
    for (digest, row), count in delta.ledger.items():
        if count:
            ledger[row.label].append((*halves(digest), row.fingerprint, count))
    return CountTable(
        settings=settings,
        classes=classes,
        documents=tuple(delta.documents[label] for label in classes),
        runs=tuple(
            _runs_of(len(view.columns), classes, by_key)
            for view, by_key in zip(settings.views, delta.views, strict=True)
        ),
        ledger=tuple(_ledger_of(ledger[label]) for label in classes),
    )


def _runs_of(
    n_columns: int,
    classes: Sequence[str],
    by_key: Mapping[int, Mapping[str, Sequence[int]]],
) -> tuple[SortedCounts, ...]:
    """Return the counts of one view, by class."""
    rows: dict[str, list[tuple[int, ...]]] = {label: [] for label in classes}
    for key in sorted(by_key):
        for label, columns in by_key[key].items():
            if any(columns):
                rows[label].append((key, *columns))
    return tuple(_run_of(rows[label], n_columns) for label in classes)


def _run_of(rows: Sequence[Sequence[int]], n_columns: int) -> SortedCounts:
    if not rows:
        return no_counts(n_columns)
    keys, *columns = zip(*rows, strict=True)
    return SortedCounts(
        np.array(keys, np.uint64),
        tuple(narrow(np.array(column, np.int64)) for column in columns),
    )


def _ledger_of(rows: Sequence[Sequence[int]]) -> LedgerRun:
    if not rows:
        return empty_ledger()
    *entries, counts = zip(*rows, strict=True)
    columns = [np.array(column, np.uint64) for column in entries]
    return ledger_of(np.stack(columns, axis=1), np.array(counts, np.int64))
