"""
A table behind those of a model file: readers see it whole, or not at all.

The bytes of a table go in. Callers hold the lock of `nbtext.store.lock`. What is
imported here is waited for with each message that is learnt.
"""

import os
from time import gmtime, strftime

from nbtext import __version__
from nbtext.files import write_at, write_out

TYPE_CHECKING = False  # typing takes longer to import than a message to learn
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Final

    from nbtext.files import Buffer

WRITER: "Final" = f"nbtext {__version__}"
"""What writes tables."""

TAIL: "Final" = 64
"""Number of tables behind the first from which a model is due to be compacted."""

PUNCH_HOLE: "Final" = 0x01 | 0x02
"""FALLOC_FL_KEEP_SIZE and FALLOC_FL_PUNCH_HOLE of Linux's fallocate."""

LEAST_TAIL: "Final" = 1 << 20
"""Minimum bytes of a tail that is compacted for being longer than the first table."""


def now() -> str:
    """Return the time, as ISO 8601 in UTC, to the second."""
    return strftime("%Y-%m-%dT%H:%M:%S+00:00", gmtime())


def is_due(lengths: "Sequence[int]") -> bool:
    """
    Return whether a model's tail is so long that readers should not have it.

    Args:
        lengths: of all its tables, in bytes.
    """
    return len(lengths) > TAIL or sum(lengths[1:]) > max(lengths[0], LEAST_TAIL)


def append_table(
    path: str, descriptor: int, offset: int, chunks: "Iterable[Buffer]"
) -> None:
    """
    Put a table behind those of a model file, durably.

    The first byte comes last, when the others are durable: a table without it was never
    there, whatever a crash of the machine has left of the others, and in what order.

    Args:
        path: what the file is called.
        descriptor: the file, open and locked.
        offset: where its last table ends, in bytes, and with it the file.
        chunks: the table's bytes, in pieces.

    Raises:
        ModelWriteError: it cannot be written; readers pass over what was.
    """
    table = memoryview(b"".join(chunks))
    try:
        _write_rest(descriptor, offset, table)
        _make_valid(descriptor, offset, table[:1])
    except OSError as error:
        import errno  # seldom; and what these import takes long

        from nbtext.errors import ModelWriteError, advice_on

        cause = error
        if error.errno == errno.EBADF:  # it was opened for reading
            cause = OSError(errno.EACCES, "it may only be read")
        message = (
            f"{path}: the model cannot be written: {cause.strerror}; it is as good as "
            f"before, and nothing more was learnt{advice_on(cause, path)}"
        )
        raise ModelWriteError(message) from error


def _write_rest(descriptor: int, offset: int, table: memoryview) -> None:
    """Write a table but for its first byte, durably; or take no room and raise."""
    _check_room(descriptor, len(table))
    try:
        write_at(descriptor, offset + 1, table[1:])
        os.fsync(descriptor)
    except OSError:
        _give_back(descriptor, offset)  # nobody has read it yet
        raise


def _check_room(descriptor: int, size: int) -> None:
    """
    Begin no table for which the disk has no room.

    A quota is not seen here, nor what others write meanwhile.

    Raises:
        OSError: it has not.
    """
    disk = os.fstatvfs(descriptor)
    n_free = disk.f_bavail if os.geteuid() else disk.f_bfree
    if disk.f_blocks and n_free * disk.f_frsize < size:  # some do not tell
        import errno  # seldom

        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _give_back(descriptor: int, offset: int) -> None:
    """
    Give the disk back what was written of a table, where the system can.

    The file does not become shorter, because readers may have mapped it.
    """
    try:
        from ctypes import CDLL, c_int, c_int64  # seldom

        library = CDLL(None)
        punch = getattr(library, "fallocate64", None) or library.fallocate
        punch.argtypes = (c_int, c_int, c_int64, c_int64)
        punch(descriptor, PUNCH_HOLE, offset, os.fstat(descriptor).st_size - offset)
    except (ImportError, AttributeError, OSError):
        pass


def _make_valid(descriptor: int, offset: int, first: "Buffer") -> None:
    """Write the first byte of a table, durably; or leave a zero there and raise."""
    try:
        write_at(descriptor, offset, first)
        write_out(descriptor)
    except OSError:
        try:  # noqa: SIM105  contextlib takes long to import
            os.pwrite(descriptor, b"\0", offset)
        except OSError:
            pass  # as the first was
        raise
