"""`spamc` against `nbtext serve`, eight at once: against `bogofilter < mail`."""

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from statistics import median
from typing import Final

from benchmarks.bench import Bench, trained
from benchmarks.command import main
from benchmarks.figures import Figure, Skipped, at_most, megabytes, seconds
from benchmarks.harness import ENVIRONMENT, JobError, own_memory, run
from benchmarks.mail import Mail, some_of
from benchmarks.one_message import MAILS
from benchmarks.peers import bogofilter_training, program

AT_ONCE: Final = 8
"""So many clients at any time."""

ROUND: Final = 400
"""So many mails are classified by the one, and then by the other."""

ROUNDS_A_RUN: Final = 2

RATIO: Final = 1.0

ONE_MAIL: Final = 0.3
ONE_LESSON: Final = 2.0
"""Processor time of a server for a mail that is classified, or learnt, in ms."""

TAUGHT: Final = 20
LESSONS: Final = 60
"""So many mails are learnt before, and so many when the last of them is."""
ALL_LESSONS: Final = 380
"""So many are learnt when the tail has been folded several times, and all tables once.
"""

AN_HOUR: Final = 50 * 3600
"""The messages of an hour in which fifty come a second."""

SOME: Final = 5000
"""After so many messages whatever is made once has been made."""

GROWTH: Final = 1.05
"""Memory is the same if it is within a twentieth: what a process holds varies."""


@dataclass(frozen=True, slots=True)
class Served:
    """A server that runs: its process, and where it listens."""

    process: "subprocess.Popen[bytes]"
    path: Path

    def memory(self) -> int:
        """Return what all its processes hold, in bytes."""
        return sum(map(held, self.pids()))

    def processor_time(self) -> float:
        """Return the processor time that all its processes have taken, in seconds."""
        return sum(map(ticks_of, self.pids())) / os.sysconf("SC_CLK_TCK")

    def pids(self) -> list[str]:
        """Return its processes: the supervisor, the workers, and their helpers."""
        found = [str(self.process.pid)]
        for pid in found:  # which grows meanwhile
            for thread in Path(f"/proc/{pid}/task").glob("*/children"):
                found += thread.read_text().split()
        return found

    def ask(self, request: bytes) -> bytes:
        """Return the answer to a request."""
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(self.path))
            client.sendall(request)
            client.shutdown(socket.SHUT_WR)
            return b"".join(iter(partial(client.recv, 1 << 16), b""))


def figures(bench: Bench) -> Iterator[Figure]:
    """Time clients of a server with a model of a million terms; watch its memory."""
    program("spamc")
    mail = some_of(bench, MAILS[-1])
    model = trained(bench, mail.name, *mail.labelled)
    run(bogofilter_training(bench, mail))
    database = str(bench.folder / "bogofilter")
    yield from processor_times(bench, model.path, mail)
    with served(bench, model.path) as server:
        spamc = ("spamc", "-U", str(server.path))
        mails, n_rounds = spread(mail, ROUND), bench.runs * ROUNDS_A_RUN
        peer = (program("bogofilter"), "-d", database)
        ratio, details = latency(*timed_in_turn(spamc, peer, mails, n_rounds))
        name = f"spamc, {AT_ONCE} at once, {model.terms:,} terms, of bogofilter's time"
        yield at_most(name, ratio, RATIO, details)
        ping = (*spamc, "-K")
        ratio, details = latency(*timed_in_turn(ping, peer, mails, n_rounds))
        name = "the same, spamc -K, which has nothing classified"
        yield Figure(name, f"{ratio:.2f}", "", None, details)
        yield growth(server, mail)


