"""
The sample of training documents that are looked at again once all are counted.

It is the documents of smallest digest, up to a number of documents and of terms, so it
depends neither on the order of the documents nor on the number of processes. The first
of them are scored for calibration; a correction is learnt from more.
"""

from __future__ import annotations

from collections import Counter as Tally
from dataclasses import dataclass
from itertools import repeat
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

from nbtext.counts.room import in_file, release
from nbtext.tokens import Terms

DOCUMENTS: Final = 4096
"""Maximum documents that are scored for calibration by a histogram."""

CHOSEN_BY: Final = 2048
"""The same for a temperature, and for a choice of parameters besides."""

TEMPERED_BY: Final = 1024
"""The same for a temperature alone (docs/experiments/015-bulk-scores.md)."""

SCORES: Final = 1 << 20
"""Maximum scores of theirs by one scoring, each document's of each class."""

TERMS: Final = 1 << 22
"""Maximum distinct terms of them, each document's counted by itself."""

VISITED: Final = 1 << 17
"""Maximum documents that a correction is learnt from."""

VISITED_TERMS: Final = 1 << 27
"""Maximum distinct terms of them, each document's counted by itself."""

MOST_COPIES: Final = 256
"""So many copies of a document are left out together, and teach a correction as much as
one document does (docs/experiments/040-copies.md)."""

SLACK: Final = 2
"""How many times the sample is kept at most until what is not in it goes: that copies
what stays, which of few documents takes longer than to keep some more of them."""

LOOKS: Final = 8
"""How often, while as many documents or terms are added as the sample may have, it is
found out which of those that come can still be in it."""

MOST_TAKEN: Final = 0.75
"""If a larger part of the documents that are added together is in the sample as yet,
the others stay with them until it is cut: else most would be copied twice."""

MOST_HALF: Final = 2**64 - 1
"""No digest begins with a larger number."""

IN_MEMORY: Final = SLACK * TERMS
"""Maximum terms that are kept in memory; the others are in a temporary file."""


COPIED: Final = TERMS // 2
"""The same of a part of the sample that is copied, while all of it is there."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Block:
    """
    Some documents of the sample, side by side, those of a class together.

    Attributes:
        labels: their classes.
        digests: what names them.
        fingerprints: what their counts are known by.
        views: for each view their terms.
        is_aside: whether the terms are in a temporary file.
    """

    labels: list[str]
    digests: list[bytes]
    fingerprints: list[int]
    views: list[Terms]
    is_aside: bool = False

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def places(self) -> list[Place]:
        """Return what orders the documents."""
        return list(zip(self.digests, self.labels, self.fingerprints, strict=True))

    def places_of(self, numbers: Sequence[int]) -> list[Place]:
        """Return what orders some of the documents."""
        if len(numbers) == len(self):
            return self.places
        digests, labels, marks = self.digests, self.labels, self.fingerprints
        return [(digests[n], labels[n], marks[n]) for n in numbers]

    @property
    def halves(self) -> NDArray[np.uint64]:
        """Return the first half of each digest as a number; most differ in it."""
        both = np.frombuffer(b"".join(self.digests), ">u8")
        return both[::2].astype(np.uint64)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Return how many distinct terms each document has, over all views."""
        sizes = np.zeros(len(self), np.int64)
        for terms in self.views:
            sizes += terms.sizes
        return sizes

    @property
    def n_terms(self) -> int:
        """Return how many distinct terms all of them have."""
        return sum(len(terms.keys) for terms in self.views)

    def part(self, places: slice) -> Block:
        """Return documents that stand side by side; their terms are not copied."""
        return Block(
            self.labels[places],
            self.digests[places],
            self.fingerprints[places],
            [terms.part(places) for terms in self.views],
        )

    def release(self) -> None:
        """Let go of the memory of terms that are in a file; they can still be read."""
        if self.is_aside:
            for terms in self.views:
                release(terms.keys)
                release(terms.counts)

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


NO_HALVES: Final = np.empty(0, np.uint64)
NO_SIZES: Final = np.empty(0, np.int64)

Place: TypeAlias = tuple[bytes, str, int]
"""What orders documents: digest, label and fingerprint."""


