"""
Undo records: what documents left when they were learnt, and can be taken away.

The tables of a model file go in; the last of their records come out, for the table that
takes their place. `nbtext.store.ledger` finds a single record.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import compress, groupby
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from nbtext.settings.reading import Settings
    from nbtext.settings.views import View
    from nbtext.store.file import ModelFile
    from nbtext.store.table import StoredTable

from nbtext.exact import is_key
from nbtext.settings.reading import KEY_BITS
from nbtext.store.ledger import (
    Row,
    bin_rows,
    last_scored_by,
    record_held,
    rows_of_all,
    summed_bins,
)
from nbtext.store.schema import RECORDS, bag_arrays
from nbtext.tokens import Terms, fingerprints
from nbtext.tokens.bags import joined, starts_of, terms_of


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class UndoRecords:
    """
    What documents left when they were learnt, the latest last.

    Attributes:
        digests: 16 bytes that name each document.
        rows: the class of each, and what its counts are known by.
        bins: where the scores of each fell before it was learnt, one for each
            calibration, NO_BIN where there is none; empty if nobody knows.
        views: for each view their terms.
    """

    digests: Sequence[bytes] = ()
    rows: Sequence[Row] = ()
    bins: Sequence[tuple[int, ...]] = ()
    views: Sequence[Terms] = ()

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, places: Sequence[int]) -> UndoRecords:
        """Return some of them, in the order that is asked for."""
        return UndoRecords(
            [self.digests[place] for place in places],
            [self.rows[place] for place in places],
            [self.bins[place] for place in places],
            [terms.take(np.array(places, np.int64)) for terms in self.views],
        )

    def without_bins(self) -> UndoRecords:
        """Return the same records; where scores fell is not known any more."""
        return replace(self, bins=[()] * len(self))


def join_records(parts: Iterable[UndoRecords]) -> UndoRecords:
    """Return records one after the other."""
    parts = [part for part in parts if len(part)]
    if not parts:
        return UndoRecords()
    return UndoRecords(
        [digest for part in parts for digest in part.digests],
        [row for part in parts for row in part.rows],
        [bin_ for part in parts for bin_ in part.bins],
        [*map(joined, zip(*(part.views for part in parts), strict=True))],
    )


def records_in(tables: Sequence[StoredTable]) -> UndoRecords:
    """
    Return the records that tables hold, or are, the latest last.

    Args:
        tables: in the order of the file; by the calibrations of the last are the bins.
    """
    scorings = last_scored_by(tables)
    parts: list[UndoRecords] = []
    for are_kept, some in groupby(tables, lambda one: one.header.history.records > 0):
        if are_kept:
            parts += [_kept_records(table, scorings) for table in some]
        else:
            parts.append(_own_records(some, scorings))
    return join_records(parts)


def _kept_records(table: StoredTable, scorings: Sequence[Any]) -> UndoRecords:
    """Return the records that a table keeps of documents."""
    settings = table.header.settings
    arrays = {name: np.asarray(table.arrays[name]) for name in RECORDS}
    names = table.header.classes
    rows = [
        Row(names[place] if place < len(names) else "", mark)
        for place, mark in zip(
            arrays[RECORDS.classes].tolist(),
            arrays[RECORDS.fingerprints].tolist(),
            strict=True,
        )
    ]
    halves = np.stack([arrays[RECORDS.high], arrays[RECORDS.low]], axis=1).astype(">u8")
    views = []
    for view in settings.views:
        sizes, keys, counts = (
            np.asarray(table.arrays[name]) for name in bag_arrays(view)
        )
        if not _are_keys(keys, view):
            what = f"its records of the view {view.name} have keys that are none"
            raise table.damaged(what)
        keys = keys.astype(np.uint64)
        views.append(Terms(keys, counts.astype(np.int64), starts_of(sizes)))
    digests = [half.tobytes() for half in halves]
    bins = [*map(tuple, arrays[RECORDS.bins].reshape(len(rows), -1).tolist())]
    return UndoRecords(digests, rows, summed_bins(table, scorings, bins), views)


def _own_records(tables: Iterable[StoredTable], scorings: Sequence[Any]) -> UndoRecords:
    """Return those of tables that add one document as its record."""
    records = join_records(_record_held(table, scorings) for table in tables)
    if not len(records):
        return records
    # where it is another number, other documents' counts are in the table
    marks = zip(fingerprints(records.views).tolist(), records.rows, strict=True)
    are_whole = [mark == row.fingerprint for mark, row in marks]
    return records.take([*compress(range(len(records)), are_whole)])


def _record_held(table: StoredTable, scorings: Sequence[Any]) -> UndoRecords:
    found = record_held(table)
    if found is None:
        return UndoRecords()
    digest, row, record = found
    views = [terms_of([terms]) for terms in record.bag]
    bins = summed_bins(table, scorings, [record.bins])
    return UndoRecords([digest], [row], bins, views)


def _are_keys(keys: NDArray[np.unsignedinteger], view: View) -> bool:
    """Return whether numbers are keys of terms in a view."""
    if view.kind == "number":
        return all(map(is_key, keys.tolist()))
    return not int(keys.max(initial=0)) >> KEY_BITS


def last_records(
    file: ModelFile, tables: Iterable[StoredTable], keep: int
) -> UndoRecords:
    """
    Return the last records of some of a file's tables.

    Args:
        file: the file, whose ledger says which documents are still counted.
        tables: the tables whose records are wanted, in the order of the file.
        keep: how many are wanted.
    """
    records = records_in([*tables])
    rows = rows_of_all(file, set(records.digests))
    return last_counted(records, keep, lambda digest, row: row in rows[digest])


def last_counted(
    records: UndoRecords, keep: int, is_counted: Callable[[bytes, Row], bool]
) -> UndoRecords:
    """
    Return the last records of documents that are still counted, one of each.

    Args:
        records: those of some tables or models.
        keep: how many are wanted at most.
        is_counted: whether a document is counted in a class by a fingerprint.
    """
    places: list[int] = []
    found: set[tuple[bytes, Row]] = set()
    for place in reversed(range(len(records))):
        if len(places) == keep:
            break
        digest, row = records.digests[place], records.rows[place]
        if (digest, row) not in found and is_counted(digest, row):
            found.add((digest, row))
            places.append(place)
    return records.take(places[::-1])


def record_arrays(
    records: UndoRecords, settings: Settings, classes: Sequence[str], n_bins: int
) -> dict[str, NDArray[np.integer]]:
    """
    Return the arrays that keep records in a file.

    Args:
        records: what documents left.
        settings: how they were read.
        classes: the table's, sorted.
        n_bins: how many calibrations the table has.
    """
    halves = np.frombuffer(b"".join(records.digests), ">u8").reshape(-1, 2)
    place_of = {label: place for place, label in enumerate(classes)}
    marks = [row.fingerprint for row in records.rows]
    places = [place_of[row.label] for row in records.rows]
    arrays: dict[str, NDArray[np.integer]] = {
        RECORDS.high: halves[:, 0],
        RECORDS.low: halves[:, 1],
        RECORDS.fingerprints: np.array(marks, np.uint64),
        RECORDS.classes: np.array(places, np.int64),
        RECORDS.bins: np.array(bin_rows(records.bins, n_bins), np.int64),
    }
    for view, terms in zip(settings.views, records.views, strict=True):
        parts = (terms.sizes, terms.keys, terms.counts)
        arrays |= zip(bag_arrays(view), parts, strict=True)
    return arrays
