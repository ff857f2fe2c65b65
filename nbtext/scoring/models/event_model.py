"""
What an event model is: its columns, its calibration, and two computations.

An event model is written for one document first, as evidence: what each term says. The
score of the document is computed from the evidence and in no other way, so whatever is
shown as the reasons of a decision adds up to it. The computation by arrays, for many
documents, as they are or each left out, is held against it by the tests. An event
model writes `many`, or `many_by` where most of what it computes is the same for
several scorings.
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

from nbtext import wording
from nbtext.scoring.models.evidence import n_numbers, score_of
from nbtext.settings.scoring import OCCURRENCES, ONCE, UNK


class EventModel:
    """
    How the counts of a document's terms become a score.

    What is asked of all of them is declared (`name`, `columns`, `parameters`); what
    only one of them refuses, it says itself (`refusal`). So errors can name the other
    models that would do, and none of them has to know the others.

    Attributes:
        name: what it is called: the value of `score`.
        about: what it is, in a few words, for the help of `score`.
        smoothing: what is added to every count, unless the user says otherwise.
        smoothings: what else may be, way by way, where training chooses. It goes on
            along a way while held-out documents lose less, and tries the next way if
            the first step of one is no better.
        calibration: how its scores become probabilities.
        expected: what is expected of a fit, however many classes there are.
        is_textbook: whether the posterior is that of the textbook, unless asked
            otherwise.
        parameters: the numbers that it has of its own.
        reads_ngrams: whether byte n-grams are counted for it, unless the user says
            otherwise.
        reads_vocabulary: whether one document's score needs a pass over all terms of
            the model. Such a model is read by arrays, however few the documents are.
        reads_own_terms: whether a document's score rests on its own terms and on sums
            alone. Then the terms of other documents, and how many there are, change
            nothing.
        can_be_corrected: whether training may learn a correction of its scores.
        weighs_again: whether training reads the documents twice: for counts, and for
            weights.
        countings: what a term that occurs n times may count: some of `COUNTINGS`.
        has_unknown: whether terms that it does not know may be one term.
        not_linear: why its score is not linear in counts; empty if it is. It reads on
            from "because".
    """

    name: str
    about: str
    smoothing: float
    smoothings: tuple[tuple[float, ...], ...] = ()
    calibration: Calibrated
    expected: Prior
    is_textbook: bool = False
    parameters: tuple[Parameter, ...] = ()
    reads_ngrams: bool = False
    reads_vocabulary: bool = False
    reads_own_terms: bool = False
    can_be_corrected: bool = False
    weighs_again: bool = False
    countings: tuple[str, ...] = (OCCURRENCES, ONCE)
    has_unknown: bool = False
    not_linear: str = "it is no sum of counts times weights"

    def columns(self, view: View) -> tuple[Column, ...]:
        """Return what must have been counted in a view."""
        del view
        return ("occurrences", "documents")

    def further_columns(self, scoring: Scoring) -> tuple[Column, ...]:
        """Return what the parameters of a scoring need beside that, in every view."""
        del scoring
        return ()

    def keeps_histograms(self, scoring: Scoring) -> bool:
        """
        Return whether one document is scored by histograms of counts.

        A model that asks for such a score keeps them (`nbtext.counts.histograms`). It
        does if unknown terms are one term, which singletons tell of.
        """
        return self.has_unknown and scoring.unknown == UNK

    def refusal(
        self, scoring: Scoring, settings: Settings, classes: Sequence[str]
    ) -> str:
        """
        Say what it cannot do that is asked of it; empty if it can.

        Args:
            scoring: the smoothing, and what is counted.
            settings: how documents are read.
            classes: two or more, sorted.

        Returns:
            What follows "the NAME score": "is for two classes, the model has 3".
        """
        del settings, classes
        if scoring.counting in self.countings:
            return ""
        return f"cannot count by {scoring.counting} ({wording.named('counting')})"

    def parameters_for(self, n_classes: int) -> Mapping[str, float]:
        """Return the parameters that follow from the number of classes, by name."""
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
        """Return the parts of one document's score: the specification."""
        return [
            self.view_evidence(model, view, terms) for view, terms in enumerate(bag)
        ]

    def scores(self, model: Model, scorings: Sequence[Scoring], bag: Bag) -> list[Raw]:
        """Return one document's score by each scoring, as its evidence gives it."""
        numbers = n_numbers(self.calibration, len(model.classes))
        return [
            score_of(self.evidence(model._replace(scoring=scoring), bag), numbers)
            for scoring in scorings
        ]

    def counted_as(self, scoring: Scoring) -> str:
        """Return what a term that occurs n times counts, one of COUNTINGS."""
        return scoring.counting

    def joint_log_likelihood(self, model: Model, bag: Bag) -> Raw:
        """
        Return ln P(class, document) by class, up to what is the same for all classes.

        It is neither calibrated, nor corrected, nor capped. Of a textbook's score it is
        exact; of others it is the score, of which a fit makes a posterior.
        """
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
        """
        Return the scores of many documents by each scoring.

        Args:
            model: the counts.
            scorings: how to score; they differ in parameters only.
            documents: the terms.
            labels: shape (n_documents,), the places of the classes that the documents
                are counted in: each is scored as if it alone had not been; None if
                none is left out.
        """
        return [
            self.many(model.scored_by(scoring), documents, labels)
            for scoring in scorings
        ]
