"""
Files of a folder that are read some at a time, while they are small and nothing waits.

In: a stream of items. Out: the same, each file with what is in it if that was simple to
read; `nbtext.sources._load` opens the others when their turn comes.
"""

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from time import time
from typing import Final, TypeAlias

from nbtext.document import Item, Unread
from nbtext.plain_mail import FRESH, is_quiet

ReadSmall: TypeAlias = (
    "Callable[[tuple[bytes, ...], int, int, int], Sequence[bytes | None]]"
)
"""As `small_files`, which specifies it, or the compiled one."""

FILES: Final = 32
"""How many files are read at a time."""

SMALL: Final = 1 << 20
"""Maximum bytes of a file that is read in the fewest steps."""

TOGETHER: Final = 1 << 22
"""Maximum bytes of all that are read at a time."""


def with_texts(
    items: Iterable[Item], max_bytes: int, read: ReadSmall
) -> Iterator[tuple[Item, bytes | None]]:
    """
    Yield items, each with all that is in its file; None if it is to be opened yet.

    Args:
        items: a stream; nothing is read ahead of an item that is no unopened file, such
            as a pause before input that may not come.
        max_bytes: how much of a document is read.
        read: reads small files.
    """
    waiting: list[Unread] = []
    for item in items:
        if isinstance(item, Unread):
            waiting.append(item)
            if len(waiting) < FILES:
                continue
        if waiting:
            yield from _read(waiting, max_bytes, read)
            waiting.clear()
        if not isinstance(item, Unread):
            yield item, None
    yield from _read(waiting, max_bytes, read)


def _read(
    files: Sequence[Unread], max_bytes: int, read: ReadSmall
) -> Iterator[tuple[Unread, bytes | None]]:
    paths = tuple([encoded(file.path) for file in files])
    texts = read(paths, min(max_bytes, SMALL), TOGETHER, int(time() - FRESH))
    return zip(files, texts, strict=True)


def encoded(path: str) -> bytes:
    """Return a path as the system has it, empty if no file can have it."""
    try:
        return os.fsencode(path)
    except UnicodeEncodeError:
        return b""


def small_files(
    paths: tuple[bytes, ...], most: int, together: int, before: int, /
) -> list[bytes | None]:
    """
    Read files in the fewest steps.

    Args:
        paths: of the files.
        most: maximum bytes of a file.
        together: maximum bytes of all of them.
        before: seconds since 1970; what begins like an mbox, and has changed since, may
            be growing, and its locks are looked at.

    Returns:
        What is in each; None for one that is empty, large, no regular file, changing or
        not there, for one that is an mbox or may be growing to one, and for what is too
        much together.
    """
    texts = []
    for path in paths:
        text = small_file(path, min(most, together), before)
        together -= len(text or b"")
        texts.append(text)
    return texts


def small_file(path: str | bytes, most: int, before: int | None = None) -> bytes | None:
    """
    Read one file in the fewest steps.

    Args:
        path: of the file.
        most: maximum bytes of it.
        before: as in `small_files`; None if an mbox is read, too.

    Returns:
        What is in it; None for what `small_files` leaves.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except (OSError, ValueError):
        return None
    try:
        status = os.fstat(descriptor)
        if not (stat.S_ISREG(status.st_mode) and 0 < status.st_size <= most):
            return None
        text = os.read(descriptor, status.st_size + 1)
        if len(text) != status.st_size:
            return None
        if before is not None and text.startswith(b"From "):
            is_old = status.st_mtime_ns // 10**9 < before
            if b"\nFrom " in text or not (is_old or is_quiet(descriptor, path, status)):
                return None
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return text
