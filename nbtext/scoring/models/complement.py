"""
Complement naive Bayes on documents of unit length.

A class is judged by what the other classes have of a term (Rennie, Shih, Teevan and
Karger 2003, section 3.1), without their normalisation of the weights:

    z_c = sum over the views of complement_c

with complement_c as in `nbtext.scoring.models.weighted_terms`. The posterior is
softmax(s z), with s fitted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from nbtext.counts.calibration import Prior
from nbtext.scoring.models.weighted_terms import OnWeightedTerms

if TYPE_CHECKING:
    from nbtext.scoring.batch_model import BatchModel, FoundTerms, Labels, Scores


class Complement(OnWeightedTerms):
    """Complement naive Bayes."""

    name = "complement"
    about = "complement naive Bayes"
    smoothing = 0.03
    expected = Prior(slope=0.5, precision=1.0)

    def many(
        self, model: BatchModel, documents: FoundTerms, labels: Labels | None
    ) -> Scores:
        """Return the scores of many documents."""
        from nbtext.scoring.models.contrast_sums import view_sums
        from nbtext.scoring.models.weighted_evidence import sums_of_evidence

        if labels is None:
            return sums_of_evidence(model, documents)
        scores = documents.zeros(len(model.classes))
        for view in range(len(documents.views)):
            sums = view_sums(model, view, documents, labels, has_owns=False)
            scores += sums.complements
        return scores


MODEL: Final = Complement()
