from time import process_time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbtext.counts import room, term_table
from nbtext.counts.room import bounded, is_in_file
from nbtext.counts.sorted_counts import SortedCounts
from nbtext.counts.term_table import (
    Entries,
    TermTable,
    arrange,
    arrange_runs,
    subtract,
    take_pairs,
)
from tests.build import sorted_counts

TOP = 2**48 - 1
RANDOM = np.random.default_rng(3).integers(0, TOP, 3000, np.uint64, endpoint=True)


def run(rows: dict[int, int]) -> SortedCounts:
    return sorted_counts({key: (count, count) for key, count in rows.items()})


@pytest.mark.parametrize(
    "keys",
    [
        pytest.param([], id="none"),
        pytest.param([5], id="one"),
        pytest.param([0, TOP], id="both ends"),
        pytest.param([TOP], id="the sentinel itself"),
        pytest.param([*range(200)], id="one bucket"),
        pytest.param(sorted(set(RANDOM.tolist())), id="random"),
    ],
)
def test_each_key_is_found_and_no_other(keys: list[int]) -> None:
    table = arrange_runs([run(dict.fromkeys(keys, 1)), run({})])
    others = sorted({*range(0, 400, 7), TOP, TOP - 1, 2**47} - {*keys})

    found = table.find(np.array([*keys, *others], np.uint64))

    assert table.n_terms == len(keys)
    assert found.tolist() == [*range(len(keys))] + [len(keys)] * len(others)
    assert table.find_by_steps(np.array([*keys, *others], np.uint64)).tolist() == (
        found.tolist()
    )


def test_keys_are_found_however_many_are_looked_up() -> None:
    """They go through stages, of which the first and the last begin and end sooner."""
    table = arrange_runs([run(dict.fromkeys(RANDOM[::2].tolist(), 1)), run({})])
    expected = table.find_by_steps(RANDOM).tolist()

    assert len({*expected}) > 1000
    for n in [*range(140), len(RANDOM)]:
        assert table.find(RANDOM[:n]).tolist() == expected[:n]


