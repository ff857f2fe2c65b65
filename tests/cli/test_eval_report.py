"""`nbtext eval --report`: a file that cannot be written costs no figure."""

import errno
import os
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Run


@pytest.fixture
def unwritable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A folder that this process is told it cannot write to, though it may be root."""
    folder = tmp_path / "closed"
    folder.mkdir()
    access = os.access
    monkeypatch.setattr(
        os, "access", lambda path, mode: str(path) != str(folder) and access(path, mode)
    )
    return "closed"


@pytest.mark.usefixtures("corpus")
def test_what_can_be_known_of_its_place_is_known_before_the_work(
    run: "Run", unwritable: str
) -> None:
    Path("folder.html").mkdir()
    Path("file").touch()

    for place, reason in (
        ("folder.html", "a file was expected, and a folder or device found"),
        ("file/r.html", f"{Path('file').resolve()} is no folder"),
        (
            f"{unwritable}/new/r.html",
            f"nothing can be written to the folder {Path(unwritable).resolve()}",
        ),
    ):
        command = ("eval", "--folds", 3, "--report", "r.md", "--report", place)
        status, out, err = run(*command, "spam", "ham")

        assert (status, out) == (73, "")
        assert err == (
            f"Error: {place}: the report cannot be written: {reason}; "
            "name another file with --report\n"
        )
    assert not Path("r.md").exists()


@pytest.mark.usefixtures("corpus")
def test_where_it_fails_the_results_are_printed(
    run: "Run", monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> NoReturn:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    command = ("eval", "--folds", 3, "spam", "ham")
    printed = run(*command).out
    monkeypatch.setattr("nbtext.files.replace_file", full)
    status, out, err = run(*command, "--report", "r.md", "--report", "r.csv")

    assert (status, out) == (73, printed)
    assert err == (
        "Error: r.md: the report cannot be written: No space left on device; "
        "make room there; r.csv: the report cannot be written: No space left on "
        "device; make room there; name another file with --report\n"
    )


@pytest.mark.usefixtures("corpus")
def test_folders_of_a_report_are_made(run: "Run") -> None:
    assert run("eval", "--report", "new/r.md", "--folds", 3, "spam", "ham").status == 0

    assert Path("new/r.md").read_text().startswith("# nbtext eval\n")
