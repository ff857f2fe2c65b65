"""
Classifying documents as if the model had not counted them.

The ledger knows which documents a model has counted. One that it has counted once, in
one class, and whose counts are those in the model, is scored with its counts taken away
(leave-one-out, `EventModel.left_out`). That is exact but for the two fitted numbers of
the calibration, which rest on thousands of documents, each scored without itself. What
cannot be taken away exactly is said to be so, and is for the caller to leave out: a
document that was counted more often, that has changed since, or that is older than a
pruning; and all of them if the model has a correction, which was learnt from them.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from nbtext.document import Document
    from nbtext.policy import Policy
    from nbtext.scoring.decide import Decision
    from nbtext.scoring.score import Scored
    from nbtext.settings import Scoring
    from nbtext.tokens import AnyReading

from nbtext.scoring.batch import score_left_out
from nbtext.scoring.classifier import Classifier
from nbtext.scoring.leave_one_out import PART
from nbtext.scoring.model import load_model
from nbtext.store.counted import NO_CLASS, CountedDocuments, CountedRow
from nbtext.tokens import fingerprints, read_keys, read_terms

LEFT_OUT: Final = "left out"
AS_COUNTED: Final = "yes"
"""What a decision says of a document that the model has counted."""


class UnseenClassifier(Classifier):
    """A model that classifies documents it has counted as if it had not."""

    def classify(
        self, documents: list[Document], *, headings: bool = False
    ) -> list[Decision]:
        """Decide about documents, in their order; `Decision.seen` says how."""
        readings = [read_keys(document, self.model.settings) for document in documents]
        rows = self._ledger.rows([reading.digest for reading in readings])
        seen = [place for place, found in enumerate(rows) if found]
        left_out = self._left_out(seen, readings, rows)
        rest = [place for place in range(len(documents)) if place not in left_out]
        decided = self.decide_readings(
            [documents[place] for place in rest],
            [readings[place] for place in rest],
            headings=headings,
        )
        decisions = dict(zip(rest, decided, strict=True))
        for place in seen:
            if place in left_out:
                scored = left_out[place]
                decision = self.decide_one(
                    documents[place],
                    scored,
                    headings=headings,
                    counted_in=rows[place][0].class_,
                )
                decisions[place] = decision._replace(seen=LEFT_OUT)
            else:
                decisions[place] = decisions[place]._replace(seen=AS_COUNTED)
        return [decisions[place] for place in range(len(documents))]

    def arrange(self, samples: Iterable[Document]) -> None:
        """Arrange the counts for the batch engine, and the ledger."""
        super().arrange(samples)
        len(self._ledger)

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what opens the same model elsewhere."""
        facts = (self.model.path, self.model.scoring, self.policy, self.n_reasons)
        return _opened, facts

    @cached_property
    def _ledger(self) -> CountedDocuments:
        return CountedDocuments(self.model.file, self.model.classes)

    def _left_out(
        self,
        seen: Sequence[int],
        readings: Sequence[AnyReading],
        rows: Sequence[Sequence[CountedRow]],
    ) -> dict[int, Scored]:
        """Return the scores of those documents that can be taken away exactly."""
        if self.model.correction is not None or not seen:
            return {}
        views = read_terms(
            self.model.settings, [readings[place].views for place in seen]
        )
        marks = fingerprints(views).tolist()
        exact = [
            number
            for number, place in enumerate(seen)
            if _is_exact(rows[place], marks[number])
        ]
        scores: dict[int, Scored] = {}
        for start in range(0, len(exact), PART):
            part = exact[start : start + PART]
            labels = [rows[seen[number]][0].class_ for number in part]
            scored = score_left_out(
                self.arranged(),
                [terms.take(np.array(part)) for terms in views],
                np.array(labels),
                self.calibration,
            )
            scores.update(zip([seen[number] for number in part], scored, strict=True))
        return scores


def _is_exact(rows: Sequence[CountedRow], mark: int) -> bool:
    """Return whether a document's counts are in the model once, as they are now."""
    if len(rows) != 1:
        return False
    row = rows[0]
    return row.times == 1 and row.fingerprint == mark and row.class_ != NO_CLASS


def _opened(
    path: str, scoring: Scoring, policy: Policy, n_reasons: int
) -> UnseenClassifier:
    model = load_model(path, scoring=scoring)
    return UnseenClassifier(model, policy=policy, n_reasons=n_reasons)
