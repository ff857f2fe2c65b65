"""
Which of many documents a model has counted: its ledger by arrays.

`nbtext.store.ledger` searches the file for one document; this reads the ledgers of all
its tables, adds them up once, and finds a batch of digests at a time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from nbtext.counts.sorted_counts import Keys
    from nbtext.store.file import ModelFile
    from nbtext.store.table import StoredTable

from nbtext.counts.sorted_counts import starts_of_runs, sums_of_runs
from nbtext.store.schema import LEDGER

NO_CLASS: Final = -1
"""In place of a class: the model has none of the name."""

UNKNOWN: Final = 1 << 32
"""The same in an array of unsigned numbers; no file has as many classes."""


class CountedRow(NamedTuple):
    """
    A document in a class.

    Attributes:
        class_: the place of the class, NO_CLASS if it is none of the model's.
        fingerprint: what tells the counts that it left from others.
        times: how often it was counted, 1 or more.
    """

    class_: int
    fingerprint: int
    times: int


class CountedDocuments:
    """The rows of a model's ledger, sorted by digest."""

    def __init__(self, file: ModelFile, classes: Sequence[str]) -> None:
        """
        Read the ledgers of all tables of a file.

        Args:
            file: the model.
            classes: its classes, whose places rows have.
        """
        place_of = {name: place for place, name in enumerate(classes)}
        parts = [
            _rows_of(table, place_of)
            for table in file.tables
            if table.header.settings.ledger
        ]
        rows = np.concatenate(
            [np.empty((0, 4), np.uint64), *(part[0] for part in parts)]
        )
        times = np.concatenate([np.empty(0, np.int64), *(part[1] for part in parts)])
        # by digest, then fingerprint and class; equal rows of several tables add up
        order = np.lexsort(rows.T[::-1])
        rows, times = rows.take(order, axis=0), times.take(order)
        first = starts_of_runs(*rows.T)
        sums = sums_of_runs(times, first)
        self._rows = rows.take(first[sums > 0], axis=0)
        self._times = sums[sums > 0]

    def __len__(self) -> int:
        return len(self._times)

    def rows(self, digests: Sequence[bytes]) -> list[list[CountedRow]]:
        """Return for each digest in which classes it was counted; empty if in none."""
        halves = np.frombuffer(b"".join(digests), ">u8").astype(np.uint64)
        high, low = halves.reshape(-1, 2).T
        starts = np.searchsorted(self._rows[:, 0], high, side="left").tolist()
        ends = np.searchsorted(self._rows[:, 0], high, side="right").tolist()
        return [
            [
                self._row(place)
                for place in range(start, end)
                if int(self._rows[place, 1]) == second
            ]
            for start, end, second in zip(starts, ends, low.tolist(), strict=True)
        ]

    def _row(self, place: int) -> CountedRow:
        _, _, mark, class_ = self._rows[place].tolist()
        class_ = NO_CLASS if class_ == UNKNOWN else class_
        return CountedRow(class_, mark, int(self._times[place]))


def _rows_of(
    table: StoredTable, place_of: Mapping[str, int]
) -> tuple[Keys, NDArray[np.int64]]:
    """
    Return the rows of a table's ledger, and how often each was counted.

    The rows have shape (n, 4): the two halves of the digest, fingerprint and class.
    """
    names = table.header.classes
    places = np.array([*(place_of.get(name, UNKNOWN) for name in names), UNKNOWN])
    classes = np.minimum(np.asarray(table.arrays[LEDGER.classes]), len(names))
    arrays = (LEDGER.high, LEDGER.low, LEDGER.fingerprints)
    columns = [np.asarray(table.arrays[name]).astype(np.uint64) for name in arrays]
    columns.append(places.take(classes).astype(np.uint64))
    counts = np.asarray(table.arrays[LEDGER.counts]).astype(np.int64)
    return np.stack(columns, axis=1), counts
