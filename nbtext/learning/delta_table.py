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

    from nbtext.counts.correction import CorrectionInfo
    from nbtext.counts.correction_table import Correction
    from nbtext.learning.delta import Delta

from nbtext.counts import CountTable, SortedCounts, ledger_of
from nbtext.counts.correction_table import correction_of
from nbtext.counts.sorted_counts import narrow, no_counts, sums_alone
from nbtext.store.ledger import halves


def count_table(delta: Delta) -> CountTable:
    """Return a change of a model as a count table."""
    settings, classes = delta.settings, delta.classes
    entries: dict[str, list[tuple[int, int, int]]] = {label: [] for label in classes}
    counts: dict[str, list[int]] = {label: [] for label in classes}
    for (digest, row), count in delta.ledger.items():
        if count:
            entries[row.label].append((*halves(digest), row.fingerprint))
            counts[row.label].append(count)
    return CountTable(
        settings=settings,
        classes=classes,
        documents=tuple(delta.documents[label] for label in classes),
        runs=tuple(
            tuple(sums_alone(delta.total(number, label)) for label in classes)
            if view.kind == "number"
            else _runs_of(len(view.columns), classes, delta.views[number])
            for number, view in enumerate(settings.views)
        ),
        ledger=tuple(
            ledger_of(
                np.array(entries[label], np.uint64).reshape(-1, 3),
                np.array(counts[label], np.int64),
            )
            for label in classes
        ),
    )


def correction_table(delta: Delta, info: CorrectionInfo | None) -> Correction | None:
    """Return what a change takes from the correction of a model, None if nothing."""
    change = delta.correction
    classes = sorted(change.classes)
    if info is None or not classes:
        return None
    place_of = {label: place for place, label in enumerate(classes)}
    views = []
    for by_key in change.views:
        found = [
            (key, place_of[label], value)
            for key, values in by_key.items()
            for label, value in values.items()
            if value
        ]
        keys = np.array([key for key, _, _ in found], np.uint64)
        places, numbers = (
            np.array([row[part] for row in found], np.int64) for part in (1, 2)
        )
        views.append((keys, places, numbers))
    rows = [
        ((*halves(digest), row.fingerprint), place_of[row.label], place_of[name], n)
        for (digest, row), amounts in change.amounts.items()
        for name, n in amounts.items()
        if n
    ]
    entries = np.array([row[0] for row in rows], np.uint64).reshape(-1, 3)
    labels, names, numbers = (
        np.array([row[part] for row in rows], np.int64) for part in (1, 2, 3)
    )
    amounts = (entries, labels, names, numbers)
    biases = [change.biases[label] for label in classes]
    return correction_of(info.of_change(), classes, views, amounts, biases)


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