class Sample:
    """
    The documents of smallest digest among those added.

    They are the longest beginning, in the order of digests, that has no more documents
    and terms than allowed; so what stands behind the first that is too many is out for
    good, whatever comes.

    Attributes:
        end: the first document that is too many; copies of it may be in.
    """

    def __init__(
        self,
        *,
        documents: int = DOCUMENTS,
        terms: int = TERMS,
        end: Place | None = None,
        in_memory: int | None = None,
    ) -> None:
        self._limit = documents
        self._terms_limit = terms
        self._blocks: list[Block] = []
        self._documents = self._terms = 0
        self._in_memory: list[int] = []  # the places of blocks, and their size
        self._n_in_memory = 0
        self._most_in_memory = IN_MEMORY if in_memory is None else in_memory
        self.end = end
        self._last = _half_of(end)  # a digest that begins with more is out
        self._next_look = documents, terms
        self._is_pruned = False

    def __getstate__(self) -> dict[str, object]:
        """Leave behind what is not in the sample, on the way to another process."""
        self.prune()
        return self.__dict__

    def add(self, block: Block) -> None:
        """Take documents into account."""
        if not self._limit:
            return
        if self._last < MOST_HALF:
            places = np.flatnonzero(block.halves <= self._last).tolist()
            if len(places) < len(block) * MOST_TAKEN:
                block = block.take(places)
        if not len(block):
            return
        self._keep(block)
        self._is_pruned = False
        self._documents += len(block)
        self._terms += block.n_terms
        is_long = self._documents > SLACK * self._limit
        if is_long or self._terms > SLACK * self._terms_limit:
            self.prune()
        elif self._documents > self._next_look[0] or self._terms > self._next_look[1]:
            last = self._last_half(self._limit, self._terms_limit)
            self._last = min(self._last, last)
            self._look_later()

    def _look_later(self) -> None:
        """Say with how many documents and terms the last is looked for again."""
        more = self._limit // LOOKS, self._terms_limit // LOOKS
        self._next_look = self._documents + more[0], self._terms + more[1]

    def _keep(self, block: Block) -> None:
        """Keep documents, in a file once there are many in memory."""
        self._blocks.append(block)
        if block.is_aside:
            return
        self._in_memory.append(len(self._blocks) - 1)
        self._n_in_memory += block.n_terms
        if self._n_in_memory > self._most_in_memory:
            blocks = put_aside([self._blocks[place] for place in self._in_memory])
            for place, aside in zip(self._in_memory, blocks, strict=True):
                self._blocks[place] = aside
            self._in_memory, self._n_in_memory = [], 0

    def absorb(self, other: Sample) -> None:
        """Take into account all that another sample has taken into account."""
        other.prune()  # which finds its end
        ends = [end for end in (self.end, other.end) if end is not None]
        self.end = min(ends, default=None)
        self._last = min(self._last, _half_of(self.end))
        self._is_pruned = False
        for block in other.blocks():
            self.add(block)

    def blocks(self) -> Iterator[Block]:
        """Yield the documents of the sample; one block's copies at a time are held."""
        yield from self._take(self._chosen())

    def head(
        self, documents: int, terms: int = VISITED_TERMS, *, distinct: bool = False
    ) -> list[Block]:
        """
        Return the documents that a sample of other limits holds.

        Args:
            documents: the limits, not above those of this sample.
            terms: the same.
            distinct: whether copies of a document in a class count as one of them.
        """
        if self._is_pruned and documents >= self._limit and terms >= self._terms_limit:
            return [*self._blocks]
        chosen, _ = self._longest_beginning(documents, terms, distinct=distinct)
        head = Sample(in_memory=COPIED)
        for number, block in zip(chosen, self._take(chosen), strict=True):
            if block is self._blocks[number]:
                head._blocks.append(block)  # no copy, so no memory
            else:
                head._keep(block)
        return head._blocks

    def _take(self, chosen: Mapping[int, list[int]]) -> Iterator[Block]:
        for number, places in chosen.items():
            yield self._blocks[number].take(places)
            self._blocks[number].release()

    def prune(self) -> None:
        """Let go of what is not in the sample."""
        if self._is_pruned:
            return
        chosen, blocks = self._chosen(), self._blocks
        self._blocks, self._in_memory, self._n_in_memory = [], [], 0
        blocks.reverse()
        for number in range(len(blocks)):
            block = blocks.pop()  # its memory is there for what is copied next
            if number in chosen:
                self._keep(block.take(chosen[number]))
        self._is_pruned = True

    def _chosen(self) -> dict[int, list[int]]:
        """Return by block which documents belong to the sample."""
        chosen, self.end = self._longest_beginning(self._limit, self._terms_limit)
        self._last = min(self._last, _half_of(self.end))
        self._documents = sum(map(len, chosen.values()))
        self._terms = sum(
            int(self._blocks[number].sizes.take(places).sum())
            for number, places in chosen.items()
        )
        self._look_later()
        return chosen

    def _longest_beginning(
        self, most: int, most_terms: int, *, distinct: bool = False
    ) -> tuple[dict[int, list[int]], Place | None]:
        """
        Choose the longest beginning of the documents that keeps limits.

        Returns:
            By block which of its documents are chosen; and the first that is too many.
        """
        is_whole = self._documents <= most and self._terms <= most_terms
        if is_whole and self.end is None:
            return {n: [*range(len(own))] for n, own in enumerate(self._blocks)}, None
        last = self._last_half(most, most_terms, distinct=distinct)
        last = min(_half_of(self.end), last)
        # what begins below the last is in; copies are told by looking at all of them
        sure = 0 if distinct else last
        rows: list[tuple[Place, int, int, int]] = []
        kept: dict[int, list[int]] = {}
        n_terms = n_documents = 0
        for number, block in enumerate(self._blocks):
            halves, of_block = block.halves, block.sizes
            is_sure = halves < sure
            kept[number] = np.flatnonzero(is_sure).tolist()
            n_documents += len(kept[number])
            n_terms += int(of_block[is_sure].sum())
            places = np.flatnonzero(~is_sure & (halves <= last)).tolist()
            sizes = of_block.take(places).tolist()
            rows += zip(block.places_of(places), sizes, repeat(number), places)
        rows.sort()
        end, before = self.end, (b"", "")
        for at, size, number, place in rows:
            is_out = end is not None and at > end
            is_copy = distinct and at[:2] == before
            is_full = n_documents == most and not is_copy
            if is_out or is_full or n_terms + size > most_terms:
                end = at if end is None else min(at, end)
                break
            kept[number].append(place)
            n_terms += size
            n_documents += not is_copy
            before = at[:2]
        chosen = {number: sorted(places) for number, places in kept.items() if places}
        return chosen, end

    def _last_half(self, most: int, most_terms: int, *, distinct: bool = False) -> int:
        """Return a number that no digest of the longest beginning begins above."""
        halves = np.concatenate([NO_HALVES, *(block.halves for block in self._blocks)])
        sizes = np.concatenate([NO_SIZES, *(block.sizes for block in self._blocks)])
        order = np.argsort(halves)
        ends = np.cumsum(sizes.take(order))
        n_fitting = int(np.searchsorted(ends, most_terms, "right"))
        if distinct:
            is_new = np.diff(halves.take(order), prepend=0) > 0
            most = int(np.searchsorted(np.cumsum(is_new), most, "right"))
        n_fitting = min(n_fitting, most)
        return int(halves[order[n_fitting]]) if n_fitting < len(order) else MOST_HALF


