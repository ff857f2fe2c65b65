"""
Byte order marks: what Unicode encoding the first bytes of a text declare or give away.

Programs of Windows write UTF-16 with such a mark (`>` of PowerShell, "Unicode Text" of
Excel). Nothing else begins with one. Without a mark the NUL bytes tell.
"""

import codecs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

MARKS: "Final" = (
    (codecs.BOM_UTF8, "utf_8"),
    (codecs.BOM_UTF32_LE, "utf_32_le"),  # before UTF-16: it begins with that one's mark
    (codecs.BOM_UTF32_BE, "utf_32_be"),
    (codecs.BOM_UTF16_LE, "utf_16_le"),
    (codecs.BOM_UTF16_BE, "utf_16_be"),
)

LONGEST_MARK: "Final" = 4
"""Length of the longest mark in bytes."""


LOOKED_AT: "Final" = 1024
"""
How much of a text is searched for NUL bytes, in bytes; of mail nothing
(docs/experiments/064-charsets-nobody-names.md).
"""


_CONTROLS: "Final" = bytes({*range(32), 127} - {*b"\t\n\f\r"})


def marked_codec(head: bytes) -> tuple[str, int] | None:
    """Return the codec that a byte order mark names, and the length of the mark."""
    for mark, codec in MARKS:
        if head.startswith(mark):
            return codec, len(mark)
    return None


def is_wide(head: bytes) -> bool:
    """Return whether bytes are marked as UTF-16 or UTF-32."""
    return head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, b"\0\0\xfe\xff"))


def as_utf8(data: bytes) -> bytes:
    """
    Return what is marked as UTF-16 or UTF-32 as UTF-8, and other bytes as they are.

    What is not valid, and a character cut off at the end, becomes U+FFFD.
    """
    if not is_wide(data):
        return data
    codec, length = marked_codec(data) or ("utf_8", 0)
    return data[length:].decode(codec, "replace").encode()


def text_as_utf8(data: bytes) -> bytes:
    """Return the same of a text, which need not be marked if its beginning is clear."""
    head = data[:LOOKED_AT]
    if is_wide(head) or b"\0" not in head:
        return as_utf8(data)
    codec = unmarked_text(head)
    return data if codec is None else data.decode(codec, "replace").encode()


def unmarked_codec(head: bytes) -> str | None:
    """
    Return the encoding that NUL bytes give away where there is no mark, if any does.

    In UTF-16 ASCII characters, such as separators, have a NUL as every second byte, and
    the other bytes are hardly ever NUL. In UTF-32 at least every fourth is. Where fewer
    than every third are, and the others are plain UTF-8, such as fields with a NUL
    behind each, it is that.
    """
    if b"\0" not in head:
        return None
    units = max(len(head) // 2, 1)
    even, odd = head[::2].count(0), head[1::2].count(0)
    if 3 * (even + odd) > 4 * units:  # more than two thirds of all bytes
        return "UTF-32"
    if max(even, odd) < max(2, units // 20) or min(even, odd) > max(even, odd) // 10:
        return None
    if 3 * (even + odd) < len(head) and _is_plain(head.replace(b"\0", b"")):
        return None
    return "UTF-16BE" if even > odd else "UTF-16LE"


def _is_plain(data: bytes) -> bool:
    """
    Return whether bytes are UTF-8 of no control characters; they may be cut off.

    UTF-16 of letters that are not Latin has some of those, or is no UTF-8.
    """
    if data.translate(None, _CONTROLS) != data:
        return False
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data)
    except UnicodeDecodeError:
        return False
    return True


def unmarked_text(head: bytes) -> str | None:
    """Return the encoding of a text without a mark; None if it is no such text."""
    codec = unmarked_codec(head)
    for name in (
        ("UTF-32LE", "UTF-32BE") if codec == "UTF-32" else filter(None, [codec])
    ):
        try:
            text = codecs.getincrementaldecoder(name)().decode(head)
        except UnicodeDecodeError:
            continue  # a program has NUL bytes, too
        if text and "\0" not in text:
            return name
    return None