def processor_times(bench: Bench, model: Path, mail: Mail) -> Iterator[Figure]:
    """Yield the processor time of a server by message, one client after the other."""
    taught = Path(shutil.copy(model, bench.folder / "taught.nbt"))
    mails = spread(mail, ROUND)
    with served(bench, taught, "--allow-tell") as server:
        requests = [request_of(path.read_bytes()) for path in mails]
        before = per_message(server, requests[: ROUND // 4])
        one = per_message(server, requests)
        details = f"{ROUND} mails, one after the other; {before:.2f} ms the first"
        name = "server's CPU for one mail alone"
        yield at_most(name, one, ONE_MAIL, f"{one:.2f} ms; {details}")
        for number in range(TAUGHT):
            server.ask(lesson_of(mails[number], number))
        rest = [lesson_of(mails[place], place) for place in range(TAUGHT, LESSONS)]
        one = per_message(server, rest)
        name = f"the same, learning, {TAUGHT} to {LESSONS} tables behind the first"
        yield at_most(name, one, ONE_LESSON, f"{one:.2f} ms; {len(rest)} mails")
        one = per_message(server, requests)
        name = f"the same for one mail, {LESSONS} tables behind the first"
        yield Figure(name, f"{one:.2f} ms", "", None, details)
        rest = [lesson_of(mails[place], place) for place in range(LESSONS, ALL_LESSONS)]
        one = per_message(server, rest)
        name = "the same, learning on, with what compacting takes"
        yield Figure(name, f"{one:.2f} ms", "", None, f"{len(rest)} mails")


def per_message(server: Served, requests: Sequence[bytes]) -> float:
    """Return the processor time of a server for each of some requests, in ms."""
    began = server.processor_time()
    for request in requests:
        if b" EX_OK\r\n" not in (answer := server.ask(request))[:64]:
            raise JobError(f"the server said {answer[:99]!r}")
    return (server.processor_time() - began) / len(requests) * 1000


def lesson_of(path: Path, number: int) -> bytes:
    """Return what `spamc -L spam` would say of a mail that nobody has seen."""
    identity = b"Message-ID: <new-%d@example.org>" % number
    mail = b"%s\n%s\nnew word%d\n" % (identity, path.read_bytes(), number)
    head = b"TELL SPAMC/1.5\r\nMessage-class: spam\r\nSet: local\r\n"
    return b"%sContent-length: %d\r\n\r\n%s" % (head, len(mail), mail)


def latency(ours: list[float], others: list[float]) -> tuple[float, str]:
    """Return the ratio of the medians of rounds, and what it is made of."""
    ratios = [one / other for one, other in zip(ours, others, strict=True)]
    details = (
        f"spamc {seconds(median(ours))}, bogofilter {seconds(median(others))} (medians "
        f"of {ROUND} mails); {len(ratios)} pairs, {min(ratios):.2f} to "
        f"{max(ratios):.2f}"
    )
    return median(ratios), details


def growth(server: Served, mail: Mail) -> Figure:
    """Return the figure of the memory that an hour's worth of messages leaves held."""
    requests = [request_of(path.read_bytes()) for path in spread(mail, SOME)]
    flood(server, requests)
    before = server.memory()
    began = time.perf_counter()
    flood(server, [*islice(cycle(requests), AN_HOUR - SOME)])
    took = time.perf_counter() - began
    after = server.memory()
    details = (
        f"{megabytes(before)} after {SOME:,}, {megabytes(after)} after {AN_HOUR:,}; "
        f"{(AN_HOUR - SOME) / took:,.0f} a second"
    )
    return at_most("serve, memory after an hour's", after / before, GROWTH, details)


def spread(mail: Mail, number: int) -> list[Path]:
    """Return so many mails, evenly spread, or all."""
    paths = [path for _, path in mail.paths]
    number = min(number, len(paths))
    return [paths[place * len(paths) // number] for place in range(number)]


@contextmanager
def served(bench: Bench, model: Path, *options: str) -> Iterator[Served]:
    """Have a server for a while."""
    path = bench.folder / "s"
    command = [bench.nbtext, "serve", "-m", str(model), "--listen", f"unix:{path}"]
    command += options
    process = subprocess.Popen(
        command, env=ENVIRONMENT, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        while not path.exists():
            time.sleep(0.01)
        server = Served(process, path)
        server.ask(b"PING SPAMC/1.2\r\n")
        yield server
    finally:
        process.terminate()
        process.wait()


def timed_in_turn(
    ours: Sequence[str], other: Sequence[str], mails: list[Path], n_rounds: int
) -> tuple[list[float], list[float]]:
    """Return the median times of rounds of one and of the other, in turn."""
    medians: tuple[list[float], list[float]] = ([], [])
    for turn in range(n_rounds + 1):
        for command, into in ((ours, medians[0]), (other, medians[1])):
            with ThreadPoolExecutor(AT_ONCE) as executor:
                took = list(executor.map(partial(timed, command), mails))
            if turn:  # the first does not count
                into.append(median(took))
    return medians


def timed(command: Sequence[str], mail: Path) -> float:
    """Return how long a process takes that reads a mail."""
    with mail.open("rb") as source:
        began = time.perf_counter()
        subprocess.run(
            command,
            stdin=source,
            stdout=subprocess.DEVNULL,
            env=ENVIRONMENT,
            check=False,  # bogofilter's status is the verdict
        )
        return time.perf_counter() - began


def flood(server: Served, requests: Sequence[bytes]) -> None:
    """Ask as much as can be asked, several at once."""
    with ThreadPoolExecutor(AT_ONCE) as executor:
        for answer in executor.map(server.ask, requests, chunksize=64):
            if b" EX_OK\r\n" not in answer[:64]:
                raise JobError(f"the server said {answer[:99]!r}")


def request_of(mail: bytes) -> bytes:
    """Return what spamc would say of a mail."""
    return b"PROCESS SPAMC/1.5\r\nContent-length: %d\r\n\r\n%s" % (len(mail), mail)


def ticks_of(pid: str) -> int:
    """Return the processor time of a process, in the system's ticks."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def held(pid: str) -> int:
    """Return the memory that a process holds, in bytes, without what files lend it."""
    if not (found := own_memory(pid)):
        raise Skipped(f"{os.uname().sysname} does not say what a process holds")
    return found


if __name__ == "__main__":
    main(figures)
