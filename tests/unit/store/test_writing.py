import errno
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from fcntl import LOCK_EX, flock
from pathlib import Path
from time import time

import pytest

from nbtext.errors import BusyError, ModelFileError, ModelWriteError
from nbtext.files._replacing import LEFTOVER
from nbtext.store.appending import append_table
from nbtext.store.lock import locked
from nbtext.store.writing import replace_file


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "model.nbt"
    path.write_bytes(b"old")
    return path


def test_a_table_is_put_where_the_last_one_ends(path: Path) -> None:
    with locked(str(path)) as descriptor:
        assert descriptor is not None
        append_table(str(path), descriptor, 3, [b" and", memoryview(b" new")])

    assert path.read_bytes() == b"old and new"


def test_a_long_table_is_written_whole(path: Path) -> None:
    piece = os.urandom(1 << 20)
    with locked(str(path)) as descriptor:
        assert descriptor is not None
        append_table(str(path), descriptor, 3, [piece] * 5)

    assert path.read_bytes() == b"old" + piece * 5


def test_a_file_that_may_only_be_read_is_not_appended_to(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        said = f"it may only be read; it is as good.*; see who may write to {path}"
        with pytest.raises(ModelWriteError, match=said):
            append_table(str(path), descriptor, 3, [b"new"])
    finally:
        os.close(descriptor)

    assert path.read_bytes() == b"old"


LIMITED = """
import os, resource, signal, sys
from nbtext.errors import ModelWriteError
from nbtext.store.lock import locked
from nbtext.store.appending import append_table
from nbtext.store.writing import replace_file

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
path, how = sys.argv[1:]
try:
    if how == "append":
        with locked(path) as descriptor:
            append_table(path, descriptor, 3, [bytes(1000)])
    else:
        replace_file(path, [bytes(1000)])
except ModelWriteError as error:
    print(error)
"""


@pytest.mark.parametrize("how", ["append", "replace"])
def test_a_file_that_grows_too_large_says_what_was_lost(how: str, path: Path) -> None:
    command = [sys.executable, "-c", LIMITED, str(path), how]

    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout

    expected = (
        "and nothing more was learnt" if how == "append" else "before is unchanged"
    )
    assert "the model cannot be written: File too large" in said
    assert expected in said
    assert path.read_bytes()[:3] == b"old"
    assert len(path.read_bytes()) == (100 if how == "append" else 3)
    assert names(path.parent) == ["model.nbt"]


def test_what_was_not_written_whole_takes_no_place(path: Path) -> None:
    script = LIMITED.replace("(100, 100)", "(1 << 20, 1 << 20)")
    script = script.replace("bytes(1000)", "b'table' * (1 << 20)")

    subprocess.run([sys.executable, "-c", script, str(path), "append"], check=True)

    found = path.stat()
    assert found.st_size == 1 << 20  # which readers may have mapped
    assert found.st_blocks * 512 <= 1 << 16
    assert path.read_bytes().rstrip(b"\0") == b"old"


def test_no_table_is_begun_for_which_there_is_no_room(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = os.statvfs(path)
    facts = [*free[:2], free.f_blocks, 1, 1, *free[5:]]
    monkeypatch.setattr(os, "fstatvfs", lambda _: os.statvfs_result(facts))

    with locked(str(path)) as descriptor:
        assert descriptor is not None
        with pytest.raises(ModelWriteError, match="learnt; make room there"):
            append_table(str(path), descriptor, 3, [bytes(2 * free.f_frsize)])

    assert path.read_bytes() == b"old"


@pytest.mark.parametrize(
    ("code", "advice"),
    [
        (errno.EACCES, "Permission denied; {old}; see who may write to {folder}$"),
        (errno.EROFS, "Read-only file system; {old}; see who may write to {folder}$"),
        (errno.ENOSPC, "No space left on device; {old}; make room there$"),
        (errno.EFBIG, "File too large; {old}; allow larger files .`ulimit -f`., or "),
        (errno.EIO, "Input/output error; {old}$"),
    ],
)
def test_what_to_do_is_said_where_a_model_cannot_be_written(
    code: int, advice: str, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(name: str, *_: object) -> int:
        raise OSError(code, os.strerror(code), name)

    said = advice.format(old="what was there before is unchanged", folder=path.parent)

    with monkeypatch.context() as patched:
        patched.setattr(os, "open", refuse)
        with pytest.raises(ModelWriteError, match=said):
            replace_file(str(path), [b"new"])

    assert path.read_bytes() == b"old"


def test_a_new_file_takes_a_place_that_is_free(tmp_path: Path) -> None:
    path = tmp_path / "model.nbt"

    size = replace_file(str(path), [b"n", b"ew"], exclusively=True)

    assert (size, path.read_bytes()) == (3, b"new")
    assert names(tmp_path) == ["model.nbt"]
    assert path.stat().st_nlink == 1


def test_a_place_that_is_taken_stays_as_it_is(path: Path) -> None:
    with pytest.raises(FileExistsError):
        replace_file(str(path), [b"new"], exclusively=True)

    assert path.read_bytes() == b"old"
    assert names(path.parent) == ["model.nbt"]


def test_a_place_that_is_taken_meanwhile_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "model.nbt"

    def contents() -> Iterator[bytes]:
        yield b"new"
        path.write_bytes(b"another's")

    with pytest.raises(FileExistsError):
        replace_file(str(path), contents(), exclusively=True)

    assert path.read_bytes() == b"another's"
    assert names(tmp_path) == ["model.nbt"]


def test_nobody_adds_to_a_file_before_its_name_is_durable(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    fsync = os.fsync

    def look_and_fsync(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            with pytest.raises(BusyError), locked(str(path), wait=0):
                pass
            found.append(path.read_bytes())
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", look_and_fsync)
    replace_file(str(path), [b"new"])

    assert found == [b"new"]
    with locked(str(path), wait=0) as descriptor:
        assert descriptor is not None


def leftover(
    path: Path, *, age: float, name: str = ".model.nbt.nbtext-0123456789ab.tmp"
) -> Path:
    """Leave a file aside as a writer that was killed does."""
    aside = path.with_name(name)
    aside.write_bytes(b"half")
    os.utime(aside, (time() - age,) * 2)
    return aside


def test_what_killed_writers_left_is_removed(path: Path) -> None:
    leftover(path, age=LEFTOVER + 9)
    leftover(path, age=LEFTOVER + 9999, name=".model.nbt.nbtext-456789abcdef.tmp")

    replace_file(str(path), [b"new"])

    assert names(path.parent) == ["model.nbt"]


def test_what_is_young_may_still_be_written(path: Path) -> None:
    leftover(path, age=LEFTOVER - 30)

    replace_file(str(path), [b"new"])

    assert names(path.parent) == [".model.nbt.nbtext-0123456789ab.tmp", "model.nbt"]


def test_what_somebody_holds_is_still_being_written(path: Path) -> None:
    aside = leftover(path, age=LEFTOVER + 9)
    with aside.open("rb") as file:
        flock(file, LOCK_EX)
        replace_file(str(path), [b"new"])

        assert aside.read_bytes() == b"half"
    replace_file(str(path), [b"newer"])
    assert names(path.parent) == ["model.nbt"]


@pytest.mark.parametrize(
    "name",
    [
        "other.tmp",
        ".other.nbt.nbtext-0123456789ab.tmp",
        ".model.nbt.backup-of-my-notes.tmp",
        ".model.nbt.0123456789ab.tmp",
        ".model.nbt.nbtext-0123456789AB.tmp",
        ".model.nbt.nbtext-0123456789abc.tmp",
        ".model.nbt.swp",
        "model.nbt.tmp",
    ],
)
def test_what_is_not_ours_stays(name: str, path: Path) -> None:
    leftover(path, age=LEFTOVER + 9, name=name)

    replace_file(str(path), [b"new"])

    assert names(path.parent) == sorted([name, "model.nbt"])


def test_a_leftover_that_leads_nowhere_does_not_protect_the_others(path: Path) -> None:
    for number in range(9):
        path.with_name(f".model.nbt.nbtext-{number:012x}.tmp").symlink_to("nowhere")
    leftover(path, age=LEFTOVER + 9)

    replace_file(str(path), [b"new"])

    assert ".model.nbt.nbtext-0123456789ab.tmp" not in names(path.parent)


def test_a_file_aside_is_held_and_private_while_it_is_written(path: Path) -> None:
    found = []

    def contents() -> Iterator[bytes]:
        (aside,) = (one for one in path.parent.iterdir() if one != path)
        os.utime(aside, (0, 0))
        replace_file(str(path), [b"another's"])
        found.append((aside.exists(), stat.S_IMODE(aside.stat().st_mode)))
        yield b"new"

    path.chmod(0o640)
    before = os.umask(0)
    try:
        replace_file(str(path), contents())
    finally:
        os.umask(before)

    assert found == [(True, 0o600)]
    assert path.read_bytes() == b"new"


@pytest.mark.skipif(os.getuid() != 0, reason="root alone gives files away")
def test_a_file_that_root_replaces_stays_its_owners(path: Path) -> None:
    os.chown(path, 12_345, 54_321)
    path.chmod(0o640)

    replace_file(str(path), [b"new"])

    found = path.stat()
    assert (path.read_bytes(), stat.S_IMODE(found.st_mode)) == (b"new", 0o640)
    assert (found.st_uid, found.st_gid) == (12_345, 54_321)


def test_a_new_file_behind_a_link_is_made_where_it_leads(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    link = tmp_path / "model.nbt"
    link.symlink_to("there/model.nbt")

    replace_file(str(link), [b"new"], exclusively=True)

    assert link.is_symlink()
    assert (tmp_path / "there" / "model.nbt").read_bytes() == b"new"


@pytest.mark.parametrize("exclusively", [False, True])
def test_links_in_a_circle_are_refused(exclusively: bool, tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")

    with pytest.raises(ModelFileError, match="cannot be written"):
        replace_file(str(tmp_path / "a"), [b"new"], exclusively=exclusively)

    assert names(tmp_path) == ["a", "b"]


@pytest.mark.parametrize("name", ["a\0b", "old/below"])
def test_a_place_that_cannot_be_is_refused(name: str, path: Path) -> None:
    (path.parent / "old").write_bytes(b"")

    with pytest.raises(ModelWriteError, match="before is unchanged"):
        replace_file(str(path.parent / name), [b"new"])


def test_a_folder_that_is_a_file_is_named(path: Path) -> None:
    with pytest.raises(ModelWriteError, match=r"below\.nbt: .*Not a directory"):
        replace_file(str(path / "below.nbt"), [b"new"], exclusively=True)


def test_a_reader_keeps_what_it_has_open(path: Path) -> None:
    with path.open("rb") as file:
        replace_file(str(path), [b"new"])

        assert file.read() == b"old"


def test_nothing_else_is_touched_when_contents_fail(path: Path) -> None:
    leftover(path, age=1)
    with suppress(ModelWriteError):
        replace_file(str(path), broken())

    assert path.read_bytes() == b"old"
    assert names(path.parent) == [".model.nbt.nbtext-0123456789ab.tmp", "model.nbt"]


def broken() -> Iterator[bytes]:
    yield b"half"
    message = "no more"
    raise OSError(message)
