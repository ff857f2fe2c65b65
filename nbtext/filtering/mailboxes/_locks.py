"""
Locks that mail programs know: fcntl(2) on the file, then `<file>.lock` beside it.

That order is Debian's policy (section 11.6). Whoever has both is the only one to write,
as far as others keep to either. Of several locks one has all or none: nothing is held
while another program is waited for, which may hold the one and wait for the other
(Dovecot does, for minutes, when it moves messages between mboxes).
"""

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from time import monotonic
from typing import Final

from nbtext.errors import BusyError, MailboxError
from nbtext.files import (
    busy,
    is_in_place,
    open_file,
    rename_exclusively,
    succeeds_until,
    write_all,
)
from nbtext.files.mail_locks import is_stale, try_lock

LONGEST_PAUSE: Final = 0.5
"""Maximum seconds between two attempts to lock an mbox."""


@contextmanager
def locked(paths: Sequence[str], wait: float) -> Iterator[dict[str, int]]:
    """
    Be the only one to write some files for a while.

    Args:
        paths: the files, without symbolic links; each must exist.
        wait: how many seconds to wait for others.

    Yields:
        Path to a descriptor, open for reading and writing. No other descriptor of these
        files may be closed meanwhile: fcntl's locks would go with it.

    Raises:
        BusyError: somebody else has had one of them all the time.
        MailboxError: one cannot be opened or locked.

    """
    wanted = sorted(set(paths))
    with ExitStack() as stack:
        opened: dict[str, int] = {}
        held = wanted[:1]
        attempt = partial(_try_all, wanted, stack, opened, held)
        if not succeeds_until(attempt, monotonic() + wait, LONGEST_PAUSE):
            raise _busy(held[0], wait)
        yield opened


@contextmanager
def dotlocked(path: str, wait: float) -> Iterator[None]:
    """
    Hold `<path>.lock` for a while.

    Raises:
        BusyError: somebody else has had it all the time.
        OSError: it cannot be made.

    """
    with ExitStack() as stack:
        attempt = partial(_try_dotlock, f"{path}.lock")
        if not succeeds_until(attempt, monotonic() + wait, LONGEST_PAUSE):
            message = (
                f"{path}.lock: another program has had this lock for {wait:g} seconds; "
                "try again later, or remove it if no such program runs"
            )
            raise BusyError(message)
        stack.callback(_remove, f"{path}.lock")
        yield


def _try_all(
    paths: Sequence[str], stack: ExitStack, opened: dict[str, int], held: list[str]
) -> bool:
    """Lock all files, or none; then `held` names the one that could not be had."""
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
    Take both locks of a file; or neither, lest another waits for us with the other one.

    Whether it is still the file in place is looked at last: a program that replaces it
    may let go of the one lock before it does so, and of the other one afterwards.
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


def _busy(path: str, wait: float) -> BusyError:
    return busy(path, wait, who="another program", what="has had it locked")


def _try_dotlock(path: str) -> bool:
    """Make a dotlock that says from the first moment whose it is."""
    if os.path.lexists(path) and not remove_stale(path):
        return False
    aside = f"{path}.nbtext-{os.urandom(6).hex()}"
    try:
        descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        try:
            # as Dovecot has it, so that others too can see whether we are still there
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

    Not one that another program has just made in its place, nor one that is a folder.
    """
    try:
        found = os.lstat(path)
        if stat.S_ISDIR(found.st_mode) or not is_stale(path, found):
            return False
        aside = f"{path}.{os.urandom(4).hex()}"
        os.rename(path, aside)
        is_it = os.lstat(aside).st_ino == found.st_ino
        if not is_it:  # somebody has just made another
            os.link(aside, path)
        os.unlink(aside)
    except OSError:
        return False
    return is_it
