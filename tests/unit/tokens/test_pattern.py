"""Tokens by a regular expression: found, bounded, and refused with the reason."""

from time import process_time

import pytest

from nbtext.document import Document
from nbtext.errors import SettingsError, SourceError
from nbtext.learning import SettingsOverrides
from nbtext.settings.reading import Pattern, default_settings
from nbtext.tokens import pattern as module
from nbtext.tokens.pattern import installed_version, matches, new_pattern, version_note
from nbtext.tokens.reading import read
from nbtext.tokens.tokenizer import terms

LETTERS = r"(?:\w|\w\w)+$"
"""Takes time that doubles with each letter where it does not match."""


def tokens(expression: str, text: str) -> list[str]:
    found = matches(new_pattern(expression), text, "d")
    return found.split("\0") if found else []


@pytest.mark.parametrize(
    ("expression", "text", "expected"),
    [
        (r"\w+", "one, two-three", ["one", "two", "three"]),
        (r"(?u)\b\w\w+\b", "a bc def", ["bc", "def"]),
        (r"[^,]+", "two words,  more ", ["two words", "  more "]),
        (r"\w*", "a, b", ["a", "b"]),  # empty matches are no tokens
        (r"#(\w+)", "#one two #three", ["one", "three"]),
        (r"a(b)?", "a ab", ["b"]),  # nor is a group that took no part
        (r"\p{Han}|\p{L}+", "日本 and ひ", ["日", "本", "and", "ひ"]),
        (r"(?i)SPAM", "Spam spam", ["Spam", "spam"]),
        (r".+", "a\0b\0", ["a b "]),  # U+0000 is read as a space
        (r"x", "", []),
        (r"(a+)+$", "aaab", []),
        (r".", "ab" * 5000, list("ab" * 5000)),  # more than are joined at a time
    ],
)
def test_tokens_are_the_matches(
    expression: str, text: str, expected: list[str]
) -> None:
    assert tokens(expression, text) == expected


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("(", r"missing \) at position 1"),
        ("a**", "multiple repeat at position 2"),
        (r"\p{Nonsense}", "unknown property"),
        (r"\L<words>", "undefined named list"),
        ("(a)(b)", r"it has 2 groups; write \(\?:...\) for all but the token"),
        ("(" * 400 + "a" + ")" * 400, "nested too deeply"),
        ("(?:(?:(?:a{50}){50}){50}){50}", "its numbers of repeats are too large"),
        ("(?x) (?: a{ 50 }){50}{50}{50}", "its numbers of repeats are too large"),
        ("a{99999999999999999999}", "its numbers of repeats are too large"),
    ],
)
def test_a_pattern_that_cannot_be_used_is_refused_with_the_reason(
    expression: str, reason: str
) -> None:
    with pytest.raises(SettingsError, match=reason):
        new_pattern(expression)
    with pytest.raises(SettingsError, match=reason):  # as a model file may have it
        matches(Pattern(expression, "1"), "text", "d")


@pytest.mark.parametrize("expression", ["", "x" * 1001])
def test_a_pattern_has_a_length(expression: str) -> None:
    with pytest.raises(SettingsError, match="the pattern is"):
        new_pattern(expression)


def test_a_search_that_takes_too_long_is_an_error_that_names_the_document(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "SECONDS", 0.2)
    start = process_time()

    with pytest.raises(
        SourceError, match=r"^d: the pattern '.*' takes more than 0 sec"
    ):
        matches(new_pattern(LETTERS), "a" * 60 + "!", "d")

    assert process_time() - start < 5


def test_a_search_that_takes_too_much_memory_is_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Greedy:
        groups = 0

        def finditer(self, *_: object, **__: object) -> object:
            raise MemoryError
            yield  # as a generator does, once it is asked

    monkeypatch.setattr(module, "_compiled", lambda _: Greedy())

    with pytest.raises(SourceError, match=r"^d: .* takes too much memory"):
        matches(Pattern("x", "1"), "text", "d")


def test_long_texts_have_more_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SECONDS", 0.001)

    assert len(tokens(r"\w+", "some words " * 20_000)) == 40_000


def test_of_mail_the_body_is_searched_and_the_headers_are_not() -> None:
    settings = SettingsOverrides(pattern=r"\d+").settings(default_settings("mail", 2))
    mail = b"Subject: 12 words 34\n\nbody 56, 78 and more"
    reading = read(Document("d", (mail,)), settings)

    found = {
        view.name: [token for _, token, second in terms(view, fields) if not second]
        for view, fields in zip(settings.views, reading.views, strict=True)
    }

    assert {"12", "words", "34"} <= set(found["headers"])
    assert found["body"] == ["56", "78"]
    assert [second for *_, second in terms(settings.views[2], reading.views[2])][
        -1
    ] == "78"
    assert [view.alphabet for view in settings.views] == ["fields", "words", "pattern"]
    assert settings.pattern == Pattern(r"\d+", installed_version())


def test_another_version_of_regex_is_said() -> None:
    assert version_note(None) == ""
    assert version_note(new_pattern("x")) == ""
    assert "with version 2.5.1 of regex; version" in version_note(Pattern("x", "2.5.1"))


def test_a_pattern_stands_in_place_of_an_alphabet() -> None:
    both = SettingsOverrides(pattern="x", alphabet="words")

    with pytest.raises(SettingsError, match="in place of alphabet"):
        both.settings(default_settings("text", 2))
