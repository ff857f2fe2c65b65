"""Locks that cannot be had, and who has them."""

import os
from contextlib import closing
from fcntl import LOCK_EX, flock
from pathlib import Path
from time import monotonic

import pytest

from nbtext.errors import BusyError
from nbtext.files import locked, open_file
from tests.waiting import PATIENCE


@pytest.fixture
def path(tmp_path: Path) -> str:
    (tmp_path / "file").touch()
    return str(tmp_path / "file")


def test_the_error_names_the_process_that_holds_the_lock(path: str) -> None:
    name = Path("/proc/self/comm").read_text().strip()
    with closing(os.fdopen(open_file(path))) as holder:
        flock(holder, LOCK_EX)
        if str(Path(path).stat().st_ino) not in Path("/proc/locks").read_text():
            pytest.skip("this system does not say who holds a lock")
        began = monotonic()

        with pytest.raises(BusyError) as caught, locked(
            path, open_file, wait=0.1, what="has been writing"
        ):  # fmt: skip
            pass

    assert 0.1 <= monotonic() - began < PATIENCE
    assert str(caught.value) == (
        f"{path}: another process ({os.getpid()}, {name}) has been writing for 0.1 s; "
        "try again later, or wait longer with wait"
    )


def test_a_lock_is_released_when_it_could_not_be_had(path: str) -> None:
    before = descriptors()
    with locked(path, open_file, wait=1, what="x"):
        with pytest.raises(BusyError), locked(path, open_file, wait=0, what="x"):
            pass
        with pytest.raises(BusyError), locked(path, open_file, wait=0, what="x"):
            pass

    assert descriptors() == before


def test_a_file_of_which_nobody_can_say_whether_it_is_in_place_is_not_waited_for_on(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nbtext.files._locking.is_in_place", lambda *_: False)
    before = descriptors()
    began = monotonic()

    with pytest.raises(BusyError), locked(path, open_file, wait=0.1, what="x"):
        pass

    assert 0.1 <= monotonic() - began < PATIENCE
    assert descriptors() == before


def test_a_file_that_takes_its_place_is_locked_without_waiting(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = iter([False, True])
    monkeypatch.setattr("nbtext.files._locking.is_in_place", lambda *_: next(answers))

    with locked(path, open_file, wait=0, what="x") as descriptor:
        assert os.fstat(descriptor).st_size == 0


def descriptors() -> list[str]:
    return sorted(path.name for path in Path("/proc/self/fd").iterdir())
