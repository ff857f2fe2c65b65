"""
Training on a Dask cluster of 1, 2 and 4 workers, all of them on this machine.

    python -m benchmarks.cluster --copies 10

What that can show is what the cluster itself costs: time of processors and memory, of
the workers, the scheduler and the client, beside `nbtext train` here. What it cannot is
what more machines bring: workers share this one's processors and disk, and what they
send each other crosses no network. It needs what the tests of `--cluster` need.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from benchmarks.bench import Bench
from benchmarks.machine import facts
from benchmarks.mail import generated
from tests.distributed.cluster import Cluster
from tests.distributed.fixed_date import set_clock

TICKS = os.sysconf("SC_CLK_TCK")

TRAIN = """
import sys
from tests.distributed.fixed_date import set_clock
set_clock()
from nbtext.cli import main
main(["train", "-q", *sys.argv[1:]])
"""


class Cost(NamedTuple):
    """Seconds of processors, and the largest resident memory in bytes."""

    seconds: float
    peak: int


def cost_of(pid: int) -> Cost:
    """Return what a process has cost so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    status = Path(f"/proc/{pid}/status").read_text()
    (peak,) = (line for line in status.splitlines() if line.startswith("VmHWM"))
    ticks = int(fields[11]) + int(fields[12])
    return Cost(ticks / TICKS, int(peak.split()[1]) << 10)


@contextmanager
def running(folder: Path, n_workers: int) -> Iterator[Cluster]:
    """Run a cluster whose workers have done nothing yet but start."""
    folder.mkdir()
    cluster = Cluster(
        folder, n_workers, preload="tests/distributed/fixed_date.py", memory="4GB"
    )
    try:
        yield cluster
    finally:
        cluster.end()


def row(name: str, wall: float, costs: list[Cost]) -> str:
    """Return a row of the table: the client or program last."""
    seconds = ", ".join(f"{cost.seconds:.1f}" for cost in costs)
    peaks = ", ".join(f"{cost.peak / 1e6:.0f}" for cost in costs)
    total = sum(cost.seconds for cost in costs)
    return f"| {name} | {wall:.1f} | {total:.1f} | {seconds} | {peaks} |"


def run(folder: Path, *arguments: str) -> tuple[float, Cost]:
    """Run the program on its own, and return what it took."""
    started = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-c", TRAIN, *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(Path.cwd())},
    )
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"train failed: {arguments}")
    cost = Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss << 10)
    return time.monotonic() - started, cost


def on_cluster(folder: Path, n_workers: int, *arguments: str) -> str:
    """Train on a cluster; return a row."""
    with running(folder / f"of-{n_workers}", n_workers) as cluster:
        processes = [cluster.scheduler, *cluster.workers]
        time.sleep(5)  # in which all of them import what they need
        before = [cost_of(process.pid) for process in processes]
        wall, client = run(folder, *arguments, "--cluster", cluster.address)
        after = [cost_of(process.pid) for process in processes]
    costs = [
        Cost(now.seconds - then.seconds, now.peak)
        for now, then in zip(after, before, strict=True)
    ]
    return row(f"{n_workers} workers", wall, [*costs, client])


def main() -> None:
    """Measure, and print the table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--copies", type=int, default=10, help="of 32 MB of mail")
    given = options.parse_args()
    set_clock()
    with TemporaryDirectory(prefix="nbtext-bench-") as name:
        folder = Path(name)
        mail = generated(Bench(folder, 1, is_large=False), given.copies)
        print(f"{mail.name}; load {os.getloadavg()[0]:.1f}\n", flush=True)
        print(
            "| | clock, s | processors, s | of scheduler, workers, client | peak, MB |"
        )
        print("|---|---|---|---|---|")
        wall, cost = run(folder, "-m", "one.nbt", *mail.labelled)
        print(row("here, 1 job", wall, [cost]), flush=True)
        wall, cost = run(folder, "-m", "two.nbt", "--jobs", "2", *mail.labelled)
        print(row("here, 2 jobs", wall, [cost]), flush=True)
        for n_workers in (1, 2, 4):
            model = f"of-{n_workers}.nbt"
            print(
                on_cluster(folder, n_workers, "-m", model, *mail.labelled), flush=True
            )
            if (folder / model).read_bytes() != (folder / "one.nbt").read_bytes():
                raise SystemExit(f"the model of {n_workers} workers is another")
    print(f"\nload {os.getloadavg()[0]:.1f}", *facts(), sep="\n")


if __name__ == "__main__":
    main()
