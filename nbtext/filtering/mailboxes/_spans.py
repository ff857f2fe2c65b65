"""
Where each message of an mbox begins and ends, as `nbtext.sources.mbox` splits it.

A span reaches from a message's "From " line to that of the next. So spans can be taken
out, and put elsewhere, without a change of any byte.
"""

import os
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from nbtext.files.reading_at import read_at
from nbtext.filtering.mailboxes._content import Content, Gathered
from nbtext.sources._content_length import Opening
from nbtext.sources.mbox import (
    LONGEST_SEPARATOR,
    are_internal_data,
    split,
    unquoted,
    without_blank_end,
)

CHUNK: Final = 1 << 18
"""Number of bytes read at a time."""

_MONTHS: Final = "JanFebMarAprMayJunJulAugSepOctNovDec"
_DATE: Final = re.compile(
    rb"([A-Z][a-z][a-z])[a-z]{0,6}[ \t]+(\d{1,2})[ \t]+(\d\d?):(\d\d)(?::(\d\d))?"
    rb"(?:[ \t]+[A-Z+-][\w+-]{0,8}){0,2}[ \t]+(\d{4})"
)


class Span(NamedTuple):
    """
    A message in an mbox.

    Attributes:
        start: where its "From " line begins, in bytes.
        text: where the message itself begins.
        end: where the next one's "From " line begins, or the file ends.
        line: the "From " line.
        content: the message.
        is_internal: whether this is no message, but internal data of an IMAP server.
    """

    start: int
    text: int
    end: int
    line: bytes
    content: Content
    is_internal: bool = False

    @property
    def delivered(self) -> float | None:
        """When the message was delivered, in seconds, as its "From " line says."""
        from time import mktime

        found = _DATE.search(self.line)
        if found is None:
            return None
        month, day, hour, minute, second, year = found.groups()
        place = _MONTHS.find(month.decode())
        if place < 0 or place % 3:
            return None
        numbers = (int(year), place // 3 + 1, int(day), int(hour), int(minute))
        try:
            return mktime((*numbers, int(second or 0), 0, 0, -1))
        except (OverflowError, ValueError):
            return None


def spans(
    descriptor: int, size: int, max_bytes: int, *, start: int = 0
) -> Iterator[Span]:
    """
    Yield the messages of an open mbox, without what may precede the first of them.

    Args:
        descriptor: the file.
        size: how many bytes of it are read, even if it has grown.
        max_bytes: how many bytes of a message are kept, to classify them.
        start: where to begin.
    """
    line: bytes | None = None
    begin = here = start
    gathered = Gathered(max_bytes)
    held = b""  # the last piece, which may end in the blank line after the message
    head = read_at(descriptor, min(LONGEST_SEPARATOR, max(size - start, 0)), start)
    is_internal = start == 0 and are_internal_data(
        read_at(descriptor, min(CHUNK, size), 0)
    )
    for part in split(head, _chunks(descriptor, start, size)):
        if isinstance(part, Opening):
            here += len(held)
            gathered.add(held)
            held = b""
            after = here + len(part.blank)
            if line is not None:
                yield _span(begin, after, line, gathered, is_internal)
                is_internal = False
            begin, line = after, part.line
            here = after + len(part.line)
            gathered = Gathered(max_bytes)
        elif isinstance(part, bytes) and part:
            gathered.add(held)
            here += len(held)
            held = part
    if line is not None:
        gathered.add(without_blank_end(held))
        yield _span(begin, here + len(held), line, gathered, is_internal)


def _span(
    start: int, end: int, line: bytes, gathered: Gathered, is_internal: bool
) -> Span:
    content = gathered.content()
    content = content._replace(text=unquoted(content.text))
    return Span(start, start + len(line), end, line, content, is_internal)


def _chunks(descriptor: int, start: int, size: int) -> Iterator[bytes]:
    while start < size:
        chunk = os.pread(descriptor, min(CHUNK, size - start), start)
        if not chunk:
            return
        yield chunk
        start += len(chunk)
