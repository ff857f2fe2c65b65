"""
The locks that mail programs take on an mbox, looked at without disturbing anybody.

These are fcntl(2) on the file, and `<file>.lock` beside it (Debian policy, section
11.6). A reader needs no lock for long: it has to know one moment at which nobody was
writing. Nothing is created and nothing removed, so no write permission is needed.
"""

import errno
import fcntl
import os
from collections.abc import Iterable
from contextlib import suppress
from time import monotonic, time
from typing import Final, NamedTuple

from nbtext import wording
from nbtext.errors import BusyError
from nbtext.files._locking import succeeds_until
from nbtext.files._opening import read_file
from nbtext.files.holders import holder_of
from nbtext.files.reading_at import read_at

STALE: Final = 900.0
"""Age in seconds from which a dotlock was left by a crash (procmail: LOCKTIMEOUT)."""

MOST: Final = 512
"""Maximum bytes read of a dotlock."""

TAIL: Final = 512
"""Number of last bytes by which a file is recognised later."""

LONGEST_PAUSE: Final = 0.5
"""Maximum seconds between two attempts to lock an mbox."""


class QuietMoment(NamedTuple):
    """
    A file at a moment when no mail program was writing to it.

    Attributes:
        status: its status at that moment.
        tail: its last TAIL bytes.
    """

    status: os.stat_result
    tail: bytes


def quiet_moment(
    descriptor: int, path: str | None, wait: float, end: int | None = None
) -> QuietMoment | None:
    """
    Return a file as it is at a moment when no mail program is writing to it.

    A shared fcntl lock keeps out those who lock with fcntl. A dotlock is only looked
    for: if there is none, and the file is the same before and afterwards, then whoever
    had one had finished, and whoever has one now has not begun.

    Args:
        descriptor: the file, open for reading.
        path: where it is, to look for dotlocks; None if only the descriptor is known.
        wait: maximum seconds to wait for those who write to it.
        end: where the tail ends; None for the end of the file.

    Returns:
        None if somebody has been writing to it all the time.

    Raises:
        OSError: its status or its bytes cannot be read.
    """
    dotlocks = _dotlocks_of(path)
    found: list[QuietMoment] = []

    def attempt() -> bool:
        before = os.fstat(descriptor)
        if any(map(is_dotlocked, dotlocks)) or not _lock_shared(descriptor):
            return False
        try:
            tail = tail_of(descriptor, before.st_size if end is None else end)
            status = os.fstat(descriptor)
        finally:
            with suppress(OSError):
                fcntl.lockf(descriptor, fcntl.LOCK_UN)
        found.append(QuietMoment(status, tail))
        return is_unchanged(before, status)

    if not succeeds_until(attempt, monotonic() + wait, LONGEST_PAUSE):
        return None
    return found[-1]


def tail_of(descriptor: int, end: int) -> bytes:
    """Return the TAIL bytes of a file before a place, as far as they are there."""
    start = max(end - TAIL, 0)
    return read_at(descriptor, end - start, start)


def lock_of(path: str) -> str:
    """Return who has an mbox locked, if known: ` (PID, NAME)` or ` (DOTLOCK)`."""
    dotlock = _dotlock_of(path)
    return f" ({dotlock})" if dotlock else holder_of(path)


def busy_mbox(path: str, wait: float) -> BusyError:
    """Return the error that says who has had an mbox locked for so many seconds."""
    dotlock = _dotlock_of(path)
    remedy = f"remove {dotlock} if no program runs that made it"
    longer = f"wait longer with {wording.named('wait')}"
    return BusyError(
        f"{path}: another program{lock_of(path)} has had it locked for {wait:g} "
        "seconds; try again later, or "
        f"{remedy if dotlock else longer}"
    )


def _dotlock_of(path: str) -> str | None:
    return next(filter(is_dotlocked, _dotlocks_of(path)), None)


def is_unchanged(before: os.stat_result, after: os.stat_result) -> bool:
    """Return whether nobody has written to a file between two looks at it."""
    return (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns)


def is_dotlocked(dotlock: str) -> bool:
    """Return whether there is a dotlock whose owner may still be there."""
    try:
        return not is_stale(dotlock, os.lstat(dotlock))
    except OSError:
        return False


def is_stale(dotlock: str, status: os.stat_result) -> bool:
    """Return whether a dotlock is old, or names a process that has ended."""
    return time() - status.st_mtime > STALE or _is_orphaned(dotlock)


def try_lock(descriptor: int, kind: int = fcntl.LOCK_EX) -> bool:
    """
    Lock a file with fcntl(2), and return whether it is locked now.

    Raises:
        OSError: the file system has no locks, or has no more of them.
    """
    try:
        fcntl.lockf(descriptor, kind | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in (errno.EACCES, errno.EAGAIN):
            raise
        return False
    return True


def _lock_shared(descriptor: int) -> bool:
    try:
        return try_lock(descriptor, fcntl.LOCK_SH)
    except OSError:  # where nobody can lock, nobody does
        return True


def _dotlocks_of(path: str | None) -> Iterable[str]:
    """Return the dotlocks of a path, and of the file that it leads to."""
    if path is None:
        return ()
    return dict.fromkeys((f"{path}.lock", f"{os.path.realpath(path)}.lock"))


def _is_orphaned(dotlock: str) -> bool:
    """Return whether a dotlock names a process of this machine that has ended."""
    try:
        text = read_file(dotlock, MOST).decode("ascii", "replace")
        pid, _, host = text.strip().partition(":")
        if host != os.uname().nodename or not pid.isdigit():
            return False
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False
    return False
