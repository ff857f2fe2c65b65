"""
Files in the shared folder, as one machine wrote them and another reads them.

What is read must be what was written: a network file system may show a file cut short,
a disk may change its bytes, and somebody else may put another one in its place.
"""

from __future__ import annotations

import mmap
import os
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from stat import S_ISREG
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from nbtext.store.blocks import Buffer

from nbtext import wording
from nbtext.distributed.shared_folder import writing_to
from nbtext.errors import ClusterError

PIECE: Final = 1 << 22
"""How many bytes are read at a time."""


@dataclass(frozen=True, slots=True)
class SharedFile:
    """A file in the shared folder."""

    path: str
    size: int
    digest: bytes

    def pieces(self) -> Iterator[bytes]:
        """
        Yield its bytes; whoever has had all of them knows that they are right.

        Raises:
            ClusterError: it is not as it was written.
        """
        digest = _hash()
        with _opened(self.path, self.size) as descriptor:
            while piece := os.read(descriptor, PIECE):
                digest.update(piece)
                yield piece
        if digest.digest() != self.digest:
            raise not_as_written(self.path, "its bytes are others")


def write_shared(path: Path, pieces: Iterable[Buffer]) -> SharedFile:
    """
    Write a file to the shared folder.

    Raises:
        ModelWriteError: that cannot be done.
    """
    digest, size = _hash(), 0
    with writing_to(str(path.parent)), path.open("wb") as file:
        for piece in pieces:
            file.write(piece)
            digest.update(piece)
            size += memoryview(piece).nbytes
    return SharedFile(str(path), size, digest.digest())


def mapped(path: str, size: int) -> mmap.mmap:
    """
    Return the bytes of a file of the shared folder, in place.

    Raises:
        ClusterError: it is not there, is no file, or has another size.
    """
    with _opened(path, size) as descriptor:
        return mmap.mmap(descriptor, size, access=mmap.ACCESS_READ)


@contextmanager
def _opened(path: str, size: int) -> Iterator[int]:
    """
    Open a file that has a size; what fails while it is read is told, too.

    Raises:
        ClusterError: as `mapped`.
    """
    try:
        # not to wait for the other end of what somebody made a pipe
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
        try:
            status = os.fstat(descriptor)
            if not S_ISREG(status.st_mode):
                raise not_as_written(path, "it is no file")
            if status.st_size != size:
                found = f"it has {status.st_size:,} bytes, and {size:,} were written"
                raise not_as_written(path, found)
            yield descriptor
        finally:
            os.close(descriptor)
    except OSError as error:
        raise not_as_written(path, error.strerror or str(error)) from error


def not_as_written(path: str, found: str) -> ClusterError:
    """Return what to raise where a file is not as a worker wrote it."""
    return ClusterError(
        f"{path}: a file of the cluster's work is not as it was written there "
        f"({found}); see that all machines see that folder alike, and that nobody else "
        f"writes to it, or name another with {wording.named('shared')}, and try again"
    )


def _hash() -> blake2b:
    return blake2b(digest_size=16)
