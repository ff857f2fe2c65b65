"""
A file replaced while it is locked, and what came to the old one afterwards.

The new contents are written aside, made durable and renamed over the old. A program
that had the old file open, and waits for its lock, would then write to a file that
nobody reads. So the old one keeps a hidden name until no process has it open any more,
which fcntl(2) tells with a lease, and what it has grown by is added to the new one.
"""

import errno
import fcntl
import os
import re
import signal
from collections.abc import Iterable
from contextlib import suppress
from time import monotonic, sleep, time
from typing import Final, TypeAlias

from nbtext.errors import MailboxError
from nbtext.files import (
    is_in_place,
    keep_access,
    make_durable,
    new_file,
    write_all,
)
from nbtext.filtering.mailboxes._locks import locked, try_lock
from nbtext.filtering.mailboxes._transfer import PIECE

Piece: TypeAlias = bytes | tuple[int, int, int]
"""Bytes, or a descriptor and from where to where it is copied."""

LITTER: Final = 60.0
"""A file aside is litter of a crash when it is so old, in seconds."""

PATIENCE: Final = 1.0
"""How long to wait, in seconds, for those who have the old file open."""

LONGEST_KEPT: Final = 3600.0
"""How long an old file is kept where the system has no leases, in seconds."""


def write_aside(path: str, descriptor: int, pieces: Iterable[Piece]) -> str:
    """
    Write what is to take a file's place, durably, and return where.

    Args:
        path: the file.
        descriptor: the same, open; the new one has its owner, mode, ACL and times too.
        pieces: the new contents.

    Raises:
        OSError: it cannot be written, or its owner or group cannot be kept.

    """
    folder, name = os.path.split(path)
    aside = f"{folder}/.{name}.nbtext-{os.urandom(6).hex()}.tmp"
    status = os.fstat(descriptor)
    with new_file(aside) as its:
        for piece in pieces:
            if isinstance(piece, bytes):
                write_all(its, piece)
            else:
                _copy_range(its, *piece)
        keep_access(its, descriptor, strictly=True)
        os.utime(its, ns=(status.st_atime_ns, status.st_mtime_ns))
    return aside


def put_in_place(path: str, descriptor: int, aside: str) -> str | None:
    """
    Put what was written aside into a file's place, durably.

    Returns:
        Where the old file is until `look_after` it; None if it has no other name.

    """
    folder, name = os.path.split(path)
    size = os.fstat(descriptor).st_size
    old: str | None = f"{folder}/.{name}.nbtext-{os.urandom(6).hex()}-{size}.old"
    try:
        os.link(path, old or "")
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK):
            raise
        old = None
    os.replace(aside, path)
    make_durable(folder)
    return old


def clean_up(path: str, wait: float) -> None:
    """
    See to what an earlier run has left beside a file.

    Raises:
        BusyError: the file is locked.
        MailboxError: it cannot be written.

    """
    folder, name = os.path.split(path)
    random = "nbtext-[0-9a-f]{12}"
    ours = re.compile(
        rf"\.{re.escape(name)}\.{random}(-\d+\.old|\.tmp)"
        rf"|{re.escape(name)}\.lock\.{random}"
    )
    try:
        found = [one for one in os.listdir(folder) if ours.fullmatch(one)]
    except OSError:
        return
    for one in sorted(found):
        left = f"{folder}/{one}"
        if one.endswith(".old"):
            look_after(path, left, wait, patience=0.0)
        else:
            with suppress(OSError):
                if time() - os.lstat(left).st_ctime > LITTER:
                    os.unlink(left)


def look_after(path: str, old: str, wait: float, *, patience: float = PATIENCE) -> None:
    """
    Add what an old file has grown by to the new one, and remove it when it is idle.

    Args:
        path: the new file.
        old: the old one, named by `put_in_place`.
        wait: how many seconds to wait for the lock of the new one.
        patience: how many seconds to wait for those who have the old one open.

    Raises:
        BusyError: the new file is locked.
        MailboxError: it cannot be written.

    """
    try:
        descriptor = os.open(old, os.O_RDWR)
    except FileNotFoundError:
        return
    except OSError as error:
        raise MailboxError(f"{old}: cannot be opened: {error.strerror}") from error
    try:
        if _is_ours(descriptor, old) and not _is_current(path, old, descriptor, wait):
            _look_after(path, old, descriptor, wait, monotonic() + patience)
    except OSError as error:
        message = f"{path}: what came meanwhile is in {old} still: {error.strerror}"
        raise MailboxError(message) from error
    finally:
        os.close(descriptor)


def _is_ours(descriptor: int, old: str) -> bool:
    """Return whether no other run looks after an old file, or has done so."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return is_in_place(old, descriptor)


def _is_current(path: str, old: str, descriptor: int, wait: float) -> bool:
    """Return whether a file was not replaced; its other name is then of no use."""
    if not is_in_place(path, descriptor):
        return False
    with locked([path], wait):  # else it may be about to be replaced just now
        if not is_in_place(path, descriptor):
            return False
        os.unlink(old)
        return True


def _look_after(
    path: str, old: str, descriptor: int, wait: float, deadline: float
) -> None:
    is_idle = _is_idle(descriptor, deadline)
    size = int(old.rpartition("-")[2].removesuffix(".old"))
    if not is_idle and not try_lock(descriptor):
        return  # somebody is writing to it; the next run sees what
    grown = os.fstat(descriptor).st_size
    if grown > size:
        _add(path, descriptor, size, grown, wait)
    if is_idle:
        os.unlink(old)
    elif grown > size:
        os.rename(old, f"{old.rpartition('-')[0]}-{grown}.old")


def _is_idle(descriptor: int, deadline: float) -> bool:
    """Return whether no other process has a file open, which has a hidden name only."""
    while True:
        try:
            if _is_open_nowhere_else(descriptor):
                return True
        except (OSError, AttributeError):  # this system, or its disk, has no leases
            return time() - os.fstat(descriptor).st_ctime > LONGEST_KEPT
        if monotonic() >= deadline:
            return False
        sleep(0.05)


def _is_open_nowhere_else(descriptor: int) -> bool:
    # whoever opens it meanwhile sends a signal, which must not end this process
    fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)
    try:
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_WRLCK)
    except BlockingIOError:
        return False
    fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    return True


def _add(path: str, descriptor: int, start: int, end: int, wait: float) -> None:
    """Add a part of one mbox to another, which is rewritten for it."""
    with locked([path], wait) as opened:
        here = opened[path]
        size = os.fstat(here).st_size
        pieces: list[Piece] = [(here, 0, size), blank_line_after(here, size)]
        aside = write_aside(path, here, [*pieces, (descriptor, start, end)])
        old = put_in_place(path, here, aside)
    if old is not None:
        look_after(path, old, wait)


def blank_line_after(descriptor: int, end: int) -> bytes:
    """Return what is missing of the blank line that ends the last message, if any."""
    tail = os.pread(descriptor, min(end, 3), max(end - 3, 0))
    if not tail or tail.endswith((b"\n\n", b"\n\r\n")):
        return b""
    return b"\n" if tail.endswith(b"\n") else b"\n\n"


def _copy_range(its: int, ours: int, start: int, end: int) -> None:
    while start < end:
        piece = os.pread(ours, min(PIECE, end - start), start)
        if not piece:
            raise OSError(errno.EIO, "it was cut off while it was copied")
        write_all(its, piece)
        start += len(piece)
