"""A Dask cluster on this machine: a scheduler and workers, each in its process."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.waiting import wait_until

WITH_PARENT: Final = Path(__file__).with_name("with_parent.py")

QUIET: Final = {
    "DASK_DISTRIBUTED__ADMIN__LOW_LEVEL_LOG_LENGTH": "0",
    "DASK_DISTRIBUTED__DIAGNOSTICS__NVML": "false",
}


class Cluster:
    """
    A scheduler and its workers.

    Attributes:
        folder: where they write what they say.
        scheduler: its process.
        workers: their processes.
    """

    def __init__(
        self,
        folder: Path,
        n_workers: int,
        *,
        preload: str | None = None,
        memory: str = "2GB",
    ) -> None:
        self.folder = folder
        self._preload = (
            [] if preload is None else ["--preload", str(Path(preload).resolve())]
        )
        self._memory = memory
        self._file = folder / "scheduler.json"
        self.scheduler = self._start(
            "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard"
        )
        self.workers: list[subprocess.Popen[bytes]] = []
        wait_until(self._is_there, "the scheduler")
        for _ in range(n_workers):
            self.add_worker()

    @property
    def address(self) -> str:
        """Where the scheduler listens."""
        import json

        address: str = json.loads(self._file.read_text())["address"]
        return address

    def _is_there(self) -> bool:
        try:
            return bool(self.address)
        except (FileNotFoundError, ValueError):  # it is being written
            return False

    def add_worker(self) -> subprocess.Popen[bytes]:
        """Start one more worker."""
        worker = self._start(
            "worker", "--host", "127.0.0.1", "--no-nanny", "--no-dashboard",
            "--nthreads", "1", "--memory-limit", self._memory, "--death-timeout", "10",
            *self._preload,
        )  # fmt: skip
        self.workers.append(worker)
        return worker

    def end(self) -> None:
        """Kill all of them."""
        for process in (*self.workers, self.scheduler):
            process.kill()
        for process in (*self.workers, self.scheduler):
            process.wait()

    def _start(self, what: str, *options: str) -> subprocess.Popen[bytes]:
        command = [
            sys.executable, str(WITH_PARENT), "distributed.cli.dask_" + what,
            "--scheduler-file", str(self._file), *options,
        ]  # fmt: skip
        # not in the folder of the sources, as on other machines
        with (self.folder / f"{what}.log").open("ab") as log:
            return subprocess.Popen(
                command, stdout=log, stderr=log, cwd=self.folder,
                env=os.environ | QUIET | {"PYTHONPATH": os.pathsep.join(sys.path)},
            )  # fmt: skip


@contextmanager
def running(folder: Path, n_workers: int) -> Iterator[Cluster]:
    """Run a cluster for as long as the context lasts."""
    cluster = Cluster(folder, n_workers)
    try:
        yield cluster
    finally:
        cluster.end()
