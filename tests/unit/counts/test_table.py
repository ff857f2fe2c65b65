from typing import TypeAlias

import numpy as np
import pytest

from nbtext.counts.table import FEW_CLASSES, CountTable, add, n_terms, rows_by_class
from nbtext.errors import SettingsError, TrainingError
from nbtext.settings.reading import Settings
from nbtext.settings.views import RAW
from tests.build import TEXT, ClassCounts, Rows, rows_of, sorted_counts, table_of

Class: TypeAlias = tuple[int, Rows]
"""How many documents a class has, and the columns of its terms."""


def table(classes: dict[str, Class], settings: Settings = TEXT) -> CountTable:
    counts = {name: ClassCounts(n, [rows]) for name, (n, rows) in classes.items()}
    return table_of(counts, settings)


def rows(counts: CountTable, class_: str) -> dict[int, tuple[int, ...]]:
    return rows_of(counts.runs[0][counts.classes.index(class_)])


def test_tables_add_up() -> None:
    one = table({"ham": (2, {3: (4, 2), 7: (1, 1)})})
    other = table({"ham": (1, {3: (1, 1), 9: (5, 1)}), "spam": (1, {7: (2, 1)})})

    total = one + other

    assert total.classes == ("ham", "spam")
    assert total.documents == (3, 1)
    assert rows(total, "ham") == {3: (5, 3), 7: (1, 1), 9: (5, 1)}
    assert rows(total, "spam") == {7: (2, 1)}
    assert total.runs[0][0].totals() == (11, 5)
    assert total.n_rows == 4


def test_terms_whose_counts_cancel_are_gone() -> None:
    one = table({"ham": (2, {3: (4, 2), 7: (1, 1)})})

    left = one - table({"ham": (1, {7: (1, 1)})})

    assert rows(left, "ham") == {3: (4, 2)}


@pytest.mark.parametrize(
    "taken",
    [
        pytest.param({"ham": (3, {})}, id="documents"),
        pytest.param({"ham": (1, {3: (5, 2)})}, id="occurrences"),
        pytest.param({"ham": (1, {3: (1, 3)})}, id="documents of a term"),
        pytest.param({"ham": (1, {4: (1, 1)})}, id="another term"),
        pytest.param({"spam": (1, {})}, id="another class"),
    ],
)
def test_counts_never_go_below_zero(
    taken: dict[str, Class],
) -> None:
    with pytest.raises(TrainingError, match=r"the counts of class '(ham|spam)' would"):
        table({"ham": (2, {3: (4, 2)})}) - table(taken)


def test_a_ledger_entry_that_was_never_made_cannot_be_taken_away() -> None:
    one = table({"ham": (2, {3: (4, 2)})})
    other = table_of({"ham": ClassCounts(1, [{3: (1, 1)}], {(1, 2, 3): 1})})

    with pytest.raises(TrainingError, match="was never counted there"):
        one - other


def test_tables_of_other_settings_do_not_add() -> None:
    other = Settings(format="text", views=(RAW,))

    with pytest.raises(SettingsError, match="cannot add: the views"):
        add([table({}), table({}, other)])


def test_the_lowest_count_has_a_negative() -> None:
    lowest = table({"ham": (1, {3: (-(2**31), -1)})})

    assert rows(-lowest, "ham") == {3: (2**31, 1)}


def test_terms_of_several_classes_are_counted_once() -> None:
    rows = [{3: (4, 2), 7: (1, 1)}, {}, {3: (1, 1), 9: (5, 1)}]

    assert n_terms([*map(sorted_counts, rows)]) == 3
    assert n_terms(()) == 0


@pytest.mark.parametrize("n_classes", [0, 1, 3, FEW_CLASSES, FEW_CLASSES + 1, 300])
def test_rows_are_of_their_class_in_order(n_classes: int) -> None:
    classes = np.arange(5 * n_classes, dtype=np.uint16) * 7 % (n_classes + 1)

    rows = [of_class.tolist() for of_class in rows_by_class(classes, n_classes)]

    assert rows == [
        [row for row, place in enumerate(classes.tolist()) if place == class_]
        for class_ in range(n_classes)
    ]
