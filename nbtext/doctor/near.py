"""
Near duplicates: documents that share most of their terms.

A document's terms are a set of keys, and keys are hashes. The range of keys is cut into
BINS parts, and of each part the least key is kept, which of two sets is the same as
often as they have terms in common (one permutation hashing; Li, Owen and Zhang 2012).
Documents that agree in all bins of one of several bands are held against each other
(Broder 1997). So the work grows as the number of documents does, and what is kept of
one is BINS numbers of 16 bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from nbtext.scoring.batch_model import Labels
    from nbtext.tokens import Terms


from nbtext.settings.reading import KEY_BITS

BIN_BITS: Final = 6
BINS: Final = 1 << BIN_BITS
"""Number of values that are kept of a document."""

ROWS: Final = 4
"""Bins of a band: documents that have 80 % in common agree in one of 16 bands 999 times
in 1,000, those that have 30 % one time in 8."""

NOTHING: Final = 0
"""Stands for a bin without a term."""

FEWEST_BINS: Final = 2
"""Bins of a band that must hold a term."""

FEWEST: Final = 10
"""Terms of a document that is looked at; shorter ones are alike by chance."""

LEAST: Final = 0.75
"""The least share of terms that near duplicates have in common, of all that they have
(Jaccard)."""


class Near(NamedTuple):
    """
    Two documents that share most of their terms.

    Attributes:
        first, second: their places, the first the lesser.
        similarity: about what share of their terms they have in common.
    """

    first: int
    second: int
    similarity: float


class Sketches:
    """What is kept of documents to find those that are alike."""

    def __init__(self) -> None:
        self._parts: list[NDArray[np.uint16]] = []

    def add(self, terms: Terms) -> None:
        """Take in a batch of documents."""
        owner = np.repeat(np.arange(terms.n_documents), terms.sizes)
        bins = (terms.keys >> np.uint64(KEY_BITS - BIN_BITS)).astype(np.int64)
        cells = owner * BINS + bins
        # a document's keys are in order, so the first of a bin is the least
        first = np.flatnonzero(np.diff(cells, prepend=-1))
        sketch = np.full((terms.n_documents, BINS), NOTHING, np.uint16)
        # the lowest bits, which are as random as the highest; 0 is an empty bin
        kept = terms.keys.take(first).astype(np.uint16) | np.uint16(1)
        is_long = terms.sizes >= FEWEST
        sketch.reshape(-1)[cells.take(first)] = kept
        sketch[~is_long] = NOTHING
        self._parts.append(sketch)

    def near(self, labels: Labels) -> list[Near]:
        """
        Return near duplicates of different classes, the most alike first.

        Args:
            labels: shape (n_documents,), the places of their classes.
        """
        sketches = self._joined()
        found: dict[tuple[int, int], float] = {}
        for first, second in self._candidates(sketches, labels):
            alike = _similarity(sketches[first], sketches[second])
            for place in np.flatnonzero(alike >= LEAST).tolist():
                pair = int(first[place]), int(second[place])
                found[min(pair), max(pair)] = float(alike[place])
        pairs = [Near(*pair, similarity) for pair, similarity in found.items()]
        return sorted(pairs, key=lambda one: (-one.similarity, one.first, one.second))

    def repeats(self, labels: Labels, copies: NDArray[np.int64]) -> NDArray[np.bool_]:
        """
        Return which documents are nearly the same as one before them of their class.

        Args:
            labels: shape (n_documents,), the places of their classes.
            copies: shape (n_documents,), numbers that only copies share, which are the
                same document and no near duplicates.
        """
        found = np.zeros(len(labels), np.bool_)
        sketches = self._joined()
        for places, bucket in _bands(sketches):
            order = places[np.lexsort((places, labels[places], bucket[places]))]
            is_new = np.diff(bucket[order], prepend=0) != 0
            is_new |= np.diff(labels[order], prepend=-1) != 0
            begins = np.flatnonzero(is_new)
            first = np.repeat(order[begins], np.diff(begins, append=len(order)))
            is_other = (copies[first] != copies[order]) & ~found[order]
            first, order = first[is_other], order[is_other]
            alike = _similarity(sketches[first], sketches[order]) >= LEAST
            found[order[alike]] = True
        return found

    def _joined(self) -> NDArray[np.uint16]:
        """Return the sketches of all documents, of shape (n_documents, BINS)."""
        nothing = np.empty((0, BINS), np.uint16)
        self._parts = [np.concatenate([nothing, *self._parts])]
        return self._parts[0]

    def _candidates(
        self, sketches: NDArray[np.uint16], labels: Labels
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Yield pairs of documents of different classes that are in one bucket."""
        for places, bucket in _bands(sketches):
            order = places[np.lexsort((labels[places], bucket[places]))]
            # each is held against the first and the last of its bucket, one of which is
            # of another class if any document of the bucket is
            begins = np.flatnonzero(np.diff(bucket[order], prepend=0) != 0)
            sizes = np.diff(begins, append=len(order))
            for ends in (order[begins], order[begins + sizes - 1]):
                other = np.repeat(ends, sizes)
                is_pair = labels[order] != labels[other]
                yield order[is_pair], other[is_pair]


def _bands(
    sketches: NDArray[np.uint16],
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.uint64]]]:
    """
    Yield for each band the places of documents with terms there, and their buckets.

    Args:
        sketches: shape (n_documents, BINS).
    """
    for start in range(0, BINS, ROWS):
        band = np.ascontiguousarray(sketches[:, start : start + ROWS])
        is_full = (band != NOTHING).sum(axis=1) >= FEWEST_BINS
        yield np.flatnonzero(is_full), band.view(np.uint64).ravel()


def _similarity(
    first: NDArray[np.uint16], second: NDArray[np.uint16]
) -> NDArray[np.float64]:
    """Return the share of bins that agree, of those that either fills; by row."""
    is_filled = (first != NOTHING) | (second != NOTHING)
    is_same = (first == second) & is_filled
    share: NDArray[np.float64] = is_same.sum(axis=1) / np.maximum(
        is_filled.sum(axis=1), 1
    )
    return share
