"""Workers are asked what they can do, also while one of them dies."""

import errno
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("distributed")

from distributed.comm import CommClosedError

import nbtext
from nbtext.distributed import connecting, shared_folder
from nbtext.distributed.connecting import (
    check_workers,
    failures_told,
    of_version,
    result_of,
)
from nbtext.errors import ClusterError, ModelWriteError

GOOD = (nbtext.__version__, True)


class FakeClient:
    """A client whose workers say one thing after another, the last again and again."""

    scheduler = type("Scheduler", (), {"address": "tcp://scheduler:1"})

    def __init__(self, *answers: dict[str, Any]) -> None:
        self.answers = [*answers]

    def wait_for_workers(self, n_workers: int, timeout: float) -> None:
        """Wait for nobody."""

    def run(
        self, task: Callable[..., object], *arguments: object, **how: object
    ) -> dict[str, Any]:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]

    def nthreads(self) -> dict[str, int]:
        return dict.fromkeys(self.answers[0], 2)


@pytest.fixture(autouse=True)
def _quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connecting, "PAUSE", 0)
    monkeypatch.setattr(connecting, "PATIENCE", 0.2)


def test_a_worker_that_dies_while_it_is_asked_is_not_missed() -> None:
    lost = {"one": GOOD, "other": CommClosedError("reset")}
    client: Any = FakeClient(lost, lost, {"one": GOOD})

    assert check_workers(client, "folder", "file") == 2


def test_a_worker_that_comes_back_is_asked() -> None:
    client: Any = FakeClient({}, {}, {"one": GOOD})

    assert check_workers(client, "folder", "file") == 2


def test_workers_that_are_all_gone_are_not_waited_for_without_end() -> None:
    client: Any = FakeClient({})

    with pytest.raises(ClusterError, match="the scheduler has no worker"):
        check_workers(client, "folder", "file")


def test_a_cluster_is_never_said_to_have_no_threads() -> None:
    client: Any = FakeClient({"one": GOOD})
    client.nthreads = dict

    assert check_workers(client, "folder", "file") == 1


def test_a_folder_that_cannot_be_locked_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.flock", fail)

    with (
        pytest.raises(ModelWriteError, match=r"made and locked there.*No locks"),
        shared_folder.shared_folder(str(tmp_path / "m.nbt"), None),
    ):
        pytest.fail("it cannot be locked")
    assert [*tmp_path.iterdir()] == []


def test_a_worker_that_never_answers_is_told() -> None:
    client: Any = FakeClient({"one": GOOD, "other": CommClosedError("reset")})

    with pytest.raises(
        ClusterError, match=r"other: a worker does not answer \(.*see that it runs"
    ):
        check_workers(client, "folder", "file")


@pytest.mark.parametrize(
    ("state", "message"),
    [
        (("0.0.1", True), r"nbtext 0\.0\.1 is installed there"),
        ((nbtext.__version__, False), "does not see the folder"),
        (ImportError("no nbtext"), "cannot run nbtext"),
    ],
)
def test_workers_that_cannot_do_the_work_are_told_at_once(
    state: object, message: str
) -> None:
    client: Any = FakeClient({"one": GOOD, "other": state})

    with pytest.raises(ClusterError, match=message):
        check_workers(client, "folder", "file")


def test_a_worker_that_has_come_since_with_another_nbtext_does_no_work() -> None:
    assert of_version(nbtext.__version__, "", len, "four") == 4
    with pytest.raises(ClusterError, match="come that has nbtext"):
        of_version("0.0.1", "", len, "four")
    client: Any = FakeClient({})
    with (
        pytest.raises(ClusterError, match="come that cannot run nbtext"),
        failures_told(client),
    ):
        raise ModuleNotFoundError("No module named 'nbtext'")


class FakeFuture:
    """Work that never ends, on a cluster that has so many threads at each look."""

    def __init__(self, *threads: int, status: str = "pending") -> None:
        self.status = status
        counts = iter(threads)
        self.client = SimpleNamespace(
            scheduler=SimpleNamespace(address="tcp://scheduler:1", ncores=None),
            sync=lambda *_, **__: {"one": 1} if next(counts) else {},
        )

    def result(self, timeout: float) -> None:
        """Wait in vain."""
        raise TimeoutError

    def done(self) -> bool:
        """Return whether the task itself has failed."""
        return self.status == "error"


def test_work_is_waited_for_as_long_as_there_are_workers() -> None:
    waiting: Any = FakeFuture(1, 0, 1, 0, 0)
    failed: Any = FakeFuture(status="error")

    with pytest.raises(ClusterError, match="all workers have ended"):
        result_of(waiting)
    with pytest.raises(TimeoutError):  # what the task itself has raised
        result_of(failed)
