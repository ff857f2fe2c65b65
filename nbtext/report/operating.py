"""
What other thresholds would have done: errors and cost at each, ROC and DET curves.

The log-odds of a positive class go in, with what is true; counts of errors come out.
The costs are those of the policy, also of right decisions, or 1 for each error.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nbtext.evaluation import Evaluation
from nbtext.evaluation.binary_metrics import TwoClass
from nbtext.evaluation.evaluation import NO_CLASS
from nbtext.scoring.costs import costs_of

THRESHOLDS: Final = (0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.995, 0.999)
"""Probabilities of the positive class in the table."""

MOST_POINTS: Final = 400
"""Maximum number of points in a curve that is drawn."""


class OperatingPoint(NamedTuple):
    """
    What a threshold would have done.

    Attributes:
        threshold: the least printed probability of the positive class.
        false_positives: negatives that reach it.
        false_negatives: positives that do not.
        false_positive_rate: of all negatives.
        false_negative_rate: of all positives.
        cost: of a document, on average.
    """

    threshold: float
    false_positives: int
    false_negatives: int
    false_positive_rate: float
    false_negative_rate: float
    cost: float


class Split(NamedTuple):
    """
    The documents of two classes, by what is true.

    Attributes:
        two: what they are called, and their measures.
        positives: shape (n,), the log-odds of true positives, prior and cap apart.
        negatives: the same of true negatives.
        printed_positives: their printed probabilities of the positive class.
        printed_negatives: the same of negatives.
    """

    two: TwoClass
    positives: NDArray[np.float64]
    negatives: NDArray[np.float64]
    printed_positives: NDArray[np.float64]
    printed_negatives: NDArray[np.float64]


def split_of(result: Evaluation) -> Split | None:
    """Return the documents of two classes; None if there are not both of them."""
    two, rows = result.two_class, result.rows
    if two is None or rows is None or not (two.positives and two.negatives):
        return None
    wanted = result.classes.index(two.positive)
    known = rows.truth != NO_CLASS
    is_positive = rows.truth[known] == wanted
    posterior, printed = rows.log_posterior[known], rows.printed[known]
    odds = posterior[:, wanted] - posterior[:, 1 - wanted]
    told = np.exp(printed[:, wanted])
    positives, negatives = odds[is_positive], odds[~is_positive]
    return Split(two, positives, negatives, told[is_positive], told[~is_positive])


def operating_points(result: Evaluation, split: Split) -> list[OperatingPoint]:
    """Return what each of the THRESHOLDS would have done."""
    two = split.two
    costs = result.costs or costs_of((), result.classes)
    positive = result.classes.index(two.positive)
    negative = 1 - positive
    found = []
    for threshold in THRESHOLDS:
        wrong = int((split.printed_negatives >= threshold).sum())
        missed = int((split.printed_positives < threshold).sum())
        total = (
            wrong * costs.price(negative, positive)
            + (two.negatives - wrong) * costs.price(negative, negative)
            + missed * costs.price(positive, negative)
            + (two.positives - missed) * costs.price(positive, positive)
        )
        found.append(
            OperatingPoint(
                threshold,
                wrong,
                missed,
                wrong / two.negatives,
                missed / two.positives,
                total / (two.positives + two.negatives),
            )
        )
    return found


def error_curve(split: Split) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """
    Return the rates of false positives and false negatives at every threshold.

    Returns:
        Both of shape (n_points,), the first ascending from 0 to 1; at most MOST_POINTS
        of the points, the first and the last among them.
    """
    scores = np.concatenate([split.positives, split.negatives])
    is_positive = np.arange(len(scores)) < len(split.positives)
    order = np.argsort(-scores, kind="stable")
    ranked, is_positive = scores[order], is_positive[order]
    # a threshold stands between two documents of different scores
    ends = np.flatnonzero(np.append(np.diff(ranked) != 0, True))
    wrong = np.cumsum(~is_positive)[ends] / len(split.negatives)
    missed = 1 - np.cumsum(is_positive)[ends] / len(split.positives)
    wrong, missed = np.append(0.0, wrong), np.append(1.0, missed)
    if len(wrong) > MOST_POINTS:
        # evenly along the curve, so that steep parts keep their points
        length = np.append(
            0, np.cumsum(np.abs(np.diff(wrong)) + np.abs(np.diff(missed)))
        )
        wanted = np.linspace(0, length[-1], MOST_POINTS)
        places = np.unique(np.searchsorted(length, wanted).clip(max=len(wrong) - 1))
        wrong, missed = wrong[places], missed[places]
    return wrong, missed
