"""
Renames: never over another file where that is not asked for, and durable.

A rename within a file system is one step for everybody who looks. It outlives a crash
of the machine once its folder is durable.
"""

import errno
import os
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Final

RENAME_NOREPLACE: Final = 1
AT_FDCWD: Final = -100
"""Constants of renameat2(2), which Linux has and Python does not."""

NO_RENAME: Final = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP)
NO_LINKS: Final = (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK)
"""Error numbers of systems without renameat2(2), and without hard links."""


def rename_exclusively(source: str, target: str) -> None:
    """
    Rename a file unless there is one of the new name.

    Where the system cannot do both in one step, the file has both names for a moment.

    Raises:
        FileExistsError: there is one.
        OSError: it cannot be renamed.
    """
    code = rename_in_one_step(source, target)
    if code in NO_RENAME:
        link_exclusively(source, target)
        with suppress(FileNotFoundError):  # it was renamed after all
            os.unlink(source)
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


def link_exclusively(source: str, target: str) -> None:
    """
    Give a file a second name unless there is one of that name.

    Where the file system has no links it is renamed, which is two steps: what another
    process puts there in between is replaced.

    Raises:
        FileExistsError: there is one.
        OSError: it cannot be named so.
    """
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        if os.path.lexists(target):
            reason = os.strerror(errno.EEXIST)
            raise FileExistsError(errno.EEXIST, reason, target) from None
        os.rename(source, target)


def make_durable(folder: str) -> None:
    """Make what was renamed in a folder durable, where the file system can do that."""
    with suppress(PermissionError):  # a folder that may be written and not be read
        descriptor = os.open(folder or ".", os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.ENOTSUP):
                raise
        finally:
            os.close(descriptor)


def make_folders(path: str) -> None:
    """Make a folder and those above it, durably, for their owner alone."""
    if os.path.isdir(path):
        return
    above = os.path.dirname(path)
    if above == path:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
    make_folders(above)
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        if not os.path.isdir(path):
            reason = os.strerror(errno.ENOTDIR)
            raise NotADirectoryError(errno.ENOTDIR, reason, path) from None
    make_durable(above)
