"""
Two models on the same documents: is one better, or was it luck?

In come who was right about each document, out comes a `Comparison` with the exact test
of McNemar (1947): of the documents about which only one of the two was right, either
would have half if they were equally good.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb, exp, lgamma, log
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nbtext.scoring import Decision

from nbtext.evaluation.bootstrap import SEED, SHARE, Interval, quantiles
from nbtext.evaluation.exact_intervals import exact_difference

DRAWS: Final = 10_000
"""How many draws the interval of the difference rests on; each is three numbers."""

FEW: Final = 500
"""So many documents' p-value is computed in whole numbers."""

NEGLIGIBLE: Final = 1e-18
"""What is less than this share of a sum is not added."""


class Rights:
    """Whether a model was right about each document, by the hash of its name."""

    def __init__(self) -> None:
        self.by_name: dict[int, bool] = {}

    def __call__(self, decision: Decision) -> None:
        """Take in a decision about a document with a label."""
        self.by_name[hash(decision.name)] = decision.label == decision.expected


@dataclass(frozen=True, slots=True)
class Comparison:
    """
    How often one model was right and another wrong.

    Attributes:
        documents: those that both have decided about.
        only_first: about which only the first model was right.
        only_second: about which only the other was.
        accuracy_first: of the first, on these documents.
        accuracy_second: of the other.
        difference: accuracy of the first less that of the other.
        interval: the middle 95 % of the difference, by the percentile bootstrap;
            exact where all documents are alike.
        p_value: how probable a split at least as uneven is if neither is better.
    """

    documents: int
    only_first: int
    only_second: int
    accuracy_first: float
    accuracy_second: float
    difference: float
    interval: Interval
    p_value: float


def compare(first: Mapping[int, bool], second: Mapping[int, bool]) -> Comparison | None:
    """Compare two models on the documents that both have judged; None if on none."""
    pairs = [
        (is_right, second[name]) for name, is_right in first.items() if name in second
    ]
    if not pairs:
        return None
    n = len(pairs)
    only_first = sum(one and not other for one, other in pairs)
    only_second = sum(other and not one for one, other in pairs)
    random = np.random.default_rng(SEED)
    shares = np.array([only_first, only_second, n - only_first - only_second]) / n
    drawn = random.multinomial(n, shares, DRAWS)
    differences = (drawn[:, 0] - drawn[:, 1]) / n
    low, high = quantiles(differences, ((1 - SHARE) / 2, (1 + SHARE) / 2))
    return Comparison(
        documents=n,
        only_first=only_first,
        only_second=only_second,
        accuracy_first=sum(one for one, _ in pairs) / n,
        accuracy_second=sum(other for _, other in pairs) / n,
        difference=(only_first - only_second) / n,
        interval=(
            Interval(low, high)
            if low < high
            else exact_difference((only_first - only_second) / n, n)
        ),
        p_value=mcnemar(only_first, only_second),
    )


def mcnemar(first: int, second: int) -> float:
    """
    Return the two-sided p-value of McNemar's exact test, from 0 to 1.

    It is 2 P(X <= k) of X ~ Bin(n, 1/2), n = first + second and k the lesser of them,
    and 1 at the most. Of few documents it is a quotient of whole numbers. Of more the
    largest term is computed as a logarithm, so that no power underflows, and each other
    by its ratio to the one before.

    Args:
        first: documents about which only one of two is right.
        second: those about which only the other is.
    """
    n, k = first + second, min(first, second)
    if n <= FEW:
        ways = sum(comb(n, place) for place in range(k + 1))
        return min(1.0, 2 * ways / (1 << n))
    log_term = lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) - n * log(2)
    total = ratio = 1.0
    for place in range(k, 0, -1):
        ratio *= place / (n - place + 1)
        total += ratio
        if ratio < NEGLIGIBLE * total:
            break
    return min(1.0, 2 * exp(log_term + log(total)))
