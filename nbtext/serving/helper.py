"""
A worker's helper: a second process that answers what would keep its clients waiting.

Requests go in, answers come out, over a socket pair and one after the other, the
shortest first. The worker's event loop only passes bytes on meanwhile: a thread would
compete with it for the interpreter. What the system does to a process that needs too
much memory, it does to the helper, and the next request has another one.
"""

import asyncio
import gc
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from heapq import heappop, heappush
from itertools import count
from typing import Final

import msgpack

from nbtext import wording
from nbtext.errors import RequestError
from nbtext.keyring import environment
from nbtext.serving.framing import (
    LENGTH,
    TOGETHER,
    framed,
    receive_exactly,
    unframed,
)
from nbtext.serving.handlers import Answer, HandlerOptions
from nbtext.serving.spamd import TRY_AGAIN, Request
from nbtext.serving.users import AnyHandler, handler_of
from nbtext.store.reuse import keep_tables

DEAF: Final = (
    "from signal import SIG_IGN, SIGHUP, SIGINT, SIGTERM, signal; "
    "[signal(number, SIG_IGN) for number in (SIGHUP, SIGINT, SIGTERM)]; "
)
"""
What a process of the server does first: signals are for the supervisor, even if they
come to all, as Ctrl-C does. The end of the supervisor is the end of its workers, and
that of a worker the end of its helper.
"""

COMMAND: Final = f"{DEAF}from nbtext.serving.helper import be_one; be_one()"
"""What the helper's process does."""

ALLOCATION: Final = {
    "MALLOC_MMAP_THRESHOLD_": str(1 << 18),
    "MALLOC_TRIM_THRESHOLD_": str(1 << 20),
}
"""
What has the C library of Linux (glibc) give large pieces of memory back when they are
free; by itself it keeps what one large message took. Other libraries do not look at it.
"""

NICENESS: Final = 5
"""How far the helper gives way to the worker where there are too few processors."""

ENDS: Final = (OSError, EOFError, MemoryError)
"""What ends a helper without a word: its worker is told, or has ended itself."""

LAST_GRACE: Final = 1.0
"""Maximum seconds until a helper is killed that was told to end."""


