"""
Timing whole processes in pairs: A B A B …, after one of each that does not count.

What disturbs a machine for a while disturbs both members of a pair, so it is the ratio
within a pair that is kept, and the median of these that is told.
"""

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from threading import Event, Thread
from typing import Final

from benchmarks.figures import seconds

KILOBYTE: Final = 1024
"""The unit of ru_maxrss on Linux."""

EVERY: Final = 0.1
"""Seconds between two looks at the memory of a process."""

ENVIRONMENT: Final[Mapping[str, str]] = {
    name: value
    for name, value in os.environ.items()
    if not name.startswith(("PYTHON", "NBTEXT", "XDG_", "BOGOFILTER"))
}
"""What processes see: nothing that changes how Python or a peer starts."""


class JobError(Exception):
    """A timed process failed; its last words are the message."""


@dataclass(frozen=True, slots=True)
class Job:
    """
    Something to be timed.

    Attributes:
        steps: command lines, run one after the other.
        fresh: a folder that is made anew, and empty, before each run.
        stdin: what each step reads, nothing if None.
        statuses: the exit statuses that mean success.
    """

    steps: tuple[tuple[str, ...], ...]
    fresh: Path | None = None
    stdin: Path | None = None
    statuses: frozenset[int] = frozenset({0})


@dataclass(frozen=True, slots=True)
class Run:
    """
    What a job took, its steps together.

    Attributes:
        wall: seconds on the clock.
        cpu: seconds of processors, user and system, children included.
        peak: the most memory a single process held, in bytes.
        own: the same without what files lend it, which the system can take back, as it
            was seen now and then; 0 where the system does not say.
    """

    wall: float
    cpu: float
    peak: int
    own: int


@dataclass(frozen=True, slots=True)
class Pairs:
    """Runs of two jobs, in pairs."""

    ours: tuple[Run, ...]
    others: tuple[Run, ...]

    @property
    def ratios(self) -> list[float]:
        """Return our wall time in units of the other's, pair by pair."""
        return [
            ours.wall / other.wall
            for ours, other in zip(self.ours, self.others, strict=True)
        ]

    @property
    def ratio(self) -> float:
        """Return the median of the ratios."""
        return median(self.ratios)

    @property
    def cpu_ratio(self) -> float:
        """Return the median of the ratios of processor time."""
        return median(
            ours.cpu / other.cpu
            for ours, other in zip(self.ours, self.others, strict=True)
        )

    def explained(self, other: str) -> str:
        """Say what the ratio is made of."""
        walls = [median(run.wall for run in runs) for runs in (self.ours, self.others)]
        cpus = [median(run.cpu for run in runs) for runs in (self.ours, self.others)]
        return (
            f"nbtext {seconds(walls[0])}, {other} {seconds(walls[1])}; "
            f"CPU {seconds(cpus[0])} and {seconds(cpus[1])}, {self.cpu_ratio:.2f}; "
            f"{len(self.ratios)} pairs, {min(self.ratios):.2f} to "
            f"{max(self.ratios):.2f}"
        )


def pairs(ours: Job, other: Job, n_pairs: int) -> Pairs:
    """Run each job once to warm the caches, then both in turn."""
    run(ours)
    run(other)
    timed = [(run(ours), run(other)) for _ in range(n_pairs)]
    return Pairs(tuple(one for one, _ in timed), tuple(one for _, one in timed))


def run(job: Job) -> Run:
    """
    Run a job.

    Raises:
        JobError: a step did not succeed.
    """
    if job.fresh is not None:
        shutil.rmtree(job.fresh, ignore_errors=True)
        job.fresh.mkdir(parents=True)
    runs = [_step(job, arguments) for arguments in job.steps]
    return Run(
        wall=sum(one.wall for one in runs),
        cpu=sum(one.cpu for one in runs),
        peak=max(one.peak for one in runs),
        own=max(one.own for one in runs),
    )


def _step(job: Job, arguments: tuple[str, ...]) -> Run:
    stdin = job.stdin or Path(os.devnull)
    with tempfile.TemporaryFile() as errors, stdin.open("rb") as source:
        started = time.perf_counter()
        process = subprocess.Popen(
            arguments,
            stdin=source,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            env=ENVIRONMENT,
        )
        with _watched(process.pid) as seen:
            _, status, usage = os.wait4(process.pid, 0)
            wall = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in job.statuses:
            errors.seek(0)
            said = errors.read().decode(errors="replace").strip()
            raise JobError(f"{arguments[0]}: status {process.returncode}: {said}")
    _check_peak(usage.ru_maxrss)
    cpu = usage.ru_utime + usage.ru_stime
    return Run(wall, cpu, usage.ru_maxrss * KILOBYTE, max(seen))


@contextmanager
def _watched(pid: int) -> Iterator[list[int]]:
    """Look at the memory of a process now and then, as long as the context lasts."""
    seen, is_over = [0], Event()

    def look() -> None:
        while not is_over.wait(EVERY):
            seen.append(own_memory(pid))

    thread = Thread(target=look)
    thread.start()
    try:
        yield seen
    finally:
        is_over.set()
        thread.join()


def own_memory(pid: int | str) -> int:
    """Return the bytes that a process holds, but for files; 0 if that is not told."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) * KILOBYTE
    return 0


def _check_peak(peak: int) -> None:
    """
    Warn where a peak is not the child's own.

    Between fork and exec a child is as large as its parent, and Linux counts that; so
    this process has to stay small (no numpy) as long as memory is measured.
    """
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    if peak <= own and "numpy" in sys.modules:
        print("note: the peak is that of the benchmark itself", file=sys.stderr)
