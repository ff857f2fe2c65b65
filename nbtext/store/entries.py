"""
The terms of a table in a model file, range by range.

The arrays of a family of terms go in (`nbtext.store.schema`); out come its entries, one
row for each class that a term has counts in, sorted by key and class, some terms at a
time. What is read is verified, and the pages that it was read from can leave memory
again; so a model of any size is read in the memory of a range.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from nbtext.counts.sorted_counts import Counts, Keys
    from nbtext.store.blocks import Arrays
    from nbtext.store.schema import TermArrays
    from nbtext.store.table import StoredTable

from nbtext.counts import SortedCounts
from nbtext.counts.room import Ranges, empty
from nbtext.counts.sorted_counts import CountsByClass, narrow
from nbtext.counts.table import rows_by_class
from nbtext.counts.term_table import Entries
from nbtext.errors import NotAModelError
from nbtext.settings.reading import KEY_BITS
from nbtext.store.schema import (
    IMPLIED_BITS,
    LIMITS,
    LOW_BITS,
    STRIDE,
    index_bits_of,
    stored_bits,
)

TERMS: Final = 1 << 15
"""Maximum terms of a range; a multiple of STRIDE."""

ENTRY: Final = 8
"""About how many bytes an entry has in a file."""

LEAST: Final = LIMITS["i8"][0]
"""No number in a file is less."""


SMALL: Final = ("u1", "u2", "i1", "i2", "i4")
"""The types whose values all fit in 32 bits with a sign."""


class UnsoundError(Exception):
    """The arrays of a family contradict one another."""


class Stored(NamedTuple):
    """
    What is stored of some terms beside their keys.

    Attributes:
        codes: shape (n_terms,), as they stand in the file.
        sizes: shape (n_terms,), how many entries are stored of each term.
        starts: shape (n_terms,), where those of each begin below.
        is_in_place: whether they begin in the file where it says so.
        end: where those of the last term end in the file.
        classes: shape (n_stored,), the class of each entry.
        columns: an array of shape (n_stored,) for each column.
    """

    codes: NDArray[np.integer]
    sizes: NDArray[np.int64]
    starts: NDArray[np.int64]
    is_in_place: bool
    end: int
    classes: NDArray[np.integer]
    columns: tuple[NDArray[np.integer], ...]

    def entries(self, keys: Keys) -> Entries:
        """Return all entries of the terms, of which these are the keys."""
        repeats = np.maximum(self.sizes, 1)
        # entry by entry, whether it is the only one of a term that is its class alone
        is_single = np.repeat(self.sizes == 0, repeats)
        classes = np.empty(len(is_single), np.uint16)
        classes[is_single] = self.codes[self.sizes == 0]
        classes[~is_single] = self.classes
        columns = []
        for column in self.columns:
            values = np.ones(len(is_single), column.dtype)
            values[~is_single] = column
            columns.append(values)
        return Entries(np.repeat(keys, repeats), classes, tuple(columns))


class Family:
    """The terms of a family in a table."""

    def __init__(self, table: StoredTable, names: TermArrays) -> None:
        self._names = names
        self._arrays: Arrays = table.arrays
        self._n_classes = len(table.header.classes)
        self.n_terms = self._arrays.length(names.keys)
        self._bits = index_bits_of(self._arrays.length(names.buckets))
        self._index = self._arrays.unverified(names.buckets)

    def check_index(self) -> None:
        """
        Refuse an index that does not lead to all keys, one bucket after the other.

        Raises:
            UnsoundError: it does not.
            DamagedError: it is not as it was written.
        """
        before = 0
        working = Ranges([np.asarray(self._index)])
        for start in range(0, len(self._index), TERMS):
            part = self._part(self._names.buckets, start, start + TERMS)
            places = part.astype(np.int64)
            if places[0] < before or int(np.diff(places).min(initial=0)) < 0:
                raise UnsoundError
            if not start and places[0]:
                raise UnsoundError
            before = int(places[-1])
            working.done(part.nbytes)
        working.let_go()
        if before != self.n_terms:
            raise UnsoundError

    def sorted_keys(self) -> Iterator[Keys]:
        """
        Yield the keys of the terms, range by range.

        Raises:
            UnsoundError: they are not sorted, or not as the index says.
            DamagedError: they are not as they were written.
        """
        self.check_index()
        working = Ranges([self.array(self._names.keys), np.asarray(self._index)])
        last = -1
        for start in range(0, self.n_terms, TERMS):
            keys = self._keys(start, min(start + TERMS, self.n_terms))
            if int(keys[0]) <= last or not bool((keys[1:] > keys[:-1]).all()):
                raise UnsoundError
            last = int(keys[-1])
            yield keys
            working.done(2 * keys.nbytes)
        working.let_go()

    def _keys(self, start: int, end: int) -> Keys:
        """Return the keys of some terms; they are as the index says."""
        keys = self._part(self._names.keys, start, end).astype(np.uint64)
        # the buckets that these terms are in, the first and the last of them in part
        first = bisect_right(self._index, start) - 1
        last = bisect_left(self._index, end)
        bounds = np.asarray(self._index[first : last + 1]).astype(np.int64)
        bounds = bounds.clip(start, end)
        buckets = np.repeat(np.arange(first, last, dtype=np.uint64), np.diff(bounds))
        if stored_bits(self._bits) == LOW_BITS:
            # the index stands for the bits that are not stored
            tops = buckets >> np.uint64(self._bits - IMPLIED_BITS)
            keys |= tops << np.uint64(LOW_BITS)
        if not np.array_equal(keys >> np.uint64(KEY_BITS - self._bits), buckets):
            raise UnsoundError
        return keys

    def stored(self) -> Iterator[Stored]:
        """
        Yield what is stored of the terms beside their keys, range by range.

        Whether the arrays belong together is not looked at: where they end too early,
        parts are shorter.

        Raises:
            DamagedError: they are not as they were written.
        """
        names = self._names
        read = (names.codes, names.starts, names.classes, *names.columns)
        working = Ranges(map(self.array, read))
        end = 0
        for start in range(0, self.n_terms, TERMS):
            stop = min(start + TERMS, self.n_terms)
            codes = self._part(names.codes, start, stop)
            sizes = sizes_of(codes, self._n_classes)
            ends = np.cumsum(sizes)
            begin, end = end, end + int(ends[-1])
            starts = self._part(names.starts, start // STRIDE, -(-stop // STRIDE))
            yield Stored(
                codes=codes,
                sizes=sizes,
                starts=ends - sizes,
                is_in_place=np.array_equal(starts, (begin + ends - sizes)[::STRIDE]),
                end=end,
                classes=self._part(names.classes, begin, end),
                columns=tuple(self._part(name, begin, end) for name in names.columns),
            )
            working.done(codes.nbytes + (end - begin) * ENTRY)
        working.let_go()

    def entries(self, least: int) -> Iterator[Entries]:
        """
        Yield the entries, range by range.

        Args:
            least: the least number that may stand in them.

        Raises:
            UnsoundError: the arrays contradict one another.
            DamagedError: they are not as they were written.
        """
        end = 0
        for keys, part in zip(self.sorted_keys(), self.stored(), strict=True):
            end, is_short = part.end, len(part.classes) < int(part.sizes.sum())
            if is_short or not part.is_in_place:
                raise UnsoundError
            if len(part.classes) and int(part.classes.max()) >= self._n_classes:
                raise UnsoundError
            if min(int(column.min(initial=0)) for column in part.columns) < least:
                raise UnsoundError
            yield part.entries(keys)
        if end != self._arrays.length(self._names.classes):
            raise UnsoundError

    def n_entries(self) -> int:
        """Return how many entries there are, if the arrays are sound."""
        codes = self.array(self._names.codes)
        working = Ranges([codes])
        found = self._arrays.length(self._names.classes)
        for start in range(0, self.n_terms, TERMS):
            part = codes[start : start + TERMS]
            found += int(np.count_nonzero(part < self._n_classes))
            working.done(part.nbytes)
        working.let_go()
        return found

    def array(self, name: str) -> NDArray[Any]:
        """Return an array as it lies in the file, not verified."""
        return np.asarray(self._arrays.unverified(name))

    def _part(self, name: str, first: int, end: int) -> NDArray[Any]:
        """Return what an array has from one place to another, verified."""
        end = min(end, self._arrays.length(name))
        return np.asarray(self._arrays.part(name, min(first, end), end))


def sizes_of(codes: NDArray[np.integer], n_classes: int) -> NDArray[np.int64]:
    """Return how many entries are stored of each term, from the terms' codes."""
    return np.maximum(codes.astype(np.int64) - (n_classes - 1), 0)


