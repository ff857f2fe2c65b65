"""
Files opened where others may have put anything, read in bounds, and written whole.

A FIFO or device blocks nobody, and a symbolic link is followed only where that is
asked for.
"""

import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final, TypeAlias

Buffer: "TypeAlias" = bytes | memoryview

PRIVATE: "Final" = 0o600
"""The mode of a new file: for its owner alone."""


def open_file(path: str, flags: int = os.O_RDONLY, *, follow: bool = False) -> int:
    """
    Open a regular file where others may have put anything, and return the descriptor.

    A FIFO or device blocks nobody, and a symbolic link leads nowhere.

    Args:
        path: the file.
        flags: those of open(2); a file that is made is for its owner alone.
        follow: whether the last part of the path may be a symbolic link.

    Raises:
        OSError: it cannot be opened, or it is no regular file.
    """
    flags |= os.O_NONBLOCK | (0 if follow else os.O_NOFOLLOW)
    descriptor = os.open(path, flags, PRIVATE)
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        import errno  # seldom: a message that is learnt waits for this module

        os.close(descriptor)
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        reason = "a file was expected, and something else found"
        raise OSError(errno.EINVAL, reason, path)
    return descriptor


def read_file(path: str, most: int) -> bytes:
    """
    Return the contents of a regular file, at most so many bytes.

    Raises:
        OSError: it cannot be read, or it is no regular file.
    """
    with os.fdopen(open_file(path), "rb") as file:
        return file.read(most)


def write_all(descriptor: int, data: Buffer) -> int:
    """Write all of some bytes, and return how many they are."""
    rest = memoryview(data).cast("B")
    size = len(rest)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
    return size


def write_at(descriptor: int, offset: int, data: Buffer) -> None:
    """Write all of some bytes at a place of a file."""
    rest = memoryview(data)
    while rest:
        written = os.pwrite(descriptor, rest, offset)
        offset += written
        rest = rest[written:]


def write_out(descriptor: int) -> None:
    """Have the system write what is in an open file to the disk, but not its times."""
    sync = getattr(os, "fdatasync", os.fsync)  # macOS has no fdatasync
    sync(descriptor)


def is_in_place(path: str, descriptor: int) -> bool:
    """Return whether a path still leads to an open file."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except OSError:
        return False
