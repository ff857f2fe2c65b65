"""
A folder that the client and all workers see, for as long as a run lasts.

It is beside the model, or where the user says, and hidden. The client holds a lock on a
file in it; a folder that nobody holds is of a run that was killed, and the next run for
the same model removes it.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final
from uuid import uuid4

if TYPE_CHECKING:
    from collections.abc import Iterator

from nbtext.errors import ModelWriteError

HELD: Final = "client"
"""The file that the client has locked."""


@contextmanager
def shared_folder(path: str, above: str | None) -> Iterator[str]:
    """
    Make a folder for a run, and remove it at the end, with what runs before have left.

    Args:
        path: the model that is to be made.
        above: where the folder is made; beside the model if None.

    Raises:
        ModelWriteError: it cannot be made.

    """
    model = Path(os.path.abspath(path))  # noqa: PTH100  not resolved
    parent = model.parent if above is None else Path(os.path.abspath(above))  # noqa: PTH100
    begin = f".{model.name}.cluster-"
    folder = parent / f"{begin}{uuid4().hex}"
    try:
        _remove_left(parent, begin)
        folder.mkdir(mode=0o700)
        file = (folder / HELD).open("wb")
    except OSError as error:
        message = (
            f"{parent}: no folder can be made there for the cluster's work "
            f"({error.strerror}); name another with --shared"
        )
        raise ModelWriteError(message) from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield str(folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _remove_left(parent: Path, begin: str) -> None:
    """Remove the folders of runs that have ended without removing them."""
    for entry in parent.iterdir():
        if not entry.name.startswith(begin):
            continue
        with suppress(OSError), (entry / HELD).open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # an error if it is held
            shutil.rmtree(entry, ignore_errors=True)
