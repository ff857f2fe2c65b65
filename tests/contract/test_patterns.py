"""
Patterns mean the same to every Python from 3.11 on.

Before 3.11.5, which Debian 12 is, `re` does not go back to where a round began if a
round of a possessive group, `(?:...)*+`, fails behind its first step
(https://github.com/python/cpython/issues/106052). A last alternative that fails at once
puts the place back: `(?:...|(?!))*+`.
"""

import re
from pathlib import Path

import pytest

import nbtext
from nbtext.filtering.header_field import AddedField, with_added
from nbtext.mail.markup import html_text

FAILS_AT_ONCE = "|(?!)"

POSSESSIVE_GROUP = re.compile(r"\)(?:[*+?]|\{+[0-9,]+\}+)\+")

FOLDER = Path(nbtext.__file__).parent


def test_possessive_groups_end_with_what_fails_at_once() -> None:
    found = [
        (path.name, number, line[: group.start()].endswith(FAILS_AT_ONCE))
        for path in sorted(FOLDER.rglob("*.py"))
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        for group in POSSESSIVE_GROUP.finditer(line)
    ]
    assert len(found) > 10, "the patterns are written in another way now: look for it"
    assert [where for *where, is_sound in found if not is_sound] == []


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("a<!-- <b>x</b> -->b", "ab"),
        ("a<!-- b-c--d -->e<!---->f", "aef"),
        ("one<p><b two", "one <b two"),
        ("one<p> </ two <", "one </ two <"),
    ],
)
def test_a_round_that_fails_takes_nothing(markup: str, text: str) -> None:
    assert html_text(markup) == text


@pytest.mark.parametrize(
    ("message", "copy"),
    [
        (b">From a\n>From", b">From a\nX-A: b\n\n>From"),
        (b"To: a\r\nCc: b\r\n\r\nc", b"To: a\r\nCc: b\r\nX-A: b\r\n\r\nc"),
    ],
)
def test_a_field_is_added_where_lines_end(message: bytes, copy: bytes) -> None:
    assert with_added(message, AddedField("X-A", "b")) == copy
