from collections import Counter as Tally
from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nbtext.counts import sorted_counts as runs
from nbtext.counts.sorted_counts import merged, narrow, ranges
from tests.build import rows_of, sorted_counts

Rows = Mapping[int, tuple[int, int]]

COUNTS = st.tuples(st.integers(-3, 3), st.integers(-3, 3)).filter(any)
KEYS = st.integers(0, 2**48 - 1) | st.integers(0, 9) | st.just(2**48 - 1)
ROWS = st.dictionaries(KEYS, COUNTS, max_size=12)


@given(st.lists(ROWS, max_size=5))
@example([{5: (1, 1)}, {5: (-1, -1)}])
@example([dict.fromkeys(range(9), (1, 2))] * 5)
def test_runs_add_up_key_by_key(parts: list[Rows]) -> None:
    first: Tally[int] = Tally()
    second: Tally[int] = Tally()
    for part in parts:
        for key, (one, other) in part.items():
            first[key] += one
            second[key] += other
    sums = {key: (first[key], second[key]) for key in first}

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runs, "RANGE", 2)
        found = merged(map(sorted_counts, parts), 2)

    assert rows_of(found) == {key: sums[key] for key in sums if any(sums[key])}
    assert found.keys.tolist() == sorted(found.keys.tolist())
    assert [column.dtype for column in found.columns] == [np.int32, np.int32]


def test_sums_take_64_bits_where_they_must() -> None:
    high = 2**31 - 1
    parts = [
        sorted_counts({1: (high, 1), 2: (1, -1)}),
        sorted_counts({1: (1, 1)}),
        sorted_counts({3: (1, -high)}),
    ]

    found = merged(parts, 2)

    assert rows_of(found) == {1: (2**31, 2), 2: (1, -1), 3: (1, -high)}
    assert [column.dtype for column in found.columns] == [np.int64, np.int32]


def test_a_sum_is_narrow_again() -> None:
    parts = [
        sorted_counts({1: (2**40, 2**40)}),
        sorted_counts({1: (1 - 2**40, 2 - 2**40)}),
    ]

    found = merged(parts, 2)

    assert rows_of(found) == {1: (1, 2)}
    assert [column.dtype for column in found.columns] == [np.int32, np.int32]


def test_the_sum_of_nothing_is_empty() -> None:
    assert (
        rows_of(merged([], 2))
        == rows_of(merged([sorted_counts({}), sorted_counts({})], 2))
        == {}
    )
    assert len(merged([], 3).columns) == 3


def test_ranges_cut_all_arrays_at_the_same_keys(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(runs, "RANGE", 1)
    low, high = np.uint64(2**46), np.uint64(2**47)
    one = np.array([0, low - 1, low, high], np.uint64)
    other = np.array([low, 2**48 - 1], np.uint64)

    cut = [(one[first], other[second]) for first, second in ranges([one, other])]

    assert len(cut) == 8
    assert np.concatenate([part for part, _ in cut]).tolist() == one.tolist()
    assert np.concatenate([part for _, part in cut]).tolist() == other.tolist()
    for first, second in cut:
        tops = np.concatenate([first, second]) >> np.uint64(45)
        assert len(set(tops.tolist())) <= 1


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([], np.int32),
        ([2**31 - 1, -(2**31)], np.int32),
        ([2**31], np.int64),
        ([-(2**31) - 1], np.int64),
    ],
)
def test_values_take_32_bits_where_they_fit(values: list[int], dtype: type) -> None:
    found = narrow(np.array(values, np.int64))

    assert found.dtype == dtype
    assert found.tolist() == values
