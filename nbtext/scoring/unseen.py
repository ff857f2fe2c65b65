"""
Classifying documents as if the model had not counted them.

The ledger knows which documents a model has counted. One that it has counted once, in
one class, and whose counts are those in the model, is scored with its counts taken away
(leave-one-out, `EventModel.many_by`). That is exact but for the two fitted numbers of
the calibration, which rest on thousands of documents, each scored without itself. What
cannot be taken away exactly is said to be so, and is for the caller to leave out: a
document that was counted more often, that has changed since, or that is older than a
pruning; and all of them if the model has a correction, which was learnt from them.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from nbtext.document import Document
    from nbtext.scoring.decide import Decision
    from nbtext.scoring.score import Scored
    from nbtext.tokens import Terms
    from nbtext.tokens.batch_reading import ReadBatch

from nbtext.scoring.batch import score_batch
from nbtext.scoring.classifier import Classifier
from nbtext.scoring.leave_one_out import slices
from nbtext.scoring.stored_view import damaged
from nbtext.store.counted import NO_CLASS, CountedDocuments, CountedRow
from nbtext.tokens import fingerprints, read_keys, read_terms

LEFT_OUT: Final = "left out"
AS_COUNTED: Final = "yes"
NOT_COUNTED: Final = "no"
"""What a decision says of whether the model has counted the document."""


class UnseenClassifier(Classifier):
    """
    A model that classifies documents it has counted as if it had not.

    `Decision.seen` says which those are, and how each was scored.
    """

    _names_documents = True

    def _decide_batch(self, batch: ReadBatch, *, headings: bool) -> list[Decision]:
        """Decide about documents that were read at once."""

        def views_at(places: Sequence[int]) -> list[Terms]:
            return [terms.take(np.array(places, np.intp)) for terms in batch.views]

        def score(places: Sequence[int]) -> Iterable[Scored]:
            return self.scorer.scored_together(views_at(places))

        rows = self._ledger.rows(batch.digests)
        seen = _seen(rows)
        marks = [batch.fingerprints[place] for place in seen]
        left_out = self._left_out(seen, rows, views_at(seen), marks)
        return self._decided(batch.documents, rows, left_out, score, headings)

    def _decide_each(
        self, documents: list[Document], *, headings: bool
    ) -> list[Decision]:
        """Decide about documents, which are read one after the other."""
        settings = self.model.settings
        readings = [read_keys(document, settings) for document in documents]

        def score(places: Sequence[int]) -> Iterable[Scored]:
            return self.scorer.scored([readings[place] for place in places])

        rows = self._ledger.rows([reading.digest for reading in readings])
        seen = _seen(rows)
        views = read_terms(settings, [readings[place].views for place in seen])
        marks = fingerprints(views).tolist() if seen else []
        left_out = self._left_out(seen, rows, views, marks)
        return self._decided(documents, rows, left_out, score, headings)

    def _decided(
        self,
        documents: Sequence[Document],
        rows: Sequence[Sequence[CountedRow]],
        left_out: Mapping[int, Scored],
        score: Callable[[Sequence[int]], Iterable[Scored]],
        headings: bool,
    ) -> list[Decision]:
        """
        Decide about documents, of which some are scored already.

        Args:
            documents: all of them.
            rows: by place, what the ledger says of each.
            left_out: by place, the scores of those that could be taken away.
            score: scores the others, by their places.
            headings: whether decisions say who mail is from, and what it is about.
        """
        rest = [place for place in range(len(documents)) if place not in left_out]
        scores = dict(left_out)
        if rest:
            scores.update(zip(rest, score(rest), strict=True))
        return [
            self.decide_one(
                document,
                scores[place],
                headings=headings,
                counted_in=rows[place][0].class_ if place in left_out else None,
            )._replace(seen=_seen_as(rows[place], is_left_out=place in left_out))
            for place, document in enumerate(documents)
        ]

    def arrange(self, samples: Iterable[Document]) -> None:
        """Arrange the counts for the batch engine, and the ledger."""
        if self.scorer.is_quick:  # what has been counted is taken away from arrays
            self.scorer.arranged()
        else:
            super().arrange(samples)
        len(self._ledger)

    @cached_property
    def _ledger(self) -> CountedDocuments:
        return CountedDocuments(self.model.file, self.model.classes)

    def _left_out(
        self,
        seen: Sequence[int],
        rows: Sequence[Sequence[CountedRow]],
        views: Sequence[Terms],
        marks: Sequence[int],
    ) -> dict[int, Scored]:
        """
        Return the scores of those documents that can be taken away exactly.

        Args:
            seen: the places of documents that are counted.
            rows: by place, what the ledger says of each.
            views: for each view the terms of those that are counted.
            marks: their fingerprints.

        Raises:
            NotAModelError: the counts are not those of the ledger.
        """
        if self.model.correction is not None:
            return {}
        exact = [
            number
            for number, place in enumerate(seen)
            if _is_exact(rows[place], marks[number])
        ]
        scores: dict[int, Scored] = {}
        taken = [terms.take(np.array(exact, np.int64)) for terms in views]
        for some in slices(taken, len(self.model.classes)):
            part = exact[some]
            labels = [rows[seen[number]][0].class_ for number in part]
            with np.errstate(all="ignore"):  # what that comes to is looked at
                scored = score_batch(
                    self.scorer.arranged(),
                    [terms.part(some) for terms in taken],
                    self.scorer.calibration,
                    np.array(labels),
                )
            if not np.isfinite(scored.log_posterior).all():
                what = "its ledger has documents that its counts do not have"
                raise damaged(self.model.path, what)
            scores.update(zip([seen[number] for number in part], scored, strict=True))
        return scores


def _seen(rows: Sequence[Sequence[CountedRow]]) -> list[int]:
    """Return the places of documents that the ledger has."""
    return [place for place, found in enumerate(rows) if found]


def _seen_as(rows: Sequence[CountedRow], *, is_left_out: bool) -> str:
    """Return what a decision says of a document that is in some rows, if in any."""
    if is_left_out:
        return LEFT_OUT
    return AS_COUNTED if rows else NOT_COUNTED


def _is_exact(rows: Sequence[CountedRow], mark: int) -> bool:
    """Return whether a document's counts are in the model once, as they are now."""
    if len(rows) != 1:
        return False
    row = rows[0]
    return row.times == 1 and row.fingerprint == mark and row.class_ != NO_CLASS
