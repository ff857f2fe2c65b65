"""
The measures of a classifier: counts and arrays in, one number or one table out.

Each function is one formula of docs/measures.md, which has the sources and says what
a measure is not. Sums of floats are exact before they are rounded (`math.fsum`), so
that the order of the documents moves no digit of any figure.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
"""Probabilities, their logarithms, or scores; one or one row a document."""

Indices: TypeAlias = NDArray[np.integer[Any]]
"""Signed indices of classes, one a document."""

N_BINS = 15
"""Bins of the top probability in a reliability table (Guo et al. 2017, table 1)."""


@dataclass(frozen=True, slots=True)
class PrecisionRecall:
    """Precision, recall and F1, from 0 to 1, and the documents truly in the class."""

    precision: float
    recall: float
    f1: float
    support: int


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """
    How right the documents were whose top probability lies in (low, high].

    Attributes:
        low, high: the edges of the bin, from 0 to 1.
        documents: how many there are, at least one.
        mean_probability: the mean of their top probabilities, what was promised.
        share_right: the share whose most probable class was the true one, what was
            kept.
    """

    low: float
    high: float
    documents: int
    mean_probability: float
    share_right: float


def precision_recall(hits: int, called: int, support: int) -> PrecisionRecall:
    """
    Compute precision, recall and F1 from three counts; 0/0 is 0.

    Args:
        hits: documents called the class and truly in it.
        called: documents called the class.
        support: documents truly in it.
    """
    return PrecisionRecall(
        precision=_ratio_or_zero(hits, called),
        recall=_ratio_or_zero(hits, support),
        f1=_ratio_or_zero(2 * hits, called + support),
        support=support,
    )


def macro_average(classes: Sequence[PrecisionRecall]) -> PrecisionRecall:
    """Give every class the same weight; all 0 if there is no class."""
    if not classes:
        return PrecisionRecall(precision=0.0, recall=0.0, f1=0.0, support=0)
    return PrecisionRecall(
        precision=fmean(one.precision for one in classes),
        recall=fmean(one.recall for one in classes),
        f1=fmean(one.f1 for one in classes),
        support=sum(one.support for one in classes),
    )


def log_loss(truth: Indices, log_posterior: Floats) -> float | None:
    """
    Average -ln p(true class), in nats; None without documents.

    Args:
        truth: (n_documents,), each a class.
        log_posterior: (n_documents, n_classes), in nats.
    """
    if not len(truth):
        return None
    return _mean(-log_posterior[np.arange(len(truth)), truth])


def brier_score(truth: Indices, posterior: Floats) -> float | None:
    """
    Average the squared error, summed over the classes: 0 best, 2 worst.

    Args:
        truth: (n_documents,), each a class.
        posterior: (n_documents, n_classes), from 0 to 1.
    """
    if not len(truth):
        return None
    error = posterior.copy()
    error[np.arange(len(truth)), truth] -= 1
    return _mean((error**2).sum(axis=1))


def reliability(
    probability: Floats, is_right: NDArray[np.bool_]
) -> tuple[ReliabilityBin, ...]:
    """
    Group documents by their top probability, in bins of equal width.

    Args:
        probability: (n_documents,), that of each document's most probable class.
        is_right: (n_documents,), whether that class was the true one.

    Returns:
        The bins that hold a document, by rising probability.
    """
    edges = np.arange(N_BINS + 1) / N_BINS
    bin_of = np.searchsorted(edges[1:-1], probability, side="left")
    return tuple(
        ReliabilityBin(
            low=float(edges[index]),
            high=float(edges[index + 1]),
            documents=int(inside.sum()),
            mean_probability=_mean(probability[inside]),
            share_right=float(is_right[inside].mean()),
        )
        for index in range(N_BINS)
        if (inside := bin_of == index).any()
    )


def calibration_error(bins: Iterable[ReliabilityBin]) -> float | None:
    """Average |promised - kept| over the documents; None without documents."""
    bins = tuple(bins)
    if not bins:
        return None
    gaps = (one.documents * abs(one.mean_probability - one.share_right) for one in bins)
    return math.fsum(gaps) / sum(one.documents for one in bins)


def ratio(part: int, whole: int) -> float | None:
    """Divide two counts; None if the whole is empty."""
    return part / whole if whole else None


def _ratio_or_zero(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def _mean(values: Floats) -> float:
    return math.fsum(values) / len(values)
