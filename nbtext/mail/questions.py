"""
What the compiled reader of mail asks: rare values in, what to make of them out.

It reads ASCII, UTF-8 and Windows-1252, most fields and encoded words, and common
entities itself (`nbtext/compiled/message.c`). For other values it has these functions,
of two values in bytes each, in the order of `Question` in `nbtext/compiled/mail.h`.
What none of 16,485 real mails had (uuencoded text, digests, boundaries that are to be
guessed) it refuses, and `nbtext.mail.message` reads the whole mail.
What answers is imported when it is asked: to classify one message would take twice as
long with all of it.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Final, TypeAlias

    Answer: TypeAlias = Callable[[bytes, bytes], bytes | None]
    """Returns bytes, or None for nothing."""


def _decoded(data: bytes, charset: bytes) -> bytes:
    """Return text of a charset as UTF-8."""
    from nbtext.mail.charsets import decode

    return decode(data, charset.decode("latin-1") or None).encode()


def _field_text(name: bytes, value: bytes) -> bytes:
    """Return what view H reads of a field, as UTF-8."""
    from nbtext.mail.fields import field_text

    return field_text(name.decode("latin-1"), value.decode("latin-1")).encode()


def _without_references(text: bytes, _: bytes) -> bytes:
    """Return HTML without tags, its character references decoded."""
    from nbtext.mail.markup import without_references

    return without_references(text.decode()).encode()


def _upper_half(charset: bytes, _: bytes) -> bytes | None:
    """Return what bytes from 0x80 on are in a charset, 16 bits each, the low first."""
    from nbtext.mail.charsets import upper_half

    half = upper_half(charset.decode("latin-1"))
    return None if half is None else half.encode("utf-16-le")


def _readable(value: bytes, _: bytes) -> bytes:
    """Return a field's value as it is read, as UTF-8."""
    from nbtext.mail.encoded_words import readable

    return readable(value.decode("latin-1")).encode()


ANSWERS: "Final[tuple[Answer, ...]]" = (
    _decoded,
    _field_text,
    _without_references,
    _upper_half,
    _readable,
)
