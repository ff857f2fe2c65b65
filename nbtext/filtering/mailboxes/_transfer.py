"""
A message's file, moved to another mailbox under a new name.

Across file systems a message is copied aside, made durable, renamed, made durable
again, and only then removed from its old place: a crash leaves it in both places, and
never in neither.
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
from nbtext.filtering.mailboxes._message import Identity
from nbtext.sources import cannot_read

PIECE: Final = 1 << 20
"""Bytes copied at a time."""

ABANDONED: Final = 36 * 3600.0
"""Age in seconds from which an incomplete message is abandoned (maildir(5))."""


def move(
    source: str, target: str, staging: str, identity: Identity | None = None
) -> None:
    """
    Give a message another name, which must be free, perhaps on another file system.

    A rename is made durable by the caller (`make_durable`); a copy is durable before
    the source is removed. A relative link is copied, too: moved, it would dangle.

    Args:
        source: its file.
        target: its new path.
        staging: where a copy is written first, on the target's file system.
        identity: what its file is known by, if the name may be another message's by
            now; that one stays, or is put back under the next free number.

    Raises:
        FileExistsError: the target exists.
        FileNotFoundError: the message, or the folder of the target, is not there.
        OSError: it cannot be moved; it is where it was.
    """
    if not _is_relative_link(source):
        try:
            rename_exclusively(source, target)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
        else:
            if not _is_known(target, identity):
                put_back(target, source)
                raise _gone(source)
            return
    copy(source, staging)
    try:
        if not _is_known(source, identity):
            raise _gone(source)
        rename_exclusively(staging, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(staging)
        raise
    make_durable(os.path.dirname(target))
    try:
        _remove(source, identity)
    except FileNotFoundError:  # it was renamed, moved or removed meanwhile
        with suppress(FileNotFoundError):
            os.unlink(target)
        raise
    except OSError:  # it stays, and its copy goes
        if os.path.lexists(source) and _is_known(source, identity):
            with suppress(OSError):
                os.unlink(target)
        raise


def identity_of(status: os.stat_result) -> Identity:
    """Return what a file is known by, whatever its name."""
    return status.st_ino, status.st_size, status.st_mtime_ns


def _is_known(path: str, identity: Identity | None) -> bool:
    """Return whether no other message is there."""
    try:
        return identity is None or identity_of(os.lstat(path)) == identity
    except FileNotFoundError:
        return True


def _gone(path: str) -> FileNotFoundError:
    return FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)


def _remove(path: str, identity: Identity | None) -> None:
    """
    Remove a message that has been copied, and no other.

    Where another may have its name by now, the file is looked at under a name that
    nobody else uses.

    Raises:
        FileNotFoundError: it is not there.
    """
    if identity is None:
        os.unlink(path)
        return
    aside = f"{path}.{fresh_name()}"
    rename_exclusively(path, aside)
    if not _is_known(aside, identity):
        put_back(aside, path)
        raise _gone(path)
    try:
        os.unlink(aside)
    except FileNotFoundError:  # another run has put it back
        raise
    except OSError:
        put_back(aside, path)
        raise


def put_back(path: str, old: str) -> None:
    """Give a message of an MH folder its number again, or the next that is free."""
    folder, _, number = old.rpartition("/")
    for free in count(int(number)):
        try:
            rename_exclusively(path, f"{folder}/{free}")
        except FileExistsError:
            continue
        return


def _is_relative_link(path: str) -> bool:
    return os.path.islink(path) and not os.path.isabs(os.readlink(path))


def copy(source: str, copied: str) -> None:
    """Copy a file to a new one, durably, with its access rights and times."""
    old = open_file(source, follow=True)
    try:
        with new_file(copied) as new:
            while piece := os.read(old, PIECE):
                write_all(new, piece)
            keep_access(new, old)
            status = os.fstat(old)
            os.utime(new, ns=(status.st_atime_ns, status.st_mtime_ns))
    finally:
        os.close(old)


def fresh_name() -> str:
    """Return a name that no other file in any Maildir has, as the format requires."""
    seconds, rest = divmod(time_ns(), 10**9)
    host = os.uname().nodename.replace("/", "\\057").replace(":", "\\072")
    number = f"P{os.getpid()}Q{next(_numbers)}R{os.urandom(4).hex()}"
    return f"{seconds}.M{rest // 1000}{number}.{host}"


_numbers = count()
FRESH: Final = re.compile(r"\d+\.M\d+P\d+Q\d+R[0-9a-f]{8}\.")
"""How such a name begins."""

LEFT: Final = re.compile(
    r"(?:\.mh_sequences|dovecot-uidlist)\.lock\.nbtext-[0-9a-f]{12}"
    r"|\.dovecot-keywords\.[0-9a-f]{12}\.tmp"
)
"""Files beside those that say how messages are marked, which a crash may leave."""


def remove_abandoned(folder: str, prefix: str = "") -> None:
    """
    Remove what a crash has left in a folder.

    That is incomplete copies, named by `fresh_name` with a prefix, and what is LEFT.
    """
    names: list[str] = []
    with suppress(OSError):
        names = os.listdir(folder)
    for name in names:
        path = f"{folder}/{name}"
        is_copy = name.startswith(prefix) and FRESH.match(name, len(prefix))
        if not (is_copy or LEFT.fullmatch(name)):
            continue
        with suppress(OSError):  # another run was faster, or it is another user's
            if time() - os.lstat(path).st_ctime > ABANDONED:
                os.unlink(path)


def remove_copied(path: str, copied: str, identity: Identity | None) -> str:
    """
    Finish a move that a crash cut short after the copy; return where the copy is.

    Raises:
        FileNotFoundError: the message is not there.
    """
    make_durable(os.path.dirname(copied))
    _remove(path, identity)
    return copied


def names_in(folder: str) -> list[str]:
    """
    Return the names in a folder.

    Raises:
        SourceError: it cannot be read.
    """
    try:
        return os.listdir(folder)
    except OSError as error:
        raise cannot_read(folder, error) from error


def is_same(first_path: str, second_path: str) -> bool:
    """Return whether two files have the same bytes; False if one cannot be read."""
    try:
        with (
            os.fdopen(open_file(first_path, follow=True), "rb") as first,
            os.fdopen(open_file(second_path, follow=True), "rb") as second,
        ):
            if os.fstat(first.fileno()).st_size != os.fstat(second.fileno()).st_size:
                return False
            while piece := first.read(PIECE):
                if piece != second.read(PIECE):
                    return False
            return True
    except OSError:
        return False
