"""Sums of numbers and of their squares are exact, whatever the numbers are."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbtext import exact

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
EXTREMES = [
    0.0,
    5e-324,
    1e-308,
    2.5e-308,
    0.1,
    1.0,
    1e16,
    1e308,
    1.7976931348623157e308,
]


def sums(*numbers: float) -> exact.Sums:
    return exact.sums_of(map(exact.key_of, numbers), [1] * len(numbers))


@given(st.lists(NUMBERS | st.sampled_from(EXTREMES), max_size=8))
def test_sums_are_those_of_fractions(numbers: list[float]) -> None:
    present, total, squares = sums(*numbers)

    assert present == len(numbers)
    assert Fraction(total, 1 << exact.SUM_BITS) == sum(map(Fraction, numbers))
    assert Fraction(squares, 1 << exact.SQUARE_BITS) == sum(
        Fraction(number) ** 2 for number in numbers
    )
    assert exact.are_sums((present, total, squares))


@given(st.lists(NUMBERS | st.sampled_from(EXTREMES), min_size=1, max_size=6))
def test_what_is_added_is_taken_away(numbers: list[float]) -> None:
    keys = [exact.key_of(number) for number in numbers]
    added = exact.sums_of(keys, [1] * len(keys))
    taken = exact.sums_of(keys, [-1] * len(keys))

    assert tuple(map(int.__add__, added, taken)) == (0, 0, 0)


@given(st.lists(NUMBERS | st.sampled_from(EXTREMES), max_size=8), st.booleans())
def test_sums_come_back_from_a_file(numbers: list[float], is_negative: bool) -> None:
    found = sums(*numbers)
    if is_negative:
        found = (-found[0], -found[1], -found[2])

    assert exact.unpacked(exact.packed(found)) == found


@given(NUMBERS)
def test_a_number_is_its_key(number: float) -> None:
    assert exact.number_of(exact.key_of(number)) == number
    assert exact.is_key(exact.key_of(number))
    assert exact.only_number(sums(number)) == {exact.key_of(number): 1}


def test_zero_has_one_key() -> None:
    assert exact.key_of(-0.0) == exact.key_of(0.0) == 0
    assert not exact.is_key(1 << 63)


@pytest.mark.parametrize("key", [0x7FF0 << 48, 0xFFF0 << 48, 0x7FF8 << 48])
def test_infinities_and_nans_are_no_keys(key: int) -> None:
    assert not exact.is_key(key)


def test_two_numbers_are_not_one() -> None:
    assert exact.only_number(sums(1.0, 2.0)) == {}
    assert exact.only_number((1, sums(1.0)[1], sums(2.0)[2])) == {}
    assert exact.only_number((1, 2 * exact.LARGEST, 0)) == {}


@pytest.mark.parametrize(
    "impossible",
    [(-1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 2, 3), (2, 0, -1), (0, -1, 1)],
)
def test_no_numbers_have_these_sums(impossible: tuple[int, int, int]) -> None:
    assert not exact.are_sums(impossible)


@pytest.mark.parametrize(
    "plain",
    [
        None,
        7,
        [],
        [1, 2],
        [1, 2, 3, 4],
        [1, "2", 3],
        [1, [0, b"\x02"], 4],  # an integer of 64 bits stands for itself
        [1, [-1, b"\x02"], 1],  # even
        [1, [-1, b"\x00\x03"], 1],  # longer than it need be
        [1, [-1, b""], 1],
        [1, [-1075, b"\x01"], 1],  # no sum of numbers has such a part
        [1, [1 << 40, b"\x01"], 1],
        [1, [-1.0, b"\x01"], 1],
        [1, [-1, "01"], 1],
        [1, [-1, b"\x01" * 600], 1],
        [1, [-1, b"\x01", 3], 1],
        [True, 1, 1],
    ],
)
def test_what_is_no_sum_is_refused(plain: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        exact.unpacked(plain)


@pytest.mark.parametrize("text", ["41", "-0.5", "1e308", " 7 ", "+3", ".5", "4.9e-324"])
def test_a_number_is_read(text: str) -> None:
    assert exact.number_in(text) == float(text)


@pytest.mark.parametrize(
    "text",
    ["", "x", "nan", "inf", "-Infinity", "1e309", "1_000", "3,5", "٣", "0x1p3", "1 2"],
)
def test_what_is_no_number_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"finite|could not"):
        exact.number_in(text)
