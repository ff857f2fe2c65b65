"""
Counts of a range of keys as a file in a folder that all machines see.

A file holds the bytes of arrays, one after the other; what they are goes another way,
in a `StoredRange`. So a file can be mapped, and added to others range by range, without
being in memory. Its name has the digest of what it holds: whoever writes it again, as
after the death of a worker, writes the same, and whoever reads it looks whether it
holds that.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

import numpy as np

from nbtext.counts import CountTable, LedgerRun, SortedCounts
from nbtext.counts.room import release
from nbtext.distributed.parts import CountedRange, Marks, mark_of
from nbtext.distributed.shared_files import mapped, not_as_written
from nbtext.distributed.shared_folder import writing_to

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

ALIGNED: Final = 8
"""Arrays begin at multiples of so many bytes."""


@dataclass(frozen=True, slots=True)
class StoredRange:
    """
    Counts in a file.

    Attributes:
        path: the file.
        size: its size in bytes.
        mark: the digest of the counts.
        arrays: of each array the type, the number of values and the first byte.
        empty: the table, its arrays without values.
        marks: which chunks they are of.
    """

    path: str
    size: int
    mark: bytes
    arrays: tuple[tuple[str, int, int], ...]
    empty: CountTable
    marks: Marks

    def load(self) -> CountTable:
        """
        Map the file, and return its counts.

        Raises:
            ClusterError: it is not as it was written.
        """
        whole = mapped(self.path, self.size)
        table = _with_arrays(
            self.empty,
            (
                np.frombuffer(whole, np.dtype(kind), n, offset)
                for kind, n, offset in self.arrays
            ),
        )
        if mark_of(table) != self.mark:
            raise not_as_written(self.path, "it holds other counts")
        for array in _arrays_of(table):
            release(array)
        return table


def store(part: CountedRange, folder: str, number: int) -> StoredRange:
    """
    Write the counts of a range.

    Raises:
        ModelWriteError: it cannot be written.
    """
    arrays = [*_arrays_of(part.table)]
    mark = mark_of(part.table)
    name = f"{number}-{mark.hex()}"
    path = Path(folder, name)
    begun = Path(folder, f"{name}.{uuid4().hex}")
    places = []
    with writing_to(folder):
        with begun.open("wb") as file:
            for array in arrays:
                file.write(bytes(-file.tell() % ALIGNED))
                places.append((array.dtype.str, array.size, file.tell()))
                if array.size:
                    file.write(np.ascontiguousarray(array).data.cast("B"))
            file.write(b"\0")  # a file of nothing could not be mapped
            size = file.tell()
        os.replace(begun, path)  # noqa: PTH105  as everywhere in nbtext.files
    nothing = _with_arrays(part.table, (array[:0] for array in arrays))
    return StoredRange(str(path), size, mark, tuple(places), nothing, part.marks)


def _arrays_of(table: CountTable) -> Iterator[NDArray[Any]]:
    for runs in table.runs:
        for run in runs:
            yield run.keys
            yield from run.columns
    for entries in table.ledger:
        yield entries.entries
        yield entries.counts


def _with_arrays(table: CountTable, arrays: Iterator[NDArray[Any]]) -> CountTable:
    """Return a table with other arrays, in the order of `_arrays_of`."""
    runs = tuple(
        tuple(
            SortedCounts(
                next(arrays), tuple(next(arrays) for _ in run.columns), run.sums
            )
            for run in of_view
        )
        for of_view in table.runs
    )
    ledger = tuple(
        LedgerRun(next(arrays).reshape(-1, 3), next(arrays)) for _ in table.ledger
    )
    return replace(table, runs=runs, ledger=ledger)
