"""Two models on the same documents: McNemar's exact test."""

from fractions import Fraction
from math import comb, erfc, sqrt

import pytest

from nbtext.evaluation.comparing import compare, mcnemar


def exactly(first: int, second: int) -> float:
    """The same p-value in whole numbers."""
    n, k = first + second, min(first, second)
    tail = Fraction(sum(comb(n, place) for place in range(k + 1)), 2**n)
    return float(min(Fraction(1), 2 * tail))


@pytest.mark.parametrize(
    ("first", "second"),
    [(0, 0), (1, 0), (0, 5), (5, 5), (6, 5), (1, 9), (10, 2), (29, 6), (100, 130),
     (700, 300), (0, 900), (1200, 1100)],
)  # fmt: skip
def test_the_p_value_is_that_of_whole_numbers(first: int, second: int) -> None:
    assert mcnemar(first, second) == pytest.approx(exactly(first, second), rel=1e-9)
    assert mcnemar(first, second) == mcnemar(second, first)


def test_the_textbook_example() -> None:
    """Of ten discordant pairs one against nine: 2 (1 + 10) / 1024."""
    assert mcnemar(1, 9) == pytest.approx(22 / 1024)


def test_a_million_documents_are_no_trouble() -> None:
    first, second = 501_000, 499_000
    z = (abs(first - second) - 1) / sqrt(first + second)

    assert mcnemar(first, second) == pytest.approx(erfc(z / sqrt(2)), rel=1e-2)
    assert mcnemar(1_000_000, 0) == 0.0  # less than any float
    assert mcnemar(500_000, 500_000) == 1.0


def test_only_documents_that_both_decided_about_are_compared() -> None:
    first = {1: True, 2: True, 3: False, 4: True, 5: True}
    second = {1: True, 2: False, 3: True, 4: False, 6: True}

    found = compare(first, second)

    assert found is not None
    assert (found.documents, found.only_first, found.only_second) == (4, 2, 1)
    assert (found.accuracy_first, found.accuracy_second) == (0.75, 0.5)
    assert found.difference == 0.25
    assert found.interval.low <= found.difference <= found.interval.high
    assert found.p_value == mcnemar(2, 1) == 1.0
    assert compare({1: True}, {2: True}) is None
