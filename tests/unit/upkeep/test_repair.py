import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbtext.counts.table import CountTable, add
from nbtext.upkeep.repair import add_sound
from tests.build import ClassCounts, rows_of, table_of, values


def table(documents: int, terms: dict[int, int], ledger: dict[int, int]) -> CountTable:
    """One class, `ham`, with terms that occur so often and documents by number."""
    rows = {key: (count, count) for key, count in terms.items()}
    entries = {(0, number, 0): count for number, count in ledger.items()}
    return table_of({"ham": ClassCounts(documents, [rows], entries)})


FIRST = table(1, {5: 1}, {1: 1})
SECOND = table(1, {5: 1, 7: 1}, {2: 1})
NOT_SECOND = -SECOND


def test_tables_that_add_up_are_all_kept() -> None:
    left_out, total = add_sound({0: FIRST, 1: SECOND, 2: -FIRST})

    assert left_out == []
    assert total.documents == (1,)
    assert total.runs[0][0].keys.tolist() == [5, 7]


def test_what_takes_away_what_is_not_there_is_left_out() -> None:
    left_out, total = add_sound({0: FIRST, 2: NOT_SECOND})

    assert left_out == [2]
    assert total.documents == FIRST.documents
    assert total.ledger[0].entries.tolist() == FIRST.ledger[0].entries.tolist()


def test_the_latest_is_left_out_first() -> None:
    left_out, total = add_sound({0: FIRST, 1: SECOND, 2: NOT_SECOND, 3: NOT_SECOND})

    assert left_out == [3]
    assert total.documents == (1,)


def test_what_rests_on_a_table_that_is_left_out_goes_with_it() -> None:
    moved = table(0, {5: -1, 9: 1}, {1: -1, 3: 1})
    back = table(-1, {9: -1}, {3: -1})

    left_out, total = add_sound({0: SECOND, 1: moved, 2: back})

    assert sorted(left_out) == [1, 2]
    assert total.documents == SECOND.documents


@pytest.mark.parametrize(
    "owed",
    [table(-1, {}, {}), table(0, {5: -1}, {}), table(0, {}, {1: -1})],
    ids=["documents", "terms", "ledger"],
)
def test_nothing_at_all_may_be_owed(owed: CountTable) -> None:
    left_out, total = add_sound({4: owed})

    assert left_out == [4]
    assert total.classes == ()


def left_out_by_the_book(tables: list[CountTable]) -> list[int]:
    """Leave out the latest table that owes something, add up again, and so on."""
    kept = dict(enumerate(tables))
    while kept and (debts := below_zero(add(list(kept.values())))):
        del kept[max(place for place in kept if debts & below_zero(kept[place]))]
    return [place for place in range(len(tables)) if place not in kept]


def below_zero(table: CountTable) -> set[object]:
    found: set[object] = set()
    for place, name in enumerate(table.classes):
        ledger, counts = table.ledger[place], rows_of(table.runs[0][place])
        rows = zip(ledger.entries.tolist(), ledger.counts.tolist(), strict=True)
        found |= {(name, tuple(entry)) for entry, count in rows if count < 0}
        found |= {(name, key) for key, row in counts.items() if min(row) < 0}
        found |= {name} if table.documents[place] < 0 else set()
    return found


FEW = st.integers(-2, 2)
ROWS = st.dictionaries(st.sampled_from([3, 5, 2**48 - 1]), FEW.filter(bool))


@given(st.lists(st.builds(table, FEW, ROWS, ROWS), min_size=1, max_size=8))
def test_as_many_are_left_out_as_by_the_book(tables: list[CountTable]) -> None:
    left_out, total = add_sound(dict(enumerate(tables)))

    expected = left_out_by_the_book(tables)
    kept = [one for place, one in enumerate(tables) if place not in expected]
    assert left_out == expected
    assert values(total) == values(add(kept or [FIRST, -FIRST]))


def test_counts_that_64_bits_do_not_hold_are_left_out() -> None:
    large = table(1, {5: 2**53 - 1}, {})

    left_out, total = add_sound(dict(enumerate([large] * 1100)))

    assert left_out == list(range(1024, 1100))
    assert rows_of(total.runs[0][0]) == {5: (1024 * (2**53 - 1),) * 2}


def test_many_tables_that_owe_are_left_out_in_the_time_that_adding_takes() -> None:
    owing = [table(-1, {n: -1}, {n: -1}) for n in range(2000)]

    left_out, total = add_sound(dict(enumerate([FIRST, *owing])))

    assert left_out == list(range(1, 2001))
    assert values(total) == values(FIRST)
