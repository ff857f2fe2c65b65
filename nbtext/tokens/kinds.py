"""
Alphabets, and what reads mail by them in C: what one message needs of tokens.

The name of an alphabet goes in; the kinds of token come out that code points make in
it, and with the tables of code points the compiled extension's own. It is imported by
`nbtext.tokens.compiled`, which says whether the extension fits.
"""

from nbtext.constants import MOST_TOKENS
from nbtext.tokens import codepoints

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Final, TypeAlias

    from nbtext._compiled import MailReader
    from nbtext.settings.views import Alphabet

    Described: TypeAlias = tuple[
        str, str, bool, bool, bool, bool, bool, int | None, int | None
    ]
    """The alphabet of a view, and text, fields, tokens, pairs, fold_tokens, fold_pairs,
    limit and threes, as `nbtext.settings.views.View` has them."""

KINDS: "Final[dict[Alphabet, tuple[int, int, int, int, int, int]]]" = {
    # the kind of token of SPACE, BRACKET, PUNCTUATION, WORD, SINGLE and PICTURE code
    # points: 0 separates, 3 makes a token of each code point
    "fields": (0, 0, 1, 1, 1, 1),
    "words": (0, 0, 0, 1, 3, 3),
    "marks": (0, 2, 2, 1, 3, 3),
    # whatever stands between U+0000: nbtext.tokens.pattern puts it between matches
    "pattern": (1, 1, 1, 1, 1, 1),
    # what nbtext.tokens.ngrams makes a space, and what it keeps
    "ngrams": (0, 1, 1, 1, 1, 1),
}

TEXTS: "Final" = ("headers", "raw", "body", PLAIN_TEXT := "plain")
"""What views of mail read; and what the views of documents that are no mail do."""

INTERFACE: "Final" = 43
"""Which functions the extension has, and what they return."""

_tables: "dict[str, tuple[bytes, ...]]" = {}


def tables_of(alphabet: "Alphabet") -> "tuple[bytes, ...]":
    """Return the tables of an alphabet, as a `MailReader` takes them."""
    if alphabet not in _tables:
        classes, offsets = codepoints.classes(), codepoints.offsets()
        if alphabet == "ngrams":
            offsets = codepoints.offsets_of_ngrams()
        _tables[alphabet] = (
            classes.index,
            bytes(classes.values),
            offsets.index,
            bytes(offsets.values),
            bytes(KINDS[alphabet]),
        )
    return _tables[alphabet]


def answered(number: int, first: bytes, second: bytes) -> bytes | None:
    """Answer a question of the compiled reader of mail."""
    from nbtext.mail.questions import ANSWERS  # which most mail does without

    return ANSWERS[number](first, second)


def reader_of(
    views: "tuple[Described, ...]",
    answer: "Callable[[int, bytes, bytes], bytes | None]" = answered,
) -> "MailReader":
    """
    Return what reads mail, or plain texts, for some views.

    Args:
        views: 16 at the most, and of no alphabet but fields, words, marks and ngrams;
            all of PLAIN_TEXT, or none of it.
        answer: answers its questions.
    """
    from nbtext._compiled import MailReader

    described = tuple(
        (
            tables_of(alphabet),  # type: ignore[arg-type]  # the text is one of them
            TEXTS.index(text),
            *flags,
            alphabet == "ngrams",
            limit or MOST_TOKENS,
            threes or 0,
        )
        for alphabet, text, *flags, limit, threes in views
    )
    return MailReader(described, answer)
