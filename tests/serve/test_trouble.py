"""Whatever clients do, they are answered or seen off, and the next one is served."""

import resource
import select
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from random import Random
from typing import TYPE_CHECKING

import pytest

from tests.serve.conftest import all_of, warm_up

if TYPE_CHECKING:
    from tests.serve.conftest import Mails, Server, Start

MB = 1 << 20
CROWD = 1000


def check(message: bytes, length: object = None) -> bytes:
    length = len(message) if length is None else length
    return f"CHECK SPAMC/1.5\r\nContent-length: {length}\r\n\r\n".encode() + message


@pytest.fixture(autouse=True)
def _next_client_is_served(
    request: pytest.FixtureRequest, mails: "Mails"
) -> Iterator[None]:
    """Whatever a test has done to the server that all share, it serves the next."""
    yield
    if "server" in request.fixturenames:
        server = request.getfixturevalue("server")
        answer = server.ask(check(mails.spam))
        assert answer.startswith(b"SPAMD/1.1 0 EX_OK\r\nSpam: True")


LARGE = b"From: a@b\n\n" + b"word " * MB
"""5 MB, more than the servers of these tests take."""


@pytest.mark.parametrize(
    ("said", "code"),
    [
        pytest.param(check(LARGE), 98, id="too large"),
        pytest.param(b"CHECK SPAMC/1.5\r\n\r\n" + LARGE, 98, id="too large, no length"),
        pytest.param(check(b"half of it", 20), 76, id="half a message"),
        pytest.param(check(b"more than that", 4), 76, id="length too small"),
        pytest.param(check(b"x" * 300_000, 299_999), 76, id="a byte too small"),
        pytest.param(check(b"x", -1), 76, id="length negative"),
        pytest.param(check(b"x", 10**12), 98, id="length huge"),
        pytest.param(check(b"x", 10**30), 76, id="length too huge to be one"),
        pytest.param(check(b"x", "one"), 76, id="length no number"),
        pytest.param(b"CHECK SPAMC/1.5\r\n" + b"A: b\r\n" * 9999, 76, id="headers"),
        pytest.param(b"x" * MB, 76, id="no line"),
        pytest.param(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", 76, id="http"),
        pytest.param(b"\0" * 5000, 76, id="NULs"),
        pytest.param(b"\r\n\r\n", 76, id="empty lines"),
        pytest.param(b"CHECK SPAMC/1.5\r\n", 76, id="no more than a line"),
        pytest.param(b"", 76, id="nothing"),
    ],
)
@pytest.mark.parametrize("tcp", [False, True], ids=["unix", "tcp"])
def test_nonsense_is_answered_in_one_line(
    server: "Server", said: bytes, code: int, tcp: bool
) -> None:
    answer = server.ask(said, tcp=tcp)

    assert answer.startswith(b"SPAMD/1.0 %d " % code)
    assert answer.endswith(b"\r\n")
    assert answer.count(b"\n") == 1


def test_random_bytes_are_answered_or_refused(server: "Server") -> None:
    random = Random(4)  # noqa: S311  a fixed seed, no secret
    pieces = [b"CHECK SPAMC/1.5\r\n", b"\r\n", b"User: x\r\n", b"Content-length: 9\r\n"]
    for _ in range(150):
        said = b"".join(random.choices([*pieces, random.randbytes(9)], k=6))

        assert server.ask(said)[:6] in (b"SPAMD/", b"")


def test_a_bomb_is_not_unpacked(start: "Start", mails: "Mails") -> None:
    import zlib

    server = start("--max-size", "1M")
    warm_up(server, mails)
    before = server.memory()
    bomb = zlib.compress(bytes(32 * MB))

    answer = server.ask(
        b"CHECK SPAMC/1.5\r\nCompress: zlib\r\nContent-length: %d\r\n\r\n" % len(bomb)
        + bomb
    )

    assert answer.startswith(b"SPAMD/1.0 98 ")
    assert server.memory() - before < 8 * MB


def test_large_messages_take_bounded_memory(start: "Start", mails: "Mails") -> None:
    server = start("--max-size", "1M")
    warm_up(server, mails)
    before = server.memory()

    for _ in range(4):
        assert server.ask(check(LARGE)).startswith(b"SPAMD/1.0 98 ")
    refusing = server.memory() - before
    whole = server.ask(check(b"a: b\n\n" + b"word " * (MB // 5 - 2)))

    assert refusing < len(LARGE) // 2
    assert b"EX_OK" in whole
    assert server.memory() - before < 8 * MB


def test_who_goes_away_is_not_missed(server: "Server", mails: "Mails") -> None:
    for said in (b"", b"CHE", check(mails.spam)[:99], check(mails.spam)):
        with server.connected() as client:
            client.sendall(said)
        with server.connected(tcp=True) as client:  # a reset, not an end
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0" * 2)
            client.sendall(said)


def test_a_slow_client_is_told_and_delays_nobody(
    start: "Start", mails: "Mails"
) -> None:
    server = start("--timeout", "3")
    with server.connected() as slow, server.connected() as silent:
        slow.sendall(check(mails.spam)[:40])
        assert b"EX_OK" in server.ask(check(mails.spam))
        is_delayed = bool(select.select([slow, silent], [], [], 0)[0])

        answers = [slow.recv(999), silent.recv(999)]

    assert not is_delayed
    assert answers == [b"SPAMD/1.0 79 Timeout: (3 seconds)\r\n"] * 2


def test_a_large_message_holds_nobody_up(server: "Server", mails: "Mails") -> None:
    large = check(mails.ham + "\u0430\u0431\u0432 \u4e2d".encode() * 300_000)

    def is_first() -> bool:
        """Return whether small messages behind a large one were answered before it."""
        with server.connected() as slow:
            slow.sendall(large)
            answers = [server.ask(check(mails.spam)) for _ in range(3)]
            is_answered = select.select([slow], [], [], 0)[0]
            assert b"EX_OK" in slow.recv(99)
        assert all(b"Spam: True" in answer for answer in answers)
        return not is_answered

    # on a busy machine the test may be late itself; a server that waits always is
    assert any(is_first() for _ in range(20))


def test_bytes_that_come_one_by_one_are_a_request(
    server: "Server", mails: "Mails"
) -> None:
    with server.connected(tcp=True) as client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in check(mails.spam):
            client.send(bytes([byte]))

        assert client.recv(999).startswith(b"SPAMD/1.1 0 EX_OK\r\nSpam: True")


def test_who_does_not_read_the_answer_is_given_up(start: "Start") -> None:
    server = start("--timeout", "2", "--max-size", "16M")
    message = b"a: b\n\n" + b"x" * (8 * MB)
    with server.connected() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.sendall(check(message).replace(b"CHECK", b"PROCESS"))

        line = server.wait_for_log("broken=")

        assert b"Timeout" not in all_of(client)

    assert "verb=PROCESS" in line
    assert "the answer was not read in time" in line


@pytest.fixture
def _many_files() -> Iterator[None]:
    """Let this process have more files open than clients are wanted."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < CROWD + 200:
        pytest.skip(f"no more than {hard} files may be open")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, CROWD + 200), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.usefixtures("_many_files")
def test_a_thousand_clients_at_once_are_served(
    server: "Server", mails: "Mails"
) -> None:
    with ExitStack() as stack:
        crowd = [stack.enter_context(server.connected()) for _ in range(CROWD)]
        assert b"EX_OK" in server.ask(check(mails.ham))
        for client in crowd:
            client.sendall(check(mails.spam))

        answers = {client.recv(999) for client in crowd}

    assert len(answers) == 1
    assert answers.pop().startswith(b"SPAMD/1.1 0 EX_OK\r\nSpam: True")


@pytest.mark.usefixtures("_many_files")
def test_a_thousand_clients_that_say_nothing_keep_nobody_out(
    server: "Server", mails: "Mails"
) -> None:
    with ExitStack() as stack:
        for _ in range(CROWD):
            stack.enter_context(server.connected())

        assert b"EX_OK" in server.ask(check(mails.ham))
