import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from threading import Thread
from time import monotonic

import pytest

from nbtext.errors import BusyError, ModelFileError
from nbtext.files import unlocked
from nbtext.store.lock import locked
from tests.waiting import PATIENCE

HOLD = """
import sys
from nbtext.store.lock import locked

with locked(sys.argv[1]):
    print("locked", flush=True)
    sys.stdin.read()
"""


@contextmanager
def holder(path: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """Hold a model's lock in another process, until its input ends."""
    command = [sys.executable, "-c", HOLD, str(path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"locked\n"
        try:
            yield process
        finally:
            process.kill()


def is_locked(path: Path) -> bool:
    with path.open("rb") as file, unlocked(file.fileno()) as is_unlocked:
        return not is_unlocked


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "model.nbt"
    path.write_bytes(b"a model")
    return path


def test_the_file_is_open_for_writing_while_it_is_locked(path: Path) -> None:
    with locked(str(path)) as descriptor:
        assert descriptor is not None
        os.pwrite(descriptor, b"A", 0)
        assert is_locked(path)

    assert path.read_bytes() == b"A model"
    assert not is_locked(path)


def test_where_there_is_no_file_there_is_nothing_to_lock(tmp_path: Path) -> None:
    with locked(str(tmp_path / "none.nbt")) as descriptor:
        assert descriptor is None

    assert list(tmp_path.iterdir()) == []


def test_the_lock_is_let_go_when_something_fails(path: Path) -> None:
    with pytest.raises(KeyError), locked(str(path)):
        raise KeyError

    assert not is_locked(path)


def test_no_descriptor_stays_open(path: Path) -> None:
    before = descriptors()
    with locked(str(path)), pytest.raises(BusyError), locked(str(path), wait=0):
        pass

    assert descriptors() == before


def test_who_finds_it_locked_says_so_after_a_while(path: Path) -> None:
    with holder(path):
        assert is_locked(path)
        begin = monotonic()
        with (
            pytest.raises(
                BusyError,
                match=r"model\.nbt: another process .* for 0\.2 s; try again",
            ),
            locked(str(path), wait=0.2),
        ):
            pass

        assert monotonic() - begin >= 0.2


def test_who_need_not_wait_tries_once(path: Path) -> None:
    with holder(path), pytest.raises(BusyError), locked(str(path), wait=0):
        pass

    with locked(str(path), wait=0) as descriptor:
        assert descriptor is not None


def test_who_waits_gets_the_lock_when_it_is_free(path: Path) -> None:
    with holder(path) as process:
        assert process.stdin is not None
        ending = Thread(target=process.stdin.close)
        with ExitStack() as stack:
            ending.start()
            descriptor = stack.enter_context(locked(str(path), wait=PATIENCE))

            assert descriptor is not None
        ending.join()


def test_the_lock_of_a_process_that_is_killed_is_free(path: Path) -> None:
    with holder(path) as process:
        process.kill()
        process.wait()

        with locked(str(path), wait=PATIENCE) as descriptor:
            assert descriptor is not None


@pytest.mark.parametrize("gone", [False, True], ids=["replaced", "removed"])
def test_who_waits_gets_the_file_that_is_in_place_then(gone: bool, path: Path) -> None:
    other = path.with_name("other.nbt")
    other.write_bytes(b"another model")
    found: list[bytes | None] = []

    def wait() -> None:
        with locked(str(path), wait=PATIENCE) as descriptor:
            found.append(None if descriptor is None else os.pread(descriptor, 99, 0))

    with locked(str(path)) as descriptor:
        assert descriptor is not None
        waiting = Thread(target=wait)
        waiting.start()
        while len(open_descriptors_of(path)) < 2:
            pass  # it has opened the old file
        if gone:
            path.unlink()
        else:
            other.replace(path)
    waiting.join()

    assert found == [None if gone else b"another model"]


def descriptors() -> list[str]:
    """Return what this process has open, but for the folder that says so."""
    found = []
    for one in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            found.append(str(one.readlink()))
    return sorted(one for one in found if not one.startswith("/proc/"))


def open_descriptors_of(path: Path) -> list[str]:
    """Return this process's descriptors of the file at a path."""
    return [one for one in descriptors() if one == str(path)]


def test_a_symbolic_link_is_locked_as_what_it_leads_to(path: Path) -> None:
    link = path.with_name("link.nbt")
    link.symlink_to(path.name)

    with locked(str(link)):
        assert is_locked(path)
        with pytest.raises(BusyError), locked(str(path), wait=0):
            pass


def test_readers_do_not_disturb_one_another(path: Path) -> None:
    with path.open("rb"):
        assert not is_locked(path)
        with locked(str(path), wait=0):
            pass


def test_a_lock_that_a_forked_process_inherits_is_let_go(path: Path) -> None:
    with locked(str(path)) as descriptor:
        assert descriptor is not None
        inherited = os.dup(descriptor)
    try:
        assert not is_locked(path)
    finally:
        os.close(inherited)


@pytest.mark.parametrize("name", ["", "folder", "a\0b", "model.nbt/below"])
def test_what_cannot_be_opened_is_an_error_with_its_name(name: str, path: Path) -> None:
    (path.parent / "folder").mkdir()
    where = f"{path.parent}/{name}"

    with (
        pytest.raises(ModelFileError, match="the model cannot be opened"),
        locked(where),
    ):
        pass


def test_who_looks_whether_a_file_is_locked_keeps_writers_out_for_a_moment(
    path: Path,
) -> None:
    with path.open("rb") as file:
        with unlocked(file.fileno()) as is_unlocked:
            assert is_unlocked
            with pytest.raises(BusyError), locked(str(path), wait=0):
                pass
        with locked(str(path), wait=0), unlocked(file.fileno()) as is_unlocked:
            assert not is_unlocked
