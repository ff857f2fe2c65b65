"""Who may use a file that takes another's place."""

import os
import stat
import struct
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from nbtext.files import _access, replace_file

USER_OBJ, USER, GROUP_OBJ, MASK, OTHER = 0x01, 0x02, 0x04, 0x10, 0x20
NOBODY = 0xFFFFFFFF
ENTRIES = [
    (USER_OBJ, 6, NOBODY),
    (USER, 6, 12_345),
    (GROUP_OBJ, 4, NOBODY),
    (MASK, 6, NOBODY),
    (OTHER, 0, NOBODY),
]
LIST = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *one) for one in ENTRIES)
"""An access control list as Linux keeps it: user 12345 may read and write, too."""

as_root = pytest.mark.skipif(os.getuid() != 0, reason="root alone gives files away")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "model.nbt"
    path.write_bytes(b"old")
    return path


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("mode", [0o600, 0o660, 0o644, 0o640])
def test_the_mode_is_kept(path: Path, mode: int) -> None:
    path.chmod(mode)

    replace_file(str(path), [b"new"])

    assert (path.read_bytes(), mode_of(path)) == (b"new", mode)


def test_no_file_that_is_replaced_runs_as_another_user(path: Path) -> None:
    path.chmod(0o6755)

    replace_file(str(path), [b"new"])

    assert mode_of(path) == 0o755


def test_a_new_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        replace_file(str(tmp_path / "new.nbt"), [b"new"])
    finally:
        os.umask(before)

    assert mode_of(tmp_path / "new.nbt") == 0o600


def as_user(uid: int, group: int, act: Callable[[], object]) -> int:
    """Do something in a process of another user, and return its exit status."""
    child = os.fork()
    if not child:
        code = 70
        with suppress(Exception):
            os.setgroups([group])
            os.setgid(uid)
            os.setuid(uid)
            act()
            code = 0
        os._exit(code)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


# a forked child of a process with threads may hang; this one has none of its own
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@as_root
def test_two_users_of_a_shared_folder_replace_each_others_files(
    quick_folder: Path,
) -> None:
    quick_folder.parent.chmod(0o755)
    shared = quick_folder / "shared"
    shared.mkdir()
    os.chown(shared, 0, 5_000)
    shared.chmod(0o2770)
    quick_folder.chmod(0o755)
    path = shared / "model.nbt"
    path.write_bytes(b"old")
    os.chown(path, 5_001, 5_000)
    path.chmod(0o660)

    for number, uid in enumerate((5_002, 5_001, 5_002)):
        contents = b"%d" % number
        status = as_user(uid, 5_000, lambda: replace_file(str(path), [contents]))  # noqa: B023  called at once

        assert (status, path.read_bytes()) == (0, contents)
        assert (mode_of(path), path.stat().st_gid) == (0o660, 5_000)


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@as_root
def test_a_group_that_cannot_be_kept_gives_no_other_group_more(
    quick_folder: Path,
) -> None:
    quick_folder.chmod(0o777)
    path = quick_folder / "model.nbt"
    path.write_bytes(b"old")
    os.chown(path, 5_002, 5_000)
    path.chmod(0o664)

    assert as_user(5_002, 5_002, lambda: replace_file(str(path), [b"new"])) == 0

    assert path.read_bytes() == b"new"
    assert (mode_of(path), path.stat().st_gid) == (0o644, 5_002)


@pytest.fixture
def with_list(path: Path) -> Path:
    """A file with an access control list, where there are any."""
    try:
        os.setxattr(path, _access.ACL, LIST)
    except OSError:
        pytest.skip("this file system has no access control lists")
    return path


def test_an_access_control_list_is_kept(with_list: Path) -> None:
    replace_file(str(with_list), [b"new"])

    assert with_list.read_bytes() == b"new"
    assert os.getxattr(with_list, _access.ACL) == LIST


def test_a_list_that_cannot_be_kept_gives_the_group_no_more(
    with_list: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(1, "not here")

    monkeypatch.setattr(os, "setxattr", refuse)

    replace_file(str(with_list), [b"new"])

    assert mode_of(with_list) == 0o600


def test_a_folders_default_list_opens_no_file_that_had_none(path: Path) -> None:
    try:
        os.setxattr(path.parent, "system.posix_acl_default", LIST)
    except OSError:
        pytest.skip("this file system has no access control lists")
    path.chmod(0o660)

    replace_file(str(path), [b"new"])

    assert mode_of(path) == 0o660
    with pytest.raises(OSError, match="No data"):
        os.getxattr(path, _access.ACL)
