"""
A server: clients of SpamAssassin's spamd come in, are heard, answered and seen off.

One event loop does it all but for large messages and for learning, which take longer
and have threads. Whatever clients do, each costs a bounded amount of memory and time: a
connection, a message of limited size, a minute to say what it wants. Who comes when
there is no room is told to try again. `nbtext.serving.workers` has several of these.
"""

import asyncio
import resource
import socket
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from time import perf_counter
from typing import Any, Final, NamedTuple

from nbtext.errors import RequestError
from nbtext.serving.connection import Connection, Room
from nbtext.serving.handlers import Answer, Answerer, Task, loggable, refused
from nbtext.serving.sockets import Address, Network, is_allowed
from nbtext.serving.spamd import (
    TIMEOUT,
    TRY_AGAIN,
    UNAVAILABLE,
    Request,
    pong,
    refusal,
)

MOST_CLIENTS: Final = 4096
"""So many may be connected at once; fewer if the system lets us open fewer files."""

SPARE_FILES: Final = 64
"""Files that are open for other reasons than a client."""

MOST_AT_ONCE: Final = 64
"""So many clients are let in before those that are there are looked after."""

MOST_SLOW: Final = 256
"""So many messages may wait to be learnt or forgotten, and so many large ones."""

LARGE: Final = 1 << 20
"""A message of more bytes takes so long that others need not wait for it."""

BATCH: Final = 16
BATCH_BYTES: Final = 1 << 18
"""So many messages, of so many bytes, are classified together."""

LEAST_ROOM: Final = 128 << 20
LARGE_ONES: Final = 4
"""Requests that are arriving or waiting may hold so many bytes together, or so many
messages of the largest size if that is more."""

GRACE: Final = 10.0
"""So many seconds requests may take to be finished when the server is to end."""

PAUSE: Final = 0.1
"""If no client can be let in, the next try is so many seconds later."""


class Service(NamedTuple):
    """
    What a server offers, and to whom.

    Attributes:
        task: what messages are classified and learnt by.
        timeout: how many seconds a client has to send its request, and as many again
            to take the answer.
        networks: who is served besides this machine.
        may_tell: whether clients may have messages learnt and forgotten.
    """

    task: Task
    timeout: float = 60.0
    networks: Sequence[Network] = ()
    may_tell: bool = True


class Log(NamedTuple):
    """
    Where to say what happens; each is told a line.

    Attributes:
        request: one line a request.
        event: what goes well otherwise.
        trouble: what does not.
    """

    request: Callable[[str], None]
    event: Callable[[str], None]
    trouble: Callable[[str], None]


