"""
Counts arranged by term: what scoring many documents looks up.

The entries of a count table or of a model file go in; out comes, for each view, every
distinct term once with its entries side by side, and a direct index on the top bits of
the keys. Keys are hashes, so they fill the index evenly, and a term is found in a few
steps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

    from nbtext.counts.sorted_counts import Keys, SortedCounts
    from nbtext.parallel import Map

from nbtext.counts.room import Ranges, empty, extremes, is_in_file, zeros
from nbtext.counts.sorted_counts import RANGE, ranges, shortened, starts_of_runs
from nbtext.settings.reading import KEY_BITS
from nbtext.tokens.engine import engine

Places: TypeAlias = "NDArray[np.signedinteger]"
"""Shape (n,), in 32 bits if they fit."""

NEAR: Final = 16
"""How many steps are taken from where a bucket begins before the rest is halved."""

BYTES_AN_ENTRY: Final = 32
"""About how many bytes are read and written where an entry is arranged."""

SENTINEL: Final = np.uint64(2**64 - 1)


class Entries(NamedTuple):
    """
    Counts by (key, class), sorted by key.

    Attributes:
        keys: shape (n_entries,).
        classes: shape (n_entries,), each entry's class.
        columns: one array of shape (n_entries,) for each column.
    """

    keys: Keys
    classes: NDArray[np.integer]
    columns: tuple[NDArray[np.integer], ...]

    def part(self, rows: slice) -> Entries:
        """Return some rows."""
        columns = tuple(column[rows] for column in self.columns)
        return Entries(self.keys[rows], self.classes[rows], columns)


class TermTable(NamedTuple):
    """
    The terms of one view.

    Attributes:
        keys: shape (n_terms + 1,), sorted, distinct; the last is a sentinel.
        buckets: shape (n_buckets,), where the keys with these top bits begin.
        shift: how many low bits of a key do not choose its bucket.
        starts: shape (n_terms + 2,), where each term's entries begin; the sentinel has
            none.
        classes: shape (n_entries,), sorted within a term.
        columns: one array of shape (n_entries,) for each column.
    """

    keys: Keys
    buckets: Places
    shift: np.uint64
    starts: Places
    classes: NDArray[np.integer]
    columns: tuple[NDArray[np.integer], ...]

    @property
    def n_terms(self) -> int:
        """Return how many distinct terms there are."""
        return len(self.keys) - 1

    def entries(self) -> Entries:
        """Return the entries of all terms."""
        keys = np.repeat(self.keys[:-1], np.diff(self.starts[:-1]))
        return Entries(keys, self.classes, self.columns)

    def find(self, keys: Keys) -> Places:
        """Return the place of each key, n_terms for those that are unknown."""
        if not engine().is_compiled:
            return self.find_by_steps(keys)
        from nbtext import _compiled

        places = np.empty(len(keys), np.int64)
        _compiled.find(self.keys, self.buckets, int(self.shift), keys, places)
        return places

    def find_by_steps(self, keys: Keys) -> Places:
        """Return the same by operations on arrays: all that are behind take a step."""
        # as the indices that numpy takes, which are not converted again at every step
        places = self.buckets.take((keys >> self.shift).view(np.int64)).astype(np.int64)
        found = self.keys.take(places)
        behind = (found < keys).nonzero()[0]
        for _ in range(NEAR):
            if not len(behind):
                break
            places[behind] += 1
            found[behind] = after = self.keys.take(places.take(behind))
            behind = behind.take((after < keys.take(behind)).nonzero()[0])
        else:  # somebody has chosen keys that lie close together
            places[behind] = self.keys.searchsorted(keys.take(behind))
            found[behind] = self.keys.take(places.take(behind))
        places[found != keys] = self.n_terms
        return places

    def sums(self, column: int) -> NDArray[np.int64]:
        """Return the sum of a column over the classes, shape (n_terms + 1,)."""
        sums = zeros(self.n_terms + 1, np.int64)
        values = self.columns[column]
        working = Ranges([values, self.starts, sums])
        for start in range(0, self.n_terms, RANGE):
            starts = self.starts[start : min(start + RANGE, self.n_terms) + 1]
            part = values[starts[0] : starts[-1]]
            terms = slice(start, start + len(starts) - 1)
            # of short pieces, quicker than np.add.reduceat
            before = np.zeros(len(part) + 1, np.int64)
            np.cumsum(part, dtype=np.int64, out=before[1:])
            sums[terms] = np.diff(before.take(starts - starts[0]))
            working.done(part.nbytes + sums[terms].nbytes)
        working.let_go()
        return sums

    def pairs(self, column: int) -> NDArray[np.signedinteger]:
        """Return a column in the first and the second class, shape (n_terms + 1, 2)."""
        values = self.columns[column]
        is_small = extremes(values)[1] < 2**31
        kind: type[np.signedinteger] = np.int32 if is_small else np.int64
        cells: Places = zeros(2 * (self.n_terms + 1), kind)
        working = Ranges([values, self.classes, self.starts, cells])
        for start in range(0, self.n_terms, RANGE):
            starts = self.starts[start : start + RANGE + 1]
            terms = np.arange(2 * start, 2 * (start + len(starts) - 1), 2)
            entries = slice(starts[0], starts[-1])
            places = np.repeat(terms, np.diff(starts))
            places += self.classes[entries]
            # numpy takes twice as long where it converts what it puts there
            cells[places] = values[entries].astype(kind, copy=False)
            working.done(len(terms) * BYTES_AN_ENTRY)
        working.let_go()
        return cells.reshape(-1, 2)


def take_pairs(
    pairs: NDArray[np.signedinteger], places: Places
) -> NDArray[np.signedinteger]:
    """Return the pairs at some places; a pair is taken as one value."""
    whole = pairs.view(np.uint64 if pairs.dtype == np.int32 else np.complex128)
    return whole.ravel().take(places).view(pairs.dtype).reshape(-1, 2)


def arrange(parts: Sequence[Entries], map_: Map = map) -> TermTable:
    """
    Arrange entries by term.

    Args:
        parts: entries that have no (key, class) in common; where they share a key, the
            parts stand in the order of their classes.
        map_: deals with the ranges of keys.
    """
    n_entries = sum(len(part.keys) for part in parts)
    # perhaps more than there are terms; but what is never written to takes no memory
    keys = empty(n_entries + 1, np.uint64)
    starts = empty(n_entries + 2, _place_type(n_entries))
    classes = empty(n_entries, np.result_type(*(part.classes for part in parts)))
    columns = tuple(
        empty(n_entries, _type_of(column))
        for column in zip(*(part.columns for part in parts), strict=True)
    )
    read = (array for part in parts for array in (part.keys, *part.columns))
    working = Ranges([*read, keys, starts, classes, *columns])

    def range_in_order(slices: list[slice]) -> Entries:
        return _in_order([p.part(rows) for p, rows in zip(parts, slices, strict=True)])

    n_terms = end = 0
    # threads hold what they have done until it is asked for
    each = map if working.arrays else map_
    for some in each(range_in_order, ranges([part.keys for part in parts])):
        start, end = end, end + len(some.keys)
        classes[start:end] = some.classes
        for column, values in zip(columns, some.columns, strict=True):
            column[start:end] = values
        first = starts_of_runs(some.keys)
        terms = slice(n_terms, n_terms + len(first))
        keys[terms] = some.keys.take(first)
        starts[terms] = first + start
        n_terms = terms.stop
        working.done((end - start) * BYTES_AN_ENTRY)
    keys = shortened(keys, n_terms + 1)
    keys[-1] = SENTINEL
    starts = shortened(starts, n_terms + 2)
    starts[-2:] = n_entries
    working.let_go()
    return _indexed(keys, starts, classes, columns)


def _type_of(columns: Sequence[NDArray[np.integer]]) -> np.dtype[Any]:
    """Return the least type that holds a column; of those in a file, what it has."""
    held = np.result_type(*columns)
    if held.kind == "u" or any(map(is_in_file, columns)):
        return held
    lows, highs = zip(*map(extremes, columns), strict=True)
    return np.result_type(np.int16, *map(np.min_scalar_type, (min(lows), ~max(highs))))


def _in_order(parts: Sequence[Entries]) -> Entries:
    """Return the entries of all parts, sorted by key, those of a key as they stand."""
    if len(parts) == 1:
        return parts[0]
    keys = np.concatenate([part.keys for part in parts])
    order = np.argsort(keys, kind="stable")  # merges, since each part is sorted
    return Entries(
        keys.take(order),
        np.concatenate([part.classes for part in parts]).take(order),
        tuple(
            np.concatenate(column).take(order)
            for column in zip(*(part.columns for part in parts), strict=True)
        ),
    )


def subtract(
    table: TermTable, part: TermTable, wanted: Collection[int] | None = None
) -> TermTable:
    """
    Return counts less a part of them, without what nothing is left of.

    Args:
        table: the counts.
        part: counts of some of the same documents, with the same columns; all of its
            entries are among those of the table.
        wanted: the places of the columns that are wanted, None for all; the others are
            left empty.
    """
    rows = entries_of(table, table.find(part.keys[:-1]), part)
    nothing_left = np.ones(len(rows), np.bool_)
    for column, values in zip(table.columns, part.columns, strict=True):
        nothing_left &= column.take(rows) == values
    gone = rows[nothing_left]
    columns = enumerate(zip(table.columns, part.columns, strict=True))
    keys, starts = _terms_left(table, gone)
    return _indexed(
        keys,
        starts,
        _entries_left(table.classes, rows, None, gone),
        tuple(
            _entries_left(column, rows, values, gone)
            if wanted is None or place in wanted
            else column[:0]
            for place, (column, values) in columns
        ),
    )


def _entries_left(
    values: NDArray[np.integer],
    rows: Places,
    less: NDArray[np.integer] | None,
    gone: Places,
) -> NDArray[np.integer]:
    """
    Return what is left of some values, range by range.

    Args:
        values: shape (n_entries,).
        rows: of which something is taken, ascending.
        less: how much, of each of them; None for nothing.
        gone: those of the rows that are left out, ascending.
    """
    left = empty(len(values) - len(gone), values.dtype)
    working = Ranges([values, left])
    for start in range(0, len(values), RANGE):
        part = values[start : start + RANGE]
        if less is not None:
            part = part.copy()
            low, high = np.searchsorted(rows, [start, start + len(part)])
            part[rows[low:high] - start] -= less[low:high].astype(part.dtype)
        low, high = np.searchsorted(gone, [start, start + len(part)])
        part = np.delete(part, gone[low:high] - start)
        left[start - low : start - low + len(part)] = part
        working.done(2 * part.nbytes)
    working.let_go()
    return left


def _terms_left(table: TermTable, gone: Places) -> tuple[Keys, Places]:
    """Return the keys and starts of the terms that have entries without some rows."""
    keys = empty(len(table.keys), np.uint64)
    starts = empty(len(table.starts), table.starts.dtype)
    working = Ranges([table.keys, table.starts, keys, starts])
    n_terms = 0
    for start in range(0, table.n_terms, RANGE):
        end = min(start + RANGE, table.n_terms)
        some = table.starts[start : end + 1]
        some = some - np.searchsorted(gone, some).astype(some.dtype)
        having = np.flatnonzero(some[1:] > some[:-1])
        terms = slice(n_terms, n_terms + len(having))
        keys[terms] = table.keys[start:end].take(having)
        starts[terms] = some.take(having)
        n_terms = terms.stop
        working.done((end - start) * BYTES_AN_ENTRY)
    keys, starts = shortened(keys, n_terms + 1), shortened(starts, n_terms + 2)
    keys[-1] = SENTINEL
    starts[-2:] = len(table.classes) - len(gone)
    working.let_go()
    return keys, starts


def restricted(table: TermTable, wanted: Keys) -> TermTable:
    """
    Return the terms of a table that are among some keys, range by range.

    Args:
        table: it may be in files that are far larger than memory.
        wanted: sorted, distinct.
    """
    working = Ranges([table.keys, table.starts, table.classes, *table.columns])
    found: list[list[NDArray[Any]]] = []
    for start in range(0, table.n_terms, RANGE):
        keys = table.keys[start : min(start + RANGE, table.n_terms)]
        low, high = np.searchsorted(wanted, keys[[0, -1]] + np.array([0, 1], np.uint64))
        some = wanted[low:high]
        places = np.searchsorted(keys, some)
        places = places[keys.take(places) == some] + start
        first = table.starts.take(places)
        sizes = table.starts.take(places + 1) - first
        # where the entries of each are, one after the other
        rows = np.repeat(first - np.cumsum(sizes) + sizes, sizes)
        rows += np.arange(len(rows), dtype=rows.dtype)
        of_columns = [column.take(rows) for column in table.columns]
        found.append(
            [table.keys.take(places), sizes, table.classes.take(rows), *of_columns]
        )
        working.done(keys.nbytes + BYTES_AN_ENTRY * len(keys))
    working.let_go()
    nothing = [table.keys[:0], table.starts[:0], table.classes[:0]]
    nothing += [column[:0] for column in table.columns]
    keys, sizes, classes, *columns = map(
        np.concatenate, zip(nothing, *found, strict=True)
    )
    return in_order(keys, np.cumsum(sizes) - sizes, classes, tuple(columns))


def entries_of(table: TermTable, places: Places, part: TermTable) -> Places:
    """Return the entries that a table has for those of a part, whose terms it has."""
    lengths = np.diff(part.starts[:-1])
    low = np.repeat(table.starts.take(places), lengths)
    high = np.repeat(table.starts.take(places + 1), lengths)
    for _ in range(int((high - low).max(initial=1)).bit_length()):
        middle = (low + high) >> 1
        is_behind = (table.classes.take(middle, mode="clip") < part.classes) & (
            middle < high
        )
        low = np.where(is_behind, middle + 1, low)
        high = np.where(is_behind, high, middle)
    return low


def in_order(
    keys: Keys,
    starts: Places,
    classes: NDArray[np.integer],
    columns: tuple[NDArray[np.integer], ...],
) -> TermTable:
    """
    Return entries that are arranged already.

    Args:
        keys: shape (n_terms,), sorted, distinct.
        starts: shape (n_terms,), where each term's entries begin.
        classes: shape (n_entries,), sorted within a term.
        columns: one array of shape (n_entries,) for each column.
    """
    n_entries = len(classes)
    starts = np.append(starts, [n_entries] * 2).astype(_place_type(n_entries))
    return _indexed(np.append(keys, SENTINEL), starts, classes, columns)


def _place_type(n_entries: int) -> np.dtype[np.signedinteger]:
    return np.dtype(np.int32 if n_entries < 2**31 else np.int64)


def _indexed(
    keys: Keys,
    starts: Places,
    classes: NDArray[np.integer],
    columns: tuple[NDArray[np.integer], ...],
) -> TermTable:
    """Return a table with the index of its keys, of which the last is the sentinel."""
    # two to four keys in each: an index of twice as many is further from the processor
    bits = max((len(keys) - 1).bit_length() - 2, 1)
    return TermTable(
        keys=keys,
        buckets=_buckets(keys[:-1], bits, starts.dtype),
        shift=np.uint64(KEY_BITS - bits),
        starts=starts,
        classes=classes,
        columns=columns,
    )


def _buckets(keys: Keys, bits: int, place_type: np.dtype[Any]) -> Places:
    """Return where the keys of each value of their first bits begin."""
    starts = empty((1 << bits) + 1, place_type)
    working, next_one = Ranges([keys, starts]), 0
    for start in range(0, len(keys), RANGE):
        bucket_of = (keys[start : start + RANGE] >> np.uint64(KEY_BITS - bits)).view(
            np.int64
        )
        first = int(bucket_of[0])
        ends = np.cumsum(np.bincount(bucket_of - first))
        # where a bucket ends, the next one begins
        starts[next_one : first + 1] = start
        next_one = first + 1 + len(ends)
        starts[first + 1 : next_one] = ends + start
        working.done(bucket_of.nbytes)
    starts[next_one:] = len(keys)
    working.let_go()
    return starts[:-1]


def arrange_runs(runs: Sequence[SortedCounts], map_: Map = map) -> TermTable:
    """Arrange the runs of the classes, in their order."""
    return arrange(
        [
            Entries(run.keys, np.broadcast_to(np.uint16(place), len(run)), run.columns)
            for place, run in enumerate(runs)
        ],
        map_,
    )
