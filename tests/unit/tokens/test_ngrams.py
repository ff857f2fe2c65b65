"""Byte n-grams: what text they are cut from, and how much of it."""

import pytest

from nbtext.settings.views import NGRAMS
from nbtext.tokens import codepoints, terms
from nbtext.tokens.codepoints import N_CODE_POINTS
from nbtext.tokens.ngrams import EDGE, LONGEST, keys, ngrams
from nbtext.tokens.tokenizer import KEY_SHIFT, Field, token_hash

UNLIMITED = NGRAMS._replace(limit=None)


def text_of(fields: list[Field]) -> bytes:
    """Put the n-grams together again, without the edges."""
    found = list(ngrams(NGRAMS, fields))
    whole = b"".join([ngram[:1] for ngram in found] + [found[-1][1:]])
    assert (whole[:4], whole[-4:]) == (EDGE, EDGE)
    return whole[4:-4]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hello", b"hello"),
        ("  A\r\n\tB\0\x85C\u3000 ", b"a b c"),
        ("STRA\u1e9eE", "straße".encode()),
        ("日\ud800本", "日 本".encode()),
        ("vi\u200bagra", "vi\u200bagra".encode()),
        ("90210 \u0663½", "00000 \u0663½".encode()),
    ],
)
def test_they_are_cut_from_folded_text_with_single_spaces(
    text: str, expected: bytes
) -> None:
    assert text_of([("body", text)]) == expected


def test_digits_alone_are_folded_otherwise_than_in_words() -> None:
    found, usual = codepoints.offsets_of_ngrams(), codepoints.offsets()
    others = [code for code in range(N_CODE_POINTS) if found[code] != usual[code]]

    assert [chr(code) for code in others] == list("123456789")


def test_digits_stay_where_nothing_is_folded() -> None:
    as_written = NGRAMS._replace(fold_tokens=False)

    assert list(ngrams(as_written, [("body", "Nr 12")]))[4] == b"Nr 12"


def test_they_reach_from_field_to_field() -> None:
    assert text_of([("title", "One "), ("", ""), ("body", " two")]) == b"one two"


def test_a_text_has_terms_of_its_first_and_its_last_bytes() -> None:
    found = [ngram.decode() for ngram in ngrams(NGRAMS, [("body", "Ann\n")])]

    assert found == [
        "\n\n\n\na",
        "\n\n\nan",
        "\n\nann",
        "\nann\n",
        "ann\n\n",
        "nn\n\n\n",
        "n\n\n\n\n",
    ]


@pytest.mark.parametrize("text", ["", "\n", " \0\t\u3000"])
def test_spaces_alone_have_none(text: str) -> None:
    assert list(ngrams(NGRAMS, [("body", text), ("body", text)])) == []


@pytest.mark.parametrize("text", ["", "\n", " \0\t\u3000"])
def test_spaces_at_the_ends_say_nothing(text: str) -> None:
    fields = [("body", text), ("body", f"{text}four{text}"), ("body", text)]

    assert text_of(fields) == b"four"


def test_of_a_long_text_4000_bytes_are_read() -> None:
    whole = "".join(chr(0x4E00 + n) for n in range(5000))

    assert text_of([("body", whole)]) == whole.encode()[:4000]
    assert text_of([("body", f" {'x' * 3999} {whole}")]) == b"x" * 3999


def test_and_no_more_than_6000_code_points() -> None:
    fields = [("a", "x" * 10), ("b", " " * (LONGEST - 13) + "yz" + "no more")]

    assert text_of(fields) == b"x" * 10 + b" yz"
    assert len(list(ngrams(UNLIMITED, [("body", "é" * 9999)]))) == 2 * LONGEST + 4


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ann B", ["\nan", "ann", "nn ", " b\n"]),
        ("a", ["\na\n"]),
        ("f\u00fcr \u00e4\u00f6i", ["\nf\u00fc", "f\u00fcr", "\u00fcr ", "\u00f6i\n"]),
        ("\u0436\u0445\u0436 \u65e5\u672c", []),
        ("\u65e5a b", [" b\n"]),
    ],
)
def test_runs_of_three_are_of_four_bytes_at_the_most_and_within_words(
    text: str, expected: list[str]
) -> None:
    view, fields = NGRAMS._replace(threes=128), [("body", text)]
    found = list(ngrams(view, fields))
    runs = found[len(list(ngrams(NGRAMS, fields))) :]

    assert found[: -len(runs) or None] == list(ngrams(NGRAMS, fields))
    assert [run.decode() for run in runs] == expected


def test_runs_of_three_begin_in_the_first_bytes() -> None:
    view = NGRAMS._replace(threes=2)

    assert list(ngrams(view, [("body", "four")]))[-3:] == [b"\nfo", b"fou", b"our"]
    assert list(ngrams(view, [("", "\u00e9te")]))[-2:] == [
        "\n\u00e9t".encode(),
        "\u00e9te".encode(),
    ]


def test_what_is_left_of_a_character_that_is_cut_is_one() -> None:
    view = NGRAMS._replace(limit=3, threes=9)

    found = list(ngrams(view, [("body", "ab\u00e9")]))

    assert found[-3:] == [b"\nab", b"ab\xc3", b"b\xc3\n"]
    assert [term for _, term, _ in terms(view, [("body", "ab\u00e9")])][
        -1
    ] == "b\udcc3\n"


def test_a_key_is_that_of_a_token_with_the_salt_1() -> None:
    found = keys(NGRAMS, [("body", "Offer")])

    assert found[4] == token_hash("offer", 1) >> KEY_SHIFT


def test_as_terms_they_stand_in_the_text_of_the_view() -> None:
    found = list(terms(NGRAMS, [("body", "a日本")]))

    assert [field for field, _, _ in found] == ["body"] * 11
    assert [term.encode("utf-8", "surrogateescape") for _, term, _ in found[4:7]] == [
        "a日本".encode()[start : start + 5] for start in range(3)
    ]
