"""
Model files taken apart and put together again, whether or not they make sense.

A fuzzer that changes bytes is stopped by the first checksum. Here checksums, lengths,
padding and trailers are made to fit what was changed, so that what nbtext believes of
the rest comes under test. docs/model-format.md says where everything is.
"""

import re
from typing import Any, Final, NamedTuple

import msgpack

from nbtext.store.blocks import Checksums
from nbtext.store.plain_table import NIL, TRAILER, TRAILER_SIZE, lead_of, round_up
from nbtext.store.schema import CHECKSUMS
from nbtext.store.table import header_checksum

TIME: Final = re.compile(rb"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00")
DAY: Final = b"2026-01-01T00:00:00+00:00"


class Table(NamedTuple):
    """
    A table taken apart.

    Attributes:
        header: its map, as plain values.
        arrays: their bytes, in order; the header says what they are.
    """

    header: dict[Any, Any]
    arrays: list[bytes]


def taken_apart(data: bytes) -> list[Table]:
    """Return the tables of a file, as far as there are any."""
    tables: list[Table] = []
    while True:
        found = _table(data)
        if found is None:
            return tables
        table, length = found
        tables.append(table)
        data = data[length:]


def _table(data: bytes) -> tuple[Table, int] | None:
    unpacker = msgpack.Unpacker(strict_map_key=False, max_buffer_size=len(data) or 1)
    unpacker.feed(data)
    try:
        header = unpacker.unpack()
        lengths = [int(kind[1]) * length for _, kind, length in header["arrays"]]
        arrays = []
        end = unpacker.tell()
        for length in lengths:
            start = round_up(end + 5)
            end = start + length
            arrays.append(data[start:end])
    except (msgpack.UnpackException, ValueError, TypeError, LookupError):
        return None
    if end > len(data) or min(lengths, default=0) < 0:
        return None
    return Table(header, arrays), round_up(end + TRAILER_SIZE)


def put_together(tables: list[Table]) -> bytes:
    """Return a file of tables, with checksums that fit them."""
    return b"".join(map(_packed, tables))


def _packed(table: Table) -> bytes:
    header = {key: table.header[key] for key in table.header}
    header.pop("header_checksum", None)
    arrays = _with_checksums(header, table.arrays)
    body: bytes = msgpack.packb(header, unicode_errors="surrogatepass")
    packed: bytes = b"\xde" + (len(header) + 1).to_bytes(2, "big")
    packed = packed + body[1 if len(header) < 16 else 3 :]
    packed += msgpack.packb("header_checksum") + b"\xc4\x08"
    packed += header_checksum(packed)
    for array in arrays:
        packed += lead_of(len(packed), len(array)) + array
    whole = round_up(len(packed) + TRAILER_SIZE)
    packed += NIL * (whole - len(packed) - TRAILER_SIZE)
    return packed + TRAILER + whole.to_bytes(8, "big")


def _with_checksums(header: dict[Any, Any], arrays: list[bytes]) -> list[bytes]:
    """Return arrays, the last of which has the checksums of the others."""
    specification = header.get("arrays")
    if not isinstance(specification, list) or len(arrays) != len(specification):
        return arrays
    if not arrays or specification[-1][:1] != [CHECKSUMS]:
        return arrays
    checksums = Checksums()
    length = 0
    for number, array in enumerate(arrays[:-1]):
        lead = lead_of(length, len(array)) if number else b""
        checksums.add(lead)
        checksums.add(array)
        length += len(lead) + len(array)
    sums = checksums.packed()
    header["arrays"] = [*specification[:-1], [CHECKSUMS, "u4", len(sums) // 4]]
    return [*arrays[:-1], sums]


def undated(data: bytes) -> bytes:
    """Return a model of which all is of one day, so that it can be made again."""
    return put_together(taken_apart(TIME.sub(DAY, data)))


def with_lengths(table: Table) -> Table:
    """Return a table whose header says how long its arrays are."""
    arrays = [
        [name, kind, len(array) // int(kind[1])]
        for (name, kind, _), array in zip(
            table.header["arrays"], table.arrays, strict=True
        )
    ]
    return Table(table.header | {"arrays": arrays}, table.arrays)


def with_offsets(tables: list[Table]) -> list[Table]:
    """Return tables that say that they were appended where they stand."""
    placed: list[Table] = []
    offset = 0
    for table in tables:
        history = table.header.get("history")
        if offset and isinstance(history, dict):
            history = history | {"offset": offset}
            table = Table(table.header | {"history": history}, table.arrays)
        placed.append(table)
        offset += len(_packed(table))
    return placed
