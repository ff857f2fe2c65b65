"""
Measures that settings are compared by: less is better, and each has a standard error.

A measure is a mean over documents of what each contributes. So two settings that have
scored the same documents are compared document by document, which is far sharper than
by two intervals.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from nbtext.evaluation.metrics import Floats, Indices

Contributions: TypeAlias = "Callable[[Indices, Floats], Floats]"
"""Returns each document's part, shape (n_documents,), given the places of the true
classes and the log posterior, shape (n_documents, n_classes)."""


def _log_loss(truth: Indices, log_posterior: Floats) -> Floats:
    losses: Floats = -log_posterior[np.arange(len(truth)), truth]
    return losses


def _error(truth: Indices, log_posterior: Floats) -> Floats:
    wrong: Floats = (log_posterior.argmax(axis=1) != truth).astype(np.float64)
    return wrong


def _balanced(truth: Indices, log_posterior: Floats) -> Floats:
    sizes = np.bincount(truth, minlength=log_posterior.shape[1])
    weights = len(truth) / (np.count_nonzero(sizes) * np.maximum(sizes, 1))
    balanced: Floats = _error(truth, log_posterior) * weights.take(truth)
    return balanced


def _brier(truth: Indices, log_posterior: Floats) -> Floats:
    errors = np.exp(log_posterior)
    errors[np.arange(len(truth)), truth] -= 1
    squares: Floats = (errors**2).sum(axis=1)
    return squares


def _one_minus_auc(truth: Indices, log_posterior: Floats) -> Floats:
    """
    Return placements: of what share of the other class each is on the wrong side.

    The mean over either class is 1 - AUC, and their variances are its variance (DeLong,
    DeLong and Clarke-Pearson 1988). Each class is weighted to count as half.
    """
    odds = log_posterior[:, 1] - log_posterior[:, 0]
    parts = np.zeros(len(truth))
    for place, sign in ((0, 1), (1, -1)):
        own, others = sign * odds[truth == place], np.sort(sign * odds[truth != place])
        if not len(own) or not len(others):
            return parts
        below = np.searchsorted(others, own, side="left")
        not_above = np.searchsorted(others, own, side="right")
        share = (below + not_above) / (2 * len(others))
        parts[truth == place] = share * len(truth) / (2 * len(own))
    return parts


MEASURES: Final[dict[str, Contributions]] = {
    "log-loss": _log_loss,
    "error": _error,
    "balanced-error": _balanced,
    "brier": _brier,
    "1-auc": _one_minus_auc,
}
"""The measures by name. Balanced: the mean of the classes' error rates."""

OF_TWO: Final = "1-auc"
"""The measure that is for two classes only."""


def standard_error(name: str, parts: Floats, truth: NDArray[np.integer]) -> float:
    """
    Return the standard error of a measure, or of the difference of two.

    Args:
        name: the measure.
        parts: shape (n_documents,), the contributions, or their differences.
        truth: shape (n_documents,), the places of the classes.
    """
    n = len(parts)
    if n < 2:
        return 0.0
    if name != OF_TWO:
        return float(parts.std(ddof=1)) / sqrt(n)
    # a placement counts twice: as a document's own, and in those of the other class
    variance = 0.0
    for place in (0, 1):
        own = parts[truth == place]
        if len(own) > 1:
            variance += 4 * len(own) * float(own.var(ddof=1)) / n**2
    return sqrt(variance)
