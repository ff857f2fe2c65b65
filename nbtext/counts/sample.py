"""
The sample of training documents that calibration scores.

It is the documents of smallest digest, up to a number of documents and of terms, so it
depends neither on the order of the documents nor on the number of processes.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from nbtext.tokens import Terms

DOCUMENTS: Final = 4096
"""How many documents the sample holds at the most."""

TERMS: Final = 1 << 22
"""How many distinct terms its documents have at the most, each counted by itself."""


@dataclass(frozen=True, slots=True)
class Block:
    """
    Some documents of the sample, side by side.

    Attributes:
        labels: their classes.
        digests: what names them.
        fingerprints: what their counts are known by.
        views: for each view their terms.
    """

    labels: list[str]
    digests: list[bytes]
    fingerprints: list[int]
    views: list[Terms]

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def places(self) -> list[Place]:
        """Return what orders the documents."""
        return list(zip(self.digests, self.labels, self.fingerprints, strict=True))

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Return how many distinct terms each document has, over all views."""
        sizes = np.zeros(len(self), np.int64)
        for terms in self.views:
            sizes += np.diff(terms.starts)
        return sizes

    def take(self, places: Sequence[int]) -> Block:
        """Return some of the documents."""
        if len(places) == len(self):
            return self
        return Block(
            [self.labels[place] for place in places],
            [self.digests[place] for place in places],
            [self.fingerprints[place] for place in places],
            [terms.take(np.array(places, np.int64)) for terms in self.views],
        )


Place: TypeAlias = tuple[bytes, str, int]
"""What orders documents: digest, label and fingerprint."""


class Sample:
    """
    The documents of smallest digest among those added.

    They are the longest beginning, in the order of digests, that has no more documents
    and terms than allowed; so what stands behind the first that is too many is out for
    good, whatever comes.
    """

    def __init__(
        self,
        *,
        documents: int = DOCUMENTS,
        terms: int = TERMS,
        end: Place | None = None,
    ) -> None:
        self._limit = documents
        self._terms_limit = terms
        self._blocks: list[Block] = []
        self._documents = self._terms = 0
        self._end = end

    @property
    def end(self) -> Place | None:
        """Return the first document that is too many; copies of it may be in."""
        return self._end

    def __getstate__(self) -> dict[str, object]:
        """Leave behind what is not in the sample, on the way to another process."""
        self.prune()
        return self.__dict__

    def add(self, block: Block) -> None:
        """Take documents into account."""
        if not self._limit:
            return
        if self._end is not None:
            end = self._end
            block = block.take([n for n, at in enumerate(block.places) if at <= end])
        if not len(block):
            return
        self._blocks.append(block)
        self._documents += len(block)
        self._terms += int(block.sizes.sum())
        is_long = self._documents > 2 * self._limit
        if is_long or self._terms > 2 * self._terms_limit:
            self.prune()

    def absorb(self, other: Sample) -> None:
        """Take into account all that another sample has taken into account."""
        other.prune()  # which finds its end
        ends = [end for end in (self._end, other._end) if end is not None]
        self._end = min(ends, default=None)
        for block in other.blocks():
            self.add(block)

    def blocks(self) -> Iterator[Block]:
        """Yield the documents of the sample; one block's copies at a time are held."""
        for number, places in self._chosen().items():
            yield self._blocks[number].take(places)

    def prune(self) -> None:
        """Let go of what is not in the sample."""
        chosen = self._chosen()
        self._blocks = [
            self._blocks[number].take(places) for number, places in chosen.items()
        ]

    def _chosen(self) -> dict[int, list[int]]:
        """Return by block which documents belong to the sample."""
        rows = sorted(
            (at, size, number, place)
            for number, block in enumerate(self._blocks)
            for place, (at, size) in enumerate(
                zip(block.places, block.sizes.tolist(), strict=True)
            )
        )
        kept: defaultdict[int, list[int]] = defaultdict(list)
        self._documents = self._terms = 0
        for at, size, number, place in rows:
            is_full = self._terms + size > self._terms_limit
            is_out = self._end is not None and at > self._end
            if is_out or is_full or self._documents == self._limit:
                self._end = at if self._end is None else min(at, self._end)
                break
            kept[number].append(place)
            self._documents += 1
            self._terms += size
        return {number: sorted(places) for number, places in sorted(kept.items())}
