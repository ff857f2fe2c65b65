"""
Sorted counts: those of one view in one class, and the sum of many of them.

They are sorted by key, and keys are hashes, uniform over 48 bits. So they are cut at
the same keys, a value of some top bits each, into ranges that fit in a processor's
cache, and all of them are added up at once, one range after the other. Keys that are
not uniform only make the ranges uneven.

A view of numbers has no terms. What is kept of it is sums, integers of any width.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from nbtext.parallel import Map

from nbtext.counts.room import (
    SPILLED,
    Ranges,
    bound,
    converted,
    copied,
    empty,
    extremes,
    in_memory,
    is_in_file,
    total,
)
from nbtext.settings.reading import KEY_BITS

Keys: TypeAlias = "NDArray[np.uint64]"
Counts: TypeAlias = "NDArray[np.int32] | NDArray[np.int64]"

NO_KEYS: Final[Keys] = np.empty(0, np.uint64)

RANGE: Final = 1 << 17
"""How many rows a range has, about. With fewer a single thread is as fast, but several
wait for the interpreter's lock more often (docs/experiments/025-questions.md)."""

BOUNDS: Final = 64
"""How many ranges are cut at a time."""

LIMIT: Final = 2**31
"""Counts below it, and not below its negative, are kept in 32 bits."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SortedCounts:
    """
    The counts of one view in one class.

    Attributes:
        keys: shape (n_terms,), sorted, distinct.
        columns: one array of shape (n_terms,) for each of the settings' columns; in no
            row are all of them zero.
        sums: the sum of each column of a view of numbers (`nbtext.exact`), which has no
            rows, and of counts whose rows are elsewhere; else empty, as it is if there
            are no numbers.
    """

    keys: Keys
    columns: tuple[Counts, ...]
    sums: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self.keys)

    def total(self, column: int) -> int:
        """Return the sum of a column."""
        if self.sums:
            return self.sums[column]
        return total(self.columns[column])

    def totals(self) -> tuple[int, ...]:
        """Return the sum of each column."""
        return tuple(map(self.total, range(len(self.columns))))

    @property
    def in_memory(self) -> int:
        """How many bytes of them are in no temporary file."""
        return in_memory((self.keys, *self.columns))

    def part(self, rows: slice | NDArray[np.int64]) -> SortedCounts:
        """Return some rows."""
        return SortedCounts(
            self.keys[rows], tuple(column[rows] for column in self.columns)
        )


def put_aside(runs: Sequence[SortedCounts]) -> list[SortedCounts]:
    """
    Return the same counts, the rows that are in memory in one temporary file.

    Raises:
        NoRoomError: the temporary folder has no room for them.
    """
    fresh = [run for run in runs if run.in_memory]
    if not fresh:
        return [*runs]
    rows = copied([array for run in fresh for array in (run.keys, *run.columns)])
    arrays = iter(rows)
    return [
        SortedCounts(next(arrays), tuple(next(arrays) for _ in run.columns), run.sums)
        if run.in_memory
        else run
        for run in runs
    ]


class KeptCounts:
    """
    Sorted counts that are kept together, in temporary files where they are large.

    Attributes:
        runs: all of them, in the order in which they were added.
    """

    def __init__(self) -> None:
        self.runs: list[SortedCounts] = []
        self._n_aside = 0
        self._size = 0  # of the others, in bytes

    def add(self, run: SortedCounts) -> None:
        """
        Keep one more.

        Raises:
            NoRoomError: the temporary folder has no room for what memory is too short
                for.
        """
        self.runs.append(run)
        self._size += run.in_memory
        if self._size > bound() // SPILLED:
            self.runs[self._n_aside :] = put_aside(self.runs[self._n_aside :])
            self._n_aside, self._size = len(self.runs), 0


class CountsByClass:
    """
    The counts of one view, class by class, as they come range by range.

    What is added to a class stands behind what was added to it before.
    """

    def __init__(self, n_classes: int, n_columns: int) -> None:
        self._n_columns = n_columns
        self._parts: list[list[SortedCounts]] = [[] for _ in range(n_classes)]
        self._aside: list[list[SortedCounts]] = [[] for _ in range(n_classes)]
        self._size = 0

    def add(self, place: int, part: SortedCounts) -> None:
        """
        Add rows to a class.

        Raises:
            NoRoomError: the temporary folder has no room for what memory is too short
                for.
        """
        self._parts[place].append(part)
        self._size += part.in_memory
        if self._size > bound() // SPILLED:
            whole = [*map(self._joined, self._parts)]
            for of_class, run in zip(self._aside, put_aside(whole), strict=True):
                of_class.append(run)
            self._parts, self._size = [[] for _ in self._parts], 0

    def runs(self) -> list[SortedCounts]:
        """Return all rows of each class."""
        found = KeptCounts()
        for of_class, parts in zip(self._aside, self._parts, strict=True):
            # they have no key in common, and so are put one behind the other
            found.add(merged([*of_class, self._joined(parts)], self._n_columns))
        return found.runs

    def _joined(self, parts: Sequence[SortedCounts]) -> SortedCounts:
        if not parts:
            return no_counts(self._n_columns)
        columns = zip(*(part.columns for part in parts), strict=True)
        return SortedCounts(
            np.concatenate([part.keys for part in parts]),
            tuple(map(np.concatenate, columns)),
        )


def no_counts(n_columns: int) -> SortedCounts:
    """Return the counts of no document."""
    return SortedCounts(NO_KEYS, tuple(np.empty(0, np.int32) for _ in range(n_columns)))


def sums_alone(sums: Sequence[int]) -> SortedCounts:
    """Return the counts of a view of numbers of which these are the sums."""
    known = tuple(sums) if any(sums) else ()
    return replace(no_counts(len(sums)), sums=known)


def merged(
    runs: Iterable[SortedCounts], n_columns: int, map_: Map = map
) -> SortedCounts:
    """Add counts up; terms whose counts cancel are gone."""
    runs = list(runs)
    if any(run.sums for run in runs):  # as all of one view have
        sums = [run.sums for run in runs if run.sums]
        return sums_alone([*map(sum, zip(*sums, strict=True))])
    runs = [run for run in runs if len(run)]
    if not runs:
        return no_counts(n_columns)
    if len(runs) == 1:
        return runs[0]
    # more rows than the sum has; but what is never written to takes no memory
    n_rows = sum(map(len, runs))
    types = [_type_of_sum([run.columns[n] for run in runs]) for n in range(n_columns)]
    keys = empty(n_rows, np.uint64)
    columns: list[Counts] = [empty(n_rows, dtype) for dtype in types]
    read = (array for run in runs for array in (run.keys, *run.columns))
    working = Ranges([*read, keys, *columns])

    def sum_of_range(slices: list[slice]) -> SortedCounts:
        parts = [run.part(rows) for run, rows in zip(runs, slices, strict=True)]
        return _sum([part for part in parts if len(part)], types)

    end = 0
    # threads hold what they have done until it is asked for
    each = map if working.arrays else map_
    for added in each(sum_of_range, ranges([run.keys for run in runs])):
        start, end = end, end + len(added)
        keys[start:end] = added.keys
        for column, values in zip(columns, added.columns, strict=True):
            column[start:end] = values
        working.done(keys.itemsize * (end - start) * (1 + n_columns))
    working.let_go()
    keys, *columns = (shortened(array, end) for array in (keys, *columns))
    return SortedCounts(keys, tuple(map(narrow, columns)))


def ranges(keys: Sequence[Keys]) -> Iterator[list[slice]]:
    """Cut sorted arrays at the same keys; yield what each has in a range of keys."""
    n_rows = sum(map(len, keys))
    bits = max((n_rows // RANGE).bit_length(), 1)
    starts = [0] * len(keys)
    for first in range(1, 1 << bits, BOUNDS):
        some = np.arange(first, min(first + BOUNDS, 1 << bits), dtype=np.uint64)
        bounds = some << np.uint64(KEY_BITS - bits)
        share = len(bounds) / ((1 << bits) - first + 1)
        ends = [
            _bounded(one, start, bounds, share)
            for one, start in zip(keys, starts, strict=True)
        ]
        for stops in zip(*ends, strict=True):
            yield [slice(*ends) for ends in zip(starts, stops, strict=True)]
            starts = list(stops)
    yield [slice(start, len(one)) for one, start in zip(keys, starts, strict=True)]


def _bounded(keys: Keys, start: int, bounds: Keys, share: float) -> list[int]:
    """
    Return where keys from a place on reach some bounds.

    Args:
        keys: sorted; perhaps in a file, so that only those are looked at that are near.
        start: keys before it are less than all bounds.
        bounds: sorted.
        share: what part of the rest is expected below the last bound.
    """
    rest = keys[start:]
    near = rest[: int(1.5 * share * len(rest)) + BOUNDS]
    if len(near) < len(rest) and near[-1] < bounds[-1]:  # the keys are not uniform
        near = rest
    places: list[int] = (np.searchsorted(near, bounds) + start).tolist()
    return places


def starts_of_runs(
    keys: NDArray[np.integer], *others: NDArray[np.integer]
) -> NDArray[np.int64]:
    """Return where in sorted rows, given by columns, each distinct one begins."""
    is_first = np.empty(len(keys), np.bool_)
    is_first[:1] = True
    np.not_equal(keys[1:], keys[:-1], out=is_first[1:])
    for column in others:
        is_first[1:] |= column[1:] != column[:-1]
    return is_first.nonzero()[0]


def sums_of_runs(
    values: NDArray[np.integer], starts: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the sum of values from each start to the next, in 64 bits."""
    if not len(starts):
        return np.empty(0, np.int64)
    sums: NDArray[np.int64] = np.add.reduceat(values, starts, dtype=np.int64)
    return sums


