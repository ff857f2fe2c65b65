"""
Folders of temporary files that are gone in the end, even after a kill.

A temporary file without a name is gone with its process. Where names are needed, files
are in a folder of their own, which is locked as long as its process is there; whoever
makes the next such folder removes those that nobody holds.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path
from time import time
from typing import Final

PREFIX: Final = ".nbtext-"
SUFFIX: Final = ".temporary"
"""How the names of such folders begin and end: as nobody else's do, not those of an
unpacked `nbtext-0.1.0` or of a user's `nbtext-mail`, since they may be removed."""

LEFTOVER: Final = 60.0
"""Age in seconds from which a folder that is not locked counts as left by a kill."""


def folder_of_temporary_files() -> str:
    """
    Return where temporary files go: TMPDIR, or where Python puts them.

    Python passes over a TMPDIR that is full, or not there, and takes another folder,
    which may be in memory; a user who names one wants that.
    """
    return os.environ.get("TMPDIR") or tempfile.gettempdir()


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """
    Make a folder for its owner alone, and remove it at the end with all that is in it.

    Raises:
        OSError: it cannot be made.
    """
    above = folder_of_temporary_files()
    _remove_leftovers(Path(above))
    folder = Path(tempfile.mkdtemp(SUFFIX, PREFIX, above))
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with suppress(OSError):  # a network file system may have no locks
            flock(descriptor, LOCK_EX | LOCK_NB)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(descriptor)


def _remove_leftovers(above: Path) -> None:
    """Remove the folders of this user's processes that were killed."""
    with suppress(OSError), os.scandir(above) as entries:
        for entry in entries:
            is_named_so = entry.name.startswith(PREFIX) and entry.name.endswith(SUFFIX)
            if is_named_so and entry.is_dir(follow_symlinks=False):
                status = entry.stat(follow_symlinks=False)
                if status.st_uid == os.getuid() and time() - status.st_mtime > LEFTOVER:
                    _remove_if_idle(Path(entry.path))


def _remove_if_idle(folder: Path) -> None:
    """Remove a folder unless a process holds it."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            flock(descriptor, LOCK_EX | LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
        finally:
            os.close(descriptor)
