"""
Doubles: documents that several of the models that are added up have counted.

Open model files go in; out come the documents that their sum counts more often than any
of its parts does. A part is a model with what it was taught: a file, or a stretch of
one that `cat` joined. A document that one model has counted twice is no double: its
training had two copies.
"""

from __future__ import annotations

from collections import Counter as Tally
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from nbtext.store import ModelFile, StoredTable

from nbtext import wording
from nbtext.counts.room import Growing, Ranges, bound
from nbtext.counts.sorted_counts import starts_of_runs
from nbtext.store import Row
from nbtext.store.ledger import halves
from nbtext.store.schema import LEDGER

N_COLUMNS: Final = 6
"""Of a row: high, low, fingerprint, class, count and part."""

NO_ROWS: Final = np.empty((0, N_COLUMNS), np.uint64)

SORTING: Final = 8
"""How many times the bytes of rows the bound on memory is, at least, to sort them."""

LOOKED_AT: Final = 1 << 16
"""How many rows are looked at at a time."""


class Double(NamedTuple):
    """
    A document that the sum of models counts too often.

    Attributes:
        rows: where it is counted, and how often, over all models.
        kept: the same of the last model that has it.
        labels: label of an earlier model, and another one of the last.
    """

    rows: Tally[Row]
    kept: Tally[Row]
    labels: set[tuple[str, str]]


def parts_of(file: ModelFile) -> list[int]:
    """
    Return for each table of a file which of the joined models it belongs to.

    A model begins with a table that stands for itself, and goes on with those that were
    appended to it. What was learnt after joining belongs to all: it is a part of its
    own, which mostly takes away from the others.
    """
    numbers: list[int] = []
    start = number = 0
    # of those that stand for themselves the first begins part 0, whatever it says
    whole = [table.header.history.offset is None for table in file.tables[1:]]
    taught_later = sum(whole) + 1
    for table, is_whole in zip(file.tables, [False, *whole], strict=True):
        offset = table.header.history.offset
        if is_whole:
            start, number = table.offset, number + 1
        is_own = offset is None or offset == table.offset - start
        numbers.append(number if is_own else taught_later)
    return numbers


