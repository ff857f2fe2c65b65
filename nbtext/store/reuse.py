"""
Tables that were read before, for a process that opens the same model again and again.

A model that learns has one table more each time it is opened; the others are where they
were. A server asks once that tables be kept (`keep_tables`), of all files or of one;
the others are read in place. From then on a table that has the same header and
checksums in the same place of the same file (device, inode) is not read again, and what
was verified of its arrays stays so, as it does while a model is open. A file that is
replaced has another inode. Of one that was written over, headers may be the same: two
lessons of a second can differ in their terms alone.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from nbtext.store.table import StoredTable

MOST_KEPT: Final = 8
"""Maximum number of files whose tables are kept."""


class _Kept(NamedTuple):
    """
    The tables of a file.

    Attributes:
        inode: the device and the inode of the file.
        tables: in the order of the file.
        marks: what each is known again by.
    """

    inode: tuple[int, int]
    tables: tuple[StoredTable, ...]
    marks: tuple[bytes, ...]


class _Files:
    """The files whose tables are kept, by path."""

    is_kept = False
    only: str | None = None
    by_path: Final[dict[str, _Kept]] = {}


def keep_tables(*, is_kept: bool = True, only: str | None = None) -> None:
    """
    Keep the tables of files that are opened from now on in this process, or not.

    Args:
        is_kept: whether they are kept.
        only: the path of the file whose tables are; None for all files.
    """
    _Files.is_kept = is_kept
    _Files.only = only
    forget_tables()


def forget_tables() -> None:
    """Keep none of the tables that were read so far."""
    _Files.by_path.clear()


def are_kept(path: str) -> bool:
    """Return whether this process keeps the tables of a file."""
    return _Files.is_kept and _Files.only in (None, path)


def kept_tables(
    path: str, inode: tuple[int, int], mapped: memoryview
) -> list[StoredTable]:
    """Return the first tables of a file, as far as they are known."""
    kept = _Files.by_path.get(path) if are_kept(path) else None
    if kept is None or kept.inode != inode:
        return []
    known: list[StoredTable] = []
    for table, mark in zip(kept.tables, kept.marks, strict=True):
        if table.offset + table.length > len(mapped) or _mark(table, mapped) != mark:
            break
        known.append(table)
    return known


def put_tables(
    path: str, inode: tuple[int, int], mapped: memoryview, tables: Sequence[StoredTable]
) -> None:
    """Keep the tables of a file, if this process keeps any."""
    if not are_kept(path):
        return
    before = _Files.by_path.pop(path, None)
    while len(_Files.by_path) >= MOST_KEPT:
        _Files.by_path.pop(next(iter(_Files.by_path)), None)
    marks: list[bytes] = []
    for number, table in enumerate(tables):
        if before and number < len(before.tables) and before.tables[number] is table:
            marks.append(before.marks[number])
        else:
            marks.append(_mark(table, mapped))
    _Files.by_path[path] = _Kept(inode, tuple(tables), tuple(marks))


def _mark(table: StoredTable, mapped: memoryview) -> bytes:
    """Return what stands before a table's arrays in a file, and behind them."""
    arrays, end = table.arrays, table.offset + table.length
    return bytes(mapped[table.offset : arrays.offset]) + bytes(mapped[arrays.end : end])
