"""Which messages of an MH folder are unseen, by the ranges of their numbers."""

from hypothesis import given
from hypothesis import strategies as st

from nbtext.sources._seen import Ranges

NUMBERS = st.integers(0, 30)


@given(st.lists(st.tuples(NUMBERS, NUMBERS)))
def test_a_number_is_in_ranges_if_it_is_in_one(ranges: list[tuple[int, int]]) -> None:
    found = Ranges(ranges)

    for number in range(32):
        is_in_one = any(first <= number <= last for first, last in ranges)
        assert (number in found) == is_in_one
