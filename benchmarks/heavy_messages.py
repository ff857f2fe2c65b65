"""
The messages that take most, by their kinds: what heavy clients and attackers send.

Each function makes one of so many bytes, or of slightly fewer.
"""

from base64 import encodebytes
from random import Random


def fields(size: int) -> bytes:
    """Return a message of header fields with names that are all different."""
    names = b"".join(b"x%06d: y\n" % number for number in range(size // 11))
    return names[: size - 8] + b"\n\nbody\n"


def charsets(size: int) -> bytes:
    """Return a message whose Content-Type names its charset again and again."""
    start = b"From: a@b\nContent-Type: text/plain"
    return start + b"; charset=a" * ((size - 64) // 11) + b"\n\nbody\n"


def forged(size: int) -> bytes:
    """Return a message of header fields that PROCESS removes, behind bare CRs."""
    return b"From: a@b\n" + b"a: b\rX-Spam-A: b\n" * (size // 17 - 2) + b"\nbody\n"


def noise(size: int) -> bytes:
    """Return random bytes."""
    return Random(11).randbytes(size)  # noqa: S311  a fixed seed, no secret


def encoded(size: int) -> bytes:
    """Return a mail of random bytes in base64."""
    head = b"From: a@b\nContent-Transfer-Encoding: base64\n\n"
    return head + encodebytes(noise(size * 5 // 7))[: size - len(head)]


def words(size: int) -> bytes:
    """Return a mail of short words."""
    return b"From: a@b\n\n" + b"abc def ghi jkl\n" * (size // 16 - 1)


def foreign(size: int) -> bytes:
    """Return a mail of random bytes in a charset that Python reads."""
    head = b"From: a@b\nContent-Type: text/plain; charset=shift_jis\n\n"
    return head + noise(size - len(head))


def broken(size: int) -> bytes:
    """Return a mail in a mail, in base64 with odd characters in each line."""
    head = b"Content-Type: message/rfc822\nContent-Transfer-Encoding: base64\n\n"
    digits = encodebytes(b"From: a@b\n\n" + b"word " * (size // 7))
    return head + digits.replace(b"Z", b"=!")[: size - len(head)]


def uuencoded(size: int) -> bytes:
    """Return a uuencoded mail."""
    head = b"From: a@b\nContent-Transfer-Encoding: x-uuencode\n\nbegin 644 a\n"
    return head + b"#86)C\n" * (size // 6 - 20)
