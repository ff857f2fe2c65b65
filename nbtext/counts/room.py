"""
Room for large arrays: in memory, or in a temporary file where memory would be short.

The file has no name, so that nobody else sees it, and it is gone with the array.
"""

from __future__ import annotations

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
    """Return the same arrays, in a file; they get one type."""
    values = _in_file(sum(map(len, parts)), np.result_type(*parts))
    copies = []
    end = 0
    for part in parts:
        start, end = end, end + len(part)
        values[start:end] = part
        copies.append(np.asarray(values[start:end]))
    return copies


def _in_file(n: int, kind: np.dtype[Any]) -> NDArray[Any]:
    with tempfile.TemporaryFile() as file:  # the map keeps what is in it
        return np.memmap(file, kind, mode="w+", shape=(max(n, 1),))[:n]
