"""
Counts arranged by term: what scoring many documents looks up.

The entries of a count table or of a model file go in; out comes, for each view, every
distinct term once with its entries side by side, and a direct index on the top bits of
the keys. Keys are hashes, so they fill the index evenly, and a term is found in a step
or two.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from nbtext.runs import Keys, Run


Index: TypeAlias = "NDArray[np.int64]"

Places: TypeAlias = "NDArray[np.signedinteger]"
"""Shape (n,), in 32 bits if they fit."""

RANGE: Final = 1 << 15
"""How many terms are dealt with at a time, so that they stay in the cache."""

SENTINEL: Final = np.uint64(2**64 - 1)


@dataclass(frozen=True, slots=True)
class Entries:
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


@dataclass(frozen=True, slots=True)
class TermTable:
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

    def find(self, keys: Keys) -> Places:
        """Return the place of each key, n_terms for those that are unknown."""
        # as the indices that numpy takes, which are not converted again at every step
        places = self.buckets.take((keys >> self.shift).view(np.int64)).astype(np.int64)
        found = self.keys.take(places)
        behind = (found < keys).nonzero()[0]
        while len(behind):
            places[behind] += 1
            found[behind] = after = self.keys.take(places.take(behind))
            behind = behind.take((after < keys.take(behind)).nonzero()[0])
        places[found != keys] = self.n_terms
        return places

    def sums(self, column: int) -> NDArray[np.int64]:
        """Return the sum of a column over the classes, shape (n_terms + 1,)."""
        sums = np.zeros(self.n_terms + 1, np.int64)
        if self.n_terms:
            first = self.starts[:-2]
            np.add.reduceat(self.columns[column], first, dtype=np.int64, out=sums[:-1])
        return sums

    def pairs(self, column: int) -> NDArray[np.signedinteger]:
        """Return a column in the first and the second class, shape (n_terms + 1, 2)."""
        values = self.columns[column]
        is_small = int(values.max(initial=0)) < 2**31
        pairs = np.zeros((self.n_terms + 1, 2), np.int32 if is_small else np.int64)
        cells = pairs.reshape(-1)
        for start in range(0, self.n_terms, RANGE):
            starts = self.starts[start : start + RANGE + 1]
            terms = np.arange(2 * start, 2 * (start + len(starts) - 1), 2)
            entries = slice(starts[0], starts[-1])
            places = np.repeat(terms, np.diff(starts))
            places += self.classes[entries]
            cells[places] = values[entries]
        return pairs


def take_pairs(
    pairs: NDArray[np.signedinteger], places: Places
) -> NDArray[np.signedinteger]:
    """Return the pairs at some places; a pair is taken as one value."""
    whole = pairs.view(np.uint64 if pairs.dtype == np.int32 else np.complex128)
    return whole.ravel().take(places).view(pairs.dtype).reshape(-1, 2)


def arrange(parts: Sequence[Entries]) -> TermTable:
    """
    Arrange entries by term.

    Args:
        parts: entries that have no (key, class) in common; where they share a key, the
            parts stand in the order of their classes.

    """
    # what is done with is let go of, because all of this is as long as the entries
    keys = np.concatenate([part.keys for part in parts])
    order = np.argsort(keys, kind="stable")  # merges, since each part is sorted
    keys = keys.take(order)
    is_first = np.empty(len(keys), np.bool_)
    is_first[:1] = True
    np.not_equal(keys[1:], keys[:-1], out=is_first[1:])
    first = is_first.nonzero()[0]
    distinct = np.append(keys.take(first), SENTINEL)
    del keys, is_first
    columns = tuple(
        np.concatenate(column).take(order)
        for column in zip(*(part.columns for part in parts), strict=True)
    )
    classes = np.concatenate([part.classes for part in parts]).take(order)
    place_type = np.dtype(np.int32 if len(order) < 2**31 else np.int64)
    starts = np.append(first, [len(order), len(order)]).astype(place_type)
    bits = max(len(first).bit_length() - 1, 1)
    del order, first
    shift = np.uint64(64 - bits)
    return TermTable(
        keys=distinct,
        buckets=_buckets(distinct[:-1], bits, place_type),
        shift=shift,
        starts=starts,
        classes=classes,
        columns=columns,
    )


def _buckets(keys: Keys, bits: int, place_type: np.dtype[Any]) -> Places:
    """Return where the keys of each value of their first bits begin."""
    bucket_of = (keys >> np.uint64(64 - bits)).astype(np.int64)
    sizes = np.bincount(bucket_of, minlength=1 << bits).astype(place_type)
    del bucket_of
    buckets: Places = np.empty_like(sizes)
    np.cumsum(sizes, out=buckets)
    buckets -= sizes
    return buckets


def arrange_runs(runs: Sequence[Run]) -> TermTable:
    """Arrange the runs of the classes, in their order."""
    return arrange(
        [
            Entries(run.keys, np.full(len(run), place, np.uint16), run.columns)
            for place, run in enumerate(runs)
        ]
    )
