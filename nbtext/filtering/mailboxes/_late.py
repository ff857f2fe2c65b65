"""
Mail that is appended to an old mbox after it was replaced, added to the new one.

The old file keeps a hidden name until no process has it open, which a lease of fcntl(2)
shows; what was appended to it is added to the new file. In a folder where others may
write, a name proves nothing: an old file is ours if it is remembered by its device and
inode, belongs to the owner of the mbox, and has no other name.

After a crash nothing is added twice: before a new mbox with late mail is put in place,
its inode is remembered, so that the next run sees whether that was done.
"""

import fcntl
import os
import re
import signal
from contextlib import suppress
from time import monotonic, sleep, time
from typing import Final

from nbtext.errors import MailboxError
from nbtext.files import is_in_place, open_file
from nbtext.files.mail_locks import try_lock
from nbtext.filtering.mailboxes._locks import locked, remove_stale
from nbtext.filtering.mailboxes._rewriting import (
    OldFiles,
    OldState,
    Piece,
    blank_line_after,
    name_of,
    put_in_place,
    write_aside,
)

LITTER: Final = 60.0
"""Age in seconds from which a file aside, or an unknown old file, is not in use."""

PATIENCE: Final = 1.0
"""Seconds to wait for programs that have the old file open."""

LONGEST_KEPT: Final = 3600.0
"""Seconds for which an old file is kept where the system has no leases."""


class ForeignFileError(MailboxError):
    """A file has the name of an old mbox of ours, and is none."""


def clean_up(path: str, wait: float, old_files: OldFiles) -> list[MailboxError]:
    """
    Clean up what an earlier run has left beside an mbox.

    Args:
        path: the mbox.
        wait: maximum seconds to wait for its locks.
        old_files: remembers which old files are ours.

    Returns:
        What could not be dealt with; the mbox can be filtered all the same.

    Raises:
        BusyError: the mbox is locked.
    """
    # a program that has the other lock may be waiting for this one
    remove_stale(f"{path}.lock")
    folder, name = os.path.split(path)
    random = "nbtext-[0-9a-f]{12}"
    old = re.compile(rf"\.{re.escape(name)}\.{random}\.old")
    litter = re.compile(
        rf"\.{re.escape(name)}\.{random}\.tmp|{re.escape(name)}\.lock\.{random}"
    )
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    problems: list[MailboxError] = []
    olds = [f"{folder}/{name}" for name in names if old.fullmatch(name)]
    # second names of the mbox go first: once it is replaced, they name an old file
    for path_of_old in olds:
        try:
            _was_second_name(path, path_of_old, wait)
        except MailboxError as error:
            problems.append(error)
    for path_of_old in olds:
        try:
            look_after(path, path_of_old, wait, old_files, patience=0.0)
        except MailboxError as error:
            problems.append(error)
    if all(isinstance(problem, ForeignFileError) for problem in problems):
        # not before: the state of an old file may have the inode of one of these
        for name in filter(litter.fullmatch, names):
            with suppress(OSError):
                if time() - os.lstat(f"{folder}/{name}").st_ctime > LITTER:
                    os.unlink(f"{folder}/{name}")
    return problems


def look_after(
    path: str, old: str, wait: float, old_files: OldFiles, *, patience: float = PATIENCE
) -> None:
    """
    Add what was appended to an old file to the new one, and remove it when it is idle.

    Args:
        path: the new file.
        old: the old one, named by `put_in_place`.
        wait: maximum seconds to wait for the lock of the new one.
        old_files: remembers which old files are ours.
        patience: maximum seconds to wait for programs that have the old one open.

    Raises:
        BusyError: the new file is locked.
        ForeignFileError: the old file is not ours.
        MailboxError: the new file cannot be written.
    """
    try:
        descriptor = open_file(old, os.O_RDWR)
    except (FileNotFoundError, BlockingIOError):
        return  # the latter if another run holds a lease of it: it takes care of it
    except OSError as error:
        raise _foreign(old, error.strerror) from error
    try:
        if _is_alone(descriptor, old) and not _was_second_name(path, old, wait):
            state = _state_of(path, old, descriptor, old_files)
            deadline = monotonic() + patience
            if state is not None:
                _look_after(path, old, descriptor, state, wait, deadline, old_files)
    except OSError as error:
        message = f"{path}: what came meanwhile is in {old} still: {error.strerror}"
        raise MailboxError(message) from error
    finally:
        with suppress(OSError):  # it was only read
            os.close(descriptor)


