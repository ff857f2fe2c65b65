"""
An array of JSON taken apart: what stands between its commas is a record each.

Its bytes come in pieces, cut anywhere. Where an element ends is told by quotes and
brackets alone, which looks at each byte twice at most; what it holds is then read as a
line of JSON lines is. So memory has one element and one piece, and one that is no JSON
takes no other with it.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

from nbtext.document import Pause
from nbtext.errors import clipped
from nbtext.sources._json_lines import object_of, parsed
from nbtext.sources._lines import BadRecord, too_long
from nbtext.sources._stream import Stream
from nbtext.sources._table import Record

_BEGINNING = re.compile(rb"(?:\xef\xbb\xbf)?[ \t\r\n]*+\[[ \t\r]*+(?:[\n{\[\]]|\Z)")
"""What no JSON lines begin with, since none of these can be the object on a line."""

_OBJECT = re.compile(
    rb'(?:\xef\xbb\xbf)?[ \t\r\n]*+\[[ \t\r\n]*+(?:\Z|(\{)[ \t\r\n]*+(?:\Z|["}]))'
)
"""What an array of objects begins with, or as much of it as there is."""

_STRING = rb'"(?:[^"\\]++|\\.|(?!))*+"'
_FLAT = rb'(?:[^"\[\]{}]++|%b|(?!))*+' % _STRING
_BETWEEN = re.compile(rb'(?:[^"\[\]{},]++|%b|(?!))*+' % _STRING, re.DOTALL)
_WITHIN = re.compile(
    rb'(?:[^"\[\]{}]++|%b|[\[{]%b[\]}]|(?!))*+' % (_STRING, _FLAT), re.DOTALL
)
_OF_STRING = re.compile(rb'(?:[^"\\]++|\\.|(?!))*+', re.DOTALL)
_OPENING = re.compile(rb"[\[{]++")
_CLOSING = re.compile(rb"[\]}]++")
_BLANK: Final = b" \t\r\n"
_CLOSES: Final = ord("]")
_BACKSLASH: Final = ord("\\")


_PAIRS = "jq -c '.[] | {text: .[0], label: .[1]}'"


def is_json_array(head: bytes) -> bool:
    """Tell whether JSON that begins so is an array, of objects or of arrays."""
    return _BEGINNING.match(head) is not None


def may_be_of_objects(head: bytes) -> bool:
    """Tell whether nothing yet says that this is no array of objects."""
    return _OBJECT.match(head) is not None


def begins_with_object(head: bytes) -> bool:
    """Tell whether the first element of an array is an object, and is whole."""
    import json

    found = _OBJECT.match(head)
    if found is None or found[1] is None:
        return False
    text = head[found.start(1) :].decode("utf-8", "surrogateescape")
    try:
        json.JSONDecoder(parse_int=str).raw_decode(text)
    except (ValueError, RecursionError):
        return False
    return True


def array_records(stream: Stream, longest: int) -> Iterator[Record | BadRecord | Pause]:
    """
    Yield the object that each element of an array is, or what is wrong with it.

    What is wrong with its end is a bad record, too: those before it may still have to
    be looked at together.
    """
    elements = _Elements(longest)
    for piece in stream.chunks():
        if isinstance(piece, Pause):
            yield piece
            continue
        yield from elements.take(piece)
        if elements.has_more:
            return
    if stream.error is None:  # else that is told
        yield from elements.end()


class _Elements:
    """
    The elements of an array, as its pieces come.

    Attributes:
        has_more: whether something follows the array.
        _line: the line, from 1, on which the element that is open begins.
        _byte: its first byte, from 1.
        _pieces: what there is of it, unless it is too long.
        _size: how many bytes it has so far.
        _depth: how many brackets are open in it.
    """

    def __init__(self, longest: int) -> None:
        self.has_more = False
        self._longest = longest
        self._line = self._byte = 1
        self._pieces: list[bytes] = []
        self._number = self._size = self._depth = 0
        self._is_open = self._is_closed = False
        self._is_in_string = self._is_escaped = False

    def take(self, piece: bytes) -> Iterator[Record | BadRecord]:
        """Yield what a piece completes."""
        start = 0
        if not self._is_open:
            start = piece.find(b"[") + 1
            self._is_open = start > 0
            self._pass(piece[:start] or piece)
        while self._is_open and not self._is_closed:
            end = self._end(piece, start)
            if end < 0:
                self._add(piece[start:])
                return
            self._add(piece[start:end])
            self._is_closed = piece[end] == _CLOSES
            text = b"".join(self._pieces)
            if text.strip(_BLANK) or not self._is_closed or self._size > self._longest:
                self._number += 1
                yield self._record(text)
            self._pass(text, self._size + 1)
            start = end + 1
        if self._is_closed:
            yield from self._refused(piece[start:])

    def end(self) -> Iterator[Record | BadRecord]:
        """Yield the last record, and that the array has not ended, if so it is."""
        if self._is_closed or not self._is_open:
            return
        text = b"".join(self._pieces)
        where = f"within its record {self._number + 1:,}"
        if not (self._depth or self._is_in_string or self._size > self._longest):
            if text.strip(_BLANK):
                self._number += 1
                yield self._record(text)
                self._pass(text)
            where = f"behind its record {self._number:,}"
        yield BadRecord(
            f"the array was expected to end with ], and ends {where} "
            f"({self._place()}); bring the rest of the file, or close the quote or "
            "bracket that is open there"
        )

    def _pass(self, text: bytes, size: int | None = None) -> None:
        """Begin with the next element behind a text of so many bytes."""
        self._line += text.count(b"\n")
        self._byte += len(text) if size is None else size
        self._pieces = []
        self._size = 0

    def _place(self, text: bytes = b"") -> str:
        """Say where it is behind what the element begins with."""
        line = self._line + text.count(b"\n")
        return f"line {line}, byte {self._byte + len(text)}"

    def _add(self, text: bytes) -> None:
        """Add to the element that is open."""
        self._size += len(text)
        if self._size <= self._longest:
            self._pieces.append(text)
        else:
            self._line += sum(one.count(b"\n") for one in (*self._pieces, text))
            self._pieces = []

    def _end(self, piece: bytes, at: int) -> int:
        """Return where the element that is open ends, before a comma or ]; else -1."""
        size = len(piece)
        if self._is_escaped and at < size:
            at += 1
            self._is_escaped = False
        while at < size:
            if self._is_in_string:
                at = _matched(_OF_STRING, piece, at)
                if at < size:  # at its quote, or at a backslash that ends the piece
                    self._is_in_string = self._is_escaped = piece[at] == _BACKSLASH
                at += 1
                continue
            at = _matched(_WITHIN if self._depth else _BETWEEN, piece, at)
            if at == size:
                break
            mark = piece[at : at + 1]
            if mark in b"[{":
                end = _matched(_OPENING, piece, at)
                self._depth += end - at
                at = end
            elif mark in b"]}" and self._depth:
                end = min(_matched(_CLOSING, piece, at), at + self._depth)
                self._depth -= end - at
                at = end
            elif mark in b",]":
                return at
            else:  # a quote, or a bracket that closes nothing
                self._is_in_string = mark == b'"'
                at += 1
        return -1

    def _record(self, text: bytes) -> Record | BadRecord:
        """Return the element that has ended, or what is wrong with it."""
        import json  # which there is, once the first one is parsed

        if self._size > self._longest:
            return too_long("an object")
        try:
            return _object(parsed(text))
        except json.JSONDecodeError as error:
            before = error.doc[: error.pos].encode("utf-8", "surrogateescape")
            reason = f"{error.msg}: {self._place(before)}"
        except (ValueError, RecursionError) as error:
            reason = f"{error}: {self._place()}"
        return BadRecord(f"not JSON ({reason}); mend or remove it")

    def _refused(self, rest: bytes) -> Iterator[BadRecord]:
        """Yield what is wrong where more than blanks is behind the array."""
        more = rest.lstrip(_BLANK)
        if more:
            self.has_more = True
            place = self._place(rest[: len(rest) - len(more)])
            found = clipped(more[:40].decode("utf-8", "replace"))
            yield BadRecord(
                f"nothing was expected behind the array, and {found} found ({place}); "
                "one array, or an object on each line, can be read"
            )
        self._pass(rest)


def _matched(pattern: re.Pattern[bytes], text: bytes, at: int) -> int:
    """Return the end of what a pattern finds, which may be nothing."""
    found = pattern.match(text, at)
    return at if found is None else found.end()


def _object(value: Any) -> Record | BadRecord:
    """Return an element if it is an object."""
    if isinstance(value, list):
        return BadRecord(
            'an object was expected, as in {"text": "..."}, and an array found; '
            f"`{_PAIRS}` makes lines of such pairs"
        )
    return object_of(value)
