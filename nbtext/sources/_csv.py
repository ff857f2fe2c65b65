"""
The records of comma-separated values (RFC 4180), as bytes and as a stream.

The standard library's `csv` reads text, refuses fields over a limit that is set for
the whole process, and pulls its lines, so that a pause could not be announced before it
waits for one. What the RFC does not allow is read as `csv` reads it: a quote inside an
unquoted field is itself, and what follows a closing quote belongs to the field.
"""

import re
from collections.abc import Iterator
from typing import TypeAlias

from nbtext.document import Pause
from nbtext.sources._lines import BadRecord, Line

Fields: TypeAlias = list[bytes]
"""What one record holds, a field a column."""

_NEVER_CLOSED = BadRecord("a quote that is never closed; close it, or double it")

# Up to the quote that closes a field, or the line's end; two quotes stand for one.
_QUOTED = re.compile(rb'(?:[^"]++|"")*+')


def csv_records(
    lines: Iterator[Line], longest: int
) -> Iterator[Fields | BadRecord | Pause]:
    """
    Yield the fields of each record; a blank line is none.

    A quoted field may hold line feeds. If it is still open at the end of the lines, or
    after `longest` bytes, reading goes on with the second line of its record.
    """
    record = _Record(longest)
    for line in lines:
        if isinstance(line, Pause):
            yield line
        elif isinstance(line, BadRecord):
            yield from record.give_up()
            yield line
        else:
            yield from record.take(line)
    yield from record.give_up()


class _Record:
    """A record as far as its lines have come; none once it is complete."""

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._start()

    def _start(self) -> None:
        self._lines: list[bytes] = []
        self._size = 0
        self._fields: Fields = []
        self._quoted: list[bytes] | None = None  # the lines of a field still open

    def take(self, line: bytes) -> Iterator[Fields | BadRecord]:
        """Read one line more and yield what it completes."""
        if self._quoted is None:
            if b'"' not in line:
                plain = line.removesuffix(b"\r")
                if plain:
                    yield plain.split(b",")
                return
            self._start()
        self._lines.append(line)
        self._size += len(line) + 1
        self._scan(line)
        if self._quoted is None:
            yield self._fields
        elif self._size > self._longest:
            yield from self.give_up()

    def give_up(self) -> Iterator[Fields | BadRecord]:
        """Drop the first line of an open record, and read the others again."""
        while self._quoted is not None:
            again = self._lines[1:]
            self._start()
            yield _NEVER_CLOSED
            for line in again:
                yield from self.take(line)

    def _scan(self, line: bytes) -> None:
        stop = len(line) - line.endswith(b"\r")
        start = 0
        while True:
            if self._quoted is None and line.startswith(b'"', start):
                self._quoted = []
                start += 1
            if self._quoted is None:
                end = _comma(line, start, stop)
                self._fields.append(line[start:end])
            else:
                closing = _closing_quote(line, start)
                self._quoted.append(line[start:closing])
                if closing == len(line):
                    return
                end = _comma(line, closing, stop)
                inside = b"\n".join(self._quoted).replace(b'""', b'"')
                self._fields.append(inside + line[closing + 1 : end])
                self._quoted = None
            if end == stop:
                return
            start = end + 1


def _closing_quote(line: bytes, start: int) -> int:
    inside = _QUOTED.match(line, start)
    return inside.end() if inside else start


def _comma(line: bytes, start: int, stop: int) -> int:
    """Return where the next comma is, or `stop`."""
    comma = line.find(b",", start, stop)
    return stop if comma < 0 else comma
