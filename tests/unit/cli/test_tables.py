"""Facts and decisions on terminals that are narrower than their lines."""

import pytest
from rich.text import Text

from nbtext.cli._tables import decision_lines, fact_lines
from nbtext.mail import Heading
from tests.build import decision
from tests.drawing import drawn

FACTS = [
    ("model", "/a/path/that/is/longer/than/the/terminal/is/wide.nbt"),
    ("policy", "decides for the most probable class"),
    ("terms", "25,957"),
]


def test_a_long_fact_breaks_between_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")

    assert drawn(fact_lines(FACTS[1:]), 40) == [
        "policy  decides for the most probable",
        "        class",
        "terms   25,957",
    ]


def test_a_path_is_a_line_that_can_be_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")

    assert drawn(fact_lines(FACTS), 40)[0] == f"model   {FACTS[0][1]}"


def test_facts_that_have_room_are_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")

    assert all(isinstance(line, Text) for line in fact_lines(FACTS))


def test_what_is_cut_of_a_heading_ends_in_an_ellipsis(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    heading = Heading("Ann <ann@example.org>", "A subject that is long")
    one = decision("ham", name="1.eml", heading=heading)

    line = drawn(decision_lines([[one]]), 50)[1]

    assert line == "ham         0.9000  1.eml  Ann <ann@example.org>:\u2026"
    assert len(line) <= 50


def test_one_very_long_class_does_not_move_the_lines_of_others() -> None:
    long = "x" * 300
    decisions = [
        decision(label, name=name, classes=("ham", long))
        for name, label in (("1.txt", "ham"), ("2.txt", long))
    ]

    heading, of_ham, of_long = drawn(decision_lines([decisions]), 80)

    assert heading == f"{'class':40}  probability  document"
    assert of_ham == f"{'ham':40}       0.9000  1.txt"
    assert of_long == f"{long}       0.9000  2.txt"
