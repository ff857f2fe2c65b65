"""
Records of the file in which filtering remembers messages: bytes in fields and back.

Each has RECORD bytes, of which the last four are a checksum (CRC-32). Records are only
added. The first says what the file is.
"""

import struct
from collections.abc import Iterator, Mapping
from typing import Final, TypeAlias
from zlib import crc32

from nbtext import wording
from nbtext.errors import FULL, MemoryFileError, advice_on_reading

RECORD: Final = 64
LATEST: Final = (1 << 32) - 1
"""The last time that fits into a record, in seconds since the epoch: in 2106."""

MAGIC: Final = b"nbtext decided 1\n".ljust(RECORD, b"\0")

DECIDED: Final = b"D"
BEGUN: Final = b"B"
DROPPED: Final = b"F"
APPENDING: Final = b"A"
REPLACED: Final = b"O"
LATE: Final = b"L"
TOLD: Final = b"W"
"""
Kinds of records. A message was classified, and moved if it had to be; it is about to be
moved; it was about to be, and what became of it is not known. A target mbox is about to
grow, from the size that stands in the place of a digest. An mbox is replaced, whose
size stands there. What came to it is about to be put into a new one, up to the size,
and into the inode, that stand there. A warning was told, of what is named, in the
state that stands there.
"""

_BODY: Final = struct.Struct("<c3xI8s16s16s12x")
_WHOLE: Final = struct.Struct("<c3xI8s16s16s12xI")


Record: TypeAlias = tuple[bytes, int, bytes, bytes, bytes]
"""
A kind; when it was written, in seconds since the epoch; 8 bytes that name a mailbox;
16 bytes that name a message in it, or a file; 16 bytes: a digest, or numbers.
"""


def packed(record: Record) -> bytes:
    """Return the RECORD bytes of a record."""
    body = _BODY.pack(*record)
    return body + crc32(body).to_bytes(4, "little")


def records(data: bytes) -> Iterator[tuple[int, Record | None]]:
    """Yield the place of each whole record, and the record if its checksum is right."""
    end = len(data) - len(data) % RECORD
    view = memoryview(data)[RECORD:end]
    body = RECORD - 4
    for number, (*fields, checksum) in enumerate(_WHOLE.iter_unpack(view)):
        start = number * RECORD
        is_good = crc32(view[start : start + body]) == checksum
        yield start + RECORD, (*fields,) if is_good else None


def worth_keeping(
    data: bytes, there: Mapping[bytes, set[bytes]], since: int
) -> Iterator[bytes]:
    """
    Yield the last record of each message that may still be asked for.

    Args:
        data: the file.
        there: mailbox to the names of all its messages, for those that were listed.
        since: records from then on are kept, in seconds since the epoch.
    """
    last = {record[3]: place for place, record in records(data) if record is not None}
    for place, record in records(data):
        if record is None or last[record[3]] != place:
            continue
        kind, when, folder, name, _ = record
        is_there = folder not in there or name in there[folder]
        if kind != DROPPED and (when >= since or is_there):
            yield data[place : place + RECORD]


def cannot(path: str, what: str, error: OSError) -> MemoryFileError:
    """Return the error that says what cannot be done with the file, and why."""
    decided = wording.named("path")
    advice = advice_on_reading(error, f"name a file that you may write with {decided}")
    if error.errno in FULL:
        advice = f"make room there, or name a file elsewhere with {decided}"
    message = (
        f"{path}: the memory of what was decided cannot be {what}: {error.strerror}; "
        f"{advice}"
    )
    return MemoryFileError(message)