def _half_of(end: Place | None) -> int:
    """Return what the digest of a document begins with, as `Block.halves` does."""
    return MOST_HALF if end is None else int.from_bytes(end[0][:8], "big")


def put_aside(blocks: Sequence[Block]) -> list[Block]:
    """Return the same documents, their terms in a temporary file."""
    views = []
    for of_view in zip(*(block.views for block in blocks), strict=True):
        keys = in_file([terms.keys for terms in of_view])
        counts = in_file([terms.counts for terms in of_view])
        starts = [terms.starts for terms in of_view]
        views.append(list(map(Terms, keys, counts, starts)))
    return [
        Block(block.labels, block.digests, block.fingerprints, list(of_block), True)
        for block, *of_block in zip(blocks, *views, strict=True)
    ]


def without_copies(
    blocks: Sequence[Block],
) -> tuple[list[Block], NDArray[np.int64] | None]:
    """
    Return each document once, and how many copies of it there are in its class.

    Returns:
        The documents, and an array of shape (n_documents,), MOST_COPIES at most; None
        if all are distinct.
    """
    times = Tally(place for block in blocks for place in block.places)
    if len(times) == sum(map(len, blocks)):
        return [*blocks], None
    kept, copies, seen = [], [], set[Place]()
    for block in blocks:
        chosen = []
        for number, place in enumerate(block.places):
            if place not in seen:
                seen.add(place)
                chosen.append(number)
                copies.append(times[place])
        kept.append(block.take(chosen))
    return kept, np.minimum(np.array(copies, np.int64), MOST_COPIES)
