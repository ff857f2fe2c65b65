"""
A folder that the client and all workers see, for as long as a run lasts.

It is beside the model, or where the user says, and hidden. The client holds a lock on a
file in it; a folder that nobody holds is of a run that was killed, and the next run for
the same model removes it.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
from contextlib import contextmanager, suppress
from pathlib import Path
from time import time
from typing import TYPE_CHECKING, BinaryIO, Final
from uuid import uuid4

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nbtext.arguments import AnyPath

from nbtext import wording
from nbtext.arguments import path_of
from nbtext.errors import ModelWriteError
from nbtext.files import open_file
from nbtext.files.temporary import LEFTOVER

HELD: Final = "client"
"""The file that the client has locked."""


@contextmanager
def shared_folder(path: str, above: AnyPath | None) -> Iterator[str]:
    """
    Make a folder for a run, and remove it at the end, with what runs before have left.

    Args:
        path: the model that is to be made.
        above: where the folder is made; beside the model if None.

    Raises:
        ModelWriteError: it cannot be made.
    """
    model = Path(os.path.abspath(path))  # noqa: PTH100  not resolved
    parent = model.parent
    if above is not None:
        parent = Path(os.path.abspath(path_of(above)))  # noqa: PTH100  not resolved
    begin = f".{model.name}.cluster-"
    folder = parent / f"{begin}{uuid4().hex}"
    try:
        _remove_left(parent, begin)
        folder.mkdir(mode=0o700)
        file = _held(folder)
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        message = (
            f"{parent}: no folder can be made and locked there for the cluster's work "
            f"({error.strerror}); name another with {wording.named('shared')}"
        )
        raise ModelWriteError(message) from error
    with file:
        try:
            yield str(folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def writing_to(folder: str) -> Iterator[None]:
    """
    Write to that folder, here or where a worker runs.

    Raises:
        ModelWriteError: that cannot be done.
    """
    try:
        yield
    except OSError as error:
        message = (
            f"{Path(folder).parent}: the cluster's work cannot be written there "
            f"({error.strerror}); make room, or name another folder with "
            f"{wording.named('shared')}"
        )
        raise ModelWriteError(message) from error


def _held(folder: Path) -> BinaryIO:
    """Return the file that says that the folder is in use, never seen unlocked."""
    begun = folder / f"{HELD}.begun"
    file = begun.open("wb")
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        begun.rename(folder / HELD)
    except OSError:
        file.close()
        raise
    return file


def _remove_left(parent: Path, begin: str) -> None:
    """
    Remove the folders of runs that have ended without removing them.

    Only those of this user, whose names are as a run gives them: others are not ours.
    """
    named = re.compile(rf"{re.escape(begin)}[0-9a-f]{{32}}")
    with os.scandir(parent) as entries:
        for entry in entries:
            if named.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False):
                with suppress(OSError):
                    if entry.stat(follow_symlinks=False).st_uid == os.geteuid():
                        _remove_if_idle(Path(entry.path))


def _remove_if_idle(folder: Path) -> None:
    """
    Remove a folder unless a run holds it, or has only begun to.

    Raises:
        OSError: it is held.
    """
    try:
        # not to wait for the other end of what somebody made a pipe
        file = os.fdopen(open_file(str(folder / HELD)), "rb")
    except FileNotFoundError:  # it was killed before it held it, or begins just now
        if time() - folder.stat().st_mtime > LEFTOVER:
            shutil.rmtree(folder, ignore_errors=True)
        return
    with file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder, ignore_errors=True)
