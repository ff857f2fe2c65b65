"""Signals at any moment, to any process of a server, while clients teach and ask."""

import os
import signal
from contextlib import suppress
from random import Random
from threading import Event, Thread
from time import sleep
from typing import TYPE_CHECKING

import pytest

import nbtext
from nbtext.cli import _status as status
from nbtext.scoring.model import load_model
from nbtext.store.packing import unpack
from tests.build import SPAM, mail
from tests.serve.conftest import is_running, request
from tests.waiting import PATIENCE, wait_until

if TYPE_CHECKING:
    from tests.serve.conftest import Server, Start

N_CLIENTS = 4
LONGEST = 0.4
"""Maximum seconds between two signals."""

SIGNALS = (
    signal.SIGHUP, signal.SIGTERM, signal.SIGINT, signal.SIGCHLD, signal.SIGWINCH,
    signal.SIGKILL,
)  # fmt: skip


class Client(Thread):
    """
    Teaches its own messages, one after the other.

    Attributes:
        taught: which were answered as learnt.
        doubtful: of which nobody knows, since there was no answer.
    """

    def __init__(self, server: "Server", number: int, stopped: Event) -> None:
        super().__init__()
        self._server = server
        self._numbers = iter(range(1000 * number, 1000 * (number + 1)))
        self._stopped = stopped
        self.taught: list[bytes] = []
        self.doubtful: list[bytes] = []

    def run(self) -> None:
        """Teach until it is told to stop."""
        while not self._stopped.is_set():
            number = next(self._numbers)
            message = mail(number, SPAM) + b"\nword" * (9000 if number % 5 == 0 else 1)
            said = request("TELL", message, "Message-class: spam", "Set: local")
            try:
                with self._server.connected() as client:
                    answer = b""
                    with suppress(OSError):
                        client.sendall(said)
                        answer = client.recv(999)
            except OSError:  # nobody listens
                sleep(0.01)
                continue
            if b"DidSet: local\r\n\r\n" in answer:
                self.taught.append(message)
            else:
                assert b"EX_OK" not in answer or not answer.endswith(b"\r\n\r\n")
                self.doubtful.append(message)


def counts_of(server: "Server") -> tuple[tuple[int, ...], list[tuple[int, ...]]]:
    """Return how many documents each class has, and what its terms add up to."""
    table = unpack(load_model(str(server.model)).file)
    return table.documents, [run.totals() for runs in table.runs for run in runs]


@pytest.mark.parametrize("seed", range(5))
def test_what_was_answered_is_learnt_once(start: "Start", seed: int) -> None:
    random = Random(seed)  # noqa: S311  a fixed seed, no secret
    server = start("--workers", str(random.choice([1, 2])))
    before = counts_of(server)
    stopped = Event()
    clients = [Client(server, number, stopped) for number in range(1, N_CLIENTS + 1)]
    for client in clients:
        client.start()
    try:
        for _ in range(3):
            sleep(random.uniform(0, LONGEST))
            pids = [*server.workers, *server.helpers]
            if pids:
                with suppress(ProcessLookupError):
                    os.kill(random.choice(pids), random.choice(SIGNALS))
            server.process.send_signal(random.choice([signal.SIGHUP, signal.SIGCHLD]))
        sleep(random.uniform(0, LONGEST))
        pids = [*server.workers, *server.helpers]
        server.process.send_signal(random.choice([signal.SIGTERM, signal.SIGINT]))
        assert server.process.wait(PATIENCE) == status.DONE
    finally:
        stopped.set()
        for client in clients:
            client.join()

    for pid in pids:
        wait_until(lambda pid=pid: not is_running(pid))  # type: ignore[misc]
    assert not any("Traceback" in line or "fault" in line for line in server.log)
    assert {path.name for path in server.path.parent.iterdir()} == {"mail.nbt", "log"}
    taught = [message for client in clients for message in client.taught]
    doubtful = [message for client in clients for message in client.doubtful]
    assert taught
    n_known = sum(counts_of(server)[0]) - sum(before[0])
    found = nbtext.learn(server.model, "spam", [*taught, *doubtful])
    known = [one.outcome == "known" for one in found]
    assert all(known[: len(taught)])
    assert n_known == sum(known)
    # nothing but whole documents was added
    nbtext.forget(server.model, [*taught, *doubtful])
    assert counts_of(server) == before
