"""
One writer at a time: an advisory lock on the model file itself.

Writers replace that file, so whoever gets the lock looks again whether it is still the
one in place. Readers take none, but for a moment before they judge a tail.
"""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from errno import EACCES, EPERM, EROFS
from typing import Final

from nbtext import files
from nbtext.errors import BusyError, ModelAccessError, advice_on_reading
from nbtext.files import holders

WAIT: Final = 30.0
"""Seconds to wait for another writer, unless the caller says otherwise."""

WRITING: Final = "has been writing the model"


@contextmanager
def locked(path: str, *, wait: float = WAIT) -> Iterator[int | None]:
    """
    Be the only one to write a model for a while.

    Yields:
        The open file, None if there is none. It may be open for reading only, where
        nobody may write to it; it can be replaced all the same.

    Raises:
        BusyError: another writer took longer than that.
        ModelAccessError: the file cannot be opened or locked.
    """
    lock = files.locked(path, _open, wait=wait, what=WRITING)
    with ExitStack() as stack:
        descriptor = None
        try:
            descriptor = stack.enter_context(lock)
        except FileNotFoundError:
            pass
        except OSError as error:
            message = (
                f"{path}: the model cannot be locked: {error.strerror}; keep it on a "
                "file system that has locks"
            )
            raise ModelAccessError(message) from error
        yield descriptor


def busy(path: str, wait: float) -> BusyError:
    """Return the error that says who has been writing a model for so long."""
    return holders.busy(path, wait, who="another process", what=WRITING)


def _open(path: str) -> int:
    """Open a file, for writing if that is allowed."""
    try:
        try:
            return os.open(path, os.O_RDWR | os.O_NONBLOCK)
        except OSError as error:
            if error.errno not in (EACCES, EPERM, EROFS):
                raise
            return os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except FileNotFoundError:
        raise
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        advice = advice_on_reading(error, "name a model file that you may read")
        message = f"{path}: the model cannot be opened: {reason}; {advice}"
        raise ModelAccessError(message) from error
