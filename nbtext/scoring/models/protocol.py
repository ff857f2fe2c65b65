"""
What an event model is: its columns, its calibration, and three computations.

An event model is written for one document first, as evidence: what each term says. The
score of the document is computed from the evidence and in no other way, so whatever is
shown as the reasons of a decision adds up to it. The computations by arrays, for many
documents and for many that are each left out, are held against it by the tests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from nbtext.scoring.batch_model import BatchModel, FoundTerms, Labels, Scores
    from nbtext.scoring.model import Model
    from nbtext.settings import Column, Scoring, Settings, View
    from nbtext.tokens.bag import Bag

Raw: TypeAlias = tuple[float, ...]
"""The numbers of a score, not calibrated: the log-odds of the second class alone if the
calibration is a histogram, else a number for each class. In nats."""

Calibrated: TypeAlias = Literal["histogram", "temperature", "none"]
"""
What is kept of held-out scores, and so how scores become probabilities.

A histogram is kept of one number, the log-odds of the second of two classes; slope and
offset are fitted to it. For a temperature the losses on a grid are kept; one slope is
fitted to them, for all classes. With none the posterior is that of the model itself.
"""

TermEvidence: TypeAlias = tuple[int, int, float]
"""A term's key, the place of a number of the score, and what the term adds to it. A
term may have a row for each number; one that adds nothing needs none."""


class Evidence(NamedTuple):
    """
    A part of a score: what the terms of one view say, or something besides them.

    Each number of the score is the sum over all parts of
    (sum of the terms' contributions to it) / divisor + rest.

    Attributes:
        source: the view's name, or what else the part is, such as `prior`.
        terms: what each term says, in nats.
        divisor: what the sum over the terms is divided by; 1 unless it is a mean.
        rest: for each number what is added besides; empty if that is nothing.
        known: how many of the document's tokens in this view the model knows.
    """

    source: str
    terms: Sequence[TermEvidence] = ()
    divisor: float = 1.0
    rest: Sequence[float] = ()
    known: int = 0


PRIOR: Final = "prior"
"""The source of what is said without any term: the shares of the classes."""


class EventModel(Protocol):
    """
    How the counts of a document's terms become a score.

    What is asked of all of them is declared (`name`, `columns`, `calibration`); what
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
    def calibration(self) -> Calibrated:
        """How its scores become probabilities."""

    @property
    def reads_vocabulary(self) -> bool:
        """
        Whether one document's score needs a pass over all terms of the model.

        Such a model is read by arrays, however few the documents are.
        """

    def columns(self, view: View) -> tuple[Column, ...]:
        """Return what must have been counted in a view."""

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

    def evidence(self, model: Model, bag: Bag) -> list[Evidence]:
        """Return the parts of one document's score: the specification."""

    def many(self, model: BatchModel, documents: FoundTerms) -> Scores:
        """Return the scores of many documents."""

    def left_out(
        self, model: BatchModel, documents: FoundTerms, labels: Labels
    ) -> Scores:
        """
        Return each document's score as if it alone had not been counted.

        Args:
            model: the counts, the documents' own among them.
            documents: their terms.
            labels: shape (n_documents,), the places of the classes they are counted in.

        """


def score_of(evidence: Iterable[Evidence], n_numbers: int) -> Raw:
    """
    Add evidence up: this is a document's score.

    Args:
        evidence: its parts.
        n_numbers: how many numbers the score has.

    """
    score = [0.0] * n_numbers
    for part in evidence:
        sums = [0.0] * n_numbers
        for _, place, contribution in part.terms:
            sums[place] += contribution
        for place, value in enumerate(sums):
            score[place] += value / part.divisor
        for place, value in enumerate(part.rest):
            score[place] += value
    return tuple(score)


def n_numbers(calibration: Calibrated, n_classes: int) -> int:
    """Return how many numbers a score has."""
    return 1 if calibration == "histogram" else n_classes


def counted_column(scoring: Scoring) -> Column:
    """Return the column that a model of terms' frequencies counts."""
    return "documents" if scoring.counting == "once" else "occurrences"
