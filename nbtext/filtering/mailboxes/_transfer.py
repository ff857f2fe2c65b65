"""
A message's file moved to another mailbox, and the names that such files get.

Across file systems a message is copied aside, made durable, named, made durable again,
and only then taken away where it was: a crash leaves it in both places, and never in
neither.
"""

import errno
import os
import re
from contextlib import suppress
from itertools import count
from time import time, time_ns
from typing import Final

from nbtext.files import (
    keep_access,
    make_durable,
    new_file,
    open_file,
    rename_exclusively,
    write_all,
)

PIECE: Final = 1 << 20
"""Bytes copied at a time."""

ABANDONED: Final = 36 * 3600.0
"""Age in seconds from which an incomplete message was given up (maildir(5))."""


def move(source: str, target: str, staging: str) -> None:
    """
    Give a file another name, which must be free, on whatever file system.

    A rename is made durable by the caller (`make_durable`); a copy is durable
    before the source goes. A relative link is copied too, for
    elsewhere it would lead nowhere.

    Args:
        source: the file.
        target: its new path.
        staging: where a copy is written first, in the target's file system.

    Raises:
        FileExistsError: there is something at the target.
        FileNotFoundError: there is nothing at the source, or no folder for the target.
        OSError: it cannot be moved; it is where it was.

    """
    if not _is_relative_link(source):
        try:
            rename_exclusively(source, target)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
        else:
            return
    copy(source, staging)
    try:
        rename_exclusively(staging, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(staging)
        raise
    make_durable(os.path.dirname(target))
    with suppress(FileNotFoundError):  # moved or removed by its user meanwhile
        os.unlink(source)


def _is_relative_link(path: str) -> bool:
    return os.path.islink(path) and not os.path.isabs(os.readlink(path))


def copy(source: str, copied: str) -> None:
    """Write a copy of a file, which must be new, durably; with its access and times."""
    here = open_file(source, follow=True)
    try:
        with new_file(copied) as there:
            while piece := os.read(here, PIECE):
                write_all(there, piece)
            keep_access(there, here)
            status = os.fstat(here)
            os.utime(there, ns=(status.st_atime_ns, status.st_mtime_ns))
    finally:
        os.close(here)


def fresh_name() -> str:
    """Return a name that no other file in any Maildir has, as its format asks."""
    seconds, rest = divmod(time_ns(), 10**9)
    host = os.uname().nodename.replace("/", "\\057").replace(":", "\\072")
    number = f"P{os.getpid()}Q{next(_numbers)}R{os.urandom(4).hex()}"
    return f"{seconds}.M{rest // 1000}{number}.{host}"


_numbers = count()
_FRESH: Final = re.compile(r"\d+\.M\d+P\d+Q\d+R[0-9a-f]{8}\.")


def remove_abandoned(folder: str, prefix: str = "") -> None:
    """Remove what copying has left that a crash cut short, as `fresh_name` named it."""
    with suppress(OSError):
        for name in os.listdir(folder):
            path = f"{folder}/{name}"
            is_ours = name.startswith(prefix) and _FRESH.match(name, len(prefix))
            if is_ours and time() - os.lstat(path).st_ctime > ABANDONED:
                os.unlink(path)


def is_same(one: str, other: str) -> bool:
    """Return whether two files have the same bytes; False if one cannot be read."""
    try:
        with (
            os.fdopen(open_file(one, follow=True), "rb") as first,
            os.fdopen(open_file(other, follow=True), "rb") as second,
        ):
            if os.fstat(first.fileno()).st_size != os.fstat(second.fileno()).st_size:
                return False
            while piece := first.read(PIECE):
                if piece != second.read(PIECE):
                    return False
            return True
    except OSError:
        return False
