"""How many bytes there are to read, for a person who waits."""

# ruff: noqa: PTH116 -- strings, as everywhere in this package

import os
import stat
from collections.abc import Sequence

from nbtext.document import Unread
from nbtext.sources._arguments import named_paths
from nbtext.sources._labels import without_compression
from nbtext.sources._walk import walk


def total_bytes(arguments: Sequence[str]) -> int | None:
    """
    Return how many bytes sources have; None if that is not known before they are read.

    It is not for the standard input, pipes, compressed files, and some documents of a
    file.
    """
    total = 0
    for _, path in named_paths(arguments, labelled=True):
        try:
            status = os.stat(path)
            is_folder = stat.S_ISDIR(status.st_mode)
            files = walk(path, None) if is_folder else [Unread(path, path)]
            for file in files:
                if isinstance(file, Unread):
                    if without_compression(file.path) != file.path:
                        return None
                    found = os.stat(file.path)
                    if not stat.S_ISREG(found.st_mode):
                        return None
                    total += found.st_size
        except (OSError, ValueError):
            return None
    return total
