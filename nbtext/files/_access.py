"""Who may use a new file or folder: its owner alone, or those who may use another."""

import errno
import os
import stat
from contextlib import suppress
from typing import Final

from nbtext.files._opening import PRIVATE

ACL: Final = "system.posix_acl_access"
"""The extended attribute that holds a file's access control list (acl(5))."""

NO_ACL: Final = (errno.ENODATA, errno.ENOTSUP)
"""Error numbers of a file, or of a file system, that has none."""


def keep_access(descriptor: int, like: str | int, *, strictly: bool = False) -> None:
    """
    Give a file that we have made the owner, group, mode and ACL of another.

    Nobody gets more access than before: where the group or the ACL cannot be kept, the
    group may do no more than everybody may.

    Args:
        descriptor: the new file.
        like: the other one, a path or a descriptor.
        strictly: whether it is an error if the owner or the group cannot be kept.

    Raises:
        OSError: the other file cannot be looked at, or the mode not be changed.
    """
    old, new = os.stat(like), os.fstat(descriptor)
    is_group_kept = True
    if new.st_gid != old.st_gid:
        is_group_kept = _give(descriptor, -1, old.st_gid, strictly)
    if new.st_uid != old.st_uid:
        _give(descriptor, old.st_uid, -1, strictly)
    mode = stat.S_IMODE(old.st_mode) & 0o777
    if not (_keep_acl(descriptor, like) and is_group_kept):
        mode = mode & 0o707 | (mode & 0o007) << 3
    os.fchmod(descriptor, mode)


def _give(descriptor: int, uid: int, gid: int, strictly: bool) -> bool:
    """Change the owner or the group of a file, and return whether we may do that."""
    try:
        os.fchown(descriptor, uid, gid)
    except PermissionError:
        if strictly:
            raise
        return False
    return True


def _keep_acl(descriptor: int, like: str | int) -> bool:
    """Give a file the ACL of another or none, and return whether it has that now."""
    try:
        acl = os.getxattr(like, ACL)
    except AttributeError:  # not Linux
        return True
    except OSError as error:
        if error.errno not in NO_ACL:
            return False
        acl = b""
    try:
        if acl:
            os.setxattr(descriptor, ACL, acl)
        else:
            os.removexattr(descriptor, ACL)  # that of the folder's default
    except OSError as error:
        return not acl and error.errno in NO_ACL
    return True


def make_file(path: str) -> None:
    """Make an empty file for its owner alone, unless there is one."""
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE))


def make_folder(path: str) -> bool:
    """Make a folder for its owner alone, and return whether there was none."""
    if os.path.isdir(path):
        return False
    os.mkdir(path, 0o700)
    return True