@pytest.mark.parametrize("step", [1, 2, 7, 1 << 20])
@pytest.mark.parametrize(
    "keys",
    [
        pytest.param([5], id="one"),
        pytest.param([0, 2**40, 2**47, TOP], id="far apart"),
        pytest.param([*range(30), *range(TOP - 30, TOP)], id="at both ends"),
        pytest.param([2**46 + n for n in range(50)], id="one bucket"),
        pytest.param(sorted(set(RANDOM[:200].tolist())), id="random"),
    ],
)
def test_a_bucket_begins_at_its_first_key_in_whatever_ranges_they_are_gone_through(
    keys: list[int], step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(term_table, "RANGE", step)

    table = arrange_runs([run(dict.fromkeys(keys, 1)), run({})])

    firsts = np.arange(len(table.buckets), dtype=np.uint64) << table.shift
    assert len(table.buckets) == 2**48 >> int(table.shift)
    assert table.buckets.tolist() == np.searchsorted(table.keys[:-1], firsts).tolist()


def test_keys_that_lie_close_together_take_no_longer_to_find() -> None:
    keys = np.arange(1, 400_000, 2, dtype=np.uint64)  # all of them in one bucket
    table = arrange_runs([run(dict.fromkeys(keys.tolist(), 1)), run({})])

    for find in (table.find, table.find_by_steps):
        took = []
        for _ in range(3):
            began = process_time()
            found = find(np.arange(400_000, dtype=np.uint64))
            took.append(process_time() - began)

        assert found[1::2].tolist() == [*range(len(keys))]
        assert (found[::2] == len(keys)).all()
        assert min(took) < 2  # by steps alone it takes ten times as long, and more


def test_entries_of_a_term_stand_in_the_order_of_the_classes() -> None:
    table = arrange_runs([run({1: 10, 3: 30}), run({3: 31}), run({1: 12, 2: 22})])

    assert table.keys[:-1].tolist() == [1, 2, 3]
    assert table.starts.tolist() == [0, 2, 3, 5, 5]
    assert table.classes.tolist() == [0, 2, 2, 0, 1]
    assert table.columns[0].tolist() == [10, 12, 22, 30, 31]


def test_parts_may_be_the_once_and_the_rest() -> None:
    one = np.ones(2, np.int32)
    once = Entries(np.array([4, 9], np.uint64), np.array([1, 0], np.uint8), (one,))
    rest = Entries(
        np.array([6, 6], np.uint64),
        np.array([0, 1], np.uint8),
        (np.array([5, 7], np.uint16),),
    )

    table = arrange([once, rest])

    assert table.keys[:-1].tolist() == [4, 6, 9]
    assert table.classes.tolist() == [1, 0, 1, 0]
    assert table.columns[0].tolist() == [1, 5, 7, 1]


@pytest.mark.parametrize(
    ("low", "high", "least"),
    [
        pytest.param(0, 1, np.int16, id="small"),
        pytest.param(0, 2**15 - 1, np.int16, id="the largest of 16 bits"),
        pytest.param(0, 2**15, np.int32, id="one more"),
        pytest.param(-(2**15), 0, np.int16, id="the least of 16 bits"),
        pytest.param(-(2**15) - 1, 0, np.int32, id="one less"),
        pytest.param(-(2**31), 2**31 - 1, np.int32, id="32 bits"),
        pytest.param(-1, 2**31, np.int64, id="64 bits"),
    ],
)
def test_a_column_is_held_in_the_least_type(
    low: int, high: int, least: type[np.integer]
) -> None:
    parts = [
        Entries(np.array([1], np.uint64), np.zeros(1, np.uint8), (np.array([value]),))
        for value in (low, high)
    ]

    (column,) = arrange(parts).columns

    assert column.tolist() == [low, high]
    assert column.dtype == least


def test_a_column_of_a_model_file_keeps_its_type() -> None:
    column = np.array([0, 2**16 - 1], np.uint16)
    keys = np.array([1, 2], np.uint64)

    table = arrange([Entries(keys, np.zeros(2, np.uint8), (column,))])

    assert table.columns[0].dtype == np.uint16


@pytest.mark.parametrize("high", [200, 2**31 - 1, 2**31, 2**40], ids=str)
def test_pairs_have_both_classes_side_by_side(high: int) -> None:
    counts = np.array([high, 2, 3], np.int64)
    parts = [
        Entries(np.array([1, 5], np.uint64), np.zeros(2, np.uint8), (counts[:2],)),
        Entries(np.array([5], np.uint64), np.ones(1, np.uint8), (counts[2:],)),
    ]

    pairs = arrange(parts).pairs(0)

    assert pairs.tolist() == [[high, 0], [2, 3], [0, 0]]
    places = np.array([2, 1, 1, 0])
    assert take_pairs(pairs, places).tolist() == [[0, 0], [2, 3], [2, 3], [high, 0]]


@pytest.mark.parametrize("step", [1, 2, 1 << 20])
def test_a_part_that_is_subtracted_leaves_the_others(
    step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(term_table, "RANGE", step)
    whole = [run({1: 10, 3: 30, TOP: 2}), run({3: 31, 7: 1}), run({1: 12, 2: 22})]
    part = [run({1: 4, TOP: 2}), run({3: 31}), run({2: 1})]
    left = [run({1: 6, 3: 30}), run({7: 1}), run({1: 12, 2: 21})]

    found = subtract(arrange_runs(whole), arrange_runs(part))

    expected = arrange_runs(left)
    assert found.keys.tolist() == expected.keys.tolist()
    assert found.starts.tolist() == expected.starts.tolist()
    assert found.classes.tolist() == expected.classes.tolist()
    assert found.buckets.tolist() == expected.buckets.tolist()
    assert found.shift == expected.shift
    for column, values in zip(found.columns, expected.columns, strict=True):
        assert column.tolist() == values.tolist()


@given(
    st.lists(st.dictionaries(st.integers(0, 9), st.integers(1, 3)), min_size=1),
    st.data(),
    st.integers(1, 4),
)
def test_what_is_subtracted_range_by_range_and_in_files_is_as_counted(
    rest: list[dict[int, int]],
    data: st.DataObject,
    step: int,
) -> None:
    rows = st.dictionaries(st.integers(0, 9), st.integers(1, 3))
    taken = [data.draw(rows) for _ in rest]
    both = [
        {key: one.get(key, 0) + other.get(key, 0) for key in {*one, *other}}
        for one, other in zip(rest, taken, strict=True)
    ]
    whole, part, expected = (
        arrange_runs([run(dict(sorted(rows.items()))) for rows in by_class])
        for by_class in (both, taken, rest)
    )

    with pytest.MonkeyPatch.context() as patch, bounded(0):
        patch.setattr(term_table, "RANGE", step)
        patch.setattr(room, "SHARE", room.LEAST_BOUND)
        found = subtract(whole, part)

    assert found.n_terms == 0 or is_in_file(found.keys)
    assert found.keys.tolist() == expected.keys.tolist()
    assert found.starts.tolist() == expected.starts.tolist()
    assert found.classes.tolist() == expected.classes.tolist()
    for column, values in zip(found.columns, expected.columns, strict=True):
        assert column.tolist() == values.tolist()


def test_columns_that_are_not_wanted_are_left_empty() -> None:
    def table(*rows: tuple[int, int, int]) -> TermTable:
        keys, first, second = np.array(rows).T
        return arrange_runs([SortedCounts(keys.astype(np.uint64), (first, second))])

    whole, part = table((1, 10, 2), (3, 30, 3)), table((1, 10, 2), (3, 1, 1))

    found = subtract(whole, part, {1})

    assert found.keys[:-1].tolist() == [3]
    assert [column.tolist() for column in found.columns] == [[], [2]]


def test_nothing_and_everything_can_be_subtracted() -> None:
    table = arrange_runs([run({1: 10, 3: 30}), run({3: 31})])
    nothing = arrange_runs([run({}), run({})])

    assert subtract(table, nothing).columns[0].tolist() == [10, 30, 31]
    assert subtract(table, table).n_terms == 0
    assert subtract(table, table).find(np.array([3], np.uint64)).tolist() == [0]
    assert subtract(nothing, nothing).n_terms == 0
