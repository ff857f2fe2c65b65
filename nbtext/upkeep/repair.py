"""
Repair: the tables of a damaged model that still add up.

A table may take away what an earlier one has added. Where that one is lost, nothing is
there to be taken from, and the later one is of no use either: no documents leave counts
below zero. The time grows with the size of the tables, not with the square of their
number.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from nbtext.counts import CountTable

    Part: TypeAlias = tuple[str, int]
    """A class, and a view of it, LEDGER or DOCUMENTS."""

    Place: TypeAlias = tuple[Part, Any]
    """Where counts are: a part of a table, and the key of a term or ledger entry."""

    Columns: TypeAlias = tuple[int, ...]

from nbtext.counts.room import extremes
from nbtext.counts.table import add
from nbtext.store.header import MOST

DOCUMENTS, LEDGER = -2, -1
"""What a class has beside its views, which are numbered from 0."""


def add_sound(tables: Mapping[int, CountTable]) -> tuple[list[int], CountTable]:
    """
    Add tables up, without those that leave a sum below zero.

    A table is left out only if it takes away what the others do not have; the latest
    of those goes first.

    Args:
        tables: one or more, of equal settings, by their place in the file.

    Returns:
        The places of those that are left out, and the sum of the others.
    """
    kept = _within_64_bits(tables)
    total = add(list(kept.values()))
    if any(_below_zero(total)):
        for place in _Debts(kept).surplus():
            del kept[place]
        first = next(iter(tables.values()))
        total = add([*kept.values()] or [first, -first])
    return [place for place in tables if place not in kept], total


def _within_64_bits(tables: Mapping[int, CountTable]) -> dict[int, CountTable]:
    """Return the first tables, as many as are sure to have sums of 64 bits."""
    kept: dict[int, CountTable] = {}
    largest = 0
    for place, table in tables.items():
        largest += max((max(-low, high) for low, high in _limits(table)), default=0)
        if kept and largest >= MOST:
            break
        kept[place] = table
    return kept


class _Debts:
    """The places where the sum of tables is below zero, as tables are left out."""

    def __init__(self, tables: Mapping[int, CountTable]) -> None:
        owed = {place for table in tables.values() for place in _below_zero(table)}
        wanted = _by_part(owed)
        self._changes = {n: _changes(table, wanted) for n, table in tables.items()}
        self._sums: dict[Place, Columns] = {}
        self._takers: dict[Place, list[int]] = {place: [] for place in owed}
        for number, changes in self._changes.items():
            self._add(changes)
            for place, columns in changes.items():
                if min(columns) < 0:
                    self._takers[place].append(number)
        # each place below zero once, with minus the latest table that takes from it
        self._heap: list[tuple[int, Place]] = []
        self._waiting: set[Place] = set()
        self._push(owed)

    def surplus(self) -> Iterator[int]:
        """Yield the tables to leave out, each the latest that owes something."""
        while self._heap:
            number, place = heappop(self._heap)
            self._waiting.remove(place)
            if min(self._sums[place]) >= 0:
                continue  # what went has taken more from here than it brought
            if -number not in self._changes:
                self._push([place])  # it went for what it owed elsewhere
                continue
            yield -number
            changes = self._changes.pop(-number)
            self._add({place: tuple(-n for n in row) for place, row in changes.items()})
            self._push(changes)

    def _add(self, changes: Mapping[Place, Columns]) -> None:
        for place, columns in changes.items():
            before = self._sums.get(place, (0,) * len(columns))
            self._sums[place] = tuple(map(int.__add__, before, columns))

    def _push(self, places: Iterable[Place]) -> None:
        """Note the places that are below zero and not noted yet."""
        for place in places:
            if min(self._sums[place]) < 0 and place not in self._waiting:
                takers = self._takers[place]
                while takers[-1] not in self._changes:
                    takers.pop()
                heappush(self._heap, (-takers[-1], place))
                self._waiting.add(place)


def _parts(
    table: CountTable,
) -> Iterator[tuple[Part, NDArray[Any], Sequence[NDArray[Any]]]]:
    """Yield the parts of a table, each with the keys of its rows and its columns."""
    for place, name in enumerate(table.classes):
        documents = np.array([table.documents[place]], object)  # of any size
        yield (name, DOCUMENTS), np.zeros(1, np.uint64), [documents]
        ledger = table.ledger[place]
        yield (name, LEDGER), ledger.entries, [ledger.counts.astype(np.int64)]
        for view, runs in enumerate(table.runs):
            run = runs[place]
            columns = [column.astype(np.int64) for column in run.columns]
            yield (name, view), run.keys, columns
            if run.sums:  # of numbers no more can be missing than there are
                present = np.array(run.sums[:1], object)
                yield (name, view), np.zeros(1, np.uint64), [present]


def _limits(table: CountTable) -> Iterator[tuple[int, int]]:
    """Yield the least and the largest number of each column of a table, and of 0."""
    numbers = [*table.documents]
    numbers += [run.sums[0] for runs in table.runs for run in runs if run.sums]
    yield min([0, *numbers]), max([0, *numbers])
    yield from (extremes(run.counts) for run in table.ledger)
    for run in (run for runs in table.runs for run in runs):
        yield from map(extremes, run.columns)


def _below_zero(table: CountTable) -> Iterator[Place]:
    """Yield where the counts of a table are below zero."""
    if min(low for low, _ in _limits(table)) >= 0:
        return  # as nearly always: nothing has to be copied for it
    for part, keys, columns in _parts(table):
        is_below = np.logical_or.reduce([column < 0 for column in columns])
        yield from ((part, _hashable(key)) for key in keys[is_below.nonzero()].tolist())


class _Wanted:
    """The keys of one part of the tables in which something is owed."""

    def __init__(self, keys: Collection[Any]) -> None:
        self.keys = set(keys)
        beginnings = {key[0] if isinstance(key, tuple) else key for key in keys}
        self._beginnings = np.array(sorted(beginnings), np.uint64)

    def rows_in(self, keys: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return the rows whose keys begin as one of these: few, and all of these."""
        beginnings = keys if keys.ndim == 1 else keys[:, 0]
        places = np.searchsorted(self._beginnings, beginnings)
        places.clip(max=len(self._beginnings) - 1, out=places)
        rows: NDArray[np.int64] = np.flatnonzero(
            self._beginnings.take(places) == beginnings
        )
        return rows


def _by_part(places: Iterable[Place]) -> dict[Part, _Wanted]:
    keys_of: dict[Part, list[Any]] = {}
    for part, key in places:
        keys_of.setdefault(part, []).append(key)
    return {part: _Wanted(keys) for part, keys in keys_of.items()}


def _changes(
    table: CountTable, wanted_in: Mapping[Part, _Wanted]
) -> dict[Place, Columns]:
    """Return what a table adds where something is owed, or takes away."""
    changes = {}
    for part, keys, columns in _parts(table):
        wanted = wanted_in.get(part)
        if wanted is None:
            continue
        chosen = wanted.rows_in(keys)
        rows = zip(*(column.take(chosen).tolist() for column in columns), strict=True)
        for key, row in zip(keys.take(chosen, axis=0).tolist(), rows, strict=True):
            if _hashable(key) in wanted.keys:
                changes[part, _hashable(key)] = row
    return changes


def _hashable(key: Any) -> Any:
    return tuple(key) if isinstance(key, list) else key
