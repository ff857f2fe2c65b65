"""
An mbox replaced while it is locked; the old file keeps a hidden name for a while.

The new contents are written aside, made durable and renamed over the old. A program
that had the old file open, and waits for its lock, would then write to a file that
nobody reads. `nbtext.filtering.mailboxes._late` looks after that.
"""

import errno
import os
from _blake2 import blake2b
from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeAlias

from nbtext.files import keep_access, make_durable, new_file, write_all
from nbtext.filtering.mailboxes._transfer import PIECE

Piece: TypeAlias = bytes | tuple[int, int, int]
"""Bytes, or a descriptor and from where to where it is copied."""


class OldState(NamedTuple):
    """
    What is remembered of an mbox that was replaced.

    Attributes:
        size: its size in bytes as far as the new mbox has it.
        end: where the part ends that is about to be put into another new mbox.
        inode: that of this other one; 0 if nothing is about to be put there.
    """

    size: int
    end: int = 0
    inode: int = 0


class OldFiles(NamedTuple):
    """
    What remembers, durably, which mboxes this program has replaced.

    Attributes:
        state: what is remembered of a file, by `name_of`; None if it is not ours.
        begin: remembers that a file is replaced that has so many bytes.
        put_back: remembers that what came to it is about to be put into a new mbox.
        finish: forgets a file that is gone.
    """

    state: Callable[[bytes], OldState | None]
    begin: Callable[[bytes, int], None]
    put_back: Callable[[bytes, int, int], None]
    finish: Callable[[bytes], None]


def name_of(path: str, status: os.stat_result) -> bytes:
    """Return 16 bytes that name the file that an mbox is, or was, at a path."""
    text = f"{status.st_dev}:{status.st_ino}\0".encode() + os.fsencode(path)
    return blake2b(text, digest_size=16, person=b"nbtext old mbox").digest()


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


def put_in_place(
    path: str, descriptor: int, aside: str, old_files: OldFiles
) -> str | None:
    """
    Put what was written aside into a file's place, durably.

    Args:
        path: the file.
        descriptor: the same, open.
        aside: what was written.
        old_files: remembers that the old file is ours to look after.

    Returns:
        Where the old file is until `look_after` it; None if it has no other name.

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
