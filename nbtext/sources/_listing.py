"""
The entries of a folder in order, however many there are.

A folder is read as a stream. What is found of each entry are a few bytes, and those of
many entries are sorted in stretches, which go to one temporary file without a name and
are merged as they are read again. So ten million files take the memory of some ten
thousand, and are in the same order as two.
"""

import os
from collections.abc import Iterable, Iterator
from errno import EIO
from typing import IO, Final, TypeAlias

FILE: Final = b"f"
FOLDER: Final = b"d"
NOWHERE: Final = b"l"
OTHER: Final = b"o"
UNKNOWN: Final = b"?"
"""What an entry is: a file, a folder, a link that leads nowhere, something that can
only be read if it is named by itself, or what the system does not tell."""

STRETCH: Final = 1 << 15
"""How many entries are sorted in memory."""

PIECE: Final = 1 << 14
"""How many bytes of a stretch are read at a time."""

N_FIELDS: Final = 3


Listed: TypeAlias = tuple[bytes, bytes, bytes]
"""An entry of a folder: its place in the order (without zero bytes, as names are), what
it is called, and its kind. To make a named tuple of each takes a tenth of the listing
(docs/experiments/084-before-the-first-mail.md)."""

Stretch: TypeAlias = "tuple[int, int]"
"""Where in a file a stretch begins and ends."""


def kind_of(entry: "os.DirEntry[str] | os.DirEntry[bytes]") -> bytes:
    """Return what an entry is; a link is what it leads to."""
    try:
        if entry.is_file():
            return FILE
        if entry.is_dir():
            return FOLDER
        leads_on = os.path.exists(entry.path)  # noqa: PTH110  pathlib costs 10 ms
        if entry.is_symlink() and not leads_on:
            return NOWHERE
        return OTHER
    except OSError:  # a link to itself, for one
        return UNKNOWN


def in_order(entries: Iterable[Listed]) -> Iterator[Listed]:
    """
    Return entries sorted; all are taken at once, and few are held.

    Raises:
        OSError: reading the entries does.
    """
    file: IO[bytes] | None = None
    stretches: list[Stretch] = []
    some: list[Listed] = []
    limit = STRETCH
    for entry in entries:
        some.append(entry)
        if len(some) < limit:
            continue
        some.sort()
        try:
            if file is None:
                from tempfile import TemporaryFile  # most folders have fewer

                file = TemporaryFile(buffering=0)  # noqa: SIM115  closed when it is read
            stretches.append(_written(file, some))
            some = []
        except OSError:  # without room for it, memory must do
            limit *= 2
    some.sort()
    if file is not None and stretches:
        return _merged(file, stretches, some)
    if file is not None:
        file.close()
    return iter(some)


def _written(file: IO[bytes], entries: list[Listed]) -> Stretch:
    """Write entries to the end of a file."""
    from nbtext.files import write_all

    start = file.seek(0, os.SEEK_END)
    data = b"".join(b"%b\0%b\0%b\0" % entry for entry in entries)
    try:
        return start, start + write_all(file.fileno(), data)
    except OSError:
        file.truncate(start)
        raise


def _merged(
    file: IO[bytes], stretches: list[Stretch], rest: list[Listed]
) -> Iterator[Listed]:
    from heapq import merge

    with file:
        yield from merge(*(_read(file.fileno(), *one) for one in stretches), rest)


def _read(descriptor: int, start: int, end: int) -> Iterator[Listed]:
    """Yield the entries of a stretch."""
    begun = b""
    while start < end:
        piece = os.pread(descriptor, min(PIECE, end - start), start)
        if not piece:
            raise OSError(EIO, os.strerror(EIO), "a temporary file")
        start += len(piece)
        *fields, begun = (begun + piece).split(b"\0")
        whole = len(fields) // N_FIELDS * N_FIELDS
        for place in range(0, whole, N_FIELDS):
            key, name, kind = fields[place : place + N_FIELDS]
            yield key, name, kind
        begun = b"\0".join([*fields[whole:], begun])
