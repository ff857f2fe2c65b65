"""The order of a stream, and when labels are told."""

import pytest

from nbtext.errors import SettingsError
from nbtext.evaluation.stream import Feedback, feedback_of, in_order, natural, order_of


def test_names_are_ordered_by_their_last_part_and_numbers_by_value() -> None:
    names = [
        "spam/10.eml",
        "ham/9.eml",
        "ham/b",
        "a/box.mbox:12",
        "a/box.mbox:2",
        "ham/a",
    ]

    assert sorted(names, key=natural) == [
        "ham/9.eml", "spam/10.eml", "ham/a", "ham/b", "a/box.mbox:2", "a/box.mbox:12",
    ]  # fmt: skip


def test_any_name_has_a_place() -> None:
    names = ["", "/", "9" * 5000, "²/³", "\udcff", "1a1", "a", "٣"]

    assert {*sorted(names, key=natural)} == {*names}


def test_what_has_no_date_comes_last_by_name() -> None:
    order = in_order("date", [0, 1, 2, 3], ["d", "c", "b", "a"], [None, 2.0, 1.0, None])

    assert order == [2, 1, 3, 0]


def test_the_order_of_the_sources_is_that_in_which_they_were_read() -> None:
    assert in_order("index", [2, 0, 1], ["a", "b", "c"], [None] * 3) == [1, 2, 0]


def test_without_any_date_there_is_no_order_of_dates() -> None:
    with pytest.raises(
        SettingsError, match=r"not one document has a date .* order='name'"
    ):
        in_order("date", [0], ["a"], [None])


def test_there_is_no_other_order() -> None:
    with pytest.raises(SettingsError, match="expected one of name, date, index"):
        order_of("size")


@pytest.mark.parametrize(
    ("text", "arrivals"),
    [
        ("immediate", [[0], [1], [2], [3]]),
        ("delay:0", [[0], [1], [2], [3]]),
        ("delay:3", [[], [], [], [0]]),
        ("first:2", [[0], [1], [], []]),
        ("first:0", [[], [], [], []]),
    ],
)
def test_labels_arrive(text: str, arrivals: list[list[int]]) -> None:
    feedback = feedback_of(text)

    assert [[*feedback.arrivals(step)] for step in range(4)] == arrivals
    assert feedback_of(str(feedback)) == feedback


@pytest.mark.parametrize(
    "text", ["", "delay", "delay:-1", "first:x", "later", "delay:1 "]
)
def test_what_is_no_feedback_is_refused(text: str) -> None:
    with pytest.raises(SettingsError, match="expected immediate, delay:N or first:N"):
        feedback_of(text)


def test_a_number_of_documents_may_be_large() -> None:
    assert feedback_of("delay:999999999999") == Feedback(delay=999_999_999_999)
