"""
One writer at a time: an advisory lock on the model file itself.

The lock is flock(2)'s, on the file that the path leads to. Writers replace that file,
so whoever gets the lock looks again whether it is still the one in place. Readers take
no lock. The kernel lets go of the lock when its holder ends, however that happens.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from errno import EROFS
from fcntl import LOCK_EX, LOCK_NB, LOCK_SH, LOCK_UN, flock
from time import monotonic, sleep
from typing import Final

from nbtext.errors import BusyError, ModelAccessError

WAIT: Final = 30.0
"""How long one waits for another writer, in seconds, unless told otherwise."""

PAUSE: Final = 0.01
LONGEST_PAUSE: Final = 0.1
"""How often the lock is tried, in seconds: at first, and after a while."""


@contextmanager
def locked(path: str, *, wait: float = WAIT) -> Iterator[int | None]:
    """
    Be the only one to write a model for a while.

    Args:
        path: the model file.
        wait: how many seconds to wait for another writer.

    Yields:
        The open file, None if there is none. It may be open for reading only, where
        nobody may write to it; it can be replaced all the same.

    Raises:
        BusyError: another writer took longer than that.
        ModelAccessError: the file cannot be opened or locked.

    """
    deadline = monotonic() + wait
    descriptor = _opened(path)
    try:
        while descriptor is not None:
            _lock(path, descriptor, deadline, wait)
            if is_in_place(path, descriptor):
                break
            os.close(descriptor)
            descriptor = None  # not to be closed twice
            descriptor = _opened(path)
        yield descriptor
    finally:
        if descriptor is not None:
            # not left to closing: a process that was forked meanwhile may hold it too
            with suppress(OSError):
                flock(descriptor, LOCK_UN)
            os.close(descriptor)


def is_locked(path: str) -> bool:
    """Return whether somebody is writing a model now."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        flock(descriptor, LOCK_SH | LOCK_NB)
    except OSError:
        return True
    else:
        return False
    finally:
        os.close(descriptor)


def _opened(path: str) -> int | None:
    """Open a file that there is, for writing if that is allowed."""
    try:
        try:
            return os.open(path, os.O_RDWR | os.O_NONBLOCK)
        except PermissionError:
            return os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        except OSError as error:
            if error.errno != EROFS:
                raise
            return os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        message = (
            f"{path}: the model cannot be opened: "
            f"{getattr(error, 'strerror', None) or error}; name a model file that you "
            "may read"
        )
        raise ModelAccessError(message) from error


def _lock(path: str, descriptor: int, deadline: float, wait: float) -> None:
    try:
        is_ours = waited_for(descriptor, deadline)
    except OSError as error:
        message = (
            f"{path}: the model cannot be locked: {error.strerror}; keep it on a "
            "file system that has locks"
        )
        raise ModelAccessError(message) from error
    if not is_ours:
        message = (
            f"{path}: another process has been writing the model for "
            f"{wait:g} seconds; try again later, or wait longer with --wait"
        )
        raise BusyError(message)


def waited_for(descriptor: int, deadline: float) -> bool:
    """
    Lock an open file with flock(2), and return whether it could be had in time.

    Args:
        descriptor: the file.
        deadline: until when to wait for others, as `time.monotonic` has it.

    Raises:
        OSError: it cannot be locked.

    """
    pause = PAUSE
    while True:
        try:
            flock(descriptor, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            left = deadline - monotonic()
            if left <= 0:
                return False
            sleep(min(pause, left))
            pause = min(2 * pause, LONGEST_PAUSE)
        else:
            return True


def is_in_place(path: str, descriptor: int) -> bool:
    """Return whether a path still leads to an open file."""
    try:
        there, here = os.stat(path), os.fstat(descriptor)
    except OSError:
        return False
    return (there.st_dev, there.st_ino) == (here.st_dev, here.st_ino)
