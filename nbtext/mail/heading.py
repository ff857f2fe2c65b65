"""
Who a message is from and what it is about, as a person reads it in a list.

The bytes of a message go in; what its first From and Subject fields say comes out.
"""

from typing import Final, NamedTuple

from nbtext.byte_order import as_utf8
from nbtext.mail.encoded_words import readable
from nbtext.mail.headers import read_head
from nbtext.mail.recognising import message_start

MOST: Final = 1 << 16
"""Maximum bytes of a message that are searched for the fields."""

LONGEST: Final = 200
"""Maximum characters of a field that are shown."""


class Heading(NamedTuple):
    """What is shown of a message in a list; empty where it does not say."""

    sender: str
    subject: str


def heading_of(data: bytes) -> Heading:
    """Return what a message says of itself."""
    start = as_utf8(data[:MOST]).replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    head = read_head(start, message_start(start), len(start))
    values = head.first_values
    return Heading(_shown(values.get("from", "")), _shown(values.get("subject", "")))


def _shown(value: str) -> str:
    """Return a field on one line, without what is no character."""
    text = " ".join(readable(value[: 4 * LONGEST]).split())
    return text[:LONGEST].encode("utf-8", "replace").decode()
