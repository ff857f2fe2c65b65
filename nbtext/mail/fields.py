"""A field of a header goes in, what view H reads of it comes out."""

import re
from collections.abc import Callable

from nbtext.mail.encoded_words import readable
from nbtext.mail.parameters import without_boundary

_FIELDS_WITH_ADDRESSES = frozenset({
    "received", "received-spf", "x-client-ip", "x-forwarded-for", "x-originating-ip",
    "x-received", "x-remote-ip", "x-sender-ip", "x-source-ip",
})  # fmt: skip
"""Fields that name machines by their IPv4 addresses."""

_FIELDS_WITH_MAILBOXES = frozenset({
    "cc", "errors-to", "from", "message-id", "reply-to", "return-path", "sender", "to",
})  # fmt: skip
"""Fields whose hosts say something where the whole address or identifier is new
(docs/experiments/001-headers-and-raw.md)."""

_HOST = re.compile(r"@[a-z0-9.-]*[a-z0-9]", re.IGNORECASE | re.ASCII)

_ADDRESS = re.compile(
    r"""
    \.(?=(\d{1,3})\.(\d{1,3})\.\d)  # from the first dot, because the engine finds a
    (?:(?<=(\d{3})\.)|(?<=(\d\d)\.)|(?<=(\d)\.))  # literal four times as fast
    """,
    re.ASCII | re.VERBOSE,
)

_USUAL_DATE = re.compile(
    r" *+(Mon|Tue|Wed|Thu|Fri|Sat|Sun),? ++\d\d? [A-Z][a-z][a-z] \d{4}"
    r" (\d\d):\d\d:\d\d ([-+]\d{4})\b",
    re.ASCII,
)

# For other dates, and not compiled until there is one.
_WEEKDAY = r"\s*+(mon|tue|wed|thu|fri|sat|sun)"
_HOUR = r"\b(\d\d?):\d\d(?::\d\d|(?!))?+(?: ++([-+]\d{4}\b|[a-z]{1,5}\b))?"


def field_text(name: str, value: str) -> str:
    """Return what view H reads of a field: readable, and special if its name is."""
    text = readable(value)
    return SPECIAL_FIELDS[name](text) if name in SPECIAL_FIELDS else text


def _content_type_text(text: str) -> str:
    """Leave out the boundary, which is different in each message."""
    return without_boundary(text).strip()


def _address_text(text: str) -> str:
    """Add the /24 and /16 prefixes of each IPv4 address: `1.2.3.` and `1.2.`."""
    prefixes = [
        f" {first3 or first2 or first1}.{second}.{third}."
        f" {first3 or first2 or first1}.{second}."
        for second, third, first3, first2, first1 in _ADDRESS.findall(text)
    ]
    return text + "".join(prefixes) if prefixes else text


def _mailbox_text(text: str) -> str:
    """Add the host of each address: `@example.org`."""
    if "@" not in text:
        return text
    return " ".join([text, *_HOST.findall(text)])


def _date_text(date: str) -> str:
    """Give weekday, hour and zone, or as many of them as there are."""
    usual = _USUAL_DATE.match(date)
    if usual:
        weekday, hour, zone = usual.groups()
        return f"{weekday.lower()} {hour}h {zone}"
    return _odd_date_text(date)


def _odd_date_text(date: str) -> str:
    """Find what there is of weekday, hour and zone, wherever it is."""
    weekday = re.match(_WEEKDAY, date, re.IGNORECASE)
    hour = re.search(_HOUR, date, re.IGNORECASE)
    found = []
    if weekday:
        found.append(weekday[1].lower())
    if hour:
        found.append(f"{hour[1]:0>2}h")
        if hour[2]:
            found.append(hour[2].lower())
    return " ".join(found) or "undated"


SPECIAL_FIELDS: dict[str, Callable[[str], str]] = {
    "content-type": _content_type_text,
    "date": _date_text,
    **dict.fromkeys(_FIELDS_WITH_ADDRESSES, _address_text),
    **dict.fromkeys(_FIELDS_WITH_MAILBOXES, _mailbox_text),
}
"""Field name -> what to make of its readable text, where that does not stay so."""
