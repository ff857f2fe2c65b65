"""A server in a process of its own, its clients, and mail for them."""

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple, TypeAlias

import pytest

from nbtext import train
from nbtext.document import Document
from nbtext.scoring.classifier import Classifier
from nbtext.scoring.decide import Decision
from nbtext.scoring.model import load_model
from tests.build import HAM, SPAM, mail
from tests.waiting import PATIENCE, wait_until


class Mails(NamedTuple):
    """A message of each kind."""

    spam: bytes
    ham: bytes


class Server:
    """
    `nbtext serve`, running.

    Attributes:
        model: the model file.
        path: the Unix socket.
        process: the process that looks after the others.
    """

    def __init__(
        self, model: Path, folder: Path, *options: str, redirected: str = ""
    ) -> None:
        self.model = model
        self.path = folder / "s"
        self._log = folder / "log"
        command = [sys.executable, "-m", "nbtext", "serve", "-m", str(model)]
        addresses = ["--listen", "127.0.0.1:0", "--listen", f"unix:{self.path}"]
        shell = ["sh", "-c", f'exec "$@" {redirected}', "sh"]
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                [*shell, *command, *addresses, *options],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
            )
        wait_until(self._is_there)

    def _is_there(self) -> bool:
        if self.process.poll() is not None:
            pytest.fail(f"it has ended: {self.log}")
        try:
            return self.ask(b"PING SPAMC/1.2\r\n") == b"SPAMD/1.5 0 PONG\r\n"
        except OSError:
            return False

    @property
    def log(self) -> list[str]:
        """Return the lines of the log, without the time."""
        lines = self._log.read_text("utf-8").splitlines()
        return [line.partition(" ")[2] for line in lines]

    @property
    def port(self) -> int:
        """Return the port that was found."""
        return int(self.wait_for_log("listening on 127").rpartition(":")[2])

    @property
    def workers(self) -> list[int]:
        """Return the processes that serve."""
        return children_of(self.process.pid)

    @property
    def helpers(self) -> list[int]:
        """Return the processes that read large messages for them."""
        return [helper for worker in self.workers for helper in children_of(worker)]

    def memory(self) -> int:
        """Return the most memory that all workers and helpers have held, in bytes."""
        peaks = [
            re.findall(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
            for pid in (*self.workers, *self.helpers)
        ]
        return sum(int(peak[0]) for peak in peaks) << 10

    def wait_for_log(self, pattern: str) -> str:
        """Return the first line of the log that has a pattern, once there is one."""
        found: list[str] = []

        def is_there() -> bool:
            found[:] = [line for line in self.log if re.search(pattern, line)]
            return bool(found) or self.process.poll() is not None

        wait_until(is_there)
        assert found, (pattern, self.log)
        return found[0]

    def connected(self, *, tcp: bool = False) -> socket.socket:
        """Return a socket that is connected."""
        if tcp:
            return socket.create_connection(("127.0.0.1", self.port), PATIENCE)
        client = socket.socket(socket.AF_UNIX)
        client.settimeout(PATIENCE)
        try:
            client.connect(str(self.path))
        except OSError:
            client.close()
            raise
        return client

    def ask(self, said: bytes, *, half_close: bool = True, tcp: bool = False) -> bytes:
        """Say something, and return all that the server says."""
        with self.connected(tcp=tcp) as client:
            client.sendall(said)
            if half_close:
                client.shutdown(socket.SHUT_WR)
            return all_of(client)

    def tell(self, message: bytes, *lines: str) -> bytes:
        """Say TELL."""
        return self.ask(request("TELL", message, *lines))

    def stop(self) -> int:
        """Have it end; return its exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE)


Start: TypeAlias = Callable[..., Server]


def all_of(client: socket.socket) -> bytes:
    """Return all that comes from a socket until its end."""
    pieces = []
    while piece := client.recv(1 << 16):
        pieces.append(piece)
    return b"".join(pieces)


def request(verb: str, message: bytes, *lines: str, version: str = "1.5") -> bytes:
    """Return a request as spamc would send it."""
    head = [f"{verb} SPAMC/{version}", *lines, f"Content-length: {len(message)}"]
    return "".join(f"{line}\r\n" for line in (*head, "")).encode() + message


def warm_up(server: Server, mails: Mails) -> None:
    """Have whatever is loaded at first use loaded, in the worker and in its helper."""
    for message in (mails.ham, mails.ham + b"word " * 50_000):
        assert b"EX_OK" in server.ask(request("CHECK", message))


@pytest.fixture(scope="session")
def mails() -> Mails:
    """Messages that no model has been trained on."""
    return Mails(mail(40, SPAM), mail(40, HAM))


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The bytes of a model of 16 messages."""
    folder = tmp_path_factory.mktemp("corpus")
    for label, words in (("spam", SPAM), ("ham", HAM)):
        (folder / label).mkdir()
        for number in range(8):
            (folder / label / f"{number}.eml").write_bytes(mail(number, words))
    train([str(folder / "spam"), str(folder / "ham")], str(folder / "mail.nbt"))
    return (folder / "mail.nbt").read_bytes()


def started(trained: bytes) -> Iterator[Start]:
    """Yield what starts servers, and end them all."""
    servers: list[Server] = []
    with TemporaryDirectory() as name:  # whose path is short enough for sockets

        def start(
            *options: str, model: bytes = trained, redirected: str = ""
        ) -> Server:
            folder = Path(name) / str(len(servers))
            folder.mkdir(0o700)
            path = folder / "mail.nbt"
            path.write_bytes(model)
            servers.append(Server(path, folder, *options, redirected=redirected))
            return servers[-1]

        try:
            yield start
        finally:
            for server in servers:
                is_alive = server.process.poll() is None
                pids = [*server.workers, *server.helpers] if is_alive else []
                server.process.kill()
                server.process.wait()
                for pid in pids:  # which end by themselves, unless they hang
                    wait_until(lambda pid=pid: not is_running(pid))  # type: ignore[misc]


def children_of(pid: int) -> list[int]:
    """Return the processes that a process has started, in any of its threads."""
    found = [path.read_text() for path in Path(f"/proc/{pid}/task").glob("*/children")]
    return [int(child) for children in found for child in children.split()]


def is_running(pid: int) -> bool:
    """Return whether there is such a process, and it is no zombie."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


@pytest.fixture
def start(trained: bytes) -> Iterator[Start]:
    """What starts a server for one test."""
    yield from started(trained)


@pytest.fixture(scope="session")
def server(trained: bytes) -> Iterator[Server]:
    """A server for all tests that do it no harm."""
    for start in started(trained):
        yield start("--timeout", str(PATIENCE), "--max-size", "4M")


@pytest.fixture(scope="session")
def decided() -> Callable[[Path, bytes], Decision]:
    """What `nbtext classify` says of a message."""

    def decided(model: Path, message: bytes) -> Decision:
        classifier = Classifier(load_model(os.fspath(model)))
        return classifier.classify([Document("-", (message,))])[0]

    return decided
