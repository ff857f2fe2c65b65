"""Terms that say the same are one row on a terminal."""

from dataclasses import replace

import pytest

from nbtext.cli._alike import joined
from nbtext.cli._explained_tables import TOP_LEGEND, top_table
from nbtext.scoring.top import TopTerm
from tests.drawing import drawn


def top(
    text: str | None, documents: int, elsewhere: int, view: str = "body"
) -> TopTerm:
    n_other = 400
    return TopTerm(
        "spam", text, view, None, 9.0, 1.0, documents, 200, elsewhere, n_other, 10
    )


def rows(*terms: TopTerm, n: int = 9) -> list[tuple[str | None, int]]:
    return [(term.text, more) for term, more in joined(terms, n, {"ngrams"})]


def run(text: str, documents: int = 100, elsewhere: int = 9) -> TopTerm:
    return top(text, documents, elsewhere, "ngrams")


def test_runs_of_characters_join_what_they_overlap() -> None:
    terms = [run(text, 100 - n) for n, text in enumerate([" acqu", "acqui", "cquir"])]

    assert rows(*terms, run("quire"), run(" merg")) == [(" acqu", 3), (" merg", 0)]
    assert rows(top("said it", 80, 7), run("id it")) == [("said it", 1)]
    assert rows(top("free", 80, 7), run("fre"), run("00000")) == [
        ("free", 1), ("00000", 0),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        (top("shares", 99, 9), [("shares", 1)]),
        (top("shares", 80, 9), [("hares", 0), ("shares", 0)]),
        (top("cash", 99, 9), [("hares", 0), ("cash", 0)]),
    ],
)
def test_a_word_takes_the_place_of_a_run_in_it_that_as_many_documents_have(
    word: TopTerm, expected: list[tuple[str, int]]
) -> None:
    assert rows(run("hares"), word) == expected


def test_words_join_what_has_a_word_in_common_and_is_in_as_many_documents() -> None:
    pair, word = top("click here", 100, 4), top("here", 100, 4)

    assert rows(pair, word, top("click", 90, 4)) == [("click here", 1), ("click", 0)]
    assert rows(word, top("there", 100, 4)) == [("here", 0), ("there", 0)]
    assert rows(word, top("here !", 100, 5)) == [("here", 0), ("here !", 0)]


def test_what_joins_a_row_is_counted_behind_the_last_one_too() -> None:
    terms = [run("acqui"), top("oil", 50, 9), top("gas", 40, 3), run("cquir")]

    assert rows(*terms, n=2) == [("acqui", 1), ("oil", 0)]


def test_terms_without_a_text_or_of_blanks_are_rows_of_their_own() -> None:
    keys = [top(None, 9, 9), top(None, 9, 9), top("!", 9, 9), top("!!", 9, 9)]

    assert [more for _, more in rows(*keys, run("\n\n\n\n"), run("  "))] == [0] * 6


def test_classes_are_apart_and_the_table_says_how_many_joined() -> None:
    spam = run("acqui")
    found = joined([spam, run("cquir"), replace(spam, label="ham")], 9, {"ngrams"})

    table = top_table([term for term, _ in found], [more for _, more in found])
    _, first, second = drawn([table])

    assert first.split()[0] == "spam"
    assert first.endswith("acqui (+1)")
    assert second.split()[0] == "ham"
    assert second.endswith("acqui")
    assert "(+5)" in TOP_LEGEND