def _foreign(old: str, reason: str | None) -> ForeignFileError:
    return ForeignFileError(
        f"{old}: an old mbox of nbtext's was expected, and another file found "
        f"({reason}); see what it is, and remove it"
    )


def _is_alone(descriptor: int, old: str) -> bool:
    """Return whether no other run takes care of an old file, or has done so."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return is_in_place(old, descriptor)


def _was_second_name(path: str, old: str, wait: float) -> bool:
    """
    Remove a second name of the mbox itself, and return whether it was one.

    A crash before the replacement of the mbox has left it.

    Raises:
        BusyError: the mbox is locked; it may be being replaced now.
        MailboxError: the name cannot be removed.
    """
    if not _is_same(path, old):
        return False
    with locked([path], wait):
        if not _is_same(path, old):
            return False
        try:
            os.unlink(old)
        except OSError as error:
            raise MailboxError(f"{old}: cannot be removed: {error.strerror}") from error
        return True


def _is_same(path: str, old: str) -> bool:
    try:
        return os.path.samestat(os.stat(path), os.lstat(old))
    except OSError:
        return False


def _state_of(
    path: str, old: str, descriptor: int, old_files: OldFiles
) -> OldState | None:
    """
    Return what is remembered of an old file, once it is settled what was done to it.

    Returns:
        None if it may belong to a run at work now that has another memory.

    Raises:
        ForeignFileError: it is not ours.
    """
    status, mbox = os.fstat(descriptor), os.stat(path)
    file = name_of(path, status)
    state = old_files.state(file)
    if state is None:
        if time() - status.st_ctime < LITTER:
            return None
        raise _foreign(old, "it is not remembered")
    if status.st_nlink != 1:
        raise _foreign(old, "it has another name")
    if status.st_uid != mbox.st_uid:
        raise _foreign(old, "it belongs to another user")
    if state.inode:
        state = _settled(file, state, mbox, old_files)
    return state


def _settled(
    file: bytes, state: OldState, mbox: os.stat_result, old_files: OldFiles
) -> OldState:
    """Find out, and remember, whether late mail was added or only about to be."""
    size = state.end if mbox.st_ino == state.inode else state.size
    old_files.begin(file, size)
    return OldState(size)


def _look_after(
    path: str,
    old: str,
    descriptor: int,
    state: OldState,
    wait: float,
    deadline: float,
    old_files: OldFiles,
) -> None:
    is_idle = _is_idle(descriptor, deadline)
    if not is_idle and not try_lock(descriptor):
        return  # a program is writing to it; the next run takes care of that
    grown = os.fstat(descriptor).st_size
    if grown > state.size:
        _put_back(path, descriptor, state.size, grown, wait, old_files)
    if is_idle:
        os.unlink(old)
        old_files.finish(name_of(path, os.fstat(descriptor)))


def _is_idle(descriptor: int, deadline: float) -> bool:
    """Return whether no other process has an old file open."""
    while True:
        try:
            if _is_open_nowhere_else(descriptor):
                return True
        except (OSError, AttributeError):  # no leases on this system or file system
            return time() - os.fstat(descriptor).st_ctime > LONGEST_KEPT
        if monotonic() >= deadline:
            return False
        sleep(0.05)


def _is_open_nowhere_else(descriptor: int) -> bool:
    # a process that opens it now causes a signal, which must not end this one
    fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)
    try:
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_WRLCK)
    except BlockingIOError:
        return False
    fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    return True


def _put_back(
    path: str, descriptor: int, start: int, end: int, wait: float, old_files: OldFiles
) -> None:
    """Add a part of an old file to the new one, which is rewritten for that."""
    file = name_of(path, os.fstat(descriptor))
    with locked([path], wait) as opened:
        new = opened[path]
        size = os.fstat(new).st_size
        pieces: list[Piece] = [(new, 0, size), blank_line_after(new, size)]
        aside = write_aside(path, new, [*pieces, (descriptor, start, end)])
        inode = os.lstat(aside).st_ino
        try:
            old_files.put_back(file, end, inode)
            older = put_in_place(path, new, aside, old_files)
        except BaseException:
            # remembered before the file aside is removed, and its inode is free again
            _settled(file, OldState(start, end, inode), os.stat(path), old_files)
            with suppress(FileNotFoundError):
                os.unlink(aside)
            raise
        old_files.begin(file, end)
    if older is not None:
        look_after(path, older, wait, old_files)
