"""
Taking back what the last `learn` or `forget` has done, all of it.

A command appends tables to a model file, and each of them says where the first one is.
Without them the file is what it was, byte for byte, but for a policy that it was given
meanwhile, which stays.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from nbtext import wording
from nbtext.arguments import AnyPath, path_of, seconds_of
from nbtext.errors import SettingsError
from nbtext.store import ModelFile, StoredTable
from nbtext.store.file import open_locked
from nbtext.store.lock import WAIT, locked
from nbtext.store.policies import with_policy
from nbtext.store.writing import replace_file

NOTHING: Final = (
    "nothing was learnt since it was trained; there is nothing to take back"
)
FIRST: Final = (
    "what was learnt is its first table, without which there would be no model, so "
    "that cannot be taken back at once"
)

JOINED: Final = (
    "its file was joined of those of several models, and nobody can tell which tables "
    "the last command has written"
)
MIDST: Final = (
    "another command has learnt or compacted in the midst of the last one, and nobody "
    "can tell which tables are whose"
)


def _compacted() -> str:
    """Return what was done to a model whose last step is not a table any more."""
    compact = wording.call("store.compact")
    return (
        f"what was learnt before was made one table (by `{compact}` "
        "or another command that writes the model anew, or by `learn` and `forget` "
        "where there are many tables), so its steps cannot be taken back one by one"
    )


class TakenBack(NamedTuple):
    """
    What was taken back.

    Attributes:
        documents: how many documents had been learnt, moved or forgotten.
        classes: those that had learnt, sorted; none if documents were forgotten.
        when: when that was, as ISO 8601 in UTC.
        tables: how many tables the file has lost.
    """

    documents: int
    classes: tuple[str, ...]
    when: str
    tables: int


def undo(path: AnyPath, *, wait: float = WAIT, dry_run: bool = False) -> TakenBack:
    """
    Take back the last change of a model: what one `learn` or `forget` has done.

    The one before it is then the last, and can be taken back, too.

    Args:
        path: the model file.
        wait: how many seconds to wait for another writer of the model.
        dry_run: whether to change nothing.

    Raises:
        SettingsError: there is nothing to take back, or it is not known any more.
        BusyError: another process has been writing the model all the time.
        ModelFileError: there is no model, it is damaged, or cannot be written.
        ValueError: `wait` is below 0.
    """
    path, wait = path_of(path), seconds_of("wait", wait)
    with locked(path, wait=wait):
        file = open_locked(path)
        tables = last_run(file)
        if not dry_run:
            left = [one for one in file.tables if one.offset < tables[0].offset]
            replace_file(path, with_policy(file, left, file.policy))
    headers = [table.header for table in tables]
    classes = {name for header in headers for name in header.history.learnt}
    return TakenBack(
        documents=sum(header.history.taught for header in headers),
        classes=tuple(sorted(classes)),
        when=headers[-1].written,
        tables=len(tables),
    )


def last_run(file: ModelFile) -> Sequence[StoredTable]:
    """
    Return the tables that the last command has appended.

    Raises:
        SettingsError: there are none, or it is not known which they are.
    """
    reason = _why_not(file)
    if reason == NOTHING:
        message = f"{file.path}: {reason}"
        raise SettingsError(message)
    if reason:
        ask = wording.call("forget", documents=[wording.Blank("DOCUMENTS")])
        message = (
            f"{file.path}: {reason}; the model is as good as before; `{ask}` takes out "
            "what it should not have learnt"
        )
        raise SettingsError(message)
    return _of_last_run(file)


def _of_last_run(file: ModelFile) -> list[StoredTable]:
    """Return the tables that the last one says are of its command, and any between."""
    first = file.tables[-1].header.history.run or 0
    return [table for table in file.tables if table.offset >= first]


def _why_not(file: ModelFile) -> str:
    """Return why the last command cannot be taken back; empty if it can."""
    *before, last = file.tables
    history = last.header.history
    if history.offset is None:  # it stands for itself
        if not any(table.header.history.taught for table in file.tables):
            return NOTHING
        if before:
            return JOINED
        return _compacted() if history.trained else FIRST
    if history.offset != last.offset:
        return JOINED
    if history.run == 0:
        return FIRST
    if history.run is None:
        return _compacted() if len(before) == 1 else MIDST
    tables = _of_last_run(file)
    is_whole = tables[0].offset == history.run and all(
        table.header.history.offset == table.offset
        and table.header.history.run == history.run
        for table in tables
    )
    return "" if is_whole else MIDST
