"""
What an event model is: its columns, its calibration, and two computations.

An event model is written for one document first, as evidence: what each term says. The
score of the document is computed from the evidence and in no other way, so whatever is
shown as the reasons of a decision adds up to it. The computation by arrays, for many
documents, as they are or each left out, is held against it by the tests. That of
several scorings at once need not be written: `nbtext.scoring.models.base` has it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

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


class EventModel(Protocol):
    """
    How the counts of a document's terms become a score.

    What is asked of all of them is declared (`name`, `columns`, `parameters`); what
    only one of them refuses, it says itself (`refusal`). So errors can name the other
    models that would do, and none of them has to know the others.
    """

    @property
    def name(self) -> str:
        """What it is called: the value of `--score`."""

    @property
    def about(self) -> str:
        """What it is, in a few words, for the help of `--score`."""

    @property
    def smoothing(self) -> float:
        """What is added to every count, unless the user says otherwise."""

    @property
    def smoothings(self) -> Sequence[Sequence[float]]:
        """
        What else may be, way by way, where training chooses.

        It goes on along a way while held-out documents lose less, and tries the next
        way if the first step of one is no better.
        """

    @property
    def calibration(self) -> Calibrated:
        """How its scores become probabilities."""

    @property
    def is_textbook(self) -> bool:
        """Whether the posterior is that of the textbook, unless asked otherwise."""

    @property
    def parameters(self) -> Sequence[Parameter]:
        """The numbers that it has of its own."""

    @property
    def reads_ngrams(self) -> bool:
        """Whether byte n-grams are counted for it, unless the user says otherwise."""

    @property
    def can_be_corrected(self) -> bool:
        """Whether training may learn a correction of its scores."""

    @property
    def weighs_again(self) -> bool:
        """Whether training reads the documents twice: for counts, and for weights."""

    @property
    def countings(self) -> Sequence[str]:
        """What a term that occurs n times may count: some of `COUNTINGS`."""

    @property
    def not_linear(self) -> str:
        """
        Why its score is not linear in counts; empty if it is.

        It reads on from "because": "its sum is divided by the number of terms".
        """

    @property
    def has_unknown(self) -> bool:
        """Whether terms that it does not know may be one term."""

    @property
    def reads_vocabulary(self) -> bool:
        """
        Whether one document's score needs a pass over all terms of the model.

        Such a model is read by arrays, however few the documents are.
        """

    @property
    def reads_own_terms(self) -> bool:
        """
        Whether a document's score rests on its own terms and on sums alone.

        Then the terms of other documents, and how many there are, change nothing.
        """

    def columns(self, view: View) -> tuple[Column, ...]:
        """Return what must have been counted in a view."""

    def further_columns(self, scoring: Scoring) -> tuple[Column, ...]:
        """Return what the parameters of a scoring need beside that, in every view."""

    def keeps_histograms(self, scoring: Scoring) -> bool:
        """
        Return whether one document is scored by histograms of counts.

        A model that asks for such a score keeps them (`nbtext.counts.histograms`).
        """

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

    def parameters_for(self, n_classes: int) -> Mapping[str, float]:
        """Return the parameters that follow from the number of classes, by name."""

    def prior(self, n_classes: int) -> Prior:
        """Return what is expected of a fit before any document was scored."""

    def evidence(self, model: Model, bag: Bag) -> list[Evidence]:
        """Return the parts of one document's score: the specification."""

    def counted_as(self, scoring: Scoring) -> str:
        """Return what a term that occurs n times counts, one of COUNTINGS."""

    def joint_log_likelihood(self, model: Model, bag: Bag) -> Raw:
        """
        Return ln P(class, document) by class, up to what is the same for all classes.

        It is neither calibrated, nor corrected, nor capped. Of a textbook's score it is
        exact; of others it is the score, of which a fit makes a posterior.
        """

    def scores(self, model: Model, scorings: Sequence[Scoring], bag: Bag) -> list[Raw]:
        """Return one document's score by each scoring, as its evidence gives it."""

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
