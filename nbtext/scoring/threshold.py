"""
How probable a class must be, by what held-out documents of the other class scored.

A model of two classes keeps the scores of held-out documents
(`nbtext.counts.calibration`). The threshold of a class is the least probability that
the other class's documents reach so rarely as is wanted, as n held-out ones have it: k
of them reach it, and (k + 1) / (n + 1) is at most the wanted rate, because the next
document is one more of the same kind (conformal p-values, Vovk et al. 2005). If they
are too few to say that much, such as 998 for 1/1000, none reaches the threshold.
How well that holds on other mail is in docs/filtering.md.

`filter` moves messages from a threshold for the rate FILTER_RATE on, LEAST at least.
Such a threshold is compared with a probability before prior and cap
(`nbtext.scoring.posterior`), LEAST with what is told. So a message is moved only if
enough documents of other classes were counted.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import ceil, exp, inf, nextafter
from typing import Final, NamedTuple

from nbtext.counts import Calibration, Fit
from nbtext.counts.calibration import BINS_A_NAT, FARTHEST_BIN
from nbtext.counts.fitting import sigmoid
from nbtext.scoring.decide import CERTAIN
from nbtext.scoring.held_out import fitted, held_out
from nbtext.scoring.model import Model
from nbtext.scoring.posterior import cap_of

FILTER_RATE: Final = Fraction(1, 1000)
"""The share of other classes' documents that `filter` may take for this one's."""

LEAST: Final = 0.99
"""The lowest threshold of `filter`, and the one where no held-out documents say any."""


class Threshold(NamedTuple):
    """
    How probable a class must be.

    Attributes:
        probability: from 0 to 1.
        documents: on how many held-out documents of the other class it rests; 0 if
            none of them said anything.
        reached: how many held-out documents of the class itself reach it ...
        own: ... of how many.
    """

    probability: float
    documents: int
    reached: int = 0
    own: int = 0

    @property
    def is_far(self) -> bool:
        """Whether most of the class does not reach it."""
        return 2 * self.reached < self.own


def threshold_of(model: Model, label: str) -> Threshold:
    """
    Return the threshold of a class for `filter`.

    Raises:
        NotAModelError: what the file keeps for calibration is damaged.
    """
    calibration, fit = held_out(model), fitted(model)
    found = held_out_threshold(calibration, fit, model.classes, label, FILTER_RATE)
    if found is None:
        return Threshold(LEAST, 0)
    probability = nextafter(sigmoid(found.log_odds), 1.0)
    probability = min(max(probability, LEAST), CERTAIN)
    own, _ = turned(calibration, model.classes, label)
    sign = _sign(model.classes, label)
    reached = sum(
        n
        for bin_, n in own.items()
        if sigmoid(_log_odds(fit, bin_, sign)) >= probability
    )
    return Threshold(probability, found.documents, reached, sum(own.values()))


class HeldOut(NamedTuple):
    """
    What held-out documents say of a threshold.

    Attributes:
        log_odds: the least log-odds of the class, in nats, prior and cap apart;
            infinite if no document ever reaches it.
        documents: how many held-out documents of the other class there are.
    """

    log_odds: float
    documents: int


def held_out_threshold(
    calibration: Calibration,
    fit: Fit,
    classes: Sequence[str],
    label: str,
    rate: Fraction,
) -> HeldOut | None:
    """
    Return the least log-odds of a class that few documents of the other reach.

    Args:
        calibration: what held-out documents scored.
        fit: what turns scores into probabilities.
        classes: the model's, sorted.
        label: one of them.
        rate: the share of the other class's documents that may reach it, above 0.

    Returns:
        The threshold; None if no held-out documents say any, such as those of more
        than two classes, of which no scores are kept.
    """
    if len(classes) != 2 or not fit.documents or fit.slope <= 0:
        return None
    _, counts = turned(calibration, classes, label)
    if not counts:
        return None
    documents = sum(counts.values())
    bin_ = highest(counts, rate) + 1
    if bin_ > FARTHEST_BIN:
        return HeldOut(inf, documents)
    log_odds = _log_odds(fit, bin_, _sign(classes, label))
    return HeldOut(nextafter(log_odds, inf), documents)  # a bin's end is not in it


def _sign(classes: Sequence[str], label: str) -> int:
    """Return 1 if scores rise towards a class of two, else -1."""
    return 1 if label == classes[1] else -1


def _log_odds(fit: Fit, bin_: int, sign: int) -> float:
    """Return the log-odds of a class where a bin begins that rises towards it."""
    return fit.slope * bin_ / BINS_A_NAT + sign * fit.offset


def turned(
    calibration: Calibration, classes: Sequence[str], label: str
) -> tuple[dict[int, int], dict[int, int]]:
    """
    Return held-out documents by bins that rise towards a class of two.

    Args:
        calibration: what they scored.
        classes: the model's, sorted.
        label: the class.

    Returns:
        Those of the class, and those of the other: bin to how many.
    """
    own: dict[int, int] = {}
    others: dict[int, int] = {}
    sign = _sign(classes, label)
    for (bin_, name), n in calibration.counts.items():
        if name in classes and n > 0:
            # a bin holds scores from its number up; turned around, down from the next
            place = bin_ if sign > 0 else -bin_ - 1
            (own if name == label else others)[place] = n
    return own, others


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


def highest(counts: Mapping[int, int], rate: Fraction) -> int:
    """
    Return the lowest bin above which there are few enough documents.

    Args:
        counts: bin to how many documents there are in it, at least one.
        rate: their share of all that may be above it.
    """
    left = max(int((sum(counts.values()) + 1) * rate) - 1, 0)
    for bin_ in sorted(counts, reverse=True):
        left -= counts[bin_]
        if left < 0:
            break
    return bin_
