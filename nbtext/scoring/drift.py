"""
Whether documents score unlike those that were held out.

A probability is one for documents like those of training. Between mailboxes the ranking
holds and the probability does not, and scores show it without any label: their
distribution is no mixture of those that held-out documents of the two classes had. The
distance is that of Kolmogorov and Smirnov, the largest difference between two
cumulative distributions, for the proportions of the classes that make it least; so more
spam than in training alone is no difference. docs/experiments/007-probabilities.md has
how often it is too large without a reason, and with one.
"""

from collections import Counter as Tally
from collections.abc import Iterable, Mapping
from itertools import accumulate
from typing import Final, NamedTuple

from nbtext.counts import bin_of
from nbtext.scoring.decide import Decision
from nbtext.scoring.held_out import fitted, held_out
from nbtext.scoring.model import Model
from nbtext.scoring.threshold import turned

FEWEST: Final = 100
"""Documents, held out of each class or to be judged, below which nothing is said."""

LARGEST: Final = 0.15
"""The distance up to which documents score like those that were held out."""

STEPS: Final = 30
"""Steps of the search for the proportions, each of which leaves two thirds."""


class Drift(NamedTuple):
    """
    How unlike the held-out documents some documents score.

    Attributes:
        documents: how many there were.
        distance: from 0 to 1.
    """

    documents: int
    distance: float

    @property
    def is_large(self) -> bool:
        """Return whether that is more than documents of the same kind differ."""
        return self.distance > LARGEST


class DriftMeter:
    """Takes decisions of a model, and says how unlike held-out documents they score."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._fit = fitted(model)
        self._bins: Tally[int] = Tally()

    def add(self, decisions: Iterable[Decision]) -> None:
        """Take decisions into account."""
        slope, offset = self._fit.slope, self._fit.offset
        if len(self._model.classes) != 2 or slope <= 0:
            return
        if self._model.settings.has_attributes:  # text alone is held out
            return
        for decision in decisions:
            if decision.known:
                first, second = decision.log_posterior
                self._bins[bin_of((second - first - offset) / slope)] += 1

    def drift(self) -> Drift | None:
        """Return how unlike they are; None with too few documents to say."""
        classes, documents = self._model.classes, self._bins.total()
        one, other = turned(held_out(self._model), classes, classes[1])
        if min(documents, sum(one.values()), sum(other.values())) < FEWEST:
            return None
        return Drift(documents, distance(self._bins, one, other))


def distance(
    found: Mapping[int, int], one: Mapping[int, int], other: Mapping[int, int]
) -> float:
    """
    Return how far a histogram is from the nearest mixture of two others.

    Args:
        found: bin to how many, at least one in all; the others likewise.
        one: the first to be mixed.
        other: the second.
    """
    bins = sorted({*found, *one, *other})
    shares = [
        [total / sum(histogram.values()) for total in accumulate(
            histogram.get(bin_, 0) for bin_ in bins)]
        for histogram in (found, one, other)
    ]  # fmt: skip
    rows = [*zip(*shares, strict=True)]

    def largest(weight: float) -> float:
        size: float = max(
            abs(at - weight * first - (1 - weight) * second)
            for at, first, second in rows
        )
        return size

    # the largest of linear functions' sizes is convex in the weight
    low, high = 0.0, 1.0
    for _ in range(STEPS):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        if largest(left) <= largest(right):
            high = right
        else:
            low = left
    return largest((low + high) / 2)
