"""Histograms: counted by hand, refused where no documents leave them."""

from typing import Any

import pytest

from nbtext.counts.count_histograms import histograms_of, of_terms
from nbtext.counts.histograms import (
    MOST,
    ChangingHistograms,
    Histogram,
    Histograms,
    added,
    as_plain,
    from_plain,
    negative,
    size_of,
)
from nbtext.counts.term_table import arrange_runs
from nbtext.errors import SettingsError
from tests.build import TEXT_WORDS, WORDS, ClassCounts, counted, table_of

THREE = counted(
    [("a", "x x y"), ("a", "x z"), ("a", "x"), ("b", "y z z"), ("b", "only")],
    TEXT_WORDS,
)
"""x is in three documents of a; y and z in one of each; `only` in one of b, once."""

HISTOGRAMS = ({"a": Histogram({1: 2, 3: 1}), "b": Histogram({1: 3}, 1)},)


def test_terms_are_counted_by_how_many_documents_they_are_in() -> None:
    assert histograms_of(THREE) == HISTOGRAMS
    assert size_of(HISTOGRAMS) == 3


def test_they_are_the_same_from_counts_arranged_by_term() -> None:
    found = of_terms(WORDS, arrange_runs(THREE.runs[0]), 2)

    assert found == [HISTOGRAMS[0]["a"], HISTOGRAMS[0]["b"]]


def test_a_term_without_occurrences_is_no_singleton() -> None:
    rows = {1: (0, 1), 2: (1, 0), 3: (1, 1)}
    table = table_of(
        {"a": ClassCounts(1, [rows]), "b": ClassCounts(1, [{3: (0, 1)}])}, TEXT_WORDS
    )

    assert histograms_of(table) == (
        {"a": Histogram({1: 2}, 2), "b": Histogram({1: 1})},
    )


def test_a_term_that_comes_to_a_second_class_is_a_singleton_no_more() -> None:
    changing = ChangingHistograms(WORDS)

    changing.enter({"a": (1, 1)}, -1)
    changing.enter({"a": (1, 1), "b": (2, 1)}, 1)

    assert changing.by_class() == {"a": Histogram({}, -1), "b": Histogram({1: 1})}


def test_a_change_and_its_opposite_leave_nothing() -> None:
    change = ({"a": Histogram({1: 3, 2: -1}, 2), "b": Histogram({}, -4)},)

    assert added([HISTOGRAMS, change, negative(change)]) == HISTOGRAMS
    assert added([change, negative(change)]) == ({},)


def test_plain_values_are_read_back() -> None:
    change: Histograms = ({"a": Histogram({1: 3, 2: -1}, 2)}, {})

    plain = as_plain(change, ["body", "raw"])

    assert plain == {
        "body": {"a": {"documents": [1, 2], "terms": [3, -1], "singletons": 2}},
        "raw": {},
    }
    assert from_plain(plain, ["body", "raw"]) == change


GOOD = {"documents": [1, 4], "terms": [3, -1], "singletons": 0}


@pytest.mark.parametrize(
    "changes",
    [
        {"documents": [4, 1]},
        {"documents": [1, 1]},
        {"documents": [0, 1]},
        {"documents": [-1, 1]},
        {"documents": [1, MOST]},
        {"documents": [1]},
        {"documents": [1, 4.0]},
        {"documents": [True, 4]},
        {"documents": 7},
        {"documents": None},
        {"terms": [3, 0]},
        {"terms": [3, MOST]},
        {"terms": [3, "1"]},
        {"terms": {}},
        {"singletons": None},
        {"singletons": -MOST},
        {"singletons": 0.5},
        {"more": 1},
    ],
)
def test_what_no_documents_leave_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match="histogram"):
        Histogram.from_dict(GOOD | changes)


@pytest.mark.parametrize(
    "plain",
    [
        None,
        7,
        [],
        "body",
        {},
        {"body": {}, "raw": {}},
        {"raw": {}},
        {"body": []},
        {"body": None},
        {"body": {"a": None}},
        {"body": {"a": []}},
        {"body": {"a": {}}},
        {"body": {7: GOOD}},
        {"body": {b"a": GOOD}},
    ],
)
def test_what_is_no_map_of_histograms_is_refused(plain: Any) -> None:
    with pytest.raises(SettingsError, match=r"expected|one for each view"):
        from_plain(plain, ["body"])
