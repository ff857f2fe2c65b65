"""Encoded words: what they are, and what is between them."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbtext.mail.encoded_words import _words, readable

WORD = re.compile(r"=\?([^?\s]{1,64})\?([bBqQ])\?([^?]*)\?=")
"""RFC 2047, section 2, read as mail is written: any charset, and spaces in the text."""

PIECES = [
    "=?", "?=", "?", "=", "?q?", "?B?", "q", "=?u?q?a?=", "utf-8", "*en", "x" * 63, " ",
    "\t", "\x1c", "\xa0", "\u3000", "a",
]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
def test_words_are_what_the_pattern_finds(value: str) -> None:
    expected = [(word.start(), word[0]) for word in WORD.finditer(value)]

    assert [*_words(value)] == expected


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (" =?utf-8?q?Gr=C3=BC=C3=9Fe_aus?= ", "Grüße aus"),
        ("=?UTF-8?B?R3LDvMOfZQ==?= <ann@example.org>", "Grüße <ann@example.org>"),
        ('"=?iso-8859-1?Q?J=F6rg?=" <j@k.example>', '"Jörg" <j@k.example>'),
        ("=?utf-8?q?one?= =?utf-8?q?_two?=  three", "one two  three"),
        ("=?utf-8?q?a=C3?= \t =?utf-8?q?=A9b?=", "aéb"),
        ("=?utf-8?q?a?= x =?l1?q?=E9?= =?utf-8?q?b?=", "a x éb"),
        ("=?gb2312?b?xOO6ww==?=", "你好"),
        ("=?utf-8*en?q?=C3=A9?=", "é"),
        ("=?utf-8?b?YWJj?==?utf-8?q?d?=", "abcd"),
        ("=?utf-8?b?Y?=", "Y"),
        ("=?utf-8?x?a?= =?u u?q?a?= =??q?a?=", "=?utf-8?x?a?= =?u u?q?a?= =??q?a?="),
        ("=?utf-8?q?no end", "=?utf-8?q?no end"),
        ("na\xc3\xafve", "naïve"),
        ("na\xefve", "naïve"),
    ],
)
def test_a_value_is_read_as_it_is_meant(value: str, text: str) -> None:
    assert readable(value) == text
