"""Large messages, whatever is in them, cost bounded memory and delay no small ones."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from select import select
from typing import TYPE_CHECKING, NamedTuple

import pytest

from benchmarks.heavy_messages import (
    broken,
    charsets,
    encoded,
    fields,
    noise,
    uuencoded,
)
from tests.serve.conftest import is_running, request, started, warm_up
from tests.waiting import wait_until

if TYPE_CHECKING:
    from tests.serve.conftest import Mails, Server, Start

MB = 1 << 20
HEAVY = 4
"""Number of clients that send large messages at the same time."""

BOUND = 256 * MB
"""Maximum memory above that of an idle server, in bytes; docs/serving.md."""

BOUND_OF_ONE = 96 * MB
"""
The same for one message: the peaks of two processes, which are not at one time; at any
time it is less (`python -m benchmarks.heavy_clients`).
"""


check = partial(request, "CHECK")
process = partial(request, "PROCESS")


def letters_and_marks(size: int) -> bytes:
    return b"From: a@b\n\n" + b"a!" * (size // 2 - 9)


def forged(size: int) -> bytes:
    return b"From: a@b\n" + b"X-Spam-A: b\rc: d\n" * (size // 17 - 2)


def crs(size: int) -> bytes:
    return b"From: a@b\nX: " + b"\r" * (size - 20)


KINDS = [
    fields, charsets, noise, letters_and_marks, forged, crs, encoded, broken, uuencoded,
]  # fmt: skip


class Warm(NamedTuple):
    """
    A server that has loaded whatever it loads at first use, in all processes.

    Attributes:
        server: the server.
        idle: the most memory that it had held by then, in bytes.
    """

    server: "Server"
    idle: int


@pytest.fixture(scope="module")
def warm(trained: bytes, mails: "Mails") -> Iterator[Warm]:
    for start in started(trained):
        server = start("--max-size", "16M")
        warm_up(server, mails)
        yield Warm(server, server.memory())


def small_ones_meanwhile(server: "Server", small: bytes, large: bytes) -> int:
    """Return how many small messages are answered before the first of some large."""
    with ExitStack() as stack:
        heavy = [stack.enter_context(server.connected()) for _ in range(HEAVY)]
        for client in heavy:
            client.sendall(check(large))
        n_answered = 0
        while not select(heavy, [], [], 0)[0]:
            assert b"EX_OK" in server.ask(check(small))
            n_answered += 1
        for client in heavy:
            assert b"EX_OK" in client.recv(99)
    return n_answered


@pytest.mark.parametrize("kind", [fields, forged])
def test_four_clients_with_large_messages_delay_nobody(
    warm: Warm, mails: "Mails", kind: Callable[[int], bytes]
) -> None:
    large = kind(4 * MB)

    # on a busy machine a client may get no turn itself; where others wait none ever do
    assert any(
        small_ones_meanwhile(warm.server, mails.spam, large) > 2 * HEAVY
        for _ in range(3)
    )


@pytest.mark.parametrize("kind", KINDS)
def test_a_message_of_any_content_takes_bounded_memory(
    warm: Warm, kind: Callable[[int], bytes]
) -> None:
    message = kind(16 * MB)

    assert b"EX_OK" in warm.server.ask(check(message))
    assert b"EX_OK" in warm.server.ask(process(message))

    assert warm.server.memory() - warm.idle < BOUND_OF_ONE


def test_several_at_once_take_bounded_memory(warm: Warm) -> None:
    with ExitStack() as stack:
        heavy = [stack.enter_context(warm.server.connected()) for _ in range(HEAVY)]
        for client in heavy:
            client.sendall(check(noise(16 * MB)))
        for client in heavy:
            assert b"EX_OK" in client.recv(99)

    assert warm.server.memory() - warm.idle < BOUND


def test_a_helper_that_is_killed_costs_an_answer_and_no_more(
    start: "Start", mails: "Mails"
) -> None:
    server = start()
    warm_up(server, mails)
    large = mails.spam + b"\n" + b"word " * (MB // 4)
    (helper,) = server.helpers
    os.kill(helper, signal.SIGSTOP)
    with server.connected() as client:
        client.sendall(check(large))
        assert b"EX_OK" in server.ask(check(mails.spam))
        os.kill(helper, signal.SIGKILL)

        assert client.recv(99).startswith(b"SPAMD/1.0 75 EX_TEMPFAIL: the process")

    assert b"EX_OK" in server.ask(check(large))
    assert server.helpers != [helper]
    assert "the process that reads large messages has ended" in "\n".join(server.log)


def test_large_messages_are_classified_by_the_model_as_it_is(
    start: "Start", mails: "Mails"
) -> None:
    server = start()
    warm_up(server, mails)
    large = mails.spam + b"\n" + b"zebra " * 9999
    assert b"Spam: True" in server.ask(check(mails.spam))

    answer = server.tell(large, "Message-class: spam", "Set: local")

    assert b"DidSet: local" in answer
    line = server.wait_for_log("verb=TELL")
    assert "did=learnt" in line
    again = server.tell(large, "Message-class: spam", "Set: local")
    assert b"DidSet" not in again


def test_a_helper_ends_with_its_worker(start: "Start") -> None:
    server = start()
    wait_until(lambda: bool(server.helpers))
    (helper,) = server.helpers
    (worker,) = server.workers

    os.kill(worker, signal.SIGKILL)

    wait_until(lambda: not is_running(helper))
