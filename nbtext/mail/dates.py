"""
When a message was received, or else when it says that it was written.

The bytes of a message go in; a time comes out. What a mail server has written, the
first Received field, is believed before what the sender has.
"""

import re
from typing import Final

from nbtext.byte_order import as_utf8

MOST: Final = 1 << 16
"""Maximum bytes of a message that are searched for the fields."""

EARLIEST: Final = 315_532_800
LATEST: Final = 4_102_444_800
"""From 1980 to 2100, in seconds since 1970; other times are not believed."""

LONGEST: Final = 200
"""Maximum characters of a date that are looked at."""


_FIELD: Final = re.compile(
    rb"^(received|date):([^\n]{0,4096}(?:\n[ \t][^\n]{0,4096}){0,64})",
    re.IGNORECASE | re.MULTILINE,
)
_SPACES: Final = re.compile(r"\s+")


def date_of(data: bytes) -> float | None:
    """Return the time of a message in seconds since 1970, None if it has none."""
    start = as_utf8(data[:MOST]).replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    head = start.lstrip(b"\n").partition(b"\n\n")[0]
    first: dict[bytes, str] = {}
    for name, value in _FIELD.findall(head):
        first.setdefault(name.lower(), _SPACES.sub(" ", value.decode("latin-1")))
    received = first.get(b"received", "").rpartition(";")[2]
    for text in (received, first.get(b"date", "")):
        time = _seconds(text[:LONGEST])
        if time is not None:
            return time
    return None


def _seconds(text: str) -> float | None:
    """Return the time that a field names, in seconds since 1970."""
    from email.utils import mktime_tz, parsedate_tz  # here: few need it, and it is slow

    try:
        parts = parsedate_tz(text)
        time = None if parts is None else mktime_tz(parts)
    except (ValueError, OverflowError, IndexError, TypeError):
        return None
    if time is None or not EARLIEST <= time <= LATEST:
        return None
    return float(time)
