"""
New files, and new contents in the place of old ones, whole or not at all.

Contents are written aside, made durable and renamed; then the rename is made durable.
A crash before the rename leaves the old file and perhaps a leftover, which the next
writer removes; a crash after it leaves the old file or the new one.
"""

import errno
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from fcntl import LOCK_EX, LOCK_NB, LOCK_UN, flock
from time import time
from typing import Final

from nbtext.files._access import keep_access
from nbtext.files._opening import PRIVATE, Buffer, open_file, write_all
from nbtext.files._renaming import link_exclusively, make_durable, make_folders

LEFTOVER: Final = 60.0
"""Age in seconds from which an unlocked file aside counts as left by a crash."""


class NotDurableError(OSError):
    """A file is in place, but a crash of the machine may undo that."""


@contextmanager
def new_file(path: str) -> Iterator[int]:
    """
    Make a file for its owner alone; it is durable at the end, or there is none.

    A crash may leave it half written: its name must be one that nobody looks at.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, PRIVATE)
    try:
        try:
            yield descriptor
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except BaseException:
        with suppress(OSError):
            os.unlink(path)
        raise


def replace_file(
    path: str, chunks: Iterable[Buffer], *, exclusively: bool = False
) -> int:
    """
    Put new contents in a file's place, whole or not at all, and return their size.

    They are written aside, made durable and renamed; then the rename is made durable.
    After a crash the old file is there or the new one, and after the return the new
    one. The new file has the owner, group, mode and ACL of the old; one that replaces
    nothing is for its owner alone, and missing folders are made. A symbolic link stays
    one: what it leads to is replaced.

    Raises:
        FileExistsError: there is one.
        NotDurableError: it is replaced, but a crash of the machine may undo that.
        OSError: it cannot be written; the old file is as it was.
    """
    if path.startswith("~/") and not os.path.isdir("~"):
        # else it would be made wherever the program happens to be started
        reason = "~ was left as it is, by the shell or for want of a home; write it out"
        raise FileNotFoundError(errno.ENOENT, reason)
    target = os.path.realpath(path)
    if os.path.lexists(target) and not os.path.isfile(target):
        raise OSError(errno.EINVAL, "a file was expected, and a folder or device found")
    if os.path.lexists(target) and _may_only_be_read(target):
        raise OSError(errno.EACCES, "it may only be read")  # whoever owns the folder
    with _written_aside(target, chunks, is_new=exclusively) as (aside, size):
        if exclusively:
            link_exclusively(aside, target)
        else:
            os.replace(aside, target)
        try:
            make_durable(os.path.dirname(target))
        except OSError as error:
            raise NotDurableError(error.errno, error.strerror) from error
    return size


def _may_only_be_read(path: str) -> bool:
    """Return whether a file may not be written, on a disk that may."""
    is_of_disk = os.statvfs(path).f_flag & os.ST_RDONLY  # which is told by writing
    return not (is_of_disk or os.access(path, os.W_OK))


@contextmanager
def _written_aside(
    target: str, chunks: Iterable[Buffer], *, is_new: bool
) -> Iterator[tuple[str, int]]:
    """
    Write a file beside another, durably, and yield its path and its size in bytes.

    It is locked until the end, under whatever name: so it is no leftover, and nobody
    adds to it before its name is durable, lest that be lost when the rename is undone.
    """
    folder, name = os.path.split(target)
    make_folders(folder)
    _remove_leftovers(folder, name)
    aside = os.path.join(folder, f".{name}.nbtext-{os.urandom(6).hex()}.tmp")
    try:
        descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE)
        try:
            flock(descriptor, LOCK_EX | LOCK_NB)
            os.fchmod(descriptor, PRIVATE)  # whatever the umask
            size = sum(write_all(descriptor, chunk) for chunk in chunks)
            if not is_new:
                with suppress(FileNotFoundError):
                    keep_access(descriptor, target)
            os.fsync(descriptor)
            yield aside, size
        finally:
            # what fails here does not change what has become of the file
            with suppress(OSError):
                # not left to closing: a process that was forked may hold it too
                flock(descriptor, LOCK_UN)
            with suppress(OSError):
                os.close(descriptor)
    finally:
        with suppress(OSError):  # it is in its place
            os.unlink(aside)


def _remove_leftovers(folder: str, name: str) -> None:
    """Remove what writers that were killed have left beside a file."""
    written_aside = rf"\.{re.escape(name)}\.nbtext-[0-9a-f]{{12}}\.tmp"
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if re.fullmatch(written_aside, entry.name):
                written = entry.stat(follow_symlinks=False).st_mtime
                if time() - written > LEFTOVER:
                    _remove_if_idle(entry.path)


def _remove_if_idle(path: str) -> None:
    """Remove a file aside unless its writer holds it."""
    with suppress(OSError):
        descriptor = open_file(path)
        try:
            flock(descriptor, LOCK_EX | LOCK_NB)
            os.unlink(path)
        finally:
            os.close(descriptor)
