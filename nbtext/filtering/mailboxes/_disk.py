"""
Files moved so that nothing is lost: never over another, and durably where it matters.

A rename within a file system is one step for everybody who looks. Across file systems a
message is copied aside, made durable, named, made durable again, and only then taken
away where it was: a crash leaves it in both places, and never in neither.
"""

import errno
import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from itertools import count
from time import time, time_ns
from typing import Final

RENAME_NOREPLACE: Final = 1
AT_FDCWD: Final = -100
"""Of renameat2(2), which Linux has and Python does not."""

PIECE: Final = 1 << 20
"""How much is copied at a time, in bytes."""

ABANDONED: Final = 36 * 3600.0
"""A message that is incomplete for so long, in seconds, was given up (maildir(5))."""

_NOT_HERE: Final = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP)
_NO_LINKS: Final = (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK)


def move(source: str, target: str, staging: str) -> None:
    """
    Give a file another name, which must be free, on whatever file system.

    A rename is made durable by whoever asked for it (`make_durable`); a copy is durable
    before the source goes. A link that says where it leads from here is copied too, for
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


def rename_exclusively(source: str, target: str) -> None:
    """
    Rename a file unless there is one of the new name.

    Where the system cannot do both in one step, the file has both names for a moment.

    Raises:
        FileExistsError: there is one.
        OSError: it cannot be renamed.

    """
    code = rename_in_one_step(source, target)
    if code in _NOT_HERE:
        _link_and_unlink(source, target)
    elif code:
        raise OSError(code, os.strerror(code), source, None, target)


def rename_in_one_step(source: str, target: str) -> int:
    """Ask Linux to rename a file exclusively; return its error number, or 0."""
    call = _renameat2()
    if call is None:
        return errno.ENOSYS
    return call(os.fsencode(source), os.fsencode(target))


@cache
def _renameat2() -> Callable[[bytes, bytes], int] | None:
    try:
        import ctypes  # 8 ms, for those only who have something to move

        call = ctypes.CDLL(None, use_errno=True).renameat2
    except (ImportError, OSError, AttributeError):
        return None

    def rename(source: bytes, target: bytes) -> int:
        done = call(AT_FDCWD, source, AT_FDCWD, target, RENAME_NOREPLACE)
        return ctypes.get_errno() if done else 0

    return rename


def _link_and_unlink(source: str, target: str) -> None:
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        if os.path.lexists(target):
            raise FileExistsError(
                errno.EEXIST, os.strerror(errno.EEXIST), target
            ) from None
        os.rename(source, target)
        return
    os.unlink(source)


def copy(source: str, copied: str) -> None:
    """Write a copy of a file, which must be new, durably; with its mode and times."""
    ours = os.open(source, os.O_RDONLY | os.O_NONBLOCK)
    try:
        status = os.fstat(ours)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "it is no file", source)
        with written(copied) as its:
            while piece := os.read(ours, PIECE):
                write_all(its, piece)
            os.fchmod(its, stat.S_IMODE(status.st_mode))
            keep_owner(its, status)
            os.utime(its, ns=(status.st_atime_ns, status.st_mtime_ns))
    finally:
        os.close(ours)


@contextmanager
def written(path: str) -> Iterator[int]:
    """Make a new file for its owner alone, and make it durable; or none at all."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        try:
            yield descriptor
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except BaseException:
        with suppress(OSError):
            os.unlink(path)
        raise


def keep_owner(descriptor: int, like: os.stat_result) -> None:
    """Give a file to who owns another, as far as we may: root filters others' mail."""
    here = os.fstat(descriptor)
    if (here.st_uid, here.st_gid) != (like.st_uid, like.st_gid):
        with suppress(PermissionError):
            os.fchown(descriptor, like.st_uid, like.st_gid)


def make_file(path: str) -> None:
    """Make a file, for who owns the folder that it is in, unless there is one."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return
    try:
        keep_owner(descriptor, os.stat(os.path.dirname(path) or "."))
    finally:
        os.close(descriptor)


def make_folder(path: str) -> bool:
    """Make a folder likewise, and return whether there was none."""
    if os.path.isdir(path):
        return False
    os.mkdir(path, 0o700)
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        keep_owner(descriptor, os.stat(os.path.dirname(path) or "."))
    finally:
        os.close(descriptor)
    return True


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


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of some bytes."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def make_durable(folder: str) -> None:
    """Make what was renamed in a folder durable, where the file system can do that."""
    descriptor = os.open(folder or ".", os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(descriptor)


def is_same(one: str, other: str) -> bool:
    """Return whether two files have the same bytes; False if one cannot be read."""
    try:
        with open(one, "rb") as ours, open(other, "rb") as its:
            if os.fstat(ours.fileno()).st_size != os.fstat(its.fileno()).st_size:
                return False
            while piece := ours.read(PIECE):
                if piece != its.read(PIECE):
                    return False
            return True
    except OSError:
        return False
