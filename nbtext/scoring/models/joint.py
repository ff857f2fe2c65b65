"""
Event models whose score is a joint log likelihood, as in the textbooks.

With y a class and x_v what a document has in view v, views independent given the class:

    z_c = ln P(y = c) + sum over the views of ln P(x_v given y = c)

and the posterior is exp(z) over its sum. An event model of this kind says what one view
adds, for one document (`view_evidence`) and for many (`view_scores`). What a class says
of terms that it does not have, and of terms that are absent, is the same for all of its
kind: it goes into `rest`, so that a document's terms are all that is looked up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nbtext.counts.calibration import Prior
from nbtext.scoring.models.event_model import EventModel
from nbtext.scoring.models.evidence import PRIOR, Evidence
from nbtext.scoring.posterior import log_prior

if TYPE_CHECKING:
    from nbtext.scoring.batch_model import BatchModel, FoundTerms, Labels, Scores
    from nbtext.scoring.model import Model
    from nbtext.scoring.models.evidence import Calibrated
    from nbtext.tokens import Bag


class JointLikelihood(EventModel):
    """An event model whose score is the logarithm of P(class, document)."""

    smoothing: float = 1.0
    calibration: Calibrated = "temperature"
    is_textbook = True
    expected = Prior(slope=0.1)

    def view_scores(
        self, model: BatchModel, view: int, documents: FoundTerms, labels: Labels | None
    ) -> Scores:
        """Return what one view of many documents says, (n_documents, n_classes)."""
        raise NotImplementedError

    def evidence(self, model: Model, bag: Bag) -> list[Evidence]:
        """Return the prior, and for each view what its terms say."""
        class_prior = log_prior(model.scoring.class_prior, model.documents)
        return [Evidence(PRIOR, rest=class_prior), *super().evidence(model, bag)]

    def many(
        self, model: BatchModel, documents: FoundTerms, labels: Labels | None
    ) -> Scores:
        """Return the scores of many documents."""
        import numpy as np

        class_prior = model.scoring.class_prior
        scores: Scores
        if labels is None:
            prior = log_prior(class_prior, model.documents)
            scores = np.tile(prior, (documents.n_documents, 1))
        else:
            # counts: (n_documents, n_classes), the documents of all classes but each
            counts = np.tile(model.documents, (len(labels), 1))
            counts[np.arange(len(labels)), labels] -= documents.times_counted
            different, rows = np.unique(counts, axis=0, return_inverse=True)
            priors = [log_prior(class_prior, row) for row in different.tolist()]
            scores = np.array(priors)[rows.reshape(-1)]
        for view in range(len(documents.views)):
            scores += self.view_scores(model, view, documents, labels)
        return scores
