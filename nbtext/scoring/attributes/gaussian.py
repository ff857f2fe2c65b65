"""
Numbers: in each class those of a column are normally distributed.

With n_c numbers of a column in class c, S_c their sum and Q_c that of their squares:

    mu_c      = S_c / n_c
    sigma_c^2 = Q_c / n_c - mu_c^2 + e
    ln p(x given c) = -1/2 ln(2 pi sigma_c^2) - (x - mu_c)^2 / (2 sigma_c^2)

(Murphy 2006, equations 15 and 19: maximum likelihood.) e is `variance_smoothing` times
the largest variance of any column over all classes, as scikit-learn's GaussianNB has
it. Sums are exact, so that nothing cancels in a variance.

A class that has no number in a column takes the mean and the variance of all classes'
numbers; one whose variance is 0 even with e takes the variance of all. If that is 0 as
well, all numbers are the same, and the column says nothing.
"""

from __future__ import annotations

from math import log, pi
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nbtext.scoring.model import Model
    from nbtext.tokens import Bag

from nbtext.exact import Sums, as_sums, number_of, sums_of
from nbtext.scoring.attributes.normal import NONE, Variance, mean_of, variance_of
from nbtext.scoring.models.evidence import Evidence
from nbtext.scoring.models.parameters import BY_KIND

HALF_LOG_2_PI: Final = log(2 * pi) / 2

SMOOTHING: Final = BY_KIND["number"].name
"""The parameter: the share of the largest variance that is added to all."""

ByClass: TypeAlias = "Sequence[Sums]"
"""The sums of a column in each class."""


class Normal(NamedTuple):
    """
    How the numbers of a column are distributed in a class.

    Attributes:
        mean: their mean.
        variance: their variance, with what is added.
    """

    mean: float
    variance: Variance

    def log_density(self, number: float) -> float:
        """Return the logarithm of the density at a number, in nats."""
        distance = self.variance.squared_distance(number, self.mean)
        return -HALF_LOG_2_PI - self.variance.log / 2 - distance / 2


def number_evidence(model: Model, bag: Bag) -> list[Evidence]:
    """Return what each number of a record says: of a column without one, nothing."""
    views = [
        (number, view)
        for number, view in model.settings.attributes
        if view.kind == "number"
    ]
    if not any(bag[number] for number, _ in views):
        return []
    columns = [[*map(as_sums, model.totals[number])] for number, _ in views]
    found = normals(columns, model.scoring.attribute(SMOOTHING))
    parts = []
    for (number, view), by_class in zip(views, found, strict=True):
        rows = [
            (key, class_, times * normal.log_density(number_of(key)))
            for key, times in bag[number].items()
            for class_, normal in enumerate(by_class)
        ]
        known = sum(bag[number].values()) if by_class else 0
        parts.append(Evidence(view.name, rows, known=known))
    return parts


def normals(columns: Sequence[ByClass], smoothing: float) -> list[list[Normal]]:
    """
    Return for each column how its numbers are distributed in each class.

    Args:
        columns: the sums of each of all columns of numbers, by class.
        smoothing: the share of the largest variance that is added to all.

    Returns:
        Nothing for a column that says nothing.
    """
    pooled = [pooled_of(by_class) for by_class in columns]
    variances = [variance_of(sums) for sums in pooled]
    added = largest(variances).times(smoothing)
    return [
        [normal_of(sums, total, variance, added) for sums in by_class]
        if variance.fraction
        else []
        for by_class, total, variance in zip(columns, pooled, variances, strict=True)
    ]


def pooled_of(by_class: ByClass) -> Sums:
    """Return the sums of the numbers of all classes."""
    present, total, squares = map(sum, zip(*by_class, strict=True))
    return present, total, squares


def less(sums: Sums, key: int) -> Sums:
    """Return sums without one of their numbers."""
    own = sums_of((key,), (1,))
    return sums[0] - own[0], sums[1] - own[1], sums[2] - own[2]


def largest(variances: Sequence[Variance]) -> Variance:
    """Return the largest of some variances, 0 if there is none."""
    known = [one for one in variances if one.fraction]
    return max(known, key=lambda one: (one.exponent, one.fraction), default=NONE)


def normal_of(
    sums: Sums, pooled: Sums, pooled_variance: Variance, added: Variance
) -> Normal:
    """
    Return how the numbers of a column are distributed in a class.

    Args:
        sums: those of the class.
        pooled: those of all classes.
        pooled_variance: the variance of all classes' numbers, above 0.
        added: what is added to every variance.
    """
    if not sums[0]:
        return Normal(mean_of(pooled), pooled_variance.plus(added))
    variance = variance_of(sums).plus(added)
    return Normal(mean_of(sums), variance if variance.fraction else pooled_variance)
