"""
Replacing: a whole model in the place of another, which may have been taught.

The bytes of a model go in. What was learnt since the old model was trained is in no
other place, so it is not replaced unless somebody says so. The look at the old model
and the replacement are under one lock: nobody can learn between them.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from stat import S_ISREG
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nbtext.policy import Policy

from nbtext import wording
from nbtext.errors import (
    ModelFileError,
    ModelVersionError,
    ModelWriteError,
    NotAModelError,
    TaughtError,
)
from nbtext.store.blocks import Buffer
from nbtext.store.file import check_not_cut_short, open_locked, open_model
from nbtext.store.header import joined_history
from nbtext.store.lock import WAIT, locked
from nbtext.store.writing import replace_file


def check_replaceable(path: str, *, replace: bool, is_locked: bool = False) -> None:
    """
    Refuse to replace what cannot be had again by training.

    That is a model that was taught since it was trained, one whose file was cut short,
    and whatever cannot be opened as one: a damaged model, one of a newer nbtext,
    another file. An empty file may be replaced, and so may nothing at all.

    Raises:
        TaughtError: it was taught, or nobody knows.
    """
    if replace or not _has_contents(path):
        return
    try:
        file = open_locked(path) if is_locked else open_model(path)
        check_not_cut_short(file)
    except NotAModelError as error:
        replacing = wording.given(replace=True)
        message = f"{error}; nothing was replaced, which takes {replacing}"
        raise TaughtError(message) from error
    except ModelVersionError as error:
        message = f"{error}, or replace the model with {wording.given(replace=True)}"
        raise TaughtError(message) from error
    except ModelFileError:
        return  # nor can it be replaced, which has a message of its own
    history = joined_history(table.header for table in file.tables)
    if history.taught:
        since = f" on {history.trained}" if history.trained else ""
        what = "document was" if history.taught == 1 else "documents were"
        message = (
            f"{path}: {history.taught:,} {what} learnt, moved or forgotten since the "
            f"model was trained{since}, and would be lost; write to another file with "
            f"{wording.named('path')}, or replace it with {wording.given(replace=True)}"
        )
        raise TaughtError(message)


def policy_of(path: str) -> "Policy | None":
    """Return the policy of a model; None if it has none, or is none."""
    if not _has_contents(path):
        return None
    try:
        return open_model(path).policy
    except ModelFileError:
        return None


def _has_contents(path: str) -> bool:
    try:
        return os.stat(path).st_size > 0
    except (OSError, ValueError):
        return False


def replace_model(
    path: str,
    chunks: Sequence[Buffer] | Callable[["Policy | None"], Iterable[Buffer]],
    *,
    replace: bool,
    wait: float = WAIT,
) -> int:
    """
    Put a whole model in a file's place, and return its size in bytes.

    Args:
        path: the model file.
        chunks: the new model, in pieces; or what makes them, given the policy of the
            model that is replaced, None if there is none.
        replace: whether to replace a model that was taught since it was trained.
        wait: how many seconds to wait for another writer.

    Raises:
        TaughtError: the old model was taught; it is as it was.
        BusyError: another process has been writing all the time.
        ModelWriteError: the file cannot be written; the old one is as it was.
        ModelFileError: the file cannot be opened.
    """
    _check_place(path)
    while True:
        with locked(path, wait=wait) as descriptor:
            check_replaceable(path, replace=replace, is_locked=True)
            new = chunks(policy_of(path)) if callable(chunks) else chunks
            try:
                return replace_file(path, new, exclusively=descriptor is None)
            except FileExistsError:
                continue  # somebody else has made one meanwhile


def _check_place(path: str) -> None:
    """Refuse a place where something stands that is no file, or cannot be looked at."""
    try:
        is_file = S_ISREG(os.stat(path).st_mode)
    except FileNotFoundError:
        return
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
    else:
        if is_file:
            return
        reason = "a file was expected, and a folder or device found"
    message = f"{path}: the model cannot be written: {reason}; name another file"
    raise ModelWriteError(message)
