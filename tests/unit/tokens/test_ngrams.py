"""Byte n-grams: what text they are cut from, and how much of it."""

import pytest

from nbtext.settings.views import NGRAMS
from nbtext.tokens import Field, terms
from nbtext.tokens.ngrams import LONGEST, keys, ngrams
from nbtext.tokens.tokenizer import KEY_SHIFT, token_hash

UNLIMITED = NGRAMS._replace(limit=None)


def text_of(fields: list[Field]) -> bytes:
    """Put the n-grams together again."""
    found = list(ngrams(NGRAMS, fields))
    return b"".join([ngram[:1] for ngram in found] + [found[-1][1:]])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hello", b"hello"),
        ("  A\r\n\tB\0\x85C\u3000 ", b" a b c "),
        ("STRA\u1e9eE", "straße".encode()),
        ("日\ud800本", "日 本".encode()),
        ("vi\u200bagra", "vi\u200bagra".encode()),
    ],
)
def test_they_are_cut_from_folded_text_with_single_spaces(
    text: str, expected: bytes
) -> None:
    assert text_of([("body", text)]) == expected


def test_they_reach_from_field_to_field() -> None:
    assert text_of([("title", "One "), ("", ""), ("body", " two")]) == b"one two"


@pytest.mark.parametrize("text", ["", "four", "   \n four", "日"])
def test_text_of_fewer_bytes_has_none(text: str) -> None:
    assert list(ngrams(NGRAMS, [("body", text.strip())])) == []


def test_of_a_long_text_4000_bytes_are_read() -> None:
    whole = "".join(chr(0x4E00 + n) for n in range(5000))

    assert text_of([("body", whole)]) == whole.encode()[:4000]


def test_and_no_more_than_6000_code_points() -> None:
    fields = [("a", "x" * 10), ("b", " " * (LONGEST - 13) + "yz" + "no more")]

    assert text_of(fields) == b"x" * 10 + b" yz"
    assert len(list(ngrams(UNLIMITED, [("body", "é" * 9999)]))) == 2 * LONGEST - 4


def test_a_key_is_that_of_a_token_with_the_salt_1() -> None:
    (key,) = keys(NGRAMS, [("body", "Offer")])

    assert key == token_hash("offer", 1) >> KEY_SHIFT


def test_as_terms_they_stand_in_the_text_of_the_view() -> None:
    found = list(terms(NGRAMS, [("body", "a日本")]))

    assert [field for field, _, _ in found] == ["body"] * 3
    assert [term.encode("utf-8", "surrogateescape") for _, term, _ in found] == [
        "a日本".encode()[start : start + 5] for start in range(3)
    ]
