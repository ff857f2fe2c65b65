"""
Room for large arrays: in memory, or in temporary files where memory would be short.

A bound says how much memory the arrays of counts may take, about. An array of more than
a small share of it is in a file that is mapped, so that the pages of it that nobody
needs can leave memory: `let_go` sends them off as work goes on from one range of keys
to the next. Such a file has no name. Nobody else sees it, and it is gone with the array
or the process, however that ends. Its place on the disk is reserved when it is made: to
write to a mapped page that a full disk has no place for would end the process. Where
there is no place, arrays stay in memory, unless the user has asked for the bound.
"""

# ruff: noqa: PTH120, PTH123 -- importing pathlib costs 5 ms

from __future__ import annotations

import errno
import mmap
import os
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import IO, TYPE_CHECKING, Any, Final, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    Kind = TypeVar("Kind", bound=np.generic)

from nbtext.errors import NoRoomError
from nbtext.files import write_all

SHARE: Final = 16
"""An array that takes more than this part of the bound is in a file."""

SPILLED: Final = 4
"""Counts that take more than this part of the bound go to a file."""

STEP: Final = 1 << 24
"""How many bytes are worked on between two times that pages are let go of."""

PAGES: Final = 1 << 14
"""Arrays of no more bytes keep their pages: letting go takes longer than it wins."""

LEAST_BOUND: Final = 1 << 20
"""The least bound, in bytes."""

ALIGNED: Final = 8
"""Arrays in a file begin at multiples of so many bytes."""

CGROUP: Final = "/proc/self/cgroup"
LIMITS: Final = {
    "": ("/sys/fs/cgroup", "memory.max"),
    "memory": ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
}
"""Where Linux says in which control groups a process is; and by the controllers of a
group, of version 2 and 1, where it says how much memory that and those above it may
take."""

_BOUND: Final[ContextVar[int | None]] = ContextVar("_BOUND", default=None)
_IS_ASKED: Final[ContextVar[bool]] = ContextVar("_IS_ASKED", default=False)
"""Whether the user has asked for the bound; if not, memory is better than an error."""