class Helper:
    """A helper, and the requests that wait for it."""

    def __init__(
        self, options: HandlerOptions, on_trouble: Callable[[str], None], most: int
    ) -> None:
        """
        Start nothing yet.

        Args:
            options: how messages are classified and learnt.
            on_trouble: called with a line if the helper has ended.
            most: maximum requests that wait.
        """
        self._options = options
        self._on_trouble = on_trouble
        self._most = most
        self._socket: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._is_busy = False
        self._is_stale = False
        self._waiting: list[tuple[int, int, asyncio.Future[None]]] = []
        self._numbers = count()

    def read_again(self) -> None:
        """Have the model opened again for the next request."""
        self._is_stale = True

    def start(self) -> socket.socket:
        """
        Start the process, if there is none; return what it is spoken to by.

        It is started before the first request, for that not to wait for it.

        Raises:
            OSError: the system has no room for it.
        """
        if self._socket is not None:
            return self._socket
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                self._process = subprocess.Popen(  # noqa: S603  of this program
                    [sys.executable, "-P", "-c", COMMAND, wording.spoken()],
                    stdin=theirs.fileno(),
                    stdout=subprocess.DEVNULL,
                    env=variables(),
                )
            # there is room for so little, so this does not wait
            ours.sendall(framed([*self._options]))
            ours.setblocking(False)
        except BaseException:
            ours.close()
            raise
        self._socket = ours
        return ours

    async def answer(self, request: Request, body: bytearray) -> Answer:
        """
        Return the answer to a request when it is its turn.

        Args:
            request: what is asked, without the message.
            body: the message; it is emptied as soon as the helper has it, but for that
                of a lesson, which may have to be taught again.

        Raises:
            RequestError: too many are waiting, or the helper has ended.
        """
        if len(self._waiting) >= self._most:
            raise RequestError(TRY_AGAIN, "too many messages that take time wait")
        await self._turn(len(body))
        try:
            return await self._ask(request, body)
        except (OSError, EOFError) as error:
            reason = "the process that reads large messages has ended"
            self._on_trouble(f"{reason}, perhaps for want of memory; {error}")
            raise RequestError(TRY_AGAIN, reason) from error
        finally:
            self._next()

    def close(self) -> None:
        """Tell the process to end, and see that it does."""
        process = self._process
        self._drop()
        if process is None:
            return
        with suppress(subprocess.TimeoutExpired):
            process.wait(LAST_GRACE)
        process.kill()
        process.wait()

    async def _turn(self, size: int) -> None:
        """Wait until all shorter requests, and the one that is being read, are done."""
        if not self._is_busy:
            self._is_busy = True
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heappush(self._waiting, (size, next(self._numbers), turn))
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():
                self._next()
            raise

    def _next(self) -> None:
        while self._waiting:
            _, _, turn = heappop(self._waiting)
            if not turn.done():
                turn.set_result(None)
                return
        self._is_busy = False

    async def _ask(self, request: Request, body: bytearray) -> Answer:
        helper = self.start()
        loop = asyncio.get_running_loop()
        is_stale, self._is_stale = self._is_stale, False
        try:
            head = framed([*request, len(body), is_stale])
            await loop.sock_sendall(helper, head + body[:TOGETHER])
            if len(body) > TOGETHER:
                await loop.sock_sendall(helper, memoryview(body)[TOGETHER:])
            if request.verb != "TELL":
                body.clear()  # the answer may be as long
            (length,) = LENGTH.unpack(await _received(helper, LENGTH.size))
            size, log, is_busy = msgpack.unpackb(await _received(helper, length))
            return Answer(await _received(helper, size), log, is_busy)
        except BaseException:  # what comes next would be the rest of this answer
            self._drop()
            raise

    def _drop(self) -> None:
        """Have no helper; the one that there is ends when it notices."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        if self._process is not None:
            self._process.poll()
            self._process = None


async def _received(helper: socket.socket, size: int) -> bytearray:
    """
    Return so many bytes from the helper.

    Raises:
        OSError, EOFError: it has ended.
    """
    received = bytearray(size)
    rest = memoryview(received)
    while rest:
        n_bytes = await asyncio.get_running_loop().sock_recv_into(helper, rest)
        if not n_bytes:
            raise EOFError("it has closed its end")
        rest = rest[n_bytes:]
    return received


def variables() -> dict[str, str]:
    """Return the environment of a process of the server; what the user set stays."""
    # the same modules as ours, wherever we found them, and none from where we are
    paths = os.pathsep.join(map(os.path.realpath, sys.path))
    return ALLOCATION | os.environ | environment() | {"PYTHONPATH": paths}


def be_one() -> None:
    """Be the helper of the worker at the other end of standard input, until it ends."""
    os.nice(NICENESS)
    wording.speak(sys.argv[1])
    with socket.socket(fileno=os.dup(0)) as worker, suppress(*ENDS):
        options = HandlerOptions.rebuilt(unframed(worker))
        keep_tables(only=options.model)
        handler = handler_of(options, _ignored, _ignored)  # the worker says the same
        handler.warm_up()
        gc.freeze()  # what is here now stays, and need not be looked through
        while True:
            _answer_next(worker, handler)


def _answer_next(worker: socket.socket, handler: AnyHandler) -> None:
    *plain, size, is_stale = unframed(worker)
    request = Request(*plain)
    version = (request.version[0], request.version[1])  # which has become a list
    request = request._replace(version=version, body=receive_exactly(worker, size))
    if is_stale:
        handler.read_again()
    act = handler.learn_alone if request.verb == "TELL" else handler.classify_alone
    response, log, is_busy = act(request)
    del request  # the worker is about to hold the answer, too
    worker.sendall(framed([len(response), log, is_busy]) + response[:TOGETHER])
    if len(response) > TOGETHER:
        worker.sendall(memoryview(response)[TOGETHER:])


def _ignored(_: str) -> None:
    """Do without a line of the log."""
