"""What `why` says in a sentence."""

from dataclasses import replace

import pytest

from nbtext.scoring.explanation import Explanation, Reason
from nbtext.scoring.in_words import in_words


def reason(text: str, view: str, contribution: float) -> Reason:
    return Reason(text, view, view, 1, contribution, 0.0, {}, {}, 0)


def explanation(*reasons: Reason, known: int = 9, tokens: int = 9) -> Explanation:
    return Explanation(
        name="1",
        decision="spam",
        label="spam",
        rival="ham",
        probability=0.5,
        log_odds=0.0,
        score=0.0,
        calibration=0.0,
        slope=1.0,
        offset=0.0,
        others=0.0,
        prior=0.0,
        cap=0.0,
        parts=(),
        reasons=tuple(sorted(reasons, key=lambda one: -abs(one.contribution))),
        classes={"ham": 1, "spam": 1},
        posterior={"ham": 0.5, "spam": 0.5},
        known=known,
        tokens=tokens,
        views=("headers", "raw", "body"),
    )


def test_a_view_that_most_comes_from_is_named_with_its_terms() -> None:
    found = explanation(
        reason("cash", "body", 3.0),
        reason("a relay", "headers", 1.0),
        reason("lunch", "raw", -2.0),
    )

    assert in_words(found) == "mostly the body: 'cash'; against spam: 'lunch'"


def test_two_views_are_named_where_none_is_the_main_one() -> None:
    found = explanation(reason("cash", "body", 1.1), reason("ab cd", "raw", 1.0))

    assert in_words(found) == "the body and the raw text: 'cash', 'ab cd'"


def test_one_view_of_several_is_named_and_the_only_one_is_not() -> None:
    found = explanation(reason("cash", "body", 1.0))

    assert in_words(found) == "mostly the body: 'cash'"
    assert in_words(replace(found, views=("body",))) == "the terms: 'cash'"


def test_the_strongest_three_that_differ_are_named_and_long_ones_cut() -> None:
    texts = ["x" * 40, "two", "two", "three", "four"]
    found = explanation(
        *(reason(text, "body", 9.0 - n) for n, text in enumerate(texts))
    )

    assert in_words(found) == f"mostly the body: '{'x' * 27}...', 'two', 'three'"


def test_a_term_with_an_apostrophe_is_in_double_quotes() -> None:
    found = explanation(reason("don't", "body", 2.0), reason("'", "body", 1.0))

    assert in_words(found) == """mostly the body: "don't", "'\""""


def test_nothing_may_speak_for_a_class() -> None:
    found = explanation(reason("lunch", "body", -1.0))

    assert in_words(found) == "not one term speaks for spam against ham"


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [
        (0, "it has no tokens"),
        (1, "its one token is not known"),
        (1234, "none of its 1,234 tokens is known"),
    ],
)
def test_a_document_of_unknown_tokens_is_told_as_one(
    tokens: int, expected: str
) -> None:
    rest = "what is left is the share of spam among the documents"

    assert in_words(explanation(known=0, tokens=tokens)) == f"{expected}; {rest}"


def test_pieces_of_characters_are_not_among_the_terms() -> None:
    cut = "\n元\udce6"  # of five bytes one is a third of a character

    found = explanation(
        reason(cut, "ngrams", 2.0),
        reason("\udc83気", "ngrams", 1.5),
        reason("\n\n\n\n\udcd0", "ngrams", -1.0),
        reason("元", "ngrams", 1.0),
    )

    assert in_words(found) == "mostly the runs of characters: '元', '気'"


def test_a_view_whose_terms_are_pieces_alone_is_named_without_them() -> None:
    found = explanation(reason("   ", "raw", 1.0), reason("lunch", "body", -1.0))

    assert in_words(found) == "mostly the raw text; against spam: 'lunch'"