def are_keys_sound(table: StoredTable, names: TermArrays) -> bool:
    """
    Return whether the keys of a family are sorted as its index says.

    Raises:
        DamagedError: they are not as they were written.
    """
    try:
        for _ in Family(table, names).sorted_keys():
            pass
    except UnsoundError:
        return False
    return True


def whole_entries(table: StoredTable, names: TermArrays, *, least: int) -> Entries:
    """
    Return the entries of all terms of a family.

    Args:
        table: the table.
        names: the arrays of the terms.
        least: the least number that may stand in them.

    Raises:
        NotAModelError: the arrays contradict one another.
    """
    family = Family(table, names)
    n_entries = family.n_entries()
    keys, classes = empty(n_entries, np.uint64), empty(n_entries, np.uint16)
    types = [np.asarray(table.arrays.unverified(name)).dtype for name in names.columns]
    columns = tuple(empty(n_entries, kind) for kind in types)
    working = Ranges([keys, classes, *columns])
    end = 0
    try:
        for part in family.entries(least):
            start, end = end, end + len(part.keys)
            keys[start:end], classes[start:end] = part.keys, part.classes
            for column, values in zip(columns, part.columns, strict=True):
                column[start:end] = values
            working.done(part.keys.nbytes)
    except UnsoundError:
        raise _unsound(table, names) from None
    working.let_go()
    return Entries(keys, classes, columns)


