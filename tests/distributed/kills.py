"""
Kill workers, the scheduler and the client of a training, at random moments.

    python -m tests.distributed.kills --times 100 --seed 1

A line says what was killed, when, and what came of it. After a worker's death the model
must be that of one machine, byte for byte; after that of the scheduler or the client
the old model stands (or the new one is complete), the next training succeeds, and
nothing is left in the folder. Ends with 1 at the first time that this is not so.
"""

import argparse
import os
import random
import signal
import sys
import time
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import distributed  # noqa: F401  before processes are forked that need it

import nbtext
import nbtext.distributed.training
from nbtext.cli import main
from nbtext.distributed import listing
from tests.build import FROM_LINE, HAM, SPAM, mail
from tests.distributed.cluster import Cluster
from tests.distributed.fixed_date import set_clock

SOURCES = ("spam", "ham", "ham=box.mbox")
TRY_AGAIN = 75


class Training:
    """
    A training on a cluster, in a process that is forked: it has imported all it needs.

    Attributes:
        status: its exit status, negative for the signal that has ended it.
        err: what it has said, both once it has ended.
    """

    def __init__(self, folder: Path, address: str) -> None:
        self.status = 0
        self.err = ""
        self._err = folder / "err"
        self._pid = os.fork()
        if self._pid:
            return
        os.chdir(folder)
        os.dup2(os.open(self._err, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), 2)
        setattr(listing, "LEAST_CHUNK", 1 << 17)  # noqa: B010  little data, many chunks
        status = 70
        try:
            main(["train", "-q", "-m", "m.nbt", "--cluster", address, *SOURCES])
        except SystemExit as ending:
            status = int(ending.code or 0)
        finally:
            sys.stderr.flush()
            os._exit(status)

    def kill(self) -> None:
        """Kill it."""
        os.kill(self._pid, signal.SIGKILL)

    def wait(self) -> None:
        """Wait for its end."""
        _, status = os.waitpid(self._pid, 0)
        self.status = os.waitstatus_to_exitcode(status)
        self.err = self._err.read_text()


class WrongError(Exception):
    """What must hold does not."""


def write_sources(folder: Path) -> None:
    """Write 1,500 mails."""
    for label, words in (("spam", SPAM), ("ham", HAM)):
        (folder / label).mkdir()
        for number in range(500):
            text = mail(number, words) + b" ".join(
                b"w%d" % (number * k) for k in range(300)
            )
            (folder / label / f"{number}.eml").write_bytes(text)
    box = b"".join(FROM_LINE + mail(n, HAM) + b"\n" for n in range(500, 1000))
    (folder / "box.mbox").write_bytes(box)


class Trials:
    """Trainings of the same sources, each of which is disturbed."""

    def __init__(self, folder: Path, n_workers: int) -> None:
        self.folder = folder
        self.n_workers = n_workers
        self.model = folder / "m.nbt"
        self.old = self._old_model()
        self.cluster = self._new_cluster()
        self.usual = min(self._undisturbed() for _ in range(3))

    def _undisturbed(self) -> float:
        """Train, and return how many seconds it took."""
        started = time.monotonic()
        self.check(self.train())
        return time.monotonic() - started

    def _old_model(self) -> bytes:
        """Return a model of other documents; and make the one that is expected."""
        set_clock()
        folders = [str(self.folder / "spam"), str(self.folder / "ham")]
        box = f"ham={self.folder / 'box.mbox'}"
        nbtext.train([*folders, box], str(self.folder / "expected.nbt"))
        nbtext.train(folders, str(self.model))
        return self.model.read_bytes()

    def _new_cluster(self) -> Cluster:
        folder = self.folder / f"cluster-{time.monotonic_ns()}"
        folder.mkdir()
        return Cluster(
            folder, self.n_workers, preload="tests/distributed/fixed_date.py"
        )

    def train(self) -> Training:
        """Begin a training, in a process of its own."""
        return Training(self.folder, self.cluster.address)

    def check(self, training: Training, *allowed: int) -> int:
        """
        Wait for a training; look at its status, the model, and what it has left.

        Raises:
            WrongError: something is not as it must be.
        """
        training.wait()
        status = training.status
        if status not in (0, *allowed) or "Traceback" in training.err:
            raise WrongError(f"status {status}: {training.err}")
        contents = self.model.read_bytes()
        new = (self.folder / "expected.nbt").read_bytes()
        if contents != new and (not status or contents != self.old):
            raise WrongError(f"status {status}: a model that is neither old nor new")
        left = [path.name for path in self.folder.iterdir() if "cluster-" in path.name]
        left = [name for name in left if name.startswith(".")]
        if left and status != -signal.SIGKILL:
            raise WrongError(f"status {status}: left behind: {left}")
        return status

    def disturb(self, what: str, moment: float) -> int:
        """Kill something at a moment, from 0 to 1 of the usual time, and check."""
        self.model.write_bytes(self.old)
        training = self.train()
        time.sleep(moment * self.usual)
        if what == "worker":
            self.cluster.workers.pop(0).kill()
            self.cluster.add_worker()
            return self.check(training)
        if what == "two workers":
            for _ in range(2):
                self.cluster.workers.pop(0).kill()
                self.cluster.add_worker()
            return self.check(training)
        if what == "client":
            training.kill()
            status = self.check(training, -signal.SIGKILL)
        else:
            self.cluster.end()
            status = self.check(training, TRY_AGAIN)
            self.cluster = self._new_cluster()
        self.check(self.train())
        return status


def run() -> int:
    """Run as many trials as are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=3)
    given = parser.parse_args()
    chance = random.Random(given.seed)  # noqa: S311  no secret
    tally: Counter[str] = Counter()
    with TemporaryDirectory() as name:
        folder = Path(name)
        write_sources(folder)
        trials = Trials(folder, given.workers)
        print(f"undisturbed: {trials.usual:.1f} s")  # noqa: T201  a script that prints  a script
        try:
            for number in range(1, given.times + 1):
                what = chance.choice(["worker", "two workers", "scheduler", "client"])
                moment = chance.random()
                status = trials.disturb(what, moment)
                outcome = f"{what}: status {status}"
                tally[outcome] += 1
                print(f"{number:4} {moment:5.2f} {outcome}", flush=True)  # noqa: T201  a script that prints
        finally:
            trials.cluster.end()
    for outcome, times in sorted(tally.items()):
        print(f"{times:4} times {outcome}")  # noqa: T201  a script that prints
    return 0


if __name__ == "__main__":
    raise SystemExit(run())
