"""
Locks that are waited for no longer than the caller says.

The lock is flock(2)'s, which the kernel releases when its holder ends, however that
happens.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from fcntl import LOCK_EX, LOCK_NB, LOCK_SH, LOCK_UN, flock
from time import monotonic, sleep
from typing import Final

from nbtext.files._opening import is_in_place
from nbtext.files.holders import busy

FIRST_PAUSE: Final = 0.01
LONGEST_PAUSE: Final = 0.1
"""Seconds between two attempts to lock a file: at first, and after a while."""


@contextmanager
def locked(
    path: str,
    open_it: Callable[[str], int],
    *,
    wait: float,
    who: str = "another process",
    what: str,
) -> Iterator[int]:
    """
    Hold the flock(2) of what a path leads to, and yield its descriptor.

    If another file takes the place while this one is waited for, that is opened and
    locked instead.

    Args:
        path: the file or folder.
        open_it: opens it, and returns its descriptor.
        wait: how many seconds to wait for others.
        who: those who may hold it, for the message of the error.
        what: what they have been doing, likewise.

    Raises:
        BusyError: others have held it all the time; it says who, if the system tells.
        OSError: it cannot be opened or locked.
    """
    deadline = monotonic() + wait
    was_replaced = False
    while True:
        descriptor = open_it(path)
        try:
            if not flock_until(descriptor, deadline):
                raise busy(path, wait, who=who, what=what)
            if is_in_place(path, descriptor):
                yield descriptor
                return
            if was_replaced:  # again; or nobody can say what is in place
                if monotonic() > deadline:
                    raise busy(path, wait, who=who, what=what)
                sleep(FIRST_PAUSE)
            was_replaced = True
        finally:
            # not left to closing: a process that was forked meanwhile may hold it too
            with suppress(OSError):
                flock(descriptor, LOCK_UN)
            with suppress(OSError):  # what was written was made durable, or is not
                os.close(descriptor)


@contextmanager
def unlocked(descriptor: int) -> Iterator[bool]:
    """
    Keep others from the exclusive flock(2) of an open file for a moment.

    Yields:
        Whether nobody has it; where there are no locks, nobody has.
    """
    is_unlocked = True
    try:
        flock(descriptor, LOCK_SH | LOCK_NB)
    except BlockingIOError:
        is_unlocked = False
    except OSError:
        pass
    try:
        yield is_unlocked
    finally:
        # not left to closing: who has mapped the file has it open
        with suppress(OSError):
            flock(descriptor, LOCK_UN)


def flock_until(descriptor: int, deadline: float) -> bool:
    """
    Lock an open file with flock(2), and return whether it could be had in time.

    Args:
        descriptor: the file.
        deadline: until when to wait for others, in the seconds of `time.monotonic`.

    Raises:
        OSError: it cannot be locked.
    """

    def attempt() -> bool:
        try:
            flock(descriptor, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            return False
        return True

    return succeeds_until(attempt, deadline)


def succeeds_until(
    attempt: Callable[[], bool], deadline: float, longest: float = LONGEST_PAUSE
) -> bool:
    """Make an attempt, again and again until it succeeds or the time is over."""
    pause = FIRST_PAUSE
    while not attempt():
        left = deadline - monotonic()
        if left <= 0:
            return False
        sleep(min(pause, left))
        pause = min(2 * pause, longest)
    return True