def shortened(values: NDArray[Any], n: int) -> NDArray[Any]:
    """Return the first n values of an array that nobody else has."""
    if is_in_file(values):
        return values[:n]
    values.resize(n, refcheck=False)
    return values


def narrow(values: Counts) -> Counts:
    """Return the same values in 32 bits if all of them fit."""
    if values.dtype == np.int32 or _type_of_sum([values]) != np.int32:
        return values
    return converted(values, np.dtype(np.int32))


def _type_of_sum(columns: Sequence[Counts]) -> np.dtype[Any]:
    """Return a type that holds whatever sum of one value of each of some columns."""
    lowest, highest = map(sum, zip(*map(extremes, columns), strict=True))
    return np.dtype(np.int32 if highest < LIMIT and lowest >= -LIMIT else np.int64)


def _sum(parts: Sequence[SortedCounts], types: Sequence[np.dtype[Any]]) -> SortedCounts:
    """Add up what sorted counts have in one range of keys."""
    if len(parts) < 2:
        return parts[0] if parts else no_counts(len(types))
    keys = np.concatenate([part.keys for part in parts])
    # two sorted parts are merged; of more a sort that knows nothing is quicker
    order = np.argsort(keys, kind="stable" if len(parts) < 3 else None)
    keys = keys.take(order)
    is_first = np.empty(len(keys), np.bool_)
    is_first[0] = True
    np.not_equal(keys[1:], keys[:-1], out=is_first[1:])
    first, again = is_first.nonzero()[0], (~is_first).nonzero()[0]
    # before a key's repeat stand all repeats before it, and one first of each row
    rows = again - np.arange(1, len(again) + 1)
    columns = []
    for dtype, *column in zip(types, *(part.columns for part in parts), strict=True):
        values = np.concatenate(column).take(order)
        sums = values.take(first).astype(dtype, copy=False)
        # most keys have no repeat; so this takes half of what reduceat takes
        np.add.at(sums, rows, values.take(again))
        columns.append(sums)
    is_zero = np.logical_and.reduce([column == 0 for column in columns])
    if is_zero.any():
        first = first[~is_zero]
        columns = [column[~is_zero] for column in columns]
    return SortedCounts(keys.take(first), tuple(columns))
