"""
A correction in arrays: signed values of some terms, and how each document changed them.

In training, a document that the counts misjudge adds an amount for a class, times its
weight of a term, to the term's value there. All are integers, so what a document has
added can be taken away again, bit for bit; for that its amounts are kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from nbtext.counts.correction import CorrectionInfo
    from nbtext.counts.sorted_counts import Keys

    Integers: TypeAlias = NDArray[np.integer]
    Values: TypeAlias = NDArray[np.int64]

from nbtext.counts.correction import total_info, why_not_added
from nbtext.counts.sorted_counts import narrow, starts_of_runs, sums_of_runs
from nbtext.counts.term_table import Entries, TermTable, arrange
from nbtext.errors import SettingsError
from nbtext.settings.reading import KEY_BITS

CLASS_BITS: Final = np.uint64(64 - KEY_BITS)
"""A key and the place of a class are together one integer of 64 bits."""


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


class Correction(NamedTuple):
    """
    A correction, or a change of one.

    Attributes:
        info: what it says of itself.
        classes: the names of the classes, sorted.
        biases: for each class what all documents get, in 1/256.
        terms: the values, for each view: one column, none of them zero.
        amounts: what each document has added.
    """

    info: CorrectionInfo
    classes: tuple[str, ...]
    biases: tuple[int, ...]
    terms: tuple[TermTable, ...]
    amounts: Amounts

    def of_classes(self, names: Sequence[str]) -> Correction:
        """Return the same for other classes: those that it lacks have no values."""
        if self.classes == tuple(names):
            return self
        place_of = {name: place for place, name in enumerate(names)}
        gone = len(place_of)
        places = np.array([place_of.get(name, gone) for name in self.classes], np.int64)
        biases = dict(zip(self.classes, self.biases, strict=True))
        return Correction(
            info=self.info,
            classes=tuple(names),
            biases=tuple(biases.get(name, 0) for name in names),
            terms=tuple(_moved(table, places, gone) for table in self.terms),
            amounts=_amounts_moved(self.amounts, places, gone),
        )

    def without_amounts(self) -> Correction:
        """Return the same values; nobody knows any more which document added what."""
        return self._replace(amounts=self.amounts.take(np.empty(0, np.int64)))


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
        terms=tuple(
            _total([Entries(keys, of_classes, (values,))])
            for keys, of_classes, values in views
        ),
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
        terms=tuple(
            _total([table.entries() for table in of_parts])
            if len(of_parts) > 1
            else of_parts[0]
            for of_parts in zip(*(part.terms for part in found), strict=True)
        ),
        amounts=_amounts_of(
            np.concatenate([part.amounts.entries for part in found]),
            np.concatenate([part.amounts.labels for part in found]),
            np.concatenate([part.amounts.classes for part in found]),
            np.concatenate([part.amounts.values for part in found]),
        ),
    )


def _total(parts: Sequence[Entries]) -> TermTable:
    """Arrange values in any order; those of one place are added up."""
    places = np.concatenate(
        [(part.keys << CLASS_BITS) | part.classes.astype(np.uint64) for part in parts]
    )
    order = np.argsort(places, kind="stable")  # merges what is sorted
    places = places.take(order)
    first = starts_of_runs(places)
    sums = sums_of_runs(
        np.concatenate([part.columns[0] for part in parts]).take(order), first
    )
    kept = sums.nonzero()[0]
    places = places.take(first.take(kept))
    classes = places.astype(np.uint16)  # the low bits
    return arrange([Entries(places >> CLASS_BITS, classes, (narrow(sums.take(kept)),))])


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


def _moved(table: TermTable, places: Integers, gone: int) -> TermTable:
    """Return values with other numbers for their classes, without those of some."""
    entries = table.entries()
    classes = places.take(entries.classes)
    kept = (classes < gone).nonzero()[0]
    (values,) = entries.columns
    return _total(
        [Entries(entries.keys.take(kept), classes.take(kept), (values.take(kept),))]
    )


def _amounts_moved(amounts: Amounts, places: Integers, gone: int) -> Amounts:
    """Return amounts with other numbers for classes, without those of some."""
    labels, classes = places.take(amounts.labels), places.take(amounts.classes)
    kept = ((labels < gone) & (classes < gone)).nonzero()[0]
    return Amounts(
        amounts.entries.take(kept, axis=0),
        labels.take(kept).astype(np.uint16),
        classes.take(kept).astype(np.uint16),
        amounts.values.take(kept),
    )