def runs_of(
    table: StoredTable, names: TermArrays, *, least: int
) -> tuple[SortedCounts, ...]:
    """
    Return the same entries class by class.

    Raises:
        NotAModelError: the arrays contradict one another.
    """
    n_classes = len(table.header.classes)
    found = CountsByClass(n_classes, len(names.columns))
    try:
        for part in Family(table, names).entries(least):
            rows_of_classes = rows_by_class(part.classes, n_classes)
            for place, rows in enumerate(rows_of_classes):
                if len(rows):
                    found.add(place, _taken(part, rows))
    except UnsoundError:
        raise _unsound(table, names) from None
    return tuple(
        SortedCounts(run.keys, tuple(map(narrow, run.columns))) for run in found.runs()
    )


def _taken(entries: Entries, rows: NDArray[np.int64]) -> SortedCounts:
    """Return some entries, their numbers in the least of two types for each column."""
    columns: list[Counts] = []
    for column in entries.columns:
        values = column.take(rows)
        if column.dtype.str[1:] in SMALL:
            columns.append(values.astype(np.int32))
        else:
            columns.append(values.astype(np.int64))
    return SortedCounts(entries.keys.take(rows), tuple(columns))


def _unsound(table: StoredTable, names: TermArrays) -> NotAModelError:
    family = names.keys.removesuffix(".keys")
    return NotAModelError(
        f"{table.arrays.path}: damaged: the arrays of the view {family!r} of the table "
        f"at byte {table.offset} contradict one another; restore a copy or train again"
    )
