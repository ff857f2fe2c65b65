import pytest

from nbtext.counts.table import CountTable
from nbtext.upkeep.repair import balanced
from tests.build import ClassCounts, table_of


def table(documents: int, terms: dict[int, int], ledger: dict[int, int]) -> CountTable:
    """One class, `ham`, with terms that occur so often and documents by number."""
    rows = {key: (count, count) for key, count in terms.items()}
    entries = {(0, number, 0): count for number, count in ledger.items()}
    return table_of({"ham": ClassCounts(documents, [rows], entries)})


FIRST = table(1, {5: 1}, {1: 1})
SECOND = table(1, {5: 1, 7: 1}, {2: 1})
NOT_SECOND = -SECOND


def test_tables_that_add_up_are_all_kept() -> None:
    left_out, total = balanced({0: FIRST, 1: SECOND, 2: -FIRST})

    assert left_out == []
    assert total.documents == (1,)
    assert total.runs[0][0].keys.tolist() == [5, 7]


def test_what_takes_away_what_is_not_there_is_left_out() -> None:
    left_out, total = balanced({0: FIRST, 2: NOT_SECOND})

    assert left_out == [2]
    assert total.documents == FIRST.documents
    assert total.ledger[0].entries.tolist() == FIRST.ledger[0].entries.tolist()


def test_the_latest_is_left_out_first() -> None:
    left_out, total = balanced({0: FIRST, 1: SECOND, 2: NOT_SECOND, 3: NOT_SECOND})

    assert left_out == [3]
    assert total.documents == (1,)


def test_what_rests_on_a_table_that_is_left_out_goes_with_it() -> None:
    moved = table(0, {5: -1, 9: 1}, {1: -1, 3: 1})
    back = table(-1, {9: -1}, {3: -1})

    left_out, total = balanced({0: SECOND, 1: moved, 2: back})

    assert sorted(left_out) == [1, 2]
    assert total.documents == SECOND.documents


@pytest.mark.parametrize(
    "owed",
    [table(-1, {}, {}), table(0, {5: -1}, {}), table(0, {}, {1: -1})],
    ids=["documents", "terms", "ledger"],
)
def test_nothing_at_all_may_be_owed(owed: CountTable) -> None:
    left_out, total = balanced({4: owed})

    assert left_out == [4]
    assert total.classes == ()
