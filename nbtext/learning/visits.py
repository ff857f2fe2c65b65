"""
The documents that a correction is learnt from, and their vectors.

They are those of smallest digest (`nbtext.counts.sample`), in the order of digest,
class and fingerprint. Copies of a document are one visit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from nbtext.counts.sample import Block
    from nbtext.counts.sorted_counts import Keys
    from nbtext.scoring.batch_model import BatchModel
    from nbtext.settings.reading import Settings

from nbtext.counts.room import empty
from nbtext.counts.sample import MOST_COPIES, NO_SIZES
from nbtext.learning.passes import Vectors
from nbtext.scoring.leave_one_out import slices
from nbtext.tokens.bags import starts_of, unit_weights


@dataclass(frozen=True, slots=True)
class Visits:
    """
    The documents that are visited, with their copies.

    Attributes:
        blocks: their terms, in any order; the numbers below count documents through
            all blocks.
        labels: shape (n_documents,), the places of their classes.
        entries: shape (n_documents, 3), the halves of the digest and the fingerprint,
            as in the ledger.
        order: shape (n_visits,), the documents that are visited, in their order.
        visit_of: shape (n_documents,), the number of each document's visit; copies
            have the same.
        times: shape (n_documents,), how many copies there are, itself among them.
    """

    blocks: list[Block]
    labels: NDArray[np.int64]
    entries: Keys
    order: NDArray[np.int64]
    visit_of: NDArray[np.int64]
    times: NDArray[np.int64]

    @property
    def is_visited(self) -> NDArray[np.bool_]:
        """Return whether each document is visited; of copies only the first is."""
        visited = np.zeros(len(self.labels), np.bool_)
        visited[self.order] = True
        return visited

    def copies_of(self, documents: NDArray[np.int64]) -> NDArray[np.int64] | None:
        """Return how many copies are left out with each, None if none has any."""
        times = np.minimum(self.times.take(documents), MOST_COPIES)
        return times if (times > 1).any() else None

    def dealt(self, n_parts: int) -> NDArray[np.int64]:
        """
        Return which of so many parts each document is in; copies are in the same.

        The visits to a class are dealt to all parts alike, each class where the one
        before it ended.
        """
        number_of = np.empty(len(self.order), np.int64)
        by_class = np.argsort(self.labels.take(self.order), kind="stable")
        number_of[by_class] = np.arange(len(self.order))
        return number_of.take(self.visit_of) % n_parts

    def parts(self, n_classes: int = 1) -> Iterator[tuple[slice, Block]]:
        """
        Yield the documents part by part: their numbers, and their terms.

        Args:
            n_classes: how many scores each of them has.
        """
        start = 0
        for block in self.blocks:
            for some in slices(block.views, n_classes):
                part = block.part(some)
                yield slice(start, start + len(part)), part
                start += len(part)
            block.release()


def visits_of(blocks: list[Block], classes: Sequence[str]) -> Visits:
    """Return the visits to documents."""
    place_of = {name: place for place, name in enumerate(classes)}
    rows = [row for block in blocks for row in block.places]
    labels = np.array([place_of[label] for _, label, _ in rows], np.int64)
    entries = np.empty((len(rows), 3), np.uint64)
    digests = np.frombuffer(b"".join(digest for digest, _, _ in rows), ">u8")
    entries[:, :2] = digests.reshape(-1, 2)
    entries[:, 2] = [fingerprint for _, _, fingerprint in rows]
    order = np.lexsort((entries[:, 2], labels, entries[:, 1], entries[:, 0]))
    in_order, labels_in_order = entries.take(order, axis=0), labels.take(order)
    is_first = np.ones(len(order), np.bool_)
    is_first[1:] = labels_in_order[1:] != labels_in_order[:-1]
    is_first[1:] |= (in_order[1:] != in_order[:-1]).any(axis=1)
    visit_of = np.empty(len(order), np.int64)
    visit_of[order] = np.cumsum(is_first) - 1
    return Visits(
        blocks=blocks,
        labels=labels,
        entries=entries,
        order=order[is_first],
        visit_of=visit_of,
        times=np.bincount(visit_of, minlength=1).take(visit_of),
    )


def weighted_views(settings: Settings) -> list[int]:
    """Return the views that have weights, by their places."""
    views = enumerate(settings.views)
    return [place for place, view in views if "weight" in view.columns]


def vectors_of(visits: Visits, model: BatchModel) -> tuple[list[Vectors], list[int]]:
    """
    Return the documents' vectors in each view that has weights.

    A term that the model does not have is that view's sentinel.

    Returns:
        The vectors, and where the numbers of each view's terms begin, with their end.
    """
    vectors, firsts = [], [0]
    for view in weighted_views(model.settings):
        table = model.terms[view]
        sizes = [block.views[view].sizes for block in visits.blocks]
        starts = starts_of(np.concatenate([NO_SIZES, *sizes]))
        places = empty(int(starts[-1]), np.int32)
        weights = empty(int(starts[-1]), np.uint16)
        for documents, part in visits.parts():
            rows = slice(starts[documents.start], starts[documents.stop])
            terms = part.views[view]
            places[rows] = table.find(terms.keys) + firsts[-1]
            weights[rows] = unit_weights(terms)
        vectors.append(Vectors(starts, places, weights))
        firsts.append(firsts[-1] + table.n_terms + 1)
    return vectors, firsts
