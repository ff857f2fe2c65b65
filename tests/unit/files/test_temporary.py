"""Folders of temporary files are gone in the end, whatever kills a process."""

import os
import signal
from pathlib import Path

import pytest

from nbtext.files.temporary import LEFTOVER, temporary_folder


@pytest.fixture(autouse=True)
def above(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


def grow_old(path: Path) -> None:
    then = path.stat().st_mtime - LEFTOVER - 1
    os.utime(path, (then, then))


def test_a_folder_is_gone_with_all_that_is_in_it(above: Path) -> None:
    with temporary_folder() as folder:
        assert folder.parent == above
        assert folder.stat().st_mode & 0o777 == 0o700
        (folder / "model").write_text("counts")

    assert list(above.iterdir()) == []


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_what_a_kill_left_is_removed_once_it_is_old(above: Path) -> None:
    child = os.fork()
    if not child:
        with temporary_folder() as folder:
            (folder / "model").write_text("counts")
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    (left,) = above.iterdir()

    with temporary_folder():
        assert left.exists()  # somebody may just be about to lock it
    grow_old(left)
    with temporary_folder():
        assert not left.exists()


def test_what_somebody_holds_or_is_no_such_folder_stays(above: Path) -> None:
    (above / ".nbtext-file.temporary").write_text("mine")
    (above / "other").mkdir()
    (above / ".nbtext-link.temporary").symlink_to(above / "other")
    with temporary_folder() as folder:
        for path in (folder, above / ".nbtext-file.temporary", above / "other"):
            grow_old(path)
        with temporary_folder():
            assert folder.exists()

    names = sorted(path.name for path in above.iterdir())
    assert names == [".nbtext-file.temporary", ".nbtext-link.temporary", "other"]


@pytest.mark.parametrize("name", ["nbtext-mail", "nbtext-0.1.0", ".nbtext-notes"])
def test_a_folder_of_the_user_is_no_leftover(above: Path, name: str) -> None:
    (above / name).mkdir()
    (above / name / "letter").write_text("dear")
    grow_old(above / name)

    with temporary_folder():
        pass

    assert (above / name / "letter").read_text() == "dear"
