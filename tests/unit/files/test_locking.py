"""Locks that cannot be had, and who has them."""

import os
from contextlib import closing
from fcntl import LOCK_EX, flock
from pathlib import Path
from time import monotonic

import pytest

from nbtext.errors import BusyError
from nbtext.files import locked, open_file


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

    assert 0.1 <= monotonic() - began < 10
    assert str(caught.value) == (
        f"{path}: another process ({os.getpid()}, {name}) has been writing for 0.1 s; "
        "try again later, or wait longer with --wait"
    )


def test_a_lock_is_released_when_it_could_not_be_had(path: str) -> None:
    before = descriptors()
    with locked(path, open_file, wait=1, what="x"):
        with pytest.raises(BusyError), locked(path, open_file, wait=0, what="x"):
            pass
        with pytest.raises(BusyError), locked(path, open_file, wait=0, what="x"):
            pass

    assert descriptors() == before


def descriptors() -> list[str]:
    return sorted(path.name for path in Path("/proc/self/fd").iterdir())
