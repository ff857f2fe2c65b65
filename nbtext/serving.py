"""
The server: clients of SpamAssassin's spamd come in, are heard, answered and seen off.

One event loop reads requests and writes answers; what takes longer is done by workers
(`nbtext.workers`). Whatever clients do, each costs a bounded amount of memory and time:
a connection, a message of limited size, a place in a queue, a minute to say what it
wants. Who comes when there is no room is told to try again.
"""

import asyncio
import resource
import signal
import socket
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from time import perf_counter
from typing import Any, Final, NamedTuple

from nbtext.answering import loggable
from nbtext.connection import Connection, Room
from nbtext.errors import RequestError
from nbtext.jobs import Answer, Job, Task
from nbtext.listening import Address, Listener, Network, is_allowed
from nbtext.spamd import TIMEOUT, TRY_AGAIN, UNAVAILABLE, Request, pong, refusal
from nbtext.workers import Pool

MOST_CLIENTS: Final = 4096
"""So many may be connected at once; fewer if the system lets us open fewer files."""

SPARE_FILES: Final = 64
"""Files that are open for other reasons than a client."""

MOST_WAITING: Final = 1024
MOST_LESSONS: Final = 256
"""So many requests may wait for a worker: to classify, and to learn or forget."""

LEAST_ROOM: Final = 128 << 20
"""Requests that are arriving or waiting may hold so many bytes together, at the least;
and at least so many messages of the largest size:"""

LARGE_ONES: Final = 4

PATIENCE: Final = 300.0
"""So many seconds a worker may take, as long as a child of spamd."""

GRACE: Final = 10.0
"""So many seconds requests may take to be finished when the server is to end."""

PAUSE: Final = 0.1
"""If no client can be let in, the next try is so many seconds later."""


class Service(NamedTuple):
    """
    What a server offers, and to whom.

    Attributes:
        task: what the workers are to do.
        n_workers: how many classify.
        timeout: how many seconds a client has to send its request, and as many again
            to take the answer.
        networks: who is served besides this machine.
        may_tell: whether clients may have messages learnt and forgotten.
    """

    task: Task
    n_workers: int = 1
    timeout: float = 60.0
    networks: Sequence[Network] = ()
    may_tell: bool = True


class Log(NamedTuple):
    """
    Where to say what happens; each is told a line.

    Attributes:
        request: one line a request.
        event: the rest.
    """

    request: Callable[[str], None]
    event: Callable[[str], None]


def serve(service: Service, listeners: Sequence[Listener], log: Log) -> None:
    """Serve until SIGTERM or SIGINT comes; SIGHUP reads the model again."""
    asyncio.run(_Server(service, listeners, log).run())


class _Server:
    """What is shared by all connections."""

    def __init__(
        self, service: Service, listeners: Sequence[Listener], log: Log
    ) -> None:
        self._service = service
        self._listeners = listeners
        self._log = log
        self._reloads = 0
        self._stopping = asyncio.Event()
        self._connections: dict[asyncio.Task[None], Connection] = {}
        self._most_clients = most_clients()
        max_size = service.task.max_size
        self._room = Room(max(LEAST_ROOM, LARGE_ONES * max_size))
        teaching = service.task._replace(teaches=True)
        self._classifying = self._pool(service.task, service.n_workers, MOST_WAITING)
        self._teaching = self._pool(teaching, 1, MOST_LESSONS)

    def _pool(self, task: Task, n_workers: int, n_waiting: int) -> Pool:
        return Pool(
            task,
            n_workers,
            n_waiting=n_waiting,
            patience=PATIENCE,
            log=self._log.event,
        )

    async def run(self) -> None:
        """Serve until a signal comes."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stopping.set)
        loop.add_signal_handler(signal.SIGHUP, self._reload)
        await self._classifying.start()
        accepting = [asyncio.create_task(self._accept(one)) for one in self._listeners]
        for listener in self._listeners:
            self._log.event(f"listening on {listener.name}")
        await self._stopping.wait()
        self._log.event("stopping")
        await ended(accepting)
        for listener in self._listeners:
            listener.close()
        await self._finish()
        await self._classifying.stop()
        await self._teaching.stop()
        self._log.event("stopped")

    def _reload(self) -> None:
        self._log.event("reading the model again")
        self._reloads += 1

    async def _finish(self) -> None:
        """See out what has begun; who has said nothing yet is not waited for."""
        tasks = list(self._connections.items())
        await ended([task for task, one in tasks if not one.has_begun])
        begun = [task for task, one in tasks if one.has_begun]
        if begun:
            _, late = await asyncio.wait(begun, timeout=GRACE)
            await ended(late)

    async def _accept(self, listener: Listener) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                client, where = await loop.sock_accept(listener.socket)
            except OSError as error:  # out of files or of memory, or the client is gone
                self._log.event(f"cannot accept: {error.strerror}")
                await asyncio.sleep(PAUSE)
            else:
                self._welcome(client, where)

    def _welcome(self, client: socket.socket, where: Any) -> None:
        host, port = where[:2] if isinstance(where, tuple) else ("", 0)
        name = str(Address(host, port, "")) if host else "local"
        if not is_allowed(host, self._service.networks):
            client.close()
            self._log.event(f"client={name} refused: neither local nor allowed")
            return
        if len(self._connections) >= self._most_clients:
            error = RequestError(TRY_AGAIN, "too many clients")
            with client, suppress(OSError):
                client.send(refusal(error))
            self._log.event(f"client={name} refused={error.code} reason={error}")
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
            async with asyncio.timeout(seconds):
                await connection.hear()
            answer = await self._answer(connection.incoming.request())
            connection.check_end()
            async with asyncio.timeout(seconds):
                await connection.say(answer.response)
        except TimeoutError:
            error = RequestError(TIMEOUT, f"({seconds:g} seconds)")
        except RequestError as refused:
            error = refused
        except OSError as broken:
            return f" broken={loggable(broken.strerror or str(broken))}"
        else:
            return f" {answer.log}" if answer.log else ""
        await connection.refuse(error)
        return f" refused={error.code} reason={loggable(str(error))}"

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
        pool = self._classifying
        if request.verb == "TELL":
            if not self._service.may_tell:
                raise RequestError(UNAVAILABLE, "TELL commands are not enabled")
            pool = self._teaching
        return await pool.answer(Job(request, self._reloads))


async def ended(tasks: Iterable[asyncio.Task[None]]) -> None:
    """Cancel tasks, and wait until they have taken notice."""
    tasks = list(tasks)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def most_clients() -> int:
    """Return how many clients there is room for; have the system allow more files."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_CLIENTS + SPARE_FILES
    allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < allowed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    return max(min(MOST_CLIENTS, max(soft, allowed) - SPARE_FILES), 1)