class Server:
    """What all connections have in common."""

    def __init__(
        self, service: Service, listeners: Sequence[socket.socket], log: Log
    ) -> None:
        """
        Let nobody in yet.

        Args:
            service: what is offered.
            listeners: sockets that listen and do not block.
            log: where to say what happens.

        """
        self._service = service
        self._listeners = listeners
        self._log = log
        self._answerer = Answerer(service.task, log.event, log.trouble)
        self._lessons = Lane(self._answerer.taught, MOST_SLOW)
        self._large = Lane(self._answerer.classified_alone, MOST_SLOW)
        self._asked: list[tuple[Request, asyncio.Future[Answer]]] = []
        self._connections: dict[asyncio.Task[None], Connection] = {}
        self._most_clients = most_clients()
        self._room = Room(max(LEAST_ROOM, LARGE_ONES * service.task.max_size))

    def warm_up(self) -> None:
        """Have the model ready."""
        self._answerer.warm_up()

    def read_again(self) -> None:
        """Read the model again."""
        self._answerer.read_again()

    async def serve(self, stopping: asyncio.Event) -> None:
        """Serve until the event happens, and then see out what has begun."""
        for listener in self._listeners:
            self._listen(listener)
        await stopping.wait()
        loop = asyncio.get_running_loop()
        for listener in self._listeners:
            loop.remove_reader(listener)
            listener.close()
        tasks = list(self._connections.items())
        await ended([task for task, one in tasks if not one.is_owed])
        owed = [task for task, one in tasks if one.is_owed]
        if owed:
            _, late = await asyncio.wait(owed, timeout=GRACE)
            await ended(late)
        self._large.close()
        self._lessons.close()

    def _listen(self, listener: socket.socket) -> None:
        if listener.fileno() >= 0:
            loop = asyncio.get_running_loop()
            loop.add_reader(listener, self._accept, listener)

    def _accept(self, listener: socket.socket) -> None:
        """Let in who is at the door."""
        for _ in range(MOST_AT_ONCE):
            try:
                client, where = listener.accept()
            except (BlockingIOError, ConnectionAbortedError):
                return  # another process has let it in, or it is gone
            except OSError as error:  # out of files, or of memory
                self._log.trouble(f"nobody can be let in: {error.strerror}")
                loop = asyncio.get_running_loop()
                loop.remove_reader(listener)
                loop.call_later(PAUSE, self._listen, listener)
                return
            self._welcome(client, where)

    def _welcome(self, client: socket.socket, where: Any) -> None:
        host, port = where[:2] if isinstance(where, tuple) else ("", 0)
        name = str(Address(host, port, "")) if host else "local"
        if not is_allowed(host, self._service.networks):
            client.close()
            self._log.trouble(f"client={name} refused: neither local nor allowed")
            return
        if len(self._connections) >= self._most_clients:
            error = RequestError(TRY_AGAIN, "too many clients")
            with client, suppress(OSError):
                client.send(refusal(error), socket.MSG_DONTWAIT)
            self._log.trouble(f"client={name} refused={error.code} reason={error}")
            return
        max_size = self._service.task.max_size
        connection = Connection(client, name, max_size, self._room)
        task = asyncio.create_task(self._attend(connection))
        self._connections[task] = connection
        task.add_done_callback(self._connections.__delitem__)

    async def _attend(self, connection: Connection) -> None:
        """See a client from its first byte to its last."""
        began = perf_counter()
        try:
            with connection.socket:
                said = await self._converse(connection)
                took = (perf_counter() - began) * 1000
                self._log.request(f"{connection.facts()} ms={took:.1f}{said}")
                await connection.part()
        finally:
            connection.close()

    async def _converse(self, connection: Connection) -> str:
        """Hear and answer a client; return what the log is to say of it."""
        seconds = self._service.timeout
        try:
            await connection.hear(seconds)
            answer = await self._answer(connection.incoming.request())
            connection.check_end()
        except TimeoutError:
            answer = refused(RequestError(TIMEOUT, f"({seconds:g} seconds)"))
        except OSError as error:
            return broken(connection, error.strerror)
        except Exception as error:  # what a client did wrong, or we
            answer = refused(error)
        return await self._say(connection, answer)

    async def _say(self, connection: Connection, answer: Answer) -> str:
        """Tell a client its answer; return what the log is to say of that."""
        try:
            await connection.say(answer.response, self._service.timeout)
        except TimeoutError:
            return broken(connection, "the answer was not read in time")
        except OSError as error:
            return broken(connection, error.strerror)
        return f" {answer.log}" if answer.log else ""

    async def _answer(self, request: Request) -> Answer:
        """
        Return what a client is to be told.

        Raises:
            RequestError: nothing was done, and why.

        """
        if request.verb == "SKIP":
            return Answer(b"")
        if request.verb == "PING":
            return Answer(pong())
        if request.verb != "TELL":
            is_large = len(request.body) > LARGE or request.is_compressed
            if is_large:
                return await self._large.answer(request)
            return await self._classified(request)
        if not self._service.may_tell:
            raise RequestError(UNAVAILABLE, "TELL commands are not enabled")
        return await self._lessons.answer(request)

    def _classified(self, request: Request) -> "asyncio.Future[Answer]":
        """Classify a message soon, with others that come at the same time."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Answer] = loop.create_future()
        if not self._asked:
            loop.call_soon(self._classify)
        self._asked.append((request, future))
        return future

    def _classify(self) -> None:
        """Classify some of the messages that wait, and come back for the others."""
        some: list[tuple[Request, asyncio.Future[Answer]]] = []
        size = 0
        for request, future in self._asked[:BATCH]:
            size += len(request.body)
            if some and size > BATCH_BYTES:
                break
            some.append((request, future))
        del self._asked[: len(some)]
        if self._asked:
            asyncio.get_running_loop().call_soon(self._classify)
        waiting = [one for one in some if not one[1].done()]  # others are gone
        answers = self._answerer.classified([request for request, _ in waiting])
        for (_, future), answer in zip(waiting, answers, strict=True):
            future.set_result(answer)


class Lane:
    """A thread where requests that take long are answered one after the other."""

    def __init__(self, answer: Callable[[Request], Answer], n_waiting: int) -> None:
        """
        Answer nothing yet.

        Args:
            answer: what answers a request.
            n_waiting: how many requests may wait.

        """
        self._answer = answer
        self._n_free = n_waiting
        self._executor = ThreadPoolExecutor(1)

    async def answer(self, request: Request) -> Answer:
        """
        Answer a request when it is its turn.

        Raises:
            RequestError: too many are waiting already.

        """
        if not self._n_free:
            raise RequestError(TRY_AGAIN, "too many requests of this kind are waiting")
        self._n_free -= 1
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._executor, self._answer, request)
        finally:
            self._n_free += 1

    def close(self) -> None:
        """Answer no more; what has been begun is waited for."""
        self._executor.shutdown(cancel_futures=True)


def broken(connection: Connection, reason: str | None) -> str:
    """Give a client up; return what the log is to say of it."""
    connection.socket.close()
    return f" broken={loggable(reason or 'unknown')}"


async def ended(tasks: Iterable["asyncio.Task[None]"]) -> None:
    """Cancel tasks, and wait until they have taken notice."""
    tasks = list(tasks)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def most_clients() -> int:
    """Return how many clients there is room for; have the system allow more files."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_CLIENTS + SPARE_FILES
    allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft < allowed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    return max(min(MOST_CLIENTS, max(soft, allowed) - SPARE_FILES), 1)
