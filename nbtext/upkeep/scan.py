"""
What a model file consists of: its tables, and the stretches that are none.

The bytes of a file go in, whatever they are; out come its parts, in order, each with
what is to be thought of it. Where no table can be read, the search goes on at the next
place where one begins. No header is taken to reach beyond the beginning of another
table, so that the time taken is proportional to the file's size.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nbtext.store import Header, StoredTable
    from nbtext.store.file import Mapped

from nbtext import wording
from nbtext.errors import DamagedError, ModelFileError
from nbtext.store.cut_short import END_MISSING, documents_of
from nbtext.store.file import next_table, was_whole
from nbtext.store.searching import find
from nbtext.store.table import BEGINNING, HEAD_SIZE, read_head, read_table
from nbtext.upkeep.check_table import fault_of, is_padded

Verdict: TypeAlias = Literal["sound", "damaged", "surplus", "cut off"]
"""
What a part of a file is: as it was written; not so; as it was written, but not to be
added to the others; or a table that a crash kept from being written whole, at the end
of the file.
"""

CUT_OFF: Final = "it was not written whole; readers pass over it"


def _untidy() -> str:
    """Return what is said of a table with other bytes between its arrays than zeros."""
    return (
        "bytes between its arrays were changed, on which no counts depend; the disk "
        f"may be failing, and `{wording.call('store.compact')}` writes the table anew"
    )


@dataclass(frozen=True, slots=True)
class Part:
    """
    A table of a file, or a stretch that cannot be read.

    Attributes:
        offset: where in the file it begins, in bytes.
        length: how long it is, in bytes.
        verdict: what is to be thought of it.
        what: what is wrong with it, empty if nothing is.
        header: what it says of itself, if that can be read.
        table: the table, if its arrays can be read.
        note: what else there is to say of it.
    """

    offset: int
    length: int
    verdict: Verdict
    what: str = ""
    header: Header | None = None
    table: StoredTable | None = None
    note: str = ""


def documents_in(parts: Sequence[Part]) -> dict[str, int]:
    """Return how many documents of each class parts hold, as far as they say so."""
    return documents_of(part.header for part in parts if part.header is not None)


def parts_of(path: str, mapped: memoryview) -> Iterator[Part]:
    """Yield what a file consists of."""
    offset = 0
    first: StoredTable | None = None
    while offset < len(mapped):
        part = _part_at(path, mapped, offset, first)
        yield part
        offset += part.length
        first = first or part.table


def _part_at(
    path: str, mapped: memoryview, offset: int, first: StoredTable | None
) -> Part:
    """Return what there is at a place of a file, as far as one can say."""
    end = beginning(mapped, offset + 1)
    head = header = table = None
    try:
        # a header holds no other table's beginning: so each byte is read once
        head = read_head(path, mapped[:end], offset)
        header = None if head is None else head[1]
        table = None if head is None else read_table(path, mapped, offset)
        what = "the file, or the next table, begins before its end"
    except ModelFileError as error:
        what = what_is_wrong(path, error)
    if table is not None and head is not None:
        what = fault_of(table)
        verdict: Verdict = "damaged" if what else "sound"
        note = "" if is_padded(mapped[offset:], head[2], table) else _untidy()
        return Part(offset, table.length, verdict, what, header, table, note)
    if end == len(mapped) and first and _is_cut_off(path, mapped, offset, first):
        length = len(mapped) - offset
        if was_whole(mapped, offset):
            return Part(offset, length, "damaged", END_MISSING, header)
        return Part(offset, length, "cut off", CUT_OFF, header)
    return Part(offset, end - offset, "damaged", what, header)


def beginning(mapped: memoryview, offset: int) -> int:
    """Return where the next table begins, the file's end if none does."""
    contents: Mapped = mapped.obj  # type: ignore[assignment]  # what it is a view of
    place = find(contents, contents.stretches, BEGINNING, offset + HEAD_SIZE)
    return len(mapped) if place < 0 else place - HEAD_SIZE


def _is_cut_off(path: str, mapped: memoryview, offset: int, first: StoredTable) -> bool:
    """Return whether readers take what is here for a table that a crash cut off."""
    try:
        return next_table(path, mapped, offset, first) is None
    except ModelFileError:
        return False


def what_is_wrong(path: str, error: ModelFileError) -> str:
    """Return what is wrong, without the name of the file."""
    if isinstance(error, DamagedError):
        return error.what
    return str(error).removeprefix(f"{path}: ")
