"""Small clients of `nbtext serve` while four others send the worst of messages."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median
from threading import Event
from typing import Final

from benchmarks.bench import Bench, trained
from benchmarks.command import main
from benchmarks.figures import Figure, at_most, megabytes
from benchmarks.harness import KILOBYTE, JobError
from benchmarks.heavy_messages import (
    broken,
    charsets,
    encoded,
    fields,
    foreign,
    forged,
    noise,
    uuencoded,
    words,
)
from benchmarks.mail import some_of
from benchmarks.one_message import MAILS
from benchmarks.serving import Served, request_of, served, spread

MB: Final = 1 << 20

HEAVY: Final = 4
"""Number of clients that send large messages all the time."""

SMALL: Final = 400
"""Number of small messages for a figure."""

MEDIAN: Final = 50.0
"""Maximum median time of a small message in milliseconds."""

MEMORY: Final = 256.0
"""Maximum memory above that of an idle server in megabytes."""

MEMORY_OF_ONE: Final = 64.0
"""The same while one message is read, in MiB."""

PAUSE: Final = 0.005
"""Seconds between two small messages, and between two looks at the memory."""


LARGE: Final = (
    noise, fields, charsets, forged, encoded, words, foreign, broken, uuencoded,
)  # fmt: skip
"""What makes the messages that are sent one after the other."""

MESSAGES: Final[tuple[tuple[str, Callable[[int], bytes], int], ...]] = (
    ("header names, 1 MiB", fields, MB - 512),
    ("charset parameters, 1 MiB", charsets, MB - 512),
    ("forged fields, 1 MiB", forged, MB - 512),
    ("header names, 16 KiB", fields, MB >> 6),
    ("random bytes, 16 MiB", noise, 16 * MB - 512),
)
"""What heavy clients send: its name in the table, what makes it, its size in bytes."""


@dataclass(slots=True)
class Flood:
    """
    Heavy clients at work.

    Attributes:
        server: whom they ask.
        request: what they ask.
        peak: the most memory that the server has held meanwhile, in bytes.
        answers: number of answers that they had.
    """

    server: Served
    request: bytes
    peak: int = 0
    answers: int = 0
    _done: Event = field(default_factory=Event)

    def run(self) -> None:
        """Be one of the clients."""
        while not self._done.is_set():
            if b" EX_OK\r\n" not in self.server.ask(self.request)[:64]:
                raise JobError("the server refused a large message")
            self.answers += 1

    def watch(self) -> None:
        """Look at the memory."""
        while not self._done.wait(PAUSE):
            self.peak = max(self.peak, resident(self.server))

    def stop(self) -> None:
        """Have all of them stop."""
        self._done.set()


def figures(bench: Bench) -> Iterator[Figure]:
    """Time small messages, alone and with heavy clients; watch the memory."""
    mail = some_of(bench, MAILS[0])
    model = trained(bench, mail.name, *mail.labelled)
    small = [request_of(path.read_bytes()) for path in spread(mail, 50)]
    small = [one for one in small if len(one) < 1 << 13]
    with served(bench, model.path, "--max-size", "16M") as server:
        server.ask(request_of(noise(MB)))
        alone = times(server, small)
        idle = resident(server)
        name = f"serve, a small message, {HEAVY} heavy clients, median ms"
        quiet = f"alone {milliseconds(alone)}"
        worst = 0
        for kind, make, size in MESSAGES:
            flood = Flood(server, request_of(make(size)))
            with ThreadPoolExecutor(HEAVY + 1) as executor:
                tasks = [executor.submit(flood.run) for _ in range(HEAVY)]
                tasks.append(executor.submit(flood.watch))
                try:
                    took = times(server, small)
                finally:
                    flood.stop()
                for task in tasks:
                    task.result()
            worst = max(worst, flood.peak - idle)
            details = f"{kind}: {milliseconds(took)}; {quiet}"
            yield at_most(name, 1000 * median(took), MEDIAN, details)
        alone_at = max(map(partial(peak_of, server), LARGE))
        details = f"the most of {len(LARGE)} kinds of 16 MiB, one after the other"
        above = (alone_at - idle) / MB
        yield at_most("serve, MiB above idle, one", above, MEMORY_OF_ONE, details)
        details = f"idle {megabytes(idle)}, with what is shared; most of all rows above"
        yield at_most("serve, MB above idle", worst / 1e6, MEMORY, details)


def peak_of(server: Served, make: Callable[[int], bytes]) -> int:
    """Return the most memory in use while one large message is answered, in bytes."""
    flood = Flood(server, request_of(make(16 * MB - 512)))
    with ThreadPoolExecutor(1) as executor:
        watching = executor.submit(flood.watch)
        server.ask(flood.request)
        flood.stop()
        watching.result()
    return flood.peak


def times(server: Served, requests: list[bytes]) -> list[float]:
    """Return how long each of SMALL small messages takes, in seconds, sorted."""
    took = []
    for number in range(SMALL):
        began = time.perf_counter()
        server.ask(requests[number % len(requests)])
        took.append(time.perf_counter() - began)
        time.sleep(PAUSE)
    return sorted(took)


def milliseconds(took: list[float]) -> str:
    """Return the median and the 99th percentile of sorted times."""
    p99 = took[len(took) * 99 // 100]
    return f"{1000 * median(took):.1f} ms, p99 {1000 * p99:.1f} ms"


def resident(server: Served) -> int:
    """Return the memory that all processes of a server have in use, in bytes."""
    return sum(map(_resident, server.pids()))


def _resident(pid: str) -> int:
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):  # what is shared counts once
            return int(line.split()[1]) * KILOBYTE
    return 0


if __name__ == "__main__":
    main(figures)
