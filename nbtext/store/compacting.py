"""
Compacting: a model file of many tables becomes one of few, with the same sums.

The tail of small tables that learning leaves makes readers slow. It is folded into one
table where the first is far larger, so that what is large is copied and not summed;
else all tables become one. Whoever calls these functions holds the lock.
"""

from typing import Final, NamedTuple

from nbtext.counts.calibration import Calibration, total
from nbtext.counts.table import add, with_classes
from nbtext.errors import DamagedError
from nbtext.store.file import ModelFile, check_sound, open_model
from nbtext.store.header import WRITER, joined_history, now
from nbtext.store.lock import WAIT, locked
from nbtext.store.packing import pack_table, unpack, unpack_table
from nbtext.store.table import Buffer, StoredTable
from nbtext.store.undo import last_records
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
        file = open_model(path)
        size = replace_file(path, whole(file))
        return Compacted(len(file.tables), file.size + file.cut, size)


def compact_tail(path: str) -> None:
    """
    Make a model file of one table or two, if it has more than one.

    Raises:
        ModelFileError: it is damaged, or cannot be written.

    """
    file = open_model(path)
    first, *tail = file.tables
    if not tail:
        return
    is_long = SHARE * sum(table.length for table in tail) > first.length
    if is_long or any(table.offset != table.header.history.offset for table in tail):
        replace_file(path, whole(file))
        return
    base = file.contents[: first.length]
    replace_file(path, [base, *_folded(file, tail)])


def whole(file: ModelFile, keep: int | None = None) -> list[Buffer]:
    """
    Return the bytes of one table that holds what a file's tables do.

    Args:
        file: the model.
        keep: how many records of documents to keep, if not as many as it says.

    Raises:
        NotAModelError: the file is damaged.

    """
    check_sound(file)
    history = joined_history(table.header for table in file.tables)
    if keep is not None:
        history = history._replace(keep=keep)
    return pack_table(
        unpack(file),
        scoring=file.scoring,
        calibration=calibration_of(file.path, file.tables).as_dict(),
        written=now(),
        writer=WRITER,
        history=history,
        records=last_records(file, file.tables, history.keep),
    )


def _folded(file: ModelFile, tail: list[StoredTable]) -> list[Buffer]:
    """Return the bytes of one table that holds what those behind the first do."""
    headers = [table.header for table in tail]
    new_terms = zip(*(header.history.new_terms for header in headers), strict=True)
    history = joined_history(headers)._replace(
        offset=file.tables[0].length, new_terms=tuple(map(sum, new_terms))
    )
    records = last_records(file, tail, history.keep)
    # what was forgotten and learnt again adds nothing, and has a record all the same
    counts = with_classes(
        add([unpack_table(file.path, table) for table in tail]),
        (row.label for row in records.rows),
    )
    return pack_table(
        counts,
        scoring=file.scoring,
        calibration=calibration_of(file.path, tail).as_dict(),
        written=now(),
        writer=WRITER,
        history=history,
        records=records,
    )


def calibration_of(
    path: str, tables: "list[StoredTable] | tuple[StoredTable, ...]"
) -> Calibration:
    """
    Return the sum of what tables keep for calibration.

    Raises:
        DamagedError: one of them keeps something else.

    """
    calibrations = []
    for table in tables:
        try:
            calibrations.append(Calibration.from_dict(table.header.calibration))
        except ValueError as error:
            raise DamagedError(path, table.offset, str(error)) from error
    return total(calibrations)
