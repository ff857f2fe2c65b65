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
from nbtext.scoring.models.weighted_terms import OnWeightedTerms, view_evidence

if TYPE_CHECKING:
    from nbtext.scoring.batch_model import BatchModel, FoundTerms, Labels, Scores
    from nbtext.scoring.model import Model
    from nbtext.scoring.models.evidence import Evidence
    from nbtext.scoring.models.protocol import EventModel
    from nbtext.settings.reading import Settings
    from nbtext.tokens import Bag


class Complement(OnWeightedTerms):
    """Complement naive Bayes."""

    name: Final = "complement"
    about: Final = "complement naive Bayes"
    smoothing: Final = 0.03

    def prior(self, settings: Settings, n_classes: int) -> Prior:
        """Return what is expected of a fit before any document was scored."""
        del settings, n_classes
        return Prior(slope=0.5, precision=1.0)

    def evidence(self, model: Model, bag: Bag) -> list[Evidence]:
        """Return for each view what its terms say."""
        return [view_evidence(model, view, terms) for view, terms in enumerate(bag)]

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
            scores += view_sums(model, view, documents, labels).complements
        return scores


MODEL: Final[EventModel] = Complement()