class Doubles:
    """
    The documents that several of the parts of models have.

    What is kept of them are the rows of their ledgers, perhaps in a temporary file. All
    models are added before anything is asked.
    """

    def __init__(self, files: Iterable[ModelFile] = ()) -> None:
        self._names: dict[str, int] = {}
        self._files: list[int] = []  # the place of the file that each part is of
        self._n_files = 0
        self._all = Growing()
        self._found: NDArray[np.uint64] | None = None
        for file in files:
            self.add(file)

    def add(self, file: ModelFile) -> None:
        """
        Take in the ledgers of one more file.

        Raises:
            DamagedError: they are not as they were written.
            NoRoomError: the temporary folder has no room for what memory is too short
                for.
        """
        place, self._n_files = self._n_files, self._n_files + 1
        if not file.settings.ledger:
            return
        numbers = parts_of(file)
        first = len(self._files)
        self._files += [place] * (max(numbers) + 1)
        for table, number in zip(file.tables, numbers, strict=True):
            self._all.append(self._rows_in(table, first + number).reshape(-1))

    @property
    def _rows(self) -> NDArray[np.uint64]:
        """Return the rows of documents that several parts have, sorted by digest."""
        if self._found is None:
            rows = self._all.whole().reshape(-1, N_COLUMNS) if self._files else NO_ROWS
            bits = (rows.nbytes * SORTING // bound()).bit_length()
            some = (
                _of_several(_beginning_with(rows, n, bits)) for n in range(1 << bits)
            )
            self._found = np.concatenate([*some])
        return self._found

    def _rows_in(self, table: StoredTable, part: int) -> NDArray[np.uint64]:
        arrays = table.arrays
        names = [
            self._names.setdefault(name, len(self._names))
            for name in table.header.classes
        ]
        places = np.asarray(arrays[LEDGER.classes])
        # a class that there is not is damage, which others find
        numbers = np.array([*names, 0], np.uint64)
        columns = [
            np.asarray(arrays[LEDGER.high]),
            np.asarray(arrays[LEDGER.low]),
            np.asarray(arrays[LEDGER.fingerprints]),
            numbers.take(np.minimum(places, len(names))),
            np.asarray(arrays[LEDGER.counts]).astype(np.int64).view(np.uint64),
            np.full(len(places), part, np.uint64),
        ]
        return np.stack(columns, axis=1)

    def __iter__(self) -> Iterator[Double]:
        """Yield the documents that are counted too often, by digest."""
        starts = starts_of_runs(*self._rows[:, :2].T)
        for start, end in pairwise([*starts.tolist(), len(self._rows)]):
            double = self._double(self._rows[start:end].tolist())
            if double is not None:
                yield double

    def find(self, digest: bytes) -> Double | None:
        """Return a document if it is counted too often."""
        high, low = halves(digest)
        start, end = (
            np.searchsorted(self._rows[:, 0], np.uint64(high), side)
            for side in ("left", "right")
        )
        rows = self._rows[start:end]
        return self._double(rows[rows[:, 1] == np.uint64(low)].tolist())

    def _double(self, rows: list[list[int]]) -> Double | None:
        """Return what the rows of one document come to."""
        labels = [*self._names]
        by_file: dict[int, Tally[Row]] = {}
        by_part: dict[int, Tally[Row]] = {}
        for _, _, mark, name, count, part in rows:
            row = Row(labels[name], mark)
            signed = count - (count >> 63 << 64)
            by_file.setdefault(self._files[part], Tally())[row] += signed
            by_part.setdefault(part, Tally())[row] += signed
        total: Tally[Row] = Tally()
        for counted in by_file.values():
            total.update(+counted)
        # of what a part has counted, a later one may have taken something away
        left = [
            +(counted & +by_file[self._files[part]])
            for part, counted in sorted(by_part.items())
        ]
        left = [counted for counted in left if counted]
        if total.total() <= max((counted.total() for counted in left), default=0):
            return None
        return Double(total, left[-1], _differing(left))


def _beginning_with(
    rows: NDArray[np.uint64], number: int, bits: int
) -> NDArray[np.uint64]:
    """Return the rows of digests that begin with some bits, which are a number."""
    if not bits:
        return rows
    working, found = Ranges([rows]), [NO_ROWS]
    for start in range(0, len(rows), LOOKED_AT):
        part = rows[start : start + LOOKED_AT]
        found.append(part[part[:, 0] >> np.uint64(64 - bits) == np.uint64(number)])
        working.done(part.nbytes)
    return np.concatenate(found)


def _of_several(rows: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the rows of documents that several parts have, sorted."""
    # by digest, and then by part
    order = np.lexsort((rows[:, 5], rows[:, 1], rows[:, 0]))
    rows = rows.take(order, axis=0)
    starts = starts_of_runs(*rows[:, :2].T)
    sizes = np.diff(starts, append=len(rows))
    parts = rows[:, 5]
    is_several = parts.take(starts) != parts.take(starts + sizes - 1)
    found: NDArray[np.uint64] = rows[np.repeat(is_several, sizes)]
    return found


def count_doubles(file: ModelFile) -> int:
    """
    Return how many documents a file of joined models counts too often.

    A file that was not joined is not read for it.

    Raises:
        DamagedError: its ledgers are not as they were written.
    """
    return sum(1 for _ in Doubles([file])) if max(parts_of(file)) else 0


def about_doubles(n_doubles: int) -> str:
    """Say what is wrong with a file of so many doubles, and what to do."""
    what = "document is" if n_doubles == 1 else "documents are"
    ask = wording.call("upkeep.take_doubles")
    return (
        f"{n_doubles:,} {what} in more than one of the models that were joined, and "
        f"counted as often; `{ask}` counts each once"
    )


def _differing(parts: Sequence[Tally[Row]]) -> set[tuple[str, str]]:
    """Return the labels under which the last part does not have a document."""
    *others, last = [{row.label for row in counted} for counted in parts]
    return {
        (label, other)
        for labels in others
        if labels != last
        for label in labels
        for other in last
        if label != other
    }
