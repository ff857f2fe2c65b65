"""
Calibration: from a score to a probability that is one.

Naive Bayes ranks well and is overconfident. For two classes the score F (in nats) of
held-out documents is counted in a histogram, and the probability is
1 / (1 + exp(-(s F + b))), with s and b fitted to the histogram by logistic regression
(Platt 1999, with the target values of his section 2.2). For more classes the posterior
is softmax(s z), with the one number s that gives held-out documents the least log-loss
(temperature scaling, Guo et al. 2017 section 4.2); what is kept is that loss on a fixed
grid of s. Both add up from table to table, as counts do.
"""

from collections import Counter as Tally
from collections.abc import Iterable, Mapping, Sequence
from math import exp, floor, log, log1p
from types import MappingProxyType
from typing import Any, Final, NamedTuple, TypeAlias

BINS_A_NAT: Final = 16
"""How finely scores are counted."""

FARTHEST_BIN: Final = 4096
"""Scores beyond 256 nats fall into the last bins."""

FEWEST: Final = 50
"""With fewer held-out documents in a class nothing is fitted."""

TEMPERATURES: Final[tuple[float, ...]] = tuple(
    2.0 ** (step / 4) for step in range(-24, 41)
)
"""The grid of s: from 1/64 to 1024, four values an octave."""

RIDGE: Final = 1e-9
MIN_STEP: Final = 1e-6
TOLERANCE: Final = 1e-9
"""Of Newton's method: what keeps its matrix regular, and when it has arrived."""

UNFIT: Final = (KeyError, TypeError, ValueError, AttributeError, RecursionError)
"""What is raised when something turns out to be no calibration."""

Row: TypeAlias = tuple[float, int, float]
"""A score, how many documents have it, and the probability that they should get."""

NONE: Final[Mapping[Any, int]] = MappingProxyType({})

MOST: Final = 1 << 40
"""More documents, or nats of loss for each, than these no calibration rests on."""

LOSS_UNIT: Final = 1 << 20
"""Losses are kept as integers, in units of 2^-20 nats, so that they add exactly."""


class Calibration(NamedTuple):
    """
    What held-out documents scored.

    Attributes:
        scoring: how they were scored, as `Scoring.as_dict`; other scores than these
            are not what the calibration speaks of. None if nothing was scored.
        counts: for two classes, (bin, name of the class) to how many documents; below
            zero where a table takes back what an earlier one says.
        losses: for more, the sum of the log-loss at each of the TEMPERATURES.
        documents: for each class by name, how many documents.
    """

    scoring: dict[str, Any] | None = None
    counts: Mapping[tuple[int, str], int] = NONE
    losses: tuple[int, ...] = ()
    documents: Mapping[str, int] = NONE

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, sorted, for msgpack and JSON."""
        return {
            "scoring": self.scoring,
            "counts": [[*place, n] for place, n in sorted(self.counts.items())],
            "losses": list(self.losses),
            "documents": dict(sorted(self.documents.items())),
        }

    @classmethod
    def from_dict(cls, plain: dict[str, Any]) -> "Calibration":
        """
        Rebuild a calibration from what `as_dict` gave, believing nothing.

        Raises:
            ValueError: it is not one.

        """
        try:
            counts = {
                (_whole(bin_, -FARTHEST_BIN, FARTHEST_BIN), str(name)): _whole(
                    n, -MOST, MOST
                )
                for bin_, name, n in plain["counts"]
            }
            losses = tuple(
                _whole(loss, 0, MOST * LOSS_UNIT) for loss in plain["losses"]
            )
            documents = {
                str(name): _whole(n, -MOST, MOST)
                for name, n in plain["documents"].items()
            }
            scoring = None if plain["scoring"] is None else {**plain["scoring"]}
        except UNFIT as error:
            message = f"the calibration is not complete: {error}"
            raise ValueError(message) from error
        parts = () if scoring is None else scoring.values()
        if not all(isinstance(part, str | int | float) for part in parts):
            message = "the calibration does not say how documents were scored"
            raise ValueError(message)
        if len(losses) not in (0, len(TEMPERATURES)):
            message = f"the calibration has {len(losses)} losses"
            raise ValueError(message)
        return cls(scoring, counts, losses, documents)


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


def bin_of(score: float) -> int:
    """Return the bin that a score falls into."""
    return max(-FARTHEST_BIN, min(FARTHEST_BIN, floor(score * BINS_A_NAT)))


def total(calibrations: Iterable[Calibration]) -> Calibration:
    """Add calibrations up; those that speak of other scores than the last are left."""
    kept = [one for one in calibrations if one.scoring is not None]
    kept = [one for one in kept if one.scoring == kept[-1].scoring]
    if not kept:
        return Calibration()
    counts: Tally[tuple[int, str]] = Tally()
    documents: Tally[str] = Tally()
    for one in kept:
        counts.update(one.counts)
        documents.update(one.documents)
    losses = zip(*(one.losses for one in kept if one.losses), strict=True)
    return Calibration(
        kept[-1].scoring, dict(counts), tuple(map(sum, losses)), dict(documents)
    )


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


def _whole(value: Any, low: int, high: int) -> int:
    if type(value) is not int or not low <= value <= high:
        message = f"{value!r} is not a whole number from {low} to {high}"
        raise ValueError(message)
    return value
