"""
The fitted half of calibration: from a score to a probability that is one.

Naive Bayes ranks well and is overconfident. For two classes the probability is
1 / (1 + exp(-(s F + b))), with s and b fitted by logistic regression to the histogram
of held-out scores that `nbtext.counts.calibration` keeps (Platt 1999). For more classes
the posterior is softmax(s z), with one number s (temperature scaling, Guo et al. 2017,
section 4.2). Both are maximum a posteriori: what is expected before any document was
scored, the prior, counts as some documents would, so that a few of them are enough.
"""

from collections import Counter as Tally
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from math import exp, floor, isfinite, log, log1p
from typing import Any, Final, NamedTuple, TypeAlias

from nbtext.counts.calibration import (
    BINS_A_NAT,
    LOSS_UNIT,
    MOST,
    PARAMETERS,
    TEMPERATURES,
    Calibration,
    Prior,
)
from nbtext.settings.scoring import Scoring

FEWEST: Final = 50
"""Held-out documents of each of two classes that a choice among candidates takes."""

ROUNDING: Final = 2.0**-52
"""Relative to a loss, a difference that its rounding may make."""

MIN_STEP: Final = 1e-6
TOLERANCE: Final = 1e-9
"""Newton's method has arrived where no longer step, or no greater gain a document, is
left."""

LEAST_SLOPE: Final = 2.0**-6
"""What speaks for a class never speaks against it, whatever held-out documents say."""

PINNED: Final = 2.0**40
"""The precision of a prior that leaves a slope no choice."""

Row: TypeAlias = tuple[float, int, int]
"""A score, how many documents have it, and whether they are of the second class: 1 or
0."""

Rows: TypeAlias = Sequence[Row]


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


def with_fit(
    calibrations: Iterable[Calibration], scoring: Scoring, fit: Fit | None
) -> tuple[dict[str, Any], ...]:
    """
    Return calibrations and what was fitted as plain values, for msgpack.

    Args:
        calibrations: of the candidates.
        scoring: the one that was chosen.
        fit: what was fitted to its calibration, None if nothing.
    """
    chosen = scoring.of_scores()
    return tuple(
        one.as_dict()
        | {"fit": [*fit] if fit is not None and one.scoring == chosen else None}
        for one in calibrations
    )


def stored_fit(plain: Mapping[str, Any]) -> Fit | None:
    """
    Return what a table says was fitted, None if nothing.

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
        calibration: what held-out documents scored; with none, the prior's most likely
            numbers are what is fitted.
        classes: the model's, sorted; of two, a positive score speaks for the second.
    """
    return _fit(calibration, classes)[0]


def fitted_loss(calibration: Calibration, classes: Sequence[str]) -> float:
    """
    Return what the fit makes least, in nats.

    It is the sum of the log-losses of all held-out documents and minus the logarithm
    of the prior's density, less its greatest value.
    """
    return _fit(calibration, classes)[1]


def chosen(
    scoring: Scoring, calibrations: Sequence[Calibration], classes: Sequence[str]
) -> Scoring:
    """
    Return the candidate whose fit has the least loss, the first of several.

    Without held-out documents it is the given one; with fewer than FEWEST of one of two
    classes it is the first.

    Args:
        scoring: one of the candidates.
        calibrations: what held-out documents scored by each, in order of preference;
            where they are not of candidates for this scoring, it stays. Corrected
            scores have no part in it.
        classes: the model's, sorted.
    """
    calibrations = [one for one in calibrations if not one.is_corrected]
    parameters = [one.scoring.get(PARAMETERS, {}) for one in calibrations]
    own = scoring.of_scores()
    if len(calibrations) < 2 or any(
        one.scoring != own | {PARAMETERS: values}
        for one, values in zip(calibrations, parameters, strict=True)
    ):
        return scoring
    first, best = calibrations[0], 0
    if not any(first.documents.values()):
        return scoring
    is_known = all(first.documents.get(name, 0) >= FEWEST for name in classes)
    if first.losses or is_known:
        losses = [fitted_loss(one, classes) for one in calibrations]
        best = losses.index(min(losses))
    return scoring.with_parameters(**parameters[best])


def _fit(calibration: Calibration, classes: Sequence[str]) -> tuple[Fit, float]:
    """Return the fitted numbers, and what is least with them."""
    prior = calibration.prior
    if calibration.losses:
        slope, loss = best_temperature(calibration.losses, prior)
        return Fit(slope, 0.0, sum(calibration.documents.values())), loss
    if len(classes) != 2:  # the scores of two classes say nothing of more
        return Fit(), 0.0
    rows = tuple(
        ((bin_ + 0.5) / BINS_A_NAT, n, classes.index(name))
        for (bin_, name), n in sorted(calibration.counts.items())
        if n > 0 and name in classes
    )
    return _fit_to(rows, prior)


