"""
Defaults of an event model: what most of them say alike.

An event model writes `many`, or `many_by` where most of what it computes is the same
for several scorings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nbtext.counts.calibration import Prior
    from nbtext.scoring.batch_model import BatchModel, FoundTerms, Labels, Scores
    from nbtext.scoring.model import Model
    from nbtext.scoring.models.evidence import Calibrated, Evidence, Raw
    from nbtext.scoring.models.parameters import Parameter
    from nbtext.settings.columns import Column
    from nbtext.settings.reading import Settings
    from nbtext.settings.scoring import Scoring
    from nbtext.settings.views import View
    from nbtext.tokens import Bag
    from nbtext.tokens.bag import TermCounts

from nbtext.scoring.models.evidence import n_numbers, score_of
from nbtext.settings.scoring import OCCURRENCES, ONCE, UNK


class Base:
    """
    What an event model is unless it says otherwise.

    Attributes are those of `EventModel`, and `expected`: what is expected of a fit,
    however many classes there are.
    """

    calibration: Calibrated
    expected: Prior
    parameters: tuple[Parameter, ...] = ()
    smoothings: tuple[tuple[float, ...], ...] = ()
    reads_ngrams: bool = False
    reads_vocabulary: bool = False
    reads_own_terms: bool = False
    is_textbook: bool = False
    can_be_corrected: bool = False
    not_linear: str = "it is no sum of counts times weights"
    weighs_again: bool = False
    countings: Sequence[str] = (OCCURRENCES, ONCE)
    has_unknown: bool = False

    def columns(self, view: View) -> tuple[Column, ...]:
        """Return what must have been counted in a view."""
        del view
        return ("occurrences", "documents")

    def further_columns(self, scoring: Scoring) -> tuple[Column, ...]:
        """Return what its parameters need beside `columns`: nothing."""
        del scoring
        return ()

    def keeps_histograms(self, scoring: Scoring) -> bool:
        """Return whether unknown terms are one, which singletons tell of."""
        return self.has_unknown and scoring.unknown == UNK

    def refusal(
        self, scoring: Scoring, settings: Settings, classes: Sequence[str]
    ) -> str:
        """Refuse a way to count occurrences that is not its own."""
        del settings, classes
        if scoring.counting in self.countings:
            return ""
        return f"cannot count by {scoring.counting} (--count)"

    def parameters_for(self, n_classes: int) -> Mapping[str, float]:
        """Return the parameters that follow from the number of classes: none."""
        del n_classes
        return {}

    def prior(self, n_classes: int) -> Prior:
        """Return what is expected of a fit before any document was scored."""
        del n_classes
        return self.expected

    def view_evidence(self, model: Model, view: int, terms: TermCounts) -> Evidence:
        """Return what one view of a document says."""
        raise NotImplementedError

    def evidence(self, model: Model, bag: Bag) -> list[Evidence]:
        """Return for each view what its terms say."""
        return [
            self.view_evidence(model, view, terms) for view, terms in enumerate(bag)
        ]

    def scores(self, model: Model, scorings: Sequence[Scoring], bag: Bag) -> list[Raw]:
        """Return one document's score by each scoring."""
        numbers = n_numbers(self.calibration, len(model.classes))
        return [
            score_of(self.evidence(model._replace(scoring=scoring), bag), numbers)
            for scoring in scorings
        ]

    def counted_as(self, scoring: Scoring) -> str:
        """Return what a term that occurs n times counts, one of COUNTINGS."""
        return scoring.counting

    def joint_log_likelihood(self, model: Model, bag: Bag) -> Raw:
        """Return ln P(class, document) by class, up to what is the same for all."""
        return self.scores(model, [model.scoring], bag)[0]

    def many(
        self, model: BatchModel, documents: FoundTerms, labels: Labels | None
    ) -> Scores:
        """Return the scores of many documents by the model's own scoring."""
        raise NotImplementedError

    def many_by(
        self,
        model: BatchModel,
        scorings: Sequence[Scoring],
        documents: FoundTerms,
        labels: Labels | None = None,
    ) -> list[Scores]:
        """Return the scores of many documents by one scoring after the other."""
        return [
            self.many(model.scored_by(scoring), documents, labels)
            for scoring in scorings
        ]
