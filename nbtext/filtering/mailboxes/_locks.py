"""
Locks that mail programs use: fcntl(2) on the file, then `<file>.lock` beside it.

That order is Debian's policy (section 11.6). The holder of both is the only writer, if
every other program takes one of them. Several files are locked all at once or not at
all: no lock is held while waiting for a program that may hold one of them and wait for
another (Dovecot does, for minutes, when it moves messages between mboxes).
"""

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from time import monotonic

from nbtext.errors import BusyError, MailboxError
from nbtext.files import (
    is_in_place,
    open_file,
    rename_exclusively,
    succeeds_until,
    write_all,
)
from nbtext.files.mail_locks import LONGEST_PAUSE, busy_mbox, is_stale, try_lock


@contextmanager
def locked(paths: Sequence[str], wait: float) -> Iterator[dict[str, int]]:
    """
    Be the only writer of some files for a while.

    Args:
        paths: the files, without symbolic links; each must exist.
        wait: maximum seconds to wait for others.

    Yields:
        Path to a descriptor, open for reading and writing. No other descriptor of these
        files may be closed meanwhile: that would release the locks of fcntl(2).

    Raises:
        BusyError: others have held one of the locks all the time.
        MailboxError: a file cannot be opened or locked.
    """
    wanted = sorted(set(paths))
    with ExitStack() as stack:
        opened: dict[str, int] = {}
        held = wanted[:1]
        attempt = partial(_try_all, wanted, stack, opened, held)
        if not succeeds_until(attempt, monotonic() + wait, LONGEST_PAUSE):
            raise busy_mbox(held[0], wait)
        yield opened


@contextmanager
def dotlocked(path: str, wait: float) -> Iterator[None]:
    """
    Hold `<path>.lock` for a while.

    Raises:
        BusyError: others have held it all the time.
        OSError: it cannot be made.
    """
    attempt = partial(_try_dotlock, f"{path}.lock")
    if not succeeds_until(attempt, monotonic() + wait, LONGEST_PAUSE):
        message = (
            f"{path}.lock: another program has had this lock for {wait:g} s; try "
            "again later, or remove it if no such program runs"
        )
        raise BusyError(message)
    try:
        yield
    finally:
        _remove(f"{path}.lock")


def _try_all(
    paths: Sequence[str], stack: ExitStack, opened: dict[str, int], held: list[str]
) -> bool:
    """Lock all files, or none; then `held` has the path that others have locked."""
    found: dict[str, int] = {}
    with ExitStack() as undoing:
        for path in paths:
            try:
                is_ours = _try_both(path, undoing, found)
            except OSError as error:
                where = error.filename or path
                message = f"{path}: cannot be locked: {where}: {error.strerror}"
                raise MailboxError(f"{message}; nothing was changed") from error
            if not is_ours:
                held[:] = [path]
                return False
        stack.push(undoing.pop_all())
    opened.update(found)
    return True


def _try_both(path: str, stack: ExitStack, opened: dict[str, int]) -> bool:
    """
    Take both locks of a file, or neither: others may wait for us and hold the second.

    That the file is still in place is checked last: a program that replaces it may
    release one lock before it does so, and the other one afterwards.
    """
    descriptor = open_file(path, os.O_RDWR)
    with ExitStack() as undoing:
        undoing.callback(os.close, descriptor)
        if not (try_lock(descriptor) and is_in_place(path, descriptor)):
            return False
        if not _try_dotlock(f"{path}.lock"):
            return False
        undoing.callback(_remove, f"{path}.lock")
        if not is_in_place(path, descriptor):
            return False
        stack.push(undoing.pop_all())
        opened[path] = descriptor
        return True


def _try_dotlock(path: str) -> bool:
    """Make a dotlock that names its owner from the first moment."""
    if os.path.lexists(path) and not remove_stale(path):
        return False
    aside = f"{path}.nbtext-{os.urandom(6).hex()}"
    try:
        descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        try:
            # as Dovecot writes it, so that others can see whether we are still running
            write_all(descriptor, f"{os.getpid()}:{os.uname().nodename}\n".encode())
        finally:
            os.close(descriptor)
        rename_exclusively(aside, path)
    except BaseException as error:
        with suppress(OSError):
            os.unlink(aside)
        if isinstance(error, FileExistsError):
            return False
        raise
    return True


def _remove(path: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(path)


def remove_stale(path: str) -> bool:
    """
    Remove a dotlock whose owner is gone, and return whether there was one.

    A folder of that name stays, and so does a lock that another program has just made
    in the place of the stale one.
    """
    try:
        found = os.lstat(path)
        if stat.S_ISDIR(found.st_mode) or not is_stale(path, found):
            return False
        aside = f"{path}.nbtext-{os.urandom(6).hex()}"
        os.rename(path, aside)
        is_stale_one = _is_same(os.lstat(aside), found)
        if not is_stale_one:  # another program has just made a new one
            os.link(aside, path)
        os.unlink(aside)
    except OSError:
        return False
    return is_stale_one


def _is_same(one: os.stat_result, other: os.stat_result) -> bool:
    """Return whether it is one file: a new one may get the inode of the old."""
    names = ("st_dev", "st_ino", "st_size", "st_mtime_ns")
    return all(getattr(one, name) == getattr(other, name) for name in names)