@lru_cache(maxsize=4)  # training asks for the numbers, for the loss, and for the file's
def _fit_to(rows: tuple[Row, ...], prior: Prior) -> tuple[Fit, float]:
    prior = _for_sizes(prior, rows)
    slope, offset = _logistic(rows, prior)
    documents = sum(n for _, n, _ in rows)
    return Fit(slope, offset, documents), _loss(rows, slope, offset, prior)


def _for_sizes(prior: Prior, rows: Rows) -> Prior:
    """
    Return a prior with the variance of the offset that unequal classes ask for.

    The offset contains the logarithm of the classes' ratio, and against it, what the
    scores are off because one class has been seen so much less. Either may be as large
    as that logarithm, so its square is added to the variance.
    """
    second = sum(n for _, n, is_second in rows if is_second)
    first = sum(n for _, n, is_second in rows if not is_second)
    ratio = log((second + 1) / (first + 1))
    return prior._replace(offset=1 / (1 / prior.offset + ratio * ratio))


def best_temperature(losses: Sequence[int], prior: Prior) -> tuple[float, float]:
    """Return the best s, between grid points by a parabola in log s, and its loss."""
    penalised = [
        loss / LOSS_UNIT + 0.5 * prior.precision * log(s / prior.slope) ** 2
        for loss, s in zip(losses, TEMPERATURES, strict=True)
    ]
    best = min(range(len(penalised)), key=penalised.__getitem__)
    if not 0 < best < len(penalised) - 1:
        return TEMPERATURES[best], penalised[best]
    left, middle, right = penalised[best - 1 : best + 2]
    curvature = left - 2 * middle + right
    shift = 0.5 * (left - right) / curvature if curvature > 0 else 0.0
    factor: float = 2.0 ** (shift / 4)
    return TEMPERATURES[best] * factor, middle - 0.25 * (left - right) * shift


def _logistic(rows: Rows, prior: Prior) -> tuple[float, float]:
    """
    Fit slope and offset, first to whole nats, because that is soon done.

    Then the start is so good that two or three steps over all bins are enough, where
    ten would be needed. Where scores contradict their classes, only the offset is
    fitted.
    """
    coarse: Tally[tuple[float, int]] = Tally()
    for score, n, is_second in rows:
        coarse[floor(score) + 0.5, is_second] += n
    whole_nats = [(score, n, is_second) for (score, is_second), n in coarse.items()]
    fitted = _newton(rows, *_newton(whole_nats, prior.slope, 0.0, prior), prior)
    if fitted[0] >= LEAST_SLOPE:
        return fitted
    pinned = prior._replace(slope=LEAST_SLOPE, precision=PINNED)
    return _newton(rows, LEAST_SLOPE, 0.0, pinned)


def _newton(
    rows: Rows, slope: float, offset: float, prior: Prior
) -> tuple[float, float]:
    """Improve slope and offset by Newton's method with step halving."""
    documents = max(sum(n for _, n, _ in rows), 1)
    loss = _loss(rows, slope, offset, prior)
    for _ in range(50):
        g_slope, h_slope = prior.precision * (slope - prior.slope), prior.precision
        g_offset, h_offset = prior.offset * offset, prior.offset
        h_both = 0.0
        for score, n, is_second in rows:
            p = sigmoid(slope * score + offset)
            error, weight = n * (p - is_second), n * p * (1 - p)
            g_slope += error * score
            g_offset += error
            h_slope += weight * score * score
            h_both += weight * score
            h_offset += weight
        determinant = h_slope * h_offset - h_both * h_both
        if determinant <= 0:
            break
        step_slope = (g_slope * h_offset - g_offset * h_both) / determinant
        step_offset = (g_offset * h_slope - g_slope * h_both) / determinant
        expected = 0.5 * (g_slope * step_slope + g_offset * step_offset)
        if expected <= ROUNDING * loss:
            break  # no step, however short, makes a difference that is not noise
        scale = 1.0
        while scale > MIN_STEP:
            tried = slope - scale * step_slope, offset - scale * step_offset
            tried_loss = _loss(rows, *tried, prior)
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


def _loss(rows: Rows, slope: float, offset: float, prior: Prior) -> float:
    penalty = prior.precision * (slope - prior.slope) ** 2 + prior.offset * offset**2
    total = 0.0
    # `softplus` inlined, half of the time; and log, which is faster than log1p, and as
    # good where a sum of such terms is all that counts
    for score, n, is_second in rows:
        x = slope * score + offset
        if is_second:
            x = -x
        total += n * ((x if x > 0.0 else 0.0) + log(1 + exp(-abs(x))))
    return 0.5 * penalty + total


def sigmoid(x: float) -> float:
    """Return 1 / (1 + exp(-x)), without overflow."""
    if x >= 0:
        return 1 / (1 + exp(-x))
    return exp(x) / (1 + exp(x))


def softplus(x: float) -> float:
    """Return ln(1 + exp(x)), without overflow; -ln of a probability never saturates."""
    return max(x, 0.0) + log1p(exp(-abs(x)))
