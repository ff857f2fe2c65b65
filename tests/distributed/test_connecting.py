"""Workers are asked what they can do, also while one of them dies."""

import errno
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("distributed")

from distributed.comm import CommClosedError

import nbtext
from nbtext.distributed import connecting, shared_folder
from nbtext.distributed.connecting import check_workers
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
        self, task: Callable[..., object], *arguments: object, on_error: str
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
