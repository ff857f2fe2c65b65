"""A stream taken apart into lines of bounded length."""

from collections.abc import Iterator
from typing import Final, NamedTuple, TypeAlias

from nbtext import wording
from nbtext.document import Pause
from nbtext.sources._stream import Stream

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class BadRecord(NamedTuple):
    """What stands in a record's place when it cannot be read."""

    reason: str


BLANK: Final = BadRecord("")
"""Stands for a line that is no record, and is counted as one."""

Line: TypeAlias = bytes | BadRecord | Pause
"""A line without its end, or what stands in its place."""


def too_long(what: str) -> BadRecord:
    """Return what stands in the place of a line, or an object, that cannot be held."""
    size = wording.named("max_bytes")
    return BadRecord(f"{what} that is too long to hold; split it or raise {size}")


def line_end(head: bytes) -> bytes:
    """Return what ends lines that begin so; a spreadsheet on a Mac may write CR."""
    return b"\r" if b"\r" in head and b"\n" not in head else b"\n"


def lines(stream: Stream, longest: int, end: bytes = b"\n") -> Iterator[Line]:
    """Yield each line of at most `longest` bytes, after any byte order mark."""
    begun: list[bytes] = []  # the pieces so far of a line whose end is to come
    size = 0
    mark = _BYTE_ORDER_MARK
    for chunk in stream.chunks():
        if isinstance(chunk, Pause):
            yield chunk
            continue
        *ended, last = chunk.split(end)
        for piece in ended:
            if size + len(piece) > longest:
                yield too_long("a line")
            else:
                line = b"".join([*begun, piece]) if begun else piece
                yield line.removeprefix(mark)
            begun, size, mark = [], 0, b""
        size += len(last)
        if size <= longest:
            begun.append(last)
        else:
            begun = []
    if size > longest:
        yield too_long("a line")
    elif size:
        yield b"".join(begun).removeprefix(mark)
