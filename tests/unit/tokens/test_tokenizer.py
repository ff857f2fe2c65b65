from collections.abc import Iterator
from hashlib import blake2b

import pytest

from nbtext.settings.views import BODY, HEADERS, RAW, Alphabet, View
from nbtext.tokens import tokenizer
from nbtext.tokens.tokenizer import (
    FIELDS,
    PIECE,
    REMEMBERED,
    REMEMBERED_OF_FIELD,
    SHORT,
    _token_hashes,
    fold,
    keys,
    pair_hash,
    salt,
    terms,
    token_hash,
    tokens,
)


@pytest.mark.parametrize(
    ("alphabet", "text", "expected"),
    [
        ("words", "Buy now!!! Only $9.99", ["Buy", "now", "Only", "9", "99"]),
        ("words", "don't naïve_snake", ["don", "t", "naïve", "snake"]),
        ("marks", "Buy now!!! (only)", ["Buy", "now", "!!!", "(", "only", ")"]),
        ("marks", "a...b -- c", ["a", "...", "b", "--", "c"]),
        ("fields", "<joe@x.org> (Joe)", ["joe@x.org", "Joe"]),
        ("fields", "a=b; c=中文", ["a=b", "c=中文"]),
        ("words", "我爱 you2", ["我", "爱", "you2"]),
        ("words", "สวัสดี", list("สวัสดี")),
        ("words", "カナ漢字かな", list("カナ漢字かな")),
        ("words", "हिन्दी العربية", ["हिन्दी", "العربية"]),
        ("words", "e\u0301te\u0301", ["e\u0301te\u0301"]),
        ("words", "nul\0inside", ["nul", "inside"]),
        ("words", "ok 😀😀👍🏽! ♥", ["ok", "😀", "😀", "👍", "♥"]),
        ("marks", "ok 😀😀!", ["ok", "😀", "😀", "!"]),
        ("fields", "ok 😀😀!", ["ok", "😀😀!"]),
        ("marks", "lone\ud800half", ["lone", "half"]),
        ("marks", "", []),
        ("words", " \t\n!?", []),
    ],
)
def test_tokens_are_runs_of_a_kind(
    alphabet: Alphabet, text: str, expected: list[str]
) -> None:
    assert list(tokens(text, alphabet)) == expected


def test_folding_is_one_code_point_to_one() -> None:
    assert fold("ÀÉ STRAẞE İ \u212a") == "àé straße i k"
    assert fold("\u0391\u03a3") == "\u03b1\u03c3"  # no final sigma


def view(**how: object) -> View:
    plain = {"name": "view", "text": "body", "alphabet": "words"} | how
    return View(**plain)  # type: ignore[arg-type]


def test_pairs_are_neighbours_of_one_field() -> None:
    fields = [("a", "One two Three"), ("b", "four"), ("b", "Five six")]

    found = list(terms(view(pairs=True), fields))

    assert found == [
        ("a", "One", None),
        ("a", "two", None),
        ("a", "one", "two"),
        ("a", "Three", None),
        ("a", "two", "three"),
        ("b", "four", None),
        ("b", "Five", None),
        ("b", "six", None),
        ("b", "five", "six"),
    ]


def test_a_limit_is_on_the_tokens_of_a_document() -> None:
    fields = [("a", "one two"), ("b", "three four five")]

    found = list(terms(view(pairs=True, tokens=False, limit=4), fields))

    assert found == [("a", "one", "two"), ("b", "three", "four")]


def test_fields_set_terms_apart_only_where_the_view_says_so() -> None:
    one, other = [("from", "joe")], [("to", "joe")]

    assert list(keys(HEADERS, one)) != list(keys(HEADERS, other))
    assert list(keys(RAW, one)) == list(keys(RAW, other))
    assert list(keys(view(fields=False), one)) == [token_hash("joe") >> 16]
    assert list(keys(view(fields=True), one)) == [token_hash("joe", salt("from")) >> 16]


def test_the_order_of_a_pair_matters() -> None:
    assert pair_hash(token_hash("a"), token_hash("b")) != pair_hash(
        token_hash("b"), token_hash("a")
    )


def reference(token: str, field: str | None = None) -> int:
    """The key as docs/model-format.md defines it, by large integers alone."""
    data, modulus = token.encode(), 2**64
    words = [data[start : start + 8] for start in range(0, len(data), 8)]
    value = sum(
        int.from_bytes(word, "little") * 0x9E3779B97F4A7C15**power
        for power, word in enumerate(words)
    )
    if field is not None:
        digest = blake2b(field.encode(), digest_size=8).digest()
        value += int.from_bytes(digest, "little")
    value = value * 0xD6E8FEB86659FD93 % modulus
    value = (value ^ value >> 32) * 0xE7037ED1A0B428DB % modulus
    return int(value ^ value >> 29)


@pytest.mark.parametrize("token", ["a", "free", "eightbit", "nine-byte", "é" * 300])
def test_a_key_is_what_the_specification_says(token: str) -> None:
    assert token_hash(token) == reference(token)
    assert token_hash(token, salt("subject")) == reference(token, "subject")


@pytest.mark.parametrize(
    ("token", "expected"),
    [
        ("spam", 0xA4E15BC69178D1C0),
        ("unsubscribe", 0x210EDC5D97F0A750),
        ("中", 0xDDB2F9D59E4CB74B),
    ],
)
def test_keys_never_change(token: str, expected: int) -> None:
    assert token_hash(token) == expected


def test_what_is_remembered_is_bounded() -> None:
    _token_hashes.cache_clear()
    text = " ".join(f"{n}x" for n in range(REMEMBERED + 100)) + " " + "y" * 1000
    fields = [("subject", text), *((f"x-{n}", "a b") for n in range(2 * FIELDS))]

    for how in (True, False):
        assert sum(1 for _ in keys(view(fields=how), fields)) > REMEMBERED

    assert _token_hashes.cache_info().currsize <= FIELDS
    assert 0 < len(_token_hashes(0)) <= REMEMBERED
    assert 0 < len(_token_hashes(salt(f"x-{2 * FIELDS - 1}"))) <= REMEMBERED_OF_FIELD
    assert max(map(len, _token_hashes(0))) <= SHORT


def test_a_long_text_is_read_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    longest = 0
    original = tokenizer._tokens_by_form

    def watched(view: View, text: str) -> Iterator[dict[bool, list[str]]]:
        nonlocal longest
        longest = max(longest, len(text))
        return original(view, text)

    monkeypatch.setattr(tokenizer, "_tokens_by_form", watched)
    fields = [("body", "word, " * 5000)]

    assert list(keys(BODY, fields)) != []
    assert PIECE <= longest <= PIECE + len("word, ")


def test_body_counts_marks_and_keeps_case() -> None:
    assert [t for _, t, second in terms(BODY, [("body", "FREE!!")]) if not second] == [
        "FREE",
        "!!",
    ]
