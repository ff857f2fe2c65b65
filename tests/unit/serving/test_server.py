"""A server that is full refuses clients in a way that they can read."""

import asyncio
import resource
import socket

import pytest

from nbtext.policy import PolicyOverrides
from nbtext.serving.handlers import HandlerOptions
from nbtext.serving.server import Log, Server, Service, most_clients
from tests.waiting import PATIENCE

EXPECTED = b"SPAMD/1.0 75 EX_TEMPFAIL: too many clients\r\n"


def ignored(_: str) -> None:
    """Log nothing."""


@pytest.mark.parametrize("n_refused", [1, 32])
def test_a_client_that_is_refused_reads_why_and_is_not_reset(
    monkeypatch: pytest.MonkeyPatch, n_refused: int
) -> None:
    """Its request is larger than the system keeps, so it is still sending then."""
    monkeypatch.setattr("nbtext.serving.server.most_clients", lambda: 0)
    monkeypatch.setattr("nbtext.serving.server.REFUSAL", PATIENCE)  # on a busy machine
    options = HandlerOptions("none.nbt", "spam", "ham", PolicyOverrides(), 1 << 20, 1.0)
    head = b"CHECK SPAMC/1.5\r\nContent-length: 8000000\r\n\r\n"
    told: list[str] = []

    async def ask(port: int) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(head + bytes(8_000_000))
        answer = await reader.read()
        await writer.drain()  # all of it is taken
        writer.close()
        return answer

    async def talk() -> list[bytes]:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            listener.setblocking(False)
            log = Log(ignored, ignored, told.append)
            server = Server(Service(options), [listener], log)
            stopping = asyncio.Event()
            serving = asyncio.create_task(server.serve(stopping))
            port = listener.getsockname()[1]
            asking = [ask(port) for _ in range(n_refused)]
            answers = await asyncio.gather(*asking)
            stopping.set()
            await serving
        return answers

    assert asyncio.run(talk()) == [EXPECTED] * n_refused
    values = [line.partition(" ")[2] for line in told]
    assert values == ['refused=75 reason="too many clients"'] * n_refused


@pytest.mark.parametrize(
    ("soft", "hard", "most"),
    [
        (1024, 1 << 20, 4096),
        (1 << 20, 1 << 20, 4096),
        (1024, resource.RLIM_INFINITY, 4096),
        (1024, 1024, 832),
        (256, 256, 64),
        (128, 128, 32),
        (3, 3, 1),
    ],
)
def test_few_files_leave_room_for_some_clients(
    monkeypatch: pytest.MonkeyPatch, soft: int, hard: int, most: int
) -> None:
    raised: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: (soft, hard))
    monkeypatch.setattr(resource, "setrlimit", lambda _, to: raised.append(to))

    assert most_clients() == most
    assert raised == ([] if soft == hard else [(4288, hard)])
