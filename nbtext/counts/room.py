"""
Room for large arrays: in memory, or in a temporary file where memory would be short.

The file has no name, so that nobody else sees it, and it is gone with the array.
"""

from __future__ import annotations

import mmap
import tempfile
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Kind = TypeVar("Kind", bound=np.generic)

IN_MEMORY: Final = 256 << 20
"""The largest array that is in memory, in bytes."""


def empty(n: int, kind: type[Kind]) -> NDArray[Kind]:
    """Return an array of n values, to be written to."""
    if n * np.dtype(kind).itemsize <= IN_MEMORY:
        return np.empty(n, kind)
    return _in_file(n, np.dtype(kind))


def in_file(parts: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
    """Return the same arrays, in a file, not to be written to; they get one type."""
    kind = np.result_type(*parts)
    ends = np.cumsum([len(part) for part in parts]).tolist()
    if not ends[-1]:
        return [part.astype(kind) for part in parts]
    with tempfile.TemporaryFile() as file:
        for part in parts:
            file.write(np.ascontiguousarray(part, kind).data)
        file.flush()
        values = np.frombuffer(
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), kind
        )
    return np.split(values, ends[:-1])


def release(values: NDArray[Any]) -> None:
    """Let go of the memory of an array that is in a file; it can still be read."""
    base: Any = values
    while isinstance(base, np.ndarray | memoryview):
        base = base.base if isinstance(base, np.ndarray) else base.obj
    if isinstance(base, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
        page = mmap.PAGESIZE
        begin = values.ctypes.data - np.frombuffer(base, np.uint8).ctypes.data
        first, end = begin // page * page, begin + values.nbytes
        if first < end:
            base.madvise(mmap.MADV_DONTNEED, first, end - first)


def _in_file(n: int, kind: np.dtype[Any]) -> NDArray[Any]:
    with tempfile.TemporaryFile() as file:  # the map keeps what is in it
        return np.memmap(file, kind, mode="w+", shape=(max(n, 1),))[:n]
