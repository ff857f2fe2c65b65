"""
HTML goes in, the text that a reader could see comes out, and some that none could.

A tag that does not end a word on the screen vanishes, because spammers cut their words
with such tags (`vi<b>ag</b>ra`); so does a comment. Every other tag becomes a space.
What is on the page but out of sight (styles, scripts, white on white) is kept: that
somebody hides it is evidence. Nothing is parsed: a few constant replacements, each of
linear time on any input.
"""

import re
from collections.abc import Iterable
from functools import cache

# By first letters, the frequent ones first, because they are tried in order.
_INLINE_TAGS = (
    "a", "abbr", "acronym", "font", "b", "big", "i", "ins", "u", "s", "small", "span",
    "strike", "strong", "sub", "sup", "em", "tt", "code", "cite", "del", "nobr", "q",
    "wbr",
)  # fmt: skip

# Not compiled yet: most messages have no HTML, and a single one is in a hurry.
_COMMENT = r"<!--[^-]*+(?:-(?!->)[^-]*+|(?!))*+-->"


def _any_of(names: Iterable[str]) -> str:
    """
    Write a pattern for any of the tags' names, in either case.

    Names are grouped by their first letters and re.IGNORECASE is avoided: together
    that is twice as fast as the plain alternatives.
    """
    endings: dict[str, list[str]] = {}
    for name in names:
        cased = [f"[{letter}{letter.upper()}]" for letter in name]
        endings.setdefault(cased[0], []).append("".join(cased[1:]))
    return "|".join(
        f"{first}(?:{'|'.join(sorted(rests, reverse=True))})"
        for first, rests in endings.items()
    )


_TAG = r"<[a-zA-Z/!?][^<>]*+>\s*+"


@cache
def _tags() -> re.Pattern[str]:
    """Compile the pattern of all tags when there are any, because it takes 0.7 ms."""
    return re.compile(
        rf"""
        < (?: /? (?:{_any_of(_INLINE_TAGS)}|[oOvVwW]:[a-zA-Z]++) (?=[>\s/]) [^<>]*+ >
            | ([a-zA-Z/!?]) [^<>]*+ > \s*+  # the group tells that it ends a word
              (?:{_TAG}|(?!))*+  # all tags behind it, and the white space in their way
          )
        """,
        re.VERBOSE,
    )


_REFERENCE = r"&(?:#([0-9]++)|#[xX]([0-9a-fA-F]++)|([a-zA-Z][a-zA-Z0-9]{1,31}));?"

_LAST_CODE_POINT = 0x10FFFF
_MOST_DIGITS = 7  # of it, in decimal


def html_text(markup: str) -> str:
    """
    Remove the tags and decode the character references.

    A `<` that no tag begins with, as in `a < b` or `<3`, is text; so is a tag or
    comment that does not end.
    """
    if "<" in markup:
        markup = _without_tags(_without_comments(markup))
    if "&" in markup:
        markup = without_references(markup)
    return markup


def _without_comments(markup: str) -> str:
    """Remove the comments that end; only up to the last end is searched, see below."""
    if "<!--" not in markup:
        return markup
    last_end = markup.rfind("-->") + len("-->")
    if last_end < len("-->"):
        return markup
    # Each "<!--" before the last "-->" has an end, so no search for one fails, and
    # a million comments that do not end cost no more than a million that do.
    return re.sub(_COMMENT, "", markup[:last_end]) + markup[last_end:]


def _without_tags(markup: str) -> str:
    """Remove the tags, in one pass, and leave a space for those that end a word."""
    pieces = _tags().split(markup)  # text, group or None, text, ..., text
    pieces[1::2] = [" " if ends_word else "" for ends_word in pieces[1::2]]
    return "".join(pieces)


def without_references(text: str) -> str:
    """Decode `&eacute;`, `&#233;` and `&#xe9;`; no-break spaces become spaces."""
    text = text.replace("&nbsp;", " ")
    if "&" not in text:
        return text
    return re.sub(_REFERENCE, _referenced, text)


def _referenced(reference: re.Match[str]) -> str:
    """Look up one character reference; what names nothing stays as it stands."""
    decimal, hexadecimal, name = reference.groups()
    if name:
        return _named(name, reference[0])
    digits = (decimal or hexadecimal).lstrip("0")[: _MOST_DIGITS + 1]
    code_point = int(digits or "0", 10 if decimal else 16)
    if 0x80 <= code_point < 0xA0:  # written by programs that thought in Windows-1252
        return bytes([code_point]).decode("cp1252", "replace")
    if not code_point or code_point > _LAST_CODE_POINT or is_surrogate(code_point):
        return "\N{REPLACEMENT CHARACTER}"
    return " " if code_point == 0xA0 else chr(code_point)


def is_surrogate(code_point: int) -> bool:
    """Tell the code points that are no characters, only halves of UTF-16 pairs."""
    return 0xD800 <= code_point <= 0xDFFF


def _named(name: str, reference: str) -> str:
    """Look up a name; without its semicolon only the oldest names are known."""
    from html.entities import html5  # 2,231 names, for the messages that have any

    key = f"{name};" if reference.endswith(";") else name
    return html5.get(key, reference).replace("\N{NO-BREAK SPACE}", " ")
