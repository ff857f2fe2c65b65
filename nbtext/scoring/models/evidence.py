"""
Evidence: what a document's score is the sum of.

An event model gives its evidence for a document, part by part; `score_of` adds it up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from nbtext.settings.columns import Column
    from nbtext.settings.scoring import Scoring

Raw: TypeAlias = tuple[float, ...]
"""The numbers of a score, not calibrated: the log-odds of the second class alone if the
calibration is a histogram, else a number for each class. In nats."""

Calibrated: TypeAlias = Literal["histogram", "temperature"]
"""
What is kept of held-out scores, and so how scores become probabilities.

A histogram is kept of one number, the log-odds of the second of two classes; slope and
offset are fitted to it. For a temperature the losses on a grid are kept; one slope is
fitted to them, for all classes.
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
        smoothing: how much of the divisor no term stands for, which keeps the mean of
            few terms small.
    """

    source: str
    terms: Sequence[TermEvidence] = ()
    divisor: float = 1.0
    rest: Sequence[float] = ()
    known: int = 0
    smoothing: float = 0.0


PRIOR: Final = "prior"
"""The source of what is said without any term: the shares of the classes."""

ABSENT: Final = "absent"
"""The source of what the terms say that a document does not have."""

UNKNOWN: Final = "unknown"
"""The source of what the terms say that no class knows, as one term."""


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
