"""
The fitted half of calibration: from a score to a probability that is one.

Naive Bayes ranks well and is overconfident. For two classes the probability is
1 / (1 + exp(-(s F + b))), with s and b fitted by logistic regression to the histogram
of held-out scores that `nbtext.counts.calibration` keeps (Platt 1999, with the target
values of his section 2.2). For more classes the posterior is softmax(s z), with the one
number s that gives held-out documents the least log-loss (temperature scaling, Guo et
al. 2017 section 4.2).
"""

from collections import Counter as Tally
from collections.abc import Mapping, Sequence
from math import exp, floor, isfinite, log, log1p
from typing import Any, Final, NamedTuple, TypeAlias

from nbtext.counts.calibration import BINS_A_NAT, MOST, TEMPERATURES, Calibration

FEWEST: Final = 50
"""With fewer held-out documents in a class nothing is fitted."""

RIDGE: Final = 1e-9
MIN_STEP: Final = 1e-6
TOLERANCE: Final = 1e-9
"""Of Newton's method: what keeps its matrix regular, and when it has arrived."""

Row: TypeAlias = tuple[float, int, float]
"""A score, how many documents have it, and the probability that they should get."""


class Fit(NamedTuple):
    """
    The fitted numbers: probability = sigmoid(slope F + offset), or softmax(slope z).

    Attributes:
        slope: s.
        offset: b; zero for more than two classes.
        documents: how many held-out documents it rests on, 0 if nothing was fitted.
    """

    slope: float = 1.0
    offset: float = 0.0
    documents: int = 0


def with_fit(calibration: Calibration, fit: Fit | None) -> dict[str, Any]:
    """Return a calibration and what was fitted to it as plain values, for msgpack."""
    return calibration.as_dict() | {"fit": None if fit is None else [*fit]}


def stored_fit(plain: Mapping[str, Any]) -> Fit | None:
    """
    Return what a table says was fitted, None if nothing.

    Args:
        plain: what `with_fit` gave.

    Raises:
        ValueError: it is not that.

    """
    found = plain.get("fit")
    if found is None:
        return None
    types = [float, float, int]
    if not isinstance(found, list) or [*map(type, found)] != types:
        message = "what was fitted is not a slope, an offset and a number of documents"
        raise ValueError(message)
    fit = Fit(*found)
    if not isfinite(fit.slope + fit.offset) or not 0 <= fit.documents <= 2 * MOST:
        message = "what was fitted has no finite numbers"
        raise ValueError(message)
    return fit


def fit(calibration: Calibration, classes: Sequence[str]) -> Fit:
    """
    Fit the numbers that turn scores into probabilities.

    Args:
        calibration: what held-out documents scored.
        classes: the model's, sorted; of two, a positive score speaks for the second.

    With fewer than 50 held-out documents of a class (two classes), or in all (more),
    nothing is fitted: slope 1, offset 0.
    """
    if calibration.losses:
        documents = sum(calibration.documents.values())
        if documents < FEWEST:
            return Fit()
        return Fit(_best_temperature(calibration.losses), 0.0, documents)
    if len(classes) != 2:
        return Fit()
    by_class = [
        {
            bin_: n
            for (bin_, name), n in calibration.counts.items()
            if name == class_ and n > 0
        }
        for class_ in classes
    ]
    negatives, positives = (sum(counts.values()) for counts in by_class)
    if min(negatives, positives) < FEWEST:
        return Fit()
    # Platt's targets stand for 0 and 1; they keep the slope finite
    targets = (1 / (negatives + 2), (positives + 1) / (positives + 2))
    rows = [
        ((bin_ + 0.5) / BINS_A_NAT, n, target)
        for counts, target in zip(by_class, targets, strict=True)
        for bin_, n in sorted(counts.items())
    ]
    slope, offset = _logistic(rows)
    return Fit(slope, offset, negatives + positives)


def _best_temperature(losses: tuple[int, ...]) -> float:
    """Return the least loss's s, between grid points by a parabola in log s."""
    best = min(range(len(losses)), key=losses.__getitem__)
    if not 0 < best < len(losses) - 1:
        return TEMPERATURES[best]
    left, middle, right = losses[best - 1 : best + 2]
    curvature = left - 2 * middle + right
    shift = 0.5 * (left - right) / curvature if curvature > 0 else 0.0
    factor: float = 2.0 ** (shift / 4)
    return TEMPERATURES[best] * factor


def _logistic(rows: list[Row]) -> tuple[float, float]:
    """
    Fit slope and offset, first to whole nats, because that is soon done.

    Then the start is so good that two or three steps over all bins are enough, where
    ten would be needed. A process that classifies one message does this, too.
    """
    documents = sum(n for _, n, _ in rows)
    coarse: Tally[tuple[float, float]] = Tally()
    for score, n, target in rows:
        coarse[floor(score) + 0.5, target] += n
    # from where every probability is the same, because far out nothing slopes
    share = sum(n * target for _, n, target in rows) / documents
    whole_nats = [(score, n, target) for (score, target), n in coarse.items()]
    start = _newton(whole_nats, 0.0, log(share / (1 - share)))
    return _newton(rows, *start)


def _newton(rows: list[Row], slope: float, offset: float) -> tuple[float, float]:
    """
    Improve slope and offset by Newton's method with step halving.

    Args:
        rows: what they shall fit.
        slope: where to start.
        offset: the same.

    """
    documents = sum(n for _, n, _ in rows)
    loss = _loss(rows, slope, offset)
    for _ in range(50):
        g_slope = g_offset = h_slope = h_both = h_offset = 0.0
        for score, n, target in rows:
            p = sigmoid(slope * score + offset)
            error, weight = n * (p - target), n * p * (1 - p)
            g_slope += error * score
            g_offset += error
            h_slope += weight * score * score
            h_both += weight * score
            h_offset += weight
        h_slope += RIDGE * documents
        h_offset += RIDGE * documents
        determinant = h_slope * h_offset - h_both * h_both
        if determinant <= 0:
            break
        step_slope = (g_slope * h_offset - g_offset * h_both) / determinant
        step_offset = (g_offset * h_slope - g_slope * h_both) / determinant
        scale = 1.0
        while scale > MIN_STEP:
            tried = slope - scale * step_slope, offset - scale * step_offset
            tried_loss = _loss(rows, *tried)
            if tried_loss < loss:
                break
            scale /= 2
        else:
            break
        improved = loss - tried_loss
        (slope, offset), loss = tried, tried_loss
        if improved < TOLERANCE * documents:
            break
    return slope, offset


def _loss(rows: list[Row], slope: float, offset: float) -> float:
    return sum(
        n * (softplus(x) - target * x)
        for score, n, target in rows
        for x in (slope * score + offset,)
    )


def sigmoid(x: float) -> float:
    """Return 1 / (1 + exp(-x)), without overflow."""
    if x >= 0:
        return 1 / (1 + exp(-x))
    return exp(x) / (1 + exp(x))


def softplus(x: float) -> float:
    """Return ln(1 + exp(x)), without overflow; -ln of a probability never saturates."""
    return max(x, 0.0) + log1p(exp(-abs(x)))
