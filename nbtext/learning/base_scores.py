"""
The scores that a correction corrects: those of counts without the document itself.

In: counts, and the documents that are visited. Out: for each document and class what
its own class's counts say once it is left out of them, with its copies; or what counts
say that have never held it, where a part of the documents is held out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from nbtext.counts import Fit
    from nbtext.counts.sample import Block, Place
    from nbtext.learning.passes import Vectors
    from nbtext.learning.visits import Visits
    from nbtext.parallel import Map
    from nbtext.scoring.batch_model import BatchModel
    from nbtext.tokens import Terms

    Known: TypeAlias = Mapping[Place, NDArray[np.float64]]

from nbtext.counts import Counter
from nbtext.counts.room import give_back
from nbtext.counts.table import with_classes
from nbtext.learning.passes import rounded
from nbtext.learning.visits import weighted_views
from nbtext.scoring.batch_mixed import scores_by
from nbtext.scoring.batch_model import FoundTerms, batch_model_of, without
from nbtext.scoring.models.arrays import by_class


class Base(NamedTuple):
    """
    The scores that are corrected.

    Attributes:
        model: the counts of all documents, and how they are scored.
        fit: what makes probabilities of the scores.
        known: scores of documents that are left out of the counts, where they have been
            computed already.
    """

    model: BatchModel
    fit: Fit
    known: Known

    def rounded(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return scores as the passes take them, in each class."""
        if scores.ndim == 1:
            scores = by_class(scores + self.fit.offset / self.fit.slope)
        return rounded(scores, self.fit.slope)


@dataclass(frozen=True, slots=True)
class BaseScores:
    """
    What computes the scores of documents that are visited, in 1/4096 nat.

    Attributes:
        base: the counts of all documents.
        visits: the documents.
        vectors: their vectors in the views that have weights.
        firsts: where the terms' numbers of each of these views begin, with their end.
        map_: deals with parts of the documents.
    """

    base: Base
    visits: Visits
    vectors: list[Vectors]
    firsts: list[int]
    map_: Map

    def of_all(self) -> NDArray[np.int32]:
        """Return the scores of each document as if it alone had not been counted."""
        scores = self._nothing()
        is_known = self._take_known(scores)
        self._score(scores, self.base.model, ~is_known, counted=True)
        return scores

    def without(self, is_held_out: NDArray[np.bool_]) -> NDArray[np.int32]:
        """Return those by counts without a part, to which its own have never been."""
        scores, model = self._nothing(), self._counts_without(is_held_out)
        self._score(scores, model, ~is_held_out, counted=True)
        self._score(scores, model, is_held_out, counted=False)
        return scores

    def _nothing(self) -> NDArray[np.int32]:
        """Return an array of zeros, of shape (n_documents, n_classes)."""
        shape = len(self.visits.labels), len(self.base.model.classes)
        return np.zeros(shape, np.int32)

    def _counts_without(self, is_held_out: NDArray[np.bool_]) -> BatchModel:
        """Return the counts of all other documents."""
        model = self.base.model
        rest = without(model, _counted(model, self.visits, is_held_out, self.map_))
        give_back()  # the part, and what it took to take it away
        return rest

    def _take_known(self, base: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Write the base scores of documents that have been scored; return which."""
        places = (place for block in self.visits.blocks for place in block.places)
        scores = [self.base.known.get(place) for place in places]
        is_known = np.array([values is not None for values in scores], np.bool_)
        if is_known.any():
            found = np.array([values for values in scores if values is not None])
            base[is_known] = self.base.rounded(found)
        return is_known

    def _score(
        self,
        base: NDArray[np.int32],
        model: BatchModel,
        chosen: NDArray[np.bool_],
        *,
        counted: bool,
    ) -> None:
        """
        Write the scores that are corrected, in 1/4096 nat.

        Args:
            base: what is written to.
            model: the counts.
            chosen: of which documents.
            counted: whether they are in the counts; then each is left out of them, with
                its copies.
        """
        chosen = chosen & self.visits.is_visited

        def compute(part: tuple[slice, Block]) -> None:
            documents, block = part
            rows = chosen[documents].nonzero()[0]
            if not len(rows):
                return
            views = [terms.take(rows) for terms in block.views]
            numbers = rows + documents.start
            found, labels = self._find(model, views, numbers), None
            if counted:
                labels = self.visits.labels.take(numbers)
                found = found.counted(self.visits.copies_of(numbers))
            (scores,) = scores_by(model, [model.scoring], found, labels)
            base[numbers] = self.base.rounded(scores)

        for _ in self.map_(compute, self.visits.parts(base.shape[1])):
            pass
        give_back()  # what batches took would stay beside what is learnt next

    def _find(
        self, model: BatchModel, views: list[Terms], documents: NDArray[np.int64]
    ) -> FoundTerms:
        """Find the terms of documents; what all counts have has been found already."""
        weighted = weighted_views(model.settings)
        if model is not self.base.model or len(weighted) < len(views):
            return model.find(views)
        places = [
            vectors.places_of(documents) - first
            for vectors, first in zip(self.vectors, self.firsts[:-1], strict=True)
        ]
        return FoundTerms(views, places, len(documents))


def _counted(
    model: BatchModel, visits: Visits, chosen: NDArray[np.bool_], map_: Map
) -> BatchModel:
    """Return the counts of some of the documents."""
    counter = Counter(model.settings)
    start = 0
    for block in visits.blocks:
        part = block.take(chosen[start : start + len(block)].nonzero()[0].tolist())
        start += len(block)
        if len(part):  # those of a class side by side, as they were counted
            counter.add_terms(part.labels, part.digests, part.views)
        block.release()
    table = with_classes(counter.table(), model.classes)
    return batch_model_of(table, model.scoring, map_)