def bound() -> int:
    """Return how much memory arrays may take, in bytes: half of what there is."""
    known = _BOUND.get()
    if known is None:
        known = max(memory() // 2, LEAST_BOUND)
        _BOUND.set(known)
    return known


@contextmanager
def shared(jobs: int) -> Iterator[None]:
    """Have each of several processes that begin meanwhile keep to a part of it."""
    before = _BOUND.set(max(bound() // jobs, LEAST_BOUND))
    try:
        yield
    finally:
        _BOUND.reset(before)


@contextmanager
def bounded(n_bytes: int | None) -> Iterator[None]:
    """Bound the memory of arrays meanwhile; None for the default."""
    if n_bytes is None:
        yield
        return
    before = _BOUND.set(max(n_bytes, LEAST_BOUND)), _IS_ASKED.set(True)
    try:
        yield
    finally:
        _BOUND.reset(before[0])
        _IS_ASKED.reset(before[1])


def memory() -> int:
    """Return the memory of the machine, or of its container if that has less."""
    whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for path in _limits():
        with suppress(OSError, ValueError):  # there is none, or it says "max"
            whole = min(whole, int(_read(path)))
    return whole


def _limits() -> Iterator[str]:
    """Yield where limits on the memory of this process may stand."""
    groups = ""
    with suppress(OSError):  # it is no Linux
        groups = _read(CGROUP)
    for line in groups.splitlines():
        _, controllers, group = line.split(":", 2)
        if controllers in LIMITS:
            root, name = LIMITS[controllers]
            above = f"{root}/{group.strip('/')}".rstrip("/")
            # a container may see the names of groups that are outside of it
            while above.startswith(root):
                yield f"{above}/{name}"
                above = os.path.dirname(above)


def _read(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def empty(n: int, kind: np.dtype[Kind] | type[Kind]) -> NDArray[Kind]:
    """
    Return an array of n values, to be written to; those in a file are zero.

    Raises:
        NoRoomError: the temporary folder has no room for it, and the user has asked for
            the bound.
    """
    dtype = np.dtype(kind)
    if n * dtype.itemsize <= bound() // SHARE:
        return np.empty(n, dtype)
    return _mapped([(dtype, n)])[0]


def zeros(n: int, kind: np.dtype[Kind] | type[Kind]) -> NDArray[Kind]:
    """Return an array of n zeros, to be written to, likewise."""
    values = empty(n, kind)
    if not is_in_file(values):
        values.fill(0)
    return values


def copied(arrays: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
    """
    Return the same arrays, in one file if there is room for it.

    Raises:
        NoRoomError: there is none, and the user has asked for the bound.
    """
    copies = _mapped([(array.dtype, len(array)) for array in arrays])
    if not any(map(is_in_file, copies)):  # there is no room
        return [*arrays]
    for copy, array in zip(copies, arrays, strict=True):
        copy[:] = array
        release(copy)
    return copies


def in_file(parts: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
    """
    Return the same arrays in a file, as arrays of one type.

    Raises:
        NoRoomError: the temporary folder has no room for them.
    """
    kind = np.result_type(*parts)
    return copied([part.astype(kind, copy=False) for part in parts])


def is_in_file(values: NDArray[Any]) -> bool:
    """Return whether an array is in a file."""
    return _map_of(values) is not None


def in_memory(arrays: Iterable[NDArray[Any]]) -> int:
    """Return how many bytes of arrays are in no file."""
    return sum(array.nbytes for array in arrays if not is_in_file(array))


def release(values: NDArray[Any]) -> None:
    """Let go of the memory of an array that is in a file; it can still be read."""
    base = _map_of(values)
    if base is not None and values.nbytes and hasattr(mmap, "MADV_DONTNEED"):
        page = mmap.PAGESIZE
        begin = values.ctypes.data - np.frombuffer(base, np.uint8).ctypes.data
        first, end = begin // page * page, begin + values.nbytes
        base.madvise(mmap.MADV_DONTNEED, first, end - first)


def give_back() -> None:
    """Give memory that is free between arrays back to the system, where glibc can."""
    from ctypes import CDLL  # which numpy has loaded

    with suppress(AttributeError):  # of another C library
        CDLL(None).malloc_trim(0)


def converted(values: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return an array with its values in another type, which holds all of them."""
    found = empty(len(values), dtype)
    for part, to in _pieces(values, found):
        to[:] = part
    return found


def extremes(values: NDArray[Any]) -> tuple[int, int]:
    """Return the least and the largest of some integers, and of 0."""
    low = high = 0
    for (part,) in _pieces(values):
        low, high = min(low, int(part.min())), max(high, int(part.max()))
    return low, high


def total(values: NDArray[Any]) -> int:
    """Return the sum of some integers, which 64 bits hold."""
    return sum(int(part.sum(dtype=np.int64)) for (part,) in _pieces(values))


def negative(values: NDArray[Any]) -> NDArray[np.int64]:
    """Return integers with the other sign, in 64 bits."""
    found = empty(len(values), np.int64)
    for part, to in _pieces(values, found):
        np.negative(part, out=to, dtype=np.int64)
    return found


def _pieces(*arrays: NDArray[Any]) -> Iterator[list[NDArray[Any]]]:
    """Yield arrays of one length piece by piece; let go of what is behind."""
    working = Ranges(arrays)
    step = STEP // max(array.itemsize for array in arrays)
    for start in range(0, len(arrays[0]), step):
        yield [array[start : start + step] for array in arrays]
        working.let_go()


class Ranges:
    """
    Lets go of the pages of arrays that are worked on range by range.

    Attributes:
        arrays: those of them that are in files, and not short.
    """

    def __init__(self, arrays: Iterable[NDArray[Any]]) -> None:
        self.arrays = [
            array for array in arrays if array.nbytes > PAGES and is_in_file(array)
        ]
        self._worked = 0

    def done(self, n_bytes: int) -> None:
        """Take note that so many more bytes were read or written."""
        self._worked += n_bytes
        if self._worked >= STEP:
            self.let_go()

    def let_go(self) -> None:
        """Let go of all pages; each can still be read."""
        self._worked = 0
        for array in self.arrays:
            release(array)


class Growing:
    """An array of integers that grows at its end, in memory or in a file."""

    def __init__(self) -> None:
        self._parts: list[NDArray[Any]] = []
        self._in_memory = 0
        self._file: IO[bytes] | None = None
        self._written = 0
        self._stays = False

    def append(self, part: NDArray[Any]) -> None:
        """
        Add some values; all parts are of one type.

        Raises:
            NoRoomError: the temporary folder has no room for them, and the user has
                asked for the bound.
        """
        self._parts.append(part)
        self._in_memory += part.nbytes
        if self._in_memory > bound() // SHARE:
            self._put_aside()

    def whole(self) -> NDArray[Any]:
        """Return all values, not to be written to."""
        if self._file is None:
            return np.concatenate(self._parts)
        dtype = self._parts[0].dtype
        self._put_aside()
        if self._file is None:
            return np.concatenate(self._parts)
        with self._file as file:
            whole = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        return np.frombuffer(whole, dtype)

    def _put_aside(self) -> None:
        if self._stays:
            return
        try:
            if self._file is None:
                self._file = temporary_file()
            for part in self._parts:
                write_all(self._file.fileno(), part.data.cast("B"))
        except OSError as error:
            if not _IS_ASKED.get():
                self._stay()
                return
            raise NoRoomError(_temporary_folder(), self._in_memory, error) from error
        self._written += self._in_memory
        self._parts, self._in_memory = [self._parts[0][:0]], 0

    def _stay(self) -> None:
        """Stay in memory from now on, with what is in the file."""
        self._stays = True
        if self._file is not None:
            with self._file as file:
                file.seek(0)
                data = file.read(self._written)
            self._file = None
            self._parts.insert(0, np.frombuffer(data, self._parts[0].dtype))


def temporary_file() -> IO[bytes]:
    """Return a file that has no name, without a buffer."""
    from tempfile import TemporaryFile  # which imports OpenSSL, seldom wanted here

    return TemporaryFile(buffering=0, dir=_temporary_folder())


def _temporary_folder() -> str:
    from nbtext.files.temporary import folder_of_temporary_files

    return folder_of_temporary_files()


def _map_of(values: NDArray[Any]) -> mmap.mmap | None:
    """Return the mapped file that an array is in, None if it is in memory."""
    base: Any = values
    while isinstance(base, np.ndarray | memoryview):
        base = base.base if isinstance(base, np.ndarray) else base.obj
    return base if isinstance(base, mmap.mmap) else None


def _mapped(shapes: Sequence[tuple[np.dtype[Any], int]]) -> list[NDArray[Any]]:
    """Return arrays of zeros in a file of their own, by type and length."""
    offsets, size = [], 0
    for dtype, n in shapes:
        offsets.append(size)
        size += -(-dtype.itemsize * n // ALIGNED) * ALIGNED
    size = max(size, 1)
    try:
        with temporary_file() as file:  # the map keeps what is in it
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, size)
            else:
                file.truncate(size)
            whole = mmap.mmap(file.fileno(), size)
    except OSError as error:
        if not _IS_ASKED.get():
            return [np.zeros(n, dtype) for dtype, n in shapes]
        if error.errno == errno.ENOMEM:  # of addresses (`ulimit -v`), not of the disk
            raise MemoryError from error
        raise NoRoomError(_temporary_folder(), size, error) from error
    return [
        np.frombuffer(whole, dtype, n, offset)
        for (dtype, n), offset in zip(shapes, offsets, strict=True)
    ]
