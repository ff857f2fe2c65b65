"""
An mbox replaced while it is locked; the old file keeps a hidden name for a while.

The new contents are written aside, made durable and renamed over the old file. A
program that has the old file open, and waits for its lock, would then write to a file
that nobody reads. `nbtext.filtering.mailboxes._late` takes care of that.
"""

import errno
import os
from _blake2 import blake2b
from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeAlias

from nbtext.files import keep_access, make_durable, new_file, write_all
from nbtext.files.reading_at import read_at
from nbtext.filtering.mailboxes._transfer import PIECE

Piece: TypeAlias = bytes | tuple[int, int, int]
"""Bytes, or a descriptor and from where to where it is copied."""


class OldState(NamedTuple):
    """
    What is remembered of an mbox that was replaced.

    Attributes:
        size: number of its bytes that the new mbox has.
        end: where the part ends that is about to be added to another new mbox.
        inode: the inode of that mbox; 0 if nothing is about to be added.
    """

    size: int
    end: int = 0
    inode: int = 0


class OldFiles(NamedTuple):
    """
    A durable memory of the mboxes that this program has replaced.

    Attributes:
        state: what is remembered of a file, by `name_of`; None if it is not ours.
        begin: remembers that a file of some size is replaced.
        put_back: remembers that late mail is about to be added to a new mbox: the file,
            where that mail ends, and the inode of the new mbox.
        finish: forgets a file that is gone.
    """

    state: Callable[[bytes], OldState | None]
    begin: Callable[[bytes, int], None]
    put_back: Callable[[bytes, int, int], None]
    finish: Callable[[bytes], None]


def name_of(path: str, status: os.stat_result) -> bytes:
    """Return 16 bytes that identify a file that is, or was, the mbox at a path."""
    text = f"{status.st_dev}:{status.st_ino}\0".encode() + os.fsencode(path)
    return blake2b(text, digest_size=16, person=b"nbtext old mbox").digest()


def write_aside(path: str, descriptor: int, pieces: Iterable[Piece]) -> str:
    """
    Write the new contents of a file beside it, durably, and return the path.

    Args:
        path: the file.
        descriptor: the same, open; the new file has its owner, mode, ACL and times.
        pieces: the new contents.

    Raises:
        OSError: it cannot be written, or its owner or group cannot be kept.
    """
    folder, name = os.path.split(path)
    aside = f"{folder}/.{name}.nbtext-{os.urandom(6).hex()}.tmp"
    status = os.fstat(descriptor)
    with new_file(aside) as new:
        for piece in pieces:
            if isinstance(piece, bytes):
                write_all(new, piece)
            else:
                _copy_range(new, *piece)
        keep_access(new, descriptor, strictly=True)
        os.utime(new, ns=(status.st_atime_ns, status.st_mtime_ns))
    return aside


def put_in_place(
    path: str, descriptor: int, aside: str, old_files: OldFiles
) -> str | None:
    """
    Replace a file by what was written aside, durably.

    Args:
        path: the file.
        descriptor: the same, open.
        aside: the path of what was written.
        old_files: remembers that the old file is ours.

    Returns:
        The path of the old file, for `look_after`; None if the file system has no
        links.
    """
    folder, name = os.path.split(path)
    status = os.fstat(descriptor)
    old_files.begin(name_of(path, status), status.st_size)
    old: str | None = f"{folder}/.{name}.nbtext-{os.urandom(6).hex()}.old"
    try:
        os.link(path, old or "")
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK):
            raise
        old = None
        old_files.finish(name_of(path, status))
    os.replace(aside, path)
    make_durable(folder)
    return old


def blank_line_after(descriptor: int, end: int) -> bytes:
    """Return what is missing of the blank line that ends the last message."""
    tail = read_at(descriptor, min(end, 3), max(end - 3, 0))
    if not tail or tail.endswith((b"\n\n", b"\n\r\n")):
        return b""
    return b"\n" if tail.endswith(b"\n") else b"\n\n"


def _copy_range(new: int, old: int, start: int, end: int) -> None:
    while start < end:
        piece = os.pread(old, min(PIECE, end - start), start)
        if not piece:
            raise OSError(errno.EIO, "it was cut off while it was copied")
        write_all(new, piece)
        start += len(piece)
