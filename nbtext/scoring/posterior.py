"""
From a document's score to the log posterior of each class.

The number of a score that is calibrated by a histogram is the log-odds of the second
class, to be scaled and shifted; the numbers of any other score are the classes' own, to
be scaled and normalised. What is printed of a calibrated score is capped.
"""

from collections.abc import Sequence
from math import exp, inf, log, log1p
from typing import TYPE_CHECKING, Final

from nbtext.counts import Fit
from nbtext.counts.calibration import MOST_LOSS
from nbtext.counts.fitting import softplus
from nbtext.settings.scoring import NO_PRIOR, SHARES, UNIFORM, dirichlet_documents

if TYPE_CHECKING:
    from nbtext.scoring.models.evidence import Calibrated, Raw

LEAST_SHARE: Final = 1e-9
"""Documents that stand for none, which has no logarithm."""


IMPOSSIBLE: Final = -MOST_LOSS
"""The log posterior of a class that a record's attributes exclude; none is less."""


def log_shares(documents: Sequence[int]) -> list[float]:
    """
    Return the logarithms of the classes' shares of the documents.

    A class without documents gets the share of LEAST_SHARE documents.
    """
    whole = max(sum(documents), 1)
    return [log(max(count, LEAST_SHARE) / whole) for count in documents]


def log_prior(class_prior: str, documents: Sequence[int]) -> list[float]:
    """
    Return ln P(class) of each class (Murphy 2006, equations 10 to 14).

    With D_c documents of class c, D of all and K classes, that is ln(D_c / D) for the
    shares, ln((D_c + a) / (D + K a)), the mean of a Dirichlet posterior, or -ln K; of
    no prior it is 0.

    Args:
        class_prior: as a scoring has it.
        documents: D_c of each class.
    """
    if class_prior == SHARES:
        return log_shares(documents)
    if class_prior == NO_PRIOR:
        return [0.0] * len(documents)
    if class_prior == UNIFORM:
        return [-log(len(documents))] * len(documents)
    a = dirichlet_documents(class_prior)
    whole = sum(documents) + a * len(documents)
    return [log((count + a) / whole) for count in documents]


def capped(
    log_posterior: Sequence[float], documents: Sequence[int]
) -> tuple[float, ...]:
    """
    Return a log posterior no class of which exceeds what its model can know.

    Whether the next document is of another class than the n documents of all others
    were is a question that n documents answer with (n + 1) / (n + 2) at the most: the
    rule of succession (Laplace 1774). The other classes share the rest as they did.

    Args:
        log_posterior: shape (n_classes,), in nats.
        documents: for each class, how many documents.
    """
    best = max(range(len(log_posterior)), key=log_posterior.__getitem__)
    others = sum(documents) - documents[best]
    most = cap_of(others)
    if log_posterior[best] <= most:
        return tuple(log_posterior)
    shares = normalised(
        [value for place, value in enumerate(log_posterior) if place != best]
    )
    rest = -log(others + 2)
    left = [rest + share for share in shares]
    return (*left[:best], most, *left[best:])


def cap_of(n_documents: int) -> float:
    """Return the log of the cap that documents of all other classes give a class."""
    return log((n_documents + 1) / (n_documents + 2))


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
    return tuple(normalised([fit.slope * value for value in raw]))


def normalised(scores: Sequence[float]) -> list[float]:
    """
    Return scores less the logarithm of the sum of their exponentials.

    If all of them are minus infinity, the result is that of equal scores.
    """
    # the best one's own term is 1; without it the sum does not round to certainty
    best = max(range(len(scores)), key=scores.__getitem__)
    if scores[best] == -inf:  # no class is possible, so none is more probable
        return [-log(len(scores))] * len(scores)
    shifted = [value - scores[best] for value in scores]
    rest = sum(exp(value) for place, value in enumerate(shifted) if place != best)
    return [value - log1p(rest) for value in shifted]
