"""
Records of one file that several tasks read: groups of Parquet, ranges of JSON lines.

Each becomes JSON lines in memory, which are read as all JSON lines are. A record is
called FILE#PART:ROW, both counted from 1.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

    from nbtext.document import Item
    from nbtext.sources import Options

from nbtext.distributed import remote
from nbtext.document import Unreadable
from nbtext.errors import SettingsError, SourceError
from nbtext.sources import Place, compression, items_of_stream
from nbtext.sources.beside import may_hide_label
from nbtext.sources.json_array import is_json_array

PARQUET: Final = (".parquet", ".pq")
JSON_LINES: Final = (".jsonl", ".ndjson")

A_RANGE: Final = 1 << 25
"""From how many bytes on JSON lines are read in ranges, of so many bytes each."""

HEAD: Final = 1 << 20
"""
Bytes by which those are recognised that are compressed, or not in UTF-8, and those in
which it takes the first objects to tell what is the label.
"""

STEP: Final = 1 << 16
"""Bytes that are read at a time where a line ends beyond its range."""

NO_PYARROW: Final = (
    "Parquet takes pyarrow, which is not installed here; pip install 'nbtext[parquet]'"
)


class Partition(NamedTuple):
    """
    Some records of a file.

    Attributes:
        place: the file, and what is known of labels.
        number: which part it is, from 1.
        begin: its first byte; of Parquet, the number of the row group, from 0.
        end: the byte behind it; of Parquet, how many bytes the group has.
        is_parquet: whether the file is Parquet.
    """

    place: Place
    number: int
    begin: int
    end: int
    is_parquet: bool

    @property
    def size(self) -> int:
        """Return how many bytes it has, about."""
        return self.end if self.is_parquet else self.end - self.begin


def partitions(place: Place, size: int, options: Options) -> list[Partition] | None:
    """
    Return the parts of a file, of which Parquet may have none; None if it is one.

    Raises:
        SourceError: it cannot be read, or is no Parquet though called so.
        SettingsError: pyarrow is not installed.
    """
    name = place.name.lower()
    if name.endswith(PARQUET):
        with _parquet(place.name) as file:
            sizes = [
                file.metadata.row_group(group).total_byte_size
                for group in range(file.metadata.num_row_groups)
            ]
        return [
            Partition(place, group + 1, group, n_bytes, True)
            for group, n_bytes in enumerate(sizes)
        ]
    if not name.endswith(JSON_LINES) or size <= A_RANGE:
        return None
    with remote.opened(place.name) as file:
        head = file.read(HEAD)
    if compression(head) or b"\0" in head:  # as in UTF-16: its lines end otherwise
        return None
    if is_json_array(head) or may_hide_label(head, place, options):
        return None
    begins = range(0, size, A_RANGE)
    return [
        Partition(place, number, begin, min(begin + A_RANGE, size), False)
        for number, begin in enumerate(begins, 1)
    ]


def items_of(part: Partition, options: Options) -> Iterator[Item]:
    """Yield the documents of a part, and what cannot be read of it."""
    name = f"{part.place.name}#{part.number}"
    try:
        lines = _of_parquet(part) if part.is_parquet else _of_json_lines(part)
    except SourceError as error:
        yield Unreadable(name, error)
        return
    place = part.place._replace(name=name, is_part=True)
    yield from items_of_stream(BytesIO(lines), "jsonl", place, options)


def _of_json_lines(part: Partition) -> bytes:
    """Return the lines that begin in a range of bytes."""
    with remote.opened(part.place.name) as file:
        begin = max(part.begin - 1, 0)  # a line that begins there ends one byte before
        file.seek(begin)
        text = file.read(part.end - begin)
        if part.begin:
            line_end = text.find(b"\n")
            if line_end < 0:
                return b""  # a line that began before, and ends behind this range
            text = text[line_end + 1 :]
        pieces = [text]
        if text and not text.endswith(b"\n"):
            pieces.append(_rest_of_line(file))
    return b"".join(pieces)


def _rest_of_line(file: BinaryIO) -> bytes:
    pieces = []
    while piece := file.read(STEP):
        line_end = piece.find(b"\n")
        if line_end >= 0:
            pieces.append(piece[: line_end + 1])
            break
        pieces.append(piece)
    return b"".join(pieces)


def _of_parquet(part: Partition) -> bytes:
    """Return the rows of a group as JSON lines."""
    with _parquet(part.place.name) as file:
        rows = file.read_row_group(part.begin).to_pylist()
    return b"".join(json.dumps(row, default=_plain).encode() + b"\n" for row in rows)


def _plain(value: Any) -> str:
    """Return what JSON does not know as a text: bytes as they are."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    return str(value)


@contextmanager
def _parquet(path: str) -> Iterator[Any]:
    """
    Open a file of Parquet.

    Raises:
        SourceError: it cannot be read, or is none.
        SettingsError: pyarrow is not installed.
    """
    try:
        from pyarrow import ArrowException, parquet
    except ImportError as error:
        raise SettingsError(NO_PYARROW) from error
    with remote.opened(path) as file:
        try:
            yield parquet.ParquetFile(file)
        except ArrowException as error:
            message = f"{path}: no Parquet, or damaged: {error}; make it anew"
            raise SourceError(message) from error
