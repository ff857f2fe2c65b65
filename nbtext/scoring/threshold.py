"""
How probable a class must be before a message is moved for it.

A model of two classes keeps the scores of held-out documents
(`nbtext.counts.calibration`). The threshold of a class is the least probability that
the other class's documents reach at most once in a thousand times, as n held-out ones
have it: k of them reach it, and (k + 1) / (n + 1) is at most 1/1000, because the next
document is one more of the same kind (conformal p-values, Vovk et al. 2005). Fewer than
999 cannot say that much: then none of them reaches the threshold. It is LEAST at least.
How well that holds on other mail is in docs/filtering.md.

Such a threshold is compared with a probability before it is capped
(`nbtext.scoring.posterior`), LEAST with what is told. So a message is moved only if
enough documents of other classes were counted.
"""

from collections.abc import Mapping
from fractions import Fraction
from math import ceil, exp, nextafter
from typing import Final, NamedTuple

from nbtext.counts.calibration import BINS_A_NAT, FARTHEST_BIN
from nbtext.counts.fitting import sigmoid
from nbtext.scoring.decide import CERTAIN
from nbtext.scoring.held_out import fitted, held_out
from nbtext.scoring.model import Model
from nbtext.scoring.posterior import cap_of

ONE_IN: Final = 1000
"""Of so many documents of other classes one may be taken for this one's."""

LEAST: Final = 0.99
"""The lowest threshold, and the one where no held-out documents say a better one."""


class Threshold(NamedTuple):
    """
    How probable a class must be.

    Attributes:
        probability: from 0 to 1.
        documents: on how many held-out documents of the other class it rests; 0 if
            none of them said anything.
    """

    probability: float
    documents: int


def threshold_of(model: Model, label: str) -> Threshold:
    """
    Return the threshold of a class.

    Args:
        model: the model.
        label: one of its classes.

    Raises:
        NotAModelError: what the file keeps for calibration is damaged.

    """
    calibration = held_out(model)
    fitted_to = fitted(model)
    if len(model.classes) != 2 or not fitted_to.documents or fitted_to.slope <= 0:
        return Threshold(LEAST, 0)
    sign = 1 if label == model.classes[1] else -1
    counts = {
        # a bin holds scores from its number up; turned around, down from the next
        bin_ if sign > 0 else -bin_ - 1: n
        for (bin_, name), n in calibration.counts.items()
        if name != label and name in model.classes and n > 0
    }
    documents = sum(counts.values())
    bin_ = highest(counts) + 1
    if bin_ > FARTHEST_BIN:
        return Threshold(CERTAIN, documents)
    score = bin_ / BINS_A_NAT
    probability = sigmoid(fitted_to.slope * score + sign * fitted_to.offset)
    probability = nextafter(probability, 1.0)  # the bin's own upper end is not in it
    return Threshold(min(max(probability, LEAST), CERTAIN), documents)


class Reach(NamedTuple):
    """
    How far the probability of a class can go.

    Attributes:
        most: the largest probability that is told of it.
        others: how many documents of other classes the model has.
        wanted: how many it would take to reach a threshold.
    """

    most: float
    others: int
    wanted: int


def reach_of(model: Model, label: str, threshold: float) -> Reach:
    """
    Return how far the probability of a class can go, to be held against a threshold.

    Args:
        model: the model.
        label: one of its classes.
        threshold: from 0 to 1; of 1, certainty is meant.

    """
    place = model.classes.index(label)
    others = sum(model.documents) - model.documents[place]
    if not model.scoring.calibrated:
        return Reach(CERTAIN, others, 0)
    # (n + 1) / (n + 2) >= t if and only if 1 / (n + 2) <= 1 - t
    doubt = 1 - Fraction(str(min(threshold, CERTAIN)))
    return Reach(exp(cap_of(others)), others, max(ceil(1 / doubt) - 2, 0))


def highest(counts: Mapping[int, int]) -> int:
    """
    Return the lowest bin above which there are few enough documents.

    Args:
        counts: bin to how many documents there are in it, at least one.

    """
    left = max((sum(counts.values()) + 1) // ONE_IN - 1, 0)
    for bin_ in sorted(counts, reverse=True):
        left -= counts[bin_]
        if left < 0:
            break
    return bin_
