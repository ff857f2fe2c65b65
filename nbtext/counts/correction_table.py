"""
A correction in arrays: signed values of some terms, and how each document changed them.

In training, a document that the counts misjudge adds an amount for a class, times its
weight of a term, to the term's value there. All are integers, so what a document has
added can be taken away again, bit for bit; for that its amounts are kept.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from numpy.typing import NDArray

    from nbtext.counts.correction import CorrectionInfo
    from nbtext.counts.sorted_counts import Keys
    from nbtext.counts.term_table import TermTable

    Integers: TypeAlias = NDArray[np.integer]
    Values: TypeAlias = NDArray[np.int64]

from nbtext.counts.correction import total_info, why_not_added
from nbtext.counts.sorted_counts import (
    SortedCounts,
    merged,
    narrow,
    no_counts,
    starts_of_runs,
    sums_of_runs,
)
from nbtext.counts.table import rows_by_class
from nbtext.counts.term_table import arrange_runs
from nbtext.errors import SettingsError


@dataclass(frozen=True, slots=True)
class Amounts:
    """
    How documents changed a correction: one row for each document and class.

    The rows are distinct and sorted by high, low, label, fingerprint, class.

    Attributes:
        entries: shape (n, 3), the two halves of the document's digest and the
            fingerprint of its counts, as in the ledger.
        labels: shape (n,), the place of the class that the document is counted in.
        classes: shape (n,), the place of the class that the amount is of.
        values: shape (n,), in 1/256, for all copies of the document; never zero.
    """

    entries: Keys
    labels: NDArray[np.uint16]
    classes: NDArray[np.uint16]
    values: Values

    def __len__(self) -> int:
        return len(self.values)

    def starts(self) -> NDArray[np.int64]:
        """Return where the rows of each document begin."""
        return starts_of_runs(*self.entries.T, self.labels)

    def take(self, rows: Integers) -> Amounts:
        """Return some rows."""
        return Amounts(
            self.entries.take(rows, axis=0),
            self.labels.take(rows),
            self.classes.take(rows),
            self.values.take(rows),
        )


@dataclass(frozen=True, slots=True)
class Correction:
    """
    A correction, or a change of one.

    Attributes:
        info: what it says of itself.
        classes: the names of the classes, sorted.
        biases: for each class what all documents get, in 1/256.
        runs: the values, by view and then by class: one column of 64-bit integers,
            none of them zero.
        amounts: what each document has added.
    """

    info: CorrectionInfo
    classes: tuple[str, ...]
    biases: tuple[int, ...]
    runs: tuple[tuple[SortedCounts, ...], ...]
    amounts: Amounts

    def terms(self) -> tuple[TermTable, ...]:
        """Return the values by term, for each view."""
        return tuple(arrange_runs(runs or (no_counts(1),)) for runs in self.runs)

    def of_classes(self, names: Sequence[str]) -> Correction:
        """Return the same for other classes: those that it lacks have no values."""
        place_of = {name: place for place, name in enumerate(self.classes)}
        places = [place_of.get(name) for name in names]
        return Correction(
            info=self.info,
            classes=tuple(names),
            biases=tuple(0 if p is None else self.biases[p] for p in places),
            runs=tuple(
                tuple(no_counts(1) if p is None else by_class[p] for p in places)
                for by_class in self.runs
            ),
            amounts=_of_classes(self.amounts, self.classes, names),
        )

    def without_amounts(self) -> Correction:
        """Return the same values; nobody knows any more which document added what."""
        return replace(self, amounts=self.amounts.take(np.empty(0, np.int64)))


def correction_of(
    info: CorrectionInfo,
    classes: Sequence[str],
    views: Iterable[tuple[Keys, Integers, Integers]],
    amounts: tuple[Keys, Integers, Integers, Integers],
    biases: Sequence[int] | None = None,
) -> Correction:
    """
    Return a correction of values in any order; those of one place are added up.

    Args:
        info: what it says of itself.
        classes: the names of the classes, sorted.
        views: for each view the keys of terms, the places of classes and the values,
            in arrays of one length.
        amounts: rows of the ledger, shape (n, 3): high, low and fingerprint; the places
            of their classes; the places of the classes that were changed; and by how
            much, in 1/256.
        biases: for each class what all documents get, in 1/256; None if it is the sum
            of the amounts.

    """
    rows = _amounts_of(*amounts)
    if biases is None:
        sums = np.zeros(len(classes), np.int64)
        np.add.at(sums, rows.classes, rows.values)
        biases = sums.tolist()
    return Correction(
        info=info,
        classes=tuple(classes),
        biases=tuple(biases),
        runs=tuple(_runs_of(len(classes), *view) for view in views),
        amounts=rows,
    )


def add_corrections(
    parts: Iterable[Correction | None], *, are_changes: bool = False
) -> Correction | None:
    """
    Add the changes of a correction to it.

    Args:
        parts: one of them is the correction, and the others change it.
        are_changes: whether the correction may be missing.

    Raises:
        SettingsError: two parts are corrections, or not of the same one.

    """
    found = [part for part in parts if part is not None]
    if not found:
        return None
    infos = [part.info for part in found]
    reason = why_not_added(infos, are_changes=are_changes)
    if reason:
        raise SettingsError(reason)
    names = sorted({name for part in found for name in part.classes})
    found = [part.of_classes(names) for part in found]
    return Correction(
        info=total_info(infos),
        classes=tuple(names),
        biases=tuple(map(sum, zip(*(part.biases for part in found), strict=True))),
        runs=tuple(
            tuple(merged(runs, 1) for runs in zip(*by_part, strict=True))
            for by_part in zip(*(part.runs for part in found), strict=True)
        ),
        amounts=_amounts_of(
            np.concatenate([part.amounts.entries for part in found]),
            np.concatenate([part.amounts.labels for part in found]),
            np.concatenate([part.amounts.classes for part in found]),
            np.concatenate([part.amounts.values for part in found]),
        ),
    )


def _runs_of(
    n_classes: int, keys: Keys, classes: Integers, values: Integers
) -> tuple[SortedCounts, ...]:
    """Return the values of a view by class, sorted and added up."""
    order = np.lexsort((classes, keys))
    keys, classes = keys.take(order), classes.take(order)
    first = starts_of_runs(keys, classes)
    sums = sums_of_runs(values.take(order), first)
    kept = sums.nonzero()[0]
    keys, classes = keys.take(first.take(kept)), classes.take(first.take(kept))
    sums = sums.take(kept)
    return tuple(
        SortedCounts(keys.take(rows), (narrow(sums.take(rows)),))
        for rows in rows_by_class(classes, n_classes)
    )


def _amounts_of(
    entries: Keys, labels: Integers, classes: Integers, values: Integers
) -> Amounts:
    """Return amounts sorted and added up."""
    order = np.lexsort((classes, entries[:, 2], labels, entries[:, 1], entries[:, 0]))
    entries, labels = entries.take(order, axis=0), labels.take(order)
    classes = classes.take(order)
    first = starts_of_runs(*entries.T, labels, classes)
    sums = sums_of_runs(values.take(order), first)
    kept = sums.nonzero()[0]
    rows = first.take(kept)
    return Amounts(
        entries.take(rows, axis=0),
        labels.take(rows).astype(np.uint16),
        classes.take(rows).astype(np.uint16),
        sums.take(kept),
    )


def _of_classes(
    amounts: Amounts, old: Sequence[str], names: Collection[str]
) -> Amounts:
    """Return amounts by the places of other classes, without those that are gone."""
    new_place = {name: place for place, name in enumerate(names)}
    gone = len(new_place)
    places = np.array([*(new_place.get(name, gone) for name in old), gone], np.int64)
    labels, classes = places.take(amounts.labels), places.take(amounts.classes)
    kept = ((labels < gone) & (classes < gone)).nonzero()[0]
    return Amounts(
        amounts.entries.take(kept, axis=0),
        labels.take(kept).astype(np.uint16),
        classes.take(kept).astype(np.uint16),
        amounts.values.take(kept),
    )
