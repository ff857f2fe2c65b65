"""
What the compiled reader of mail asks: rare values in, what to make of them out.

It reads ASCII, UTF-8 and Windows-1252, plain fields and common entities itself
(`nbtext/compiled/message.c`). For other values it has these functions, of two values
in bytes each, in the order of `Question` in `nbtext/compiled/mail.h`.
"""

from collections.abc import Callable
from typing import Final, TypeAlias

from nbtext.mail.charsets import decode
from nbtext.mail.markup import without_references
from nbtext.mail.message import field_text
from nbtext.mail.mime import parameter
from nbtext.mail.transfer import decode_transfer

Answer: TypeAlias = Callable[[bytes, bytes], bytes | None]
"""Returns bytes, or None for nothing."""


def _decoded(data: bytes, charset: bytes) -> bytes:
    """Return text of a charset as UTF-8."""
    return decode(data, charset.decode("latin-1") or None).encode()


def _field_text(name: bytes, value: bytes) -> bytes:
    """Return what view H reads of a field, as UTF-8."""
    return field_text(name.decode("latin-1"), value.decode("latin-1")).encode()


def _without_references(text: bytes, _: bytes) -> bytes:
    """Return HTML without tags, its character references decoded."""
    return without_references(text.decode()).encode()


def _parameter(declared: bytes, name: bytes) -> bytes | None:
    """Return a parameter of a Content-Type field, None if it is not there."""
    found = parameter(declared.decode("latin-1"), name.decode("latin-1"))
    return None if found is None else found.encode("latin-1")


def _transferred(data: bytes, encoding: bytes) -> bytes:
    """Return data without its transfer encoding."""
    return decode_transfer(data, encoding.decode("latin-1"))


ANSWERS: Final[tuple[Answer, ...]] = (
    _decoded,
    _field_text,
    _without_references,
    _parameter,
    _transferred,
)
