"""
The file in which filtering remembers messages, opened for one run at a time.

What it says is believed: it must belong to us, and is locked from when it is read until
the run ends.
"""

import errno
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

from nbtext import wording
from nbtext.files import locked, open_file, write_at
from nbtext.files.reading_at import read_at
from nbtext.filtering.seen import SeenMessages
from nbtext.filtering.seen_records import MAGIC, cannot


@contextmanager
def open_seen(
    path: str, *, wait: float, is_kept: bool = True
) -> Iterator[SeenMessages]:
    """
    Open the file of messages that were classified, for one run at a time.

    Args:
        path: the file.
        wait: maximum seconds to wait for another run.
        is_kept: whether to remember anything; otherwise the file is only read, without
            a lock, and not made if it is missing.

    Raises:
        BusyError: another run took longer than that.
        MemoryFileError: it cannot be read or written, or is something else.
    """
    if not is_kept:
        yield _only_read(path)
        return
    who = f"another `{wording.call('filtering.filter_mailbox')}`"
    lock = locked(path, _open, wait=wait, who=who, what="has been running")
    with ExitStack() as stack:
        try:
            descriptor = stack.enter_context(lock)
            _begin(descriptor)
        except OSError as error:
            raise cannot(path, "opened", error) from error
        seen = SeenMessages(path, descriptor)
        seen.read(descriptor)
        yield seen
        seen.sync()


def _only_read(path: str) -> SeenMessages:
    seen = SeenMessages(path, None)
    try:
        descriptor = _open(path, os.O_RDONLY)
    except FileNotFoundError:
        return seen
    except OSError as error:
        raise cannot(path, "opened", error) from error
    try:
        seen.read(descriptor)
    finally:
        os.close(descriptor)
    return seen


def _open(path: str, flags: int = os.O_RDWR | os.O_CREAT) -> int:
    """
    Open the file, or make it; its contents are believed, so it must be our own.

    Raises:
        OSError: it cannot be opened; or another user owns it, or the link that it is,
            and could have us believe anything, or write anywhere.
    """
    with suppress(FileNotFoundError):
        _check_owner(path, os.lstat(path))
    descriptor = open_file(path, flags, follow=True)
    try:
        _check_owner(path, os.fstat(descriptor))
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _check_owner(path: str, status: os.stat_result) -> None:
    if status.st_uid != os.geteuid():
        raise PermissionError(errno.EPERM, "it belongs to another user", path)


def _begin(descriptor: int) -> None:
    """Write the first record of an empty file, or of one that a crash cut short."""
    head = read_at(descriptor, len(MAGIC), 0)
    if len(head) < len(MAGIC) and MAGIC.startswith(head):
        write_at(descriptor, 0, MAGIC)
