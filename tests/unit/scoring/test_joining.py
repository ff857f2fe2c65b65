"""Overlapping terms are joined, and no others."""

import pytest

from nbtext.scoring.joining import MOST_BYTES, MOST_TOKENS, Said, joined
from nbtext.tokens.located import Located, text_of


def pair(start: int, text: str, contribution: float = 1.0, times: int = 1) -> Said:
    first, second = text.split()
    return Said(start, Located("body", start, (first, second)), times, contribution)


def ngrams(text: bytes, contribution: float = 1.0) -> list[Said]:
    return [
        Said(start, Located("body", start, text[start : start + 5]), 1, contribution)
        for start in range(len(text) - 4)
    ]


def texts(*terms: Said) -> list[str]:
    return [text_of(group.parts) for group in joined(terms)]


def test_pairs_that_overlap_are_joined() -> None:
    terms = (pair(3, "to unsubscribe"), pair(1, "click here"), pair(2, "here to"))

    (group,) = joined(terms)

    assert text_of(group.parts) == "click here to unsubscribe"
    assert [term.key for term in group.terms] == [1, 2, 3]


def test_so_are_ngrams() -> None:
    assert texts(*ngrams("café au lait".encode())) == ["café au lait"]


@pytest.mark.parametrize(
    "other",
    [
        pair(3, "to unsubscribe"),  # not next to it
        pair(2, "here to", -1.0),  # it says the contrary
        pair(2, "here to", 0.1),  # hardly anything
        pair(2, "here to", 9.0),  # far more
        pair(2, "here to", times=2),  # it is elsewhere, too
        Said(2, Located("body", 2, ("here",)), 1, 1.0),  # a single token
    ],
)
def test_others_are_not(other: Said) -> None:
    assert sorted(texts(pair(1, "click here"), other)) == sorted(
        ["click here", text_of(other.place.parts)]
    )


def test_single_tokens_are_never_joined() -> None:
    terms = [Said(n, Located("body", n, (f"t{n}",)), 1, 1.0) for n in range(3)]

    assert texts(*terms) == ["t0", "t1", "t2"]


def test_what_is_joined_has_an_end() -> None:
    long = [pair(n, f"t{n} t{n + 1}") for n in range(30)]

    assert max(len(group.parts) for group in joined(long)) == MOST_TOKENS
    assert sum(len(group.terms) for group in joined(long)) == 30
    whole = ngrams(b"abcdefghij" * 9)
    assert max(len(group.parts) for group in joined(whole)) == MOST_BYTES
