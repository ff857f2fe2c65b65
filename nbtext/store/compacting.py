"""
Compacting: a model file of many tables becomes one of few, with the same sums.

The tail of small tables that learning leaves makes readers slow. It is folded into one
table where the first is far larger, so that what is large is copied and not summed;
else all tables become one. The caller of these functions holds the lock.
"""

from contextlib import suppress
from typing import Final, NamedTuple

from nbtext.errors import ModelFileError
from nbtext.store.contents import read_contents, read_tail
from nbtext.store.file import open_locked
from nbtext.store.lock import WAIT, locked
from nbtext.store.writing import replace_file

SHARE: Final = 4
"""A tail of more than this part of the first table is summed with it."""


class Compacted(NamedTuple):
    """
    What compacting has made of a model file.

    Attributes:
        tables: how many tables it had.
        before: its bytes before.
        after: its bytes after.
    """

    tables: int
    before: int
    after: int


def compact(path: str, *, wait: float = WAIT) -> Compacted:
    """
    Make one table of all those of a model file.

    Raises:
        BusyError: another process has been writing all the time.
        ModelFileError: there is no model, it is damaged, or cannot be written.
    """
    with locked(path, wait=wait):
        file = open_locked(path)
        size = replace_file(path, read_contents(file).pack())
        return Compacted(len(file.tables), file.size + file.cut, size)


def is_tail_compacted(path: str, *, is_whole: bool = False) -> bool:
    """Compact the tail, if there is room to; return whether that was done."""
    # it is as good as before; the next may find room
    with suppress(ModelFileError, MemoryError):
        compact_tail(path, is_whole=is_whole)
        return True
    return False


def compact_tail(path: str, *, is_whole: bool = False) -> None:
    """
    Make a model file of one table or two, if it has more than one.

    Raises:
        ModelFileError: it is damaged, or cannot be written.
    """
    file = open_locked(path)
    first, *tail = file.tables
    if not tail:
        return
    is_whole |= SHARE * sum(table.length for table in tail) > first.length
    if is_whole or any(table.offset != table.header.history.offset for table in tail):
        replace_file(path, read_contents(file).pack())
        return
    base = file.contents[: first.length]
    replace_file(path, [base, *read_tail(file).pack()])
