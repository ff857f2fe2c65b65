"""Where a message begins, and whether some bytes are one by the look of it."""

import re

from nbtext.byte_order import as_utf8

_LOOKED_AT = 65_536  # bytes, for a header block that looks like a mail's

TELL_TALE_FIELDS = frozenset(
    {"received", "date", "message-id", "return-path", "mime-version"}
)

_TELL_TALE = re.compile(
    rb"\n(received|date|message-id|return-path|mime-version)[ \t]*+:", re.IGNORECASE
)

_ENVELOPE = re.compile(rb"\n*+(?:>?From [^\n]*+(?:\n|\Z)|(?!))*+")


def message_start(data: bytes, start: int = 0, end: int | None = None) -> int:
    """Find where the first field begins: after empty and mbox `From ` lines."""
    end = len(data) if end is None else end
    if data.startswith((b"From ", b">From ", b"\n"), start, end):
        envelope = _ENVELOPE.match(data, start, end)
        return envelope.end() if envelope else start
    return start


def looks_like_mail(data: bytes) -> bool:
    """Tell whether the first header block has at least two fields that mail has."""
    head = as_utf8(data[:_LOOKED_AT])
    head = head.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    start = message_start(head)
    end = head.find(b"\n\n", start)
    block = b"\n" + (head[start:end] if end >= 0 else head[start:])
    return len({name.lower() for name in _TELL_TALE.findall(block)}) > 1
