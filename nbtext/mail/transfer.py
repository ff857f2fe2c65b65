"""
Bytes as they were sent go in, bytes as they were meant come out.

The content transfer encodings of RFC 2045 section 6, and uuencode. What is damaged is
repaired as far as it can be: nothing raises, and what was never encoded is kept.
"""

import binascii
import re
from io import BytesIO

_NOT_BASE64 = bytes(
    set(range(256))
    - set(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
)

_PADDING = rb"=[=\s]*+"
_MAX_PIECES = 1000

_FOOTER = rb"\n(?=--|__)"

_SHORTEST_LINE = 16
"""Mean length of the runs between white space that base64 has and prose has not."""


def is_encoded(encoding: str) -> bool:
    """Tell an encoding that `decode_transfer` undoes from one that leaves all alone."""
    return encoding.strip().lower().startswith(_ENCODINGS)


_ENCODINGS = ("quoted-printable", "base64", "x-uu", "uue")


def decode_transfer(data: bytes, encoding: str) -> bytes:
    """Undo the named encoding; 7bit, 8bit, binary and unknown ones are none."""
    encoding = encoding.strip().lower()
    if encoding.startswith("quoted-printable"):
        return binascii.a2b_qp(data)
    if encoding.startswith("base64"):
        return decode_base64(data)
    if encoding.startswith(("x-uu", "uue")):
        return _decode_uuencoded(data)
    return data


def decode_base64(data: bytes) -> bytes:
    """
    Decode base64 that may be broken.

    Padding may be missing, or be in the middle (parts were encoded apart and joined);
    what is not in the alphabet is skipped. Text that a mailing list put after it is
    kept as it stands, and so is all of it if it was never base64.
    """
    footer = re.search(_FOOTER, data)
    end = footer.start() if footer else len(data)
    pieces = re.split(_PADDING, data[:end], maxsplit=_MAX_PIECES)
    return b"".join([_decode_piece(piece) for piece in pieces]) + data[end:]


def _decode_piece(piece: bytes) -> bytes:
    """Decode base64 that has no padding inside."""
    if _is_prose(piece):
        return piece
    digits = piece.translate(None, _NOT_BASE64)
    if len(digits) % 4 == 1:
        digits = digits[:-1]  # six bits are no byte
    return binascii.a2b_base64(digits + b"=" * (-len(digits) % 4))


def _is_prose(piece: bytes) -> bool:
    """Tell text with a space every few characters from lines of base64."""
    words = piece[:1024].split()
    return len(words) > 2 and sum(map(len, words)) < _SHORTEST_LINE * len(words)


def _decode_uuencoded(data: bytes) -> bytes:
    """Decode what is between `begin` and `end`, keep the lines around it."""
    decoded = bytearray()  # a list of its lines would take thirty times the memory
    is_inside = False
    for line in BytesIO(data):
        if line.startswith(b"begin ") and not is_inside:
            is_inside = True
        elif is_inside and line.rstrip() == b"end":
            is_inside = False
        elif not is_inside:
            decoded += line
        elif line != b"\n":
            decoded += _decode_uu_line(line)
    return bytes(decoded)


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
