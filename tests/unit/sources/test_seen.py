"""Which messages of an MH folder are unseen, by the ranges of their numbers."""

import tracemalloc
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from nbtext.document import Unread
from nbtext.sources import SEQUENCES
from nbtext.sources.seen import Ranges, SeenOnly

NUMBERS = st.integers(0, 30)


@given(st.lists(st.tuples(NUMBERS, NUMBERS)))
def test_a_number_is_in_ranges_if_it_is_in_one(ranges: list[tuple[int, int]]) -> None:
    found = Ranges(ranges)

    for number in range(32):
        is_in_one = any(first <= number <= last for first, last in ranges)
        assert (number in found) == is_in_one


def test_sequences_take_memory_in_proportion_to_their_length(tmp_path: Path) -> None:
    message = Unread("2", str(tmp_path / "2"))
    (tmp_path / "2").write_text("seen")
    (tmp_path / SEQUENCES).write_bytes(b"unseen: " + b"-" * (1 << 20) + b"\n 1\n")
    tracemalloc.start()
    try:
        seen = list(SeenOnly([message], 100))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert len(seen) == 1
    assert peak < 10 << 20
