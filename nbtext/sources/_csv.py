"""
The records of comma-separated values (RFC 4180), as bytes and as a stream.

The standard library's `csv` reads text, refuses fields over a limit that is set for
the whole process, and pulls its lines, so that a pause could not be announced before it
waits for one. What the RFC does not allow is read as `csv` reads it: a quote inside an
unquoted field is itself, and what follows a closing quote belongs to the field. But a
quote that one row forgets to close does not take the rows with it up to the next one.
"""

import re
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import chain, repeat
from typing import TypeAlias

from nbtext.document import Pause
from nbtext.sources._lines import BadRecord, Line

Fields: TypeAlias = list[bytes]
"""What one record holds, a field a column."""

_NEVER_CLOSED = BadRecord("a quote that is never closed; close it, or double it")

# Up to the quote that closes a field, or the line's end; two quotes stand for one.
_QUOTED = re.compile(rb'(?:[^"]++|""|(?!))*+')


def csv_records(
    lines: Iterator[Line], longest: int, separator: bytes = b","
) -> Iterator[Fields | BadRecord | Pause]:
    """
    Yield the fields of each record; a blank line is none.

    A quoted field may hold line feeds. If it is still open at the end of the lines, or
    after `longest` bytes, or if what closes it is a row's own quote, reading goes on
    with the second line of its record.
    """
    record = _OpenRecord(longest, separator)
    for line in lines:
        if isinstance(line, Pause):
            yield line
        elif isinstance(line, BadRecord):
            yield from record.give_up()
            yield line
        else:
            yield from record.take(line)
    yield from record.give_up()


class _OpenRecord:
    """
    The lines of a record whose last quote is still open; none between two records.

    No line but the first one is looked at more than once before the record ends: from
    inside a quoted field none of them leads out. So if the first is given up, each of
    the others is a record of its own, or opens one that is not closed either.
    """

    def __init__(self, longest: int, separator: bytes) -> None:
        self._longest = longest
        self._separator = separator
        self._lines: deque[bytes] = deque()
        self._size = 0
        self._width = 0  # how many fields the first record has

    def take(self, line: bytes) -> Iterator[Fields | BadRecord]:
        """Read one line more and yield what it completes."""
        is_inside = bool(self._lines)
        if not is_inside and b'"' not in line:
            plain = line.removesuffix(b"\r")
            if plain:
                yield self._with_width(plain.split(self._separator))
            return
        if is_inside and self._is_a_row(line):
            yield from self.give_up()
            is_inside = False
        fields, is_open = _scan(line, self._separator, is_inside=is_inside)
        if is_open:
            self._lines.append(line)
            self._size += len(line) + 1
            while self._size > self._longest:
                yield from self._give_up_first()
        elif is_inside:
            yield self._with_width(_joined([*self._lines, line], self._separator))
            self._lines.clear()
            self._size = 0
        else:
            yield self._with_width(fields)

    def _with_width(self, fields: Fields) -> Fields:
        """Return the fields of a record, which are counted if it is the first."""
        self._width = self._width or len(fields)
        return fields

    def _is_a_row(self, line: bytes) -> bool:
        """
        Return whether a line that closes a quoted field is rather a row of its own.

        It is if the field would go on behind its closing quote, as none does that a
        program wrote, and if the line alone has as many fields as the first record.
        """
        closing = _closing_quote(line, 0)
        behind = line[closing + 1 :].removesuffix(b"\r")
        after_spaces = behind.lstrip(b" ")
        if not after_spaces or self._separator in (behind[:1], after_spaces[:1]):
            return False
        fields, _ = _scan(line, self._separator, is_inside=False)
        return len(fields) == self._width > 1

    def give_up(self) -> Iterator[Fields | BadRecord]:
        """Drop the first line of an open record, and read the others again."""
        while self._lines:
            yield from self._give_up_first()

    def _give_up_first(self) -> Iterator[Fields | BadRecord]:
        """Drop the first line, and read the others up to one that opens a record."""
        self._drop_first()
        yield _NEVER_CLOSED
        while self._lines:
            fields, is_open = _scan(self._lines[0], self._separator, is_inside=False)
            if is_open:
                return
            if self._drop_first().removesuffix(b"\r"):
                yield fields

    def _drop_first(self) -> bytes:
        line = self._lines.popleft()
        self._size -= len(line) + 1
        return line


def _joined(lines: Iterable[bytes], separator: bytes) -> Fields:
    """Return the fields of a record of several lines."""
    fields: Fields = []
    pieces: list[bytes] = []  # of the field that the line before has left open
    for line, is_inside in zip(lines, chain([False], repeat(True)), strict=False):
        found, _ = _scan(line, separator, is_inside=is_inside)
        if is_inside:
            pieces.append(found[0])
            if len(found) == 1:
                continue
            found[0] = b"\n".join(pieces)
        pieces = [found.pop()]
        fields += found
    return [*fields, b"\n".join(pieces)]


def _scan(line: bytes, separator: bytes, *, is_inside: bool) -> tuple[Fields, bool]:
    """Return the fields of a line, and whether the last one's quote is left open."""
    fields: Fields = []
    stop = len(line) - line.endswith(b"\r")
    last = line.rfind(b'"')
    start = 0
    while True:
        if start > last and not is_inside:
            return [*fields, *line[start:stop].split(separator)], False
        inside = b""
        if not is_inside and line.startswith(b'"', start):
            is_inside = True
            start += 1
        if is_inside:
            closing = _closing_quote(line, start)
            inside = line[start:closing].replace(b'""', b'"')
            if closing == len(line):
                return [*fields, inside], True
            start = closing + 1
        end = line.find(separator, start, stop)
        end = stop if end < 0 else end
        fields.append(inside + line[start:end])
        if end == stop:
            return fields, False
        start = end + 1
        is_inside = False


def _closing_quote(line: bytes, start: int) -> int:
    inside = _QUOTED.match(line, start)
    return inside.end() if inside else start
