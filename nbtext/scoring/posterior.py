"""
From a document's score to the log posterior of each class.

The number of a score that is calibrated by a histogram is the log-odds of the second
class, to be scaled and shifted; the numbers of any other score are the classes' own, to
be scaled and normalised.
"""

from collections.abc import Sequence
from math import exp, log, log1p
from typing import TYPE_CHECKING, Final

from nbtext.counts import Fit
from nbtext.counts.fitting import softplus

if TYPE_CHECKING:
    from nbtext.scoring.models.evidence import Calibrated, Raw

LEAST_SHARE: Final = 1e-9
"""Documents that stand for none, which has no logarithm."""


def log_shares(documents: Sequence[int]) -> list[float]:
    """
    Return the logarithms of the classes' shares of the documents.

    A class without documents gets the share of LEAST_SHARE documents.
    """
    whole = max(sum(documents), 1)
    return [log(max(count, LEAST_SHARE) / whole) for count in documents]


def log_posterior(raw: "Raw", calibration: "Calibrated", fit: Fit) -> tuple[float, ...]:
    """
    Return the log posterior of each class.

    Args:
        raw: the score.
        calibration: how the event model's scores become probabilities.
        fit: what they were fitted to.

    """
    if calibration == "histogram":
        log_odds = fit.slope * raw[0] + fit.offset
        return -softplus(log_odds), -softplus(-log_odds)
    slope = fit.slope if calibration == "temperature" else 1.0
    return tuple(normalised([slope * value for value in raw]))


def normalised(scores: Sequence[float]) -> list[float]:
    """Return scores less the logarithm of the sum of their exponentials."""
    # the best one's own term is 1; without it the sum does not round to certainty
    best = max(range(len(scores)), key=scores.__getitem__)
    shifted = [value - scores[best] for value in scores]
    rest = sum(exp(value) for place, value in enumerate(shifted) if place != best)
    return [value - log1p(rest) for value in shifted]
