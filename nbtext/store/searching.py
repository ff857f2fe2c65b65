"""
Searching a model file for where tables begin, whatever its size and holes.

The bytes of a mapped file go in. Holes have no tables, so they are passed over, and
what is searched is searched in pieces: a signal, or another thread, is served between
two of them.
"""

import os
from collections.abc import Iterator
from mmap import mmap
from typing import Final, TypeAlias

Stretches: TypeAlias = list[tuple[int, int]]
"""From which byte to which a file has data, between its holes."""

PIECE: Final = 1 << 26
"""Number of bytes that are searched at a time."""

MOST_STRETCHES: Final = 1 << 16
"""Maximum stretches of data between the holes of a file."""


def stretches_of(descriptor: int, size: int) -> Stretches:
    """
    Return where a file has data.

    Raises:
        ValueError: it has more holes than any copy of a model.
        OSError: the file system does not say.
    """
    stretches: Stretches = []
    end = 0
    while end < size:
        try:
            start = os.lseek(descriptor, end, os.SEEK_DATA)
        except OSError:  # there is no more
            break
        end = min(os.lseek(descriptor, start, os.SEEK_HOLE), size)
        stretches.append((start, end))
        if len(stretches) > MOST_STRETCHES:
            message = (
                f"it has more than {MOST_STRETCHES:,} holes, as no model does; copy it "
                "with `cp --sparse=never` and look at that"
            )
            raise ValueError(message)
    return stretches


def find(mapped: mmap, stretches: Stretches | None, wanted: bytes, start: int) -> int:
    """
    Return where some bytes, none of which is zero, stand first, -1 if nowhere.

    Args:
        mapped: the file.
        stretches: where it has data; None if it has no holes.
        wanted: the bytes.
        start: where the search begins.
    """
    stretches = [(0, len(mapped))] if stretches is None else stretches
    for low, high in _pieces(stretches, start, len(wanted) - 1):
        place = mapped.find(wanted, low, high)
        if place >= 0:
            return place
    return -1


def _pieces(
    stretches: Stretches, start: int, overlap: int
) -> Iterator[tuple[int, int]]:
    """Yield what is to be searched, so that pieces overlap by so many bytes."""
    for low, high in stretches:
        for place in range(max(low, start), high, PIECE):
            yield place, min(place + PIECE + overlap, high)
