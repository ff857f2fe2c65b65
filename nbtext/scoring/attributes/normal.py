"""
Means and variances of exact sums, on the standard library alone.

Of n numbers with the sum S and the sum of squares Q the mean is S / n, and the variance
(n Q - S^2) / n^2. All of these are integers (`nbtext.exact`), so nothing cancels. A
variance is a fraction times a power of two: that of numbers like 1e308, or 1e-308, is
no 64-bit number, and its root is.
"""

from math import frexp, inf, ldexp, log, sqrt
from typing import Final, NamedTuple

from nbtext.exact import SQUARE_BITS, SUM_BITS, Sums

PRECISION: Final = 64
"""Bits of a quotient that becomes a fraction; those behind the first 53 round it."""

LOG_2: Final = log(2.0)


class Variance(NamedTuple):
    """
    A variance, `fraction` times two to the `exponent`.

    Attributes:
        fraction: from 1/4 to 1, or 0.
        exponent: an even number.
    """

    fraction: float
    exponent: int

    @property
    def log(self) -> float:
        """Its natural logarithm; it must not be 0."""
        return log(self.fraction) + self.exponent * LOG_2

    def times(self, factor: float) -> "Variance":
        """Return a multiple of it."""
        return _variance(self.fraction * factor, self.exponent)

    def plus(self, other: "Variance") -> "Variance":
        """Return the sum of two."""
        if not (self.fraction and other.fraction):
            return self if self.fraction else other
        most = max(self.exponent, other.exponent)
        # what is smaller by more than the precision does not matter
        fractions = (
            ldexp(one.fraction, max(one.exponent - most, -2000))
            for one in (self, other)
        )
        return _variance(sum(fractions), most)

    def squared_distance(self, number: float, mean: float) -> float:
        """Return how far a number is from a mean, squared, in variances."""
        half = self.exponent // 2
        try:
            distance = ldexp(number, -half) - ldexp(mean, -half)
        except OverflowError:
            return 0.0 if number == mean else inf
        distance /= sqrt(self.fraction)
        return distance * distance


NONE: Final = Variance(0.0, 0)


def _variance(value: float, exponent: int) -> Variance:
    """Return a variance of this value times two to the exponent."""
    if not value:
        return NONE
    fraction, more = frexp(value)
    exponent += more
    if exponent % 2:
        return Variance(fraction / 2, exponent + 1)
    return Variance(fraction, exponent)


def mean_of(sums: Sums) -> float:
    """Return the mean of numbers, to the next 64-bit number; of none it is 0."""
    present, total, _ = sums
    return total / (present << SUM_BITS) if present else 0.0


def variance_of(sums: Sums) -> Variance:
    """Return the variance of numbers; of none, and of one, it is 0."""
    present, total, squares = sums
    numerator = present * squares - total * total
    if present < 2 or numerator <= 0:
        return NONE
    # so that the quotient has about PRECISION bits, and the exponent is even
    denominator = present * present
    shift = PRECISION + denominator.bit_length() - numerator.bit_length()
    shift += shift % 2
    if shift >= 0:
        quotient = (numerator << shift) // denominator
    else:
        quotient = numerator // (denominator << -shift)
    return _variance(float(quotient), -shift - SQUARE_BITS)
