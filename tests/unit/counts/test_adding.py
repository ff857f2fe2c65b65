"""Tables that come one after the other, each looked at as often as it must be."""

import pytest

from nbtext.counts import CountTable
from nbtext.counts.adding import Adding, KeptTables
from nbtext.counts.table import add
from tests.build import ClassCounts, table_of, values

LARGE = table_of({"a": ClassCounts(1, [dict.fromkeys(range(300), (1, 1))])})
SMALL = [table_of({"b": ClassCounts(1, [{key: (2, 1)}])}) for key in range(40)]


@pytest.fixture(name="sizes_asked")
def _sizes_asked(monkeypatch: pytest.MonkeyPatch) -> list[None]:
    asked: list[None] = []

    def in_memory(table: CountTable) -> int:
        asked.append(None)
        return sum(run.in_memory for runs in table.runs for run in runs)

    monkeypatch.setattr(CountTable, "in_memory", property(in_memory))
    return asked


def test_to_add_one_more_takes_no_longer_for_those_before(
    sizes_asked: list[None],
) -> None:
    adding = Adding()
    for table in (LARGE, *SMALL):
        adding.add(table)

    total = adding.table()

    assert total is not None
    assert values(total) == values(add([LARGE, *SMALL]))
    assert len(sizes_asked) == 1 + len(SMALL)


def test_to_keep_one_more_takes_no_longer_either(sizes_asked: list[None]) -> None:
    kept = KeptTables()
    for table in SMALL:
        kept.add(table)

    assert kept.tables == SMALL
    assert len(sizes_asked) == len(SMALL)
