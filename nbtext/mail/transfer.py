"""
Bytes as they were sent go in, bytes as they were meant come out.

The content transfer encodings of RFC 2045 section 6, and uuencode. What is damaged is
repaired as far as it can be: nothing raises, and what was never encoded is kept.
"""

import binascii
import re
from io import BytesIO
from itertools import islice

_NOT_BASE64 = bytes(
    set(range(256))
    - set(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
)

_PADDING = re.compile(rb"=[=\s]*+")
_MAX_PIECES = 1000

_FOOTER = re.compile(rb"\n(?=--|__)")

_PIECE = 1 << 16  # bytes that are copied at a time

_SHORTEST_LINE = 16
"""Mean length of the runs between white space that base64 has and prose has not."""


def is_encoded(encoding: str) -> bool:
    """Tell an encoding that `decode_transfer` undoes from one that leaves all alone."""
    return encoding.strip().lower().startswith(_ENCODINGS)


_ENCODINGS = ("quoted-printable", "base64", "x-uu", "uue")


def decode_transfer(
    data: bytes, encoding: str, start: int = 0, end: int | None = None
) -> bytes:
    """
    Undo the named encoding; 7bit, 8bit, binary and unknown ones are none.

    Args:
        data: what holds the encoded bytes, which may be most of a large message: as
            little of it is copied as can be.
        encoding: its name.
        start: where they begin.
        end: where they end, None for the end of the data.
    """
    encoding = encoding.strip().lower()
    end = len(data) if end is None else end
    if encoding.startswith("quoted-printable"):
        return binascii.a2b_qp(memoryview(data)[start:end])
    if encoding.startswith("base64"):
        return _decode_base64(data, start, end)
    if encoding.startswith(("x-uu", "uue")):
        return _decode_uuencoded(data[start:end])
    return data[start:end]


def _decode_base64(data: bytes, start: int, end: int) -> bytes:
    """
    Decode base64 that may be broken.

    Padding may be missing, or be in the middle (parts were encoded apart and joined);
    what is not in the alphabet is skipped. Text that a mailing list put after it is
    kept as it stands, and so is all of it if it was never base64.
    """
    footer = _FOOTER.search(data, start, end)
    footer_start = footer.start() if footer else end
    decoded = BytesIO()
    paddings = _PADDING.finditer(data, start, footer_start)
    for padding in islice(paddings, _MAX_PIECES):
        _decode_piece(data, start, padding.start(), decoded)
        start = padding.end()
    _decode_piece(data, start, footer_start, decoded)
    decoded.write(memoryview(data)[footer_start:end])
    return decoded.getvalue()


def _decode_piece(data: bytes, start: int, end: int, decoded: BytesIO) -> None:
    """Decode base64 that has no padding inside, in pieces of some digits."""
    if _is_prose(data[start : min(start + 1024, end)]):
        decoded.write(memoryview(data)[start:end])
        return
    digits = b""
    for at in range(start, end, _PIECE):
        digits += data[at : min(at + _PIECE, end)].translate(None, _NOT_BASE64)
        whole = len(digits) & ~3
        decoded.write(binascii.a2b_base64(digits[:whole]))
        digits = digits[whole:]
    if len(digits) > 1:  # the six bits of one are no byte
        decoded.write(binascii.a2b_base64(digits + b"=" * (4 - len(digits))))


def _is_prose(start: bytes) -> bool:
    """Tell text with a space every few characters from lines of base64."""
    words = start.split()
    return len(words) > 2 and sum(map(len, words)) < _SHORTEST_LINE * len(words)


def _decode_uuencoded(data: bytes) -> bytes:
    """Decode what is between `begin` and `end`, keep the lines around it."""
    decoded = BytesIO()  # a list of its lines would take thirty times the memory
    is_inside = False
    for line in BytesIO(data):
        if line.startswith(b"begin ") and not is_inside:
            is_inside = True
        elif is_inside and line.rstrip() == b"end":
            is_inside = False
        elif not is_inside:
            decoded.write(line)
        elif line != b"\n":
            decoded.write(_decode_uu_line(line))
    return decoded.getvalue()


def _decode_uu_line(line: bytes) -> bytes:
    """Decode one line, after its own word on how long it is if it has junk behind."""
    try:
        return binascii.a2b_uu(line)
    except binascii.Error:
        pass
    n_characters = (((line[0] - 32) & 63) * 4 + 5) // 3
    try:
        return binascii.a2b_uu(line[:n_characters])
    except binascii.Error:
        return line
