"""A client that is alone is served at once, and as any other client is."""

import asyncio
import re
import socket
from collections.abc import Callable, Coroutine
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from nbtext import train_on
from nbtext.policy import PolicyOverrides
from nbtext.serving import reloading
from nbtext.serving.connection import Connection
from nbtext.serving.handlers import Answer, Handler, HandlerOptions
from nbtext.serving.server import Log, Server, Service
from nbtext.serving.spamd import Request
from tests.waiting import PATIENCE

MAIL = b"Subject: cheap pills\n\nbuy them now\n"
HEAD = b"Content-length: %d\r\n\r\n" % len(MAIL)
CHECK = b"CHECK SPAMC/1.5\r\n" + HEAD + MAIL
MOST = 1 << 16


class Seen(NamedTuple):
    """What came of a client: what it read, and what the server did."""

    answer: bytes
    log: list[str]
    n_tasks: int
    room: int


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("alone") / "m.nbt"
    pairs = [("spam", MAIL), ("ham", b"Subject: lunch\n\nat noon?\n")]
    train_on(pairs, path)
    return path


class Served:
    """A server whose one client has sent something before it begins."""

    def __init__(self, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.log: list[str] = []
        self.more = b""
        """Sent by another client, which is connected before the first."""
        self.n_tasks = self.n_alone = 0
        options = HandlerOptions(
            str(model), "spam", "ham", PolicyOverrides(), MOST, PATIENCE
        )
        self._service = Service(options, timeout=PATIENCE)
        begin = Server._begin

        def counted(
            server: Server, connection: Connection, work: Coroutine[Any, Any, None]
        ) -> None:
            self.n_tasks += 1
            begin(server, connection, work)

        monkeypatch.setattr(Server, "_begin", counted)
        serve_alone = Server._serve_alone

        def counted_alone(server: Server, connection: Connection) -> None:
            self.n_alone += 1
            serve_alone(server, connection)

        monkeypatch.setattr(Server, "_serve_alone", counted_alone)

    def serve(self, first: bytes, talk: Callable[[socket.socket], bytes]) -> Seen:
        """
        Serve a client that sends something first, and then talks in a thread.

        One that only reads then has closed its half of the connection before.
        """
        return asyncio.run(self._serve(first, talk))

    async def _serve(
        self, first: bytes, talk: Callable[[socket.socket], bytes]
    ) -> Seen:
        log = Log(self.log.append, lambda _: None, lambda _: None)
        with socket.create_server(("127.0.0.1", 0)) as listener:
            listener.setblocking(False)
            server = Server(self._service, [listener], log)
            where = listener.getsockname()
            with ExitStack() as clients:
                if self.more:
                    other = clients.enter_context(socket.create_connection(where))
                    other.sendall(self.more)
                client = clients.enter_context(socket.create_connection(where))
                self.client = client
                client.sendall(first)
                if talk is read_all:
                    client.shutdown(socket.SHUT_WR)
                stopping = asyncio.Event()
                serving = asyncio.create_task(server.serve(stopping))
                client.settimeout(PATIENCE)
                await asyncio.sleep(0.1)  # turns in which the client is accepted
                answer = await asyncio.to_thread(talk, client)
            while server._connections:
                await asyncio.sleep(0.01)
            stopping.set()
            await serving
        log_lines = [re.sub(r" ms=[\d.]+", "", line) for line in self.log]
        log_lines = [re.sub(r":\d+ ", ": ", line) for line in log_lines]
        return Seen(answer, log_lines, self.n_tasks, server._budget._left)


def read_all(client: socket.socket) -> bytes:
    pieces = []
    while piece := client.recv(MOST):
        pieces.append(piece)
    return b"".join(pieces)


def send(rest: bytes) -> Callable[[socket.socket], bytes]:
    def talk(client: socket.socket) -> bytes:
        client.sendall(rest)
        client.shutdown(socket.SHUT_WR)
        return read_all(client)

    return talk


def go_on_sending(client: socket.socket) -> bytes:
    """Read the answer, then send more, as a client may that is confused."""
    answer = read_all(client)
    client.sendall(b"more")
    return answer


def process(message: bytes) -> bytes:
    head = b"PROCESS SPAMC/1.5\r\nContent-length: %d\r\n\r\n" % len(message)
    return head + message


TALKS = [
    pytest.param(b"PING SPAMC/1.5\r\n\r\n", read_all, 0, id="ping"),
    pytest.param(b"SKIP SPAMC/1.5\r\n\r\n", read_all, 0, id="skip"),
    pytest.param(CHECK, read_all, 0, id="check"),
    pytest.param(process(MAIL), read_all, 0, id="process"),
    pytest.param(b"", send(CHECK), 1, id="nothing yet"),
    pytest.param(CHECK[:20], send(CHECK[20:]), 1, id="half"),
    pytest.param(CHECK[:-1], send(CHECK[-1:]), 1, id="all but one byte"),
    pytest.param(CHECK, go_on_sending, 1, id="sends on"),
    pytest.param(CHECK + b"more", read_all, 1, id="more than announced"),
    pytest.param(CHECK[:-5], read_all, 1, id="less than announced"),
    pytest.param(b"EHLO there\r\n", read_all, 1, id="another protocol"),
    pytest.param(b"CHECK SPAMC/1.5\r\n: \r\n" * 300, read_all, 1, id="headers"),
    pytest.param(
        b"TELL SPAMC/1.5\r\nMessage-class: spam\r\nSet: local\r\n" + HEAD + MAIL,
        read_all,
        1,
        id="tell, which is not allowed",
    ),
    pytest.param(process(MAIL * 1000), read_all, 1, id="long: for the helper"),
    pytest.param(
        CHECK.replace(b"CHECK", b"REPORT"), read_all, 1, id="report: likewise"
    ),
    pytest.param(CHECK.replace(b"CHECK", b"SYMBOLS"), read_all, 1, id="symbols"),
    pytest.param(process(MAIL * 5000), read_all, 1, id="too long"),
]


@pytest.mark.parametrize(("first", "talk", "n_tasks"), TALKS)
def test_a_client_that_is_alone_is_answered_as_others_are(
    model: Path,
    monkeypatch: pytest.MonkeyPatch,
    first: bytes,
    talk: Callable[[socket.socket], bytes],
    n_tasks: int,
) -> None:
    at_once = Served(model, monkeypatch).serve(first, talk)

    def by_a_task(server: Server, connection: Connection) -> None:
        server._begin(connection, server._attend(connection, 0.0))

    monkeypatch.setattr(Server, "_serve_alone", by_a_task)
    by_task = Served(model, monkeypatch).serve(first, talk)

    assert at_once.answer == by_task.answer
    assert at_once.log == by_task.log
    assert at_once.room == by_task.room  # nothing is held
    assert at_once.n_tasks == n_tasks


def test_the_model_is_looked_at_once_for_a_mail(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_at: list[str] = []

    def state_seen(path: str) -> reloading.Seen:
        looked_at.append(path)
        return state_of(path)

    state_of = reloading.state_of
    monkeypatch.setattr(reloading, "state_of", state_seen)
    Served(model, monkeypatch).serve(CHECK, read_all)

    assert looked_at == [str(model)]


@pytest.mark.parametrize("tail", [b"\n", b"\r\n", b"\r"])
def test_a_line_end_that_comes_late_and_in_pieces_is_no_part_of_a_mail(
    model: Path, monkeypatch: pytest.MonkeyPatch, tail: bytes
) -> None:
    served = Served(model, monkeypatch)
    check_end = Connection.check_end_now
    rest = [tail[n : n + 1] for n in range(len(tail))]

    def later(connection: Connection) -> None:
        if rest:
            served.client.sendall(rest.pop(0))
        check_end(connection)

    monkeypatch.setattr(Connection, "check_end_now", later)
    monkeypatch.setattr("nbtext.serving.server.is_long", lambda _: True)  # by a task
    seen = served.serve(CHECK, read_all_of_it)

    assert not rest
    assert seen.answer.startswith(b"SPAMD/1.1 0 EX_OK\r\nSpam: True")


def test_the_rest_of_an_answer_that_is_not_taken_is_sent_later(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    message = MAIL + b"x" * 16_000
    monkeypatch.setattr("nbtext.serving.server.SMALL", MOST)
    send_now = Connection.send_now

    def in_part(connection: Connection, response: bytes | bytearray) -> bool:
        if connection._n_sent:
            return send_now(connection, response)
        connection._n_sent += connection.socket.send(response[:100])
        return False

    monkeypatch.setattr(Connection, "send_now", in_part)
    seen = Served(model, monkeypatch).serve(process(message), read_all)

    assert seen.n_tasks == 1
    assert seen.answer.startswith(b"SPAMD/1.1 0 EX_OK\r\n")
    assert seen.answer.endswith(b"x" * 16_000)
    assert seen.answer.count(b"SPAMD/") == 1


def test_an_answer_that_nobody_takes_is_logged_as_broken(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lost(connection: Connection, response: bytes | bytearray) -> bool:
        raise ConnectionResetError(104, "Connection reset by peer")

    monkeypatch.setattr(Connection, "send_now", lost)
    seen = Served(model, monkeypatch).serve(CHECK, read_all)

    (line,) = seen.log
    assert line.endswith('broken="Connection reset by peer"')
    assert seen.answer == b""


def test_a_fault_of_ours_is_an_answer_and_the_server_goes_on(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fault(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(Server, "_answer_now", fault)
    seen = Served(model, monkeypatch).serve(CHECK, read_all)

    assert seen.answer.startswith(b"SPAMD/1.0 70 EX_SOFTWARE")
    assert len(seen.log) == 1


def test_what_comes_while_a_message_is_read_is_too_much(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = Served(model, monkeypatch)
    at_once = Handler.at_once

    def slowly(
        handler: Handler, request: Request
    ) -> Callable[[Request], Answer] | None:
        served.client.sendall(b"more")
        return at_once(handler, request)

    monkeypatch.setattr(Handler, "at_once", slowly)
    seen = served.serve(CHECK, read_all_of_it)

    assert seen.answer.startswith(b"SPAMD/1.0 76 Bad header line: (Content-Length")


def read_all_of_it(client: socket.socket) -> bytes:
    """Read as `read_all` does, with both halves open."""
    return read_all(client)


def test_a_client_that_comes_with_another_waits_its_turn(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = Served(model, monkeypatch)
    served.more = CHECK

    seen = served.serve(CHECK, read_all)

    assert seen.answer.startswith(b"SPAMD/1.1 0 EX_OK\r\nSpam: True")
    assert seen.n_tasks == 2


def test_a_client_waits_its_turn_while_another_sends(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def talk(client: socket.socket) -> bytes:
        with socket.create_connection(client.getpeername(), PATIENCE) as other:
            other.sendall(CHECK)
            other.shutdown(socket.SHUT_WR)
            return read_all(other) + send(CHECK[9:])(client)

    served = Served(model, monkeypatch)
    seen = served.serve(CHECK[:9], talk)

    assert seen.answer.count(b"SPAMD/1.1 0 EX_OK\r\nSpam: True") == 2
    assert served.n_alone == 1


def test_two_clients_of_one_turn_are_counted(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nbtext.serving.server.most_clients", lambda: 1)
    served = Served(model, monkeypatch)
    served.more = CHECK

    seen = served.serve(CHECK, read_all)

    assert seen.answer == b"SPAMD/1.0 75 EX_TEMPFAIL: too many clients\r\n"
