"""
Tables that were read before, for a process that opens the same model again and again.

A model that learns has one table more each time it is opened; the others are where they
were. A server asks once that tables be kept (`keep_tables`). From then on one that has
the same header in the same place of the same file (device, inode) is not read again,
and what was verified of its arrays stays so, as it does while a model is open. A file
that is replaced has another inode; of one that was written over, headers differ.
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
        heads: the bytes of each before its first array.
    """

    inode: tuple[int, int]
    tables: tuple[StoredTable, ...]
    heads: tuple[bytes, ...]


class _Files:
    """The files whose tables are kept, by path."""

    is_kept = False
    by_path: Final[dict[str, _Kept]] = {}


def keep_tables(*, is_kept: bool = True) -> None:
    """Keep the tables of files that are opened from now on in this process, or not."""
    _Files.is_kept = is_kept
    _Files.by_path.clear()


def are_kept() -> bool:
    """Return whether this process keeps the tables of files."""
    return _Files.is_kept


def kept_tables(
    path: str, inode: tuple[int, int], mapped: memoryview
) -> list[StoredTable]:
    """
    Return the first tables of a file, as far as they are known.

    Args:
        path: what the file is called.
        inode: its device and inode.
        mapped: its bytes.

    """
    kept = _Files.by_path.get(path) if _Files.is_kept else None
    if kept is None or kept.inode != inode:
        return []
    known: list[StoredTable] = []
    for table, head in zip(kept.tables, kept.heads, strict=True):
        end = table.offset + table.length
        if end > len(mapped) or mapped[table.offset : table.offset + len(head)] != head:
            break
        known.append(table)
    return known


def put_tables(
    path: str, inode: tuple[int, int], mapped: memoryview, tables: Sequence[StoredTable]
) -> None:
    """Keep the tables of a file, if this process keeps any."""
    if not _Files.is_kept:
        return
    before = _Files.by_path.pop(path, None)
    while len(_Files.by_path) >= MOST_KEPT:
        _Files.by_path.pop(next(iter(_Files.by_path)), None)
    heads: list[bytes] = []
    for number, table in enumerate(tables):
        if before and number < len(before.tables) and before.tables[number] is table:
            heads.append(before.heads[number])
        else:
            heads.append(bytes(mapped[table.offset : table.arrays.offset]))
    _Files.by_path[path] = _Kept(inode, tuple(tables), tuple(heads))
