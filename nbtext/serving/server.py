"""
A server for clients of SpamAssassin's spamd: it accepts, receives, answers and closes.

One event loop does all of it but messages that are not small, or whose terms are told:
they have a process of their own (`nbtext.serving.helper`); and learning, which has a
thread. Whatever a client does, it costs a bounded amount of memory and time: a
connection, a message of limited size, a minute to send its request. When there is no
room, a client is told to try again. `nbtext.serving.workers` runs several servers.
"""

import asyncio
import resource
import select
import socket
from collections.abc import Callable, Coroutine, Iterable, Sequence
from contextlib import suppress
from functools import partial
from time import perf_counter
from typing import Any, Final, NamedTuple

from nbtext import wording
from nbtext.errors import RequestError
from nbtext.serving.batches import SMALL, Batches
from nbtext.serving.connection import Connection, MemoryBudget, drain
from nbtext.serving.handlers import (
    EXPLAINED,
    Answer,
    HandlerOptions,
    loggable,
    refused,
)
from nbtext.serving.helper import Helper
from nbtext.serving.lane import Lane
from nbtext.serving.lessons import MOST_OF_ONE, Lessons
from nbtext.serving.request import RequestParser
from nbtext.serving.sockets import Address, Network, is_allowed, is_private, peer_of
from nbtext.serving.spamd import (
    TIMEOUT,
    TRY_AGAIN,
    UNAVAILABLE,
    WITH_MESSAGE,
    WITHOUT_MESSAGE,
    Request,
    pong,
)
from nbtext.serving.users import handler_of, may_teach, model_of

MOST_CLIENTS: Final = 4096
"""Maximum clients at once; fewer if the system lets us open fewer files."""

SPARE_FILES: Final = 192
"""Number of files that may be open for other reasons than a client: for each table that
was learnt since the model was compacted, among others."""

LEAST_PART: Final = 4
"""Where few files may be open, one in so many of them is for a client all the same:
most models have far fewer tables."""

MOST_AT_ONCE: Final = 64
"""Maximum clients accepted before those that are connected are served."""

MOST_SLOW: Final = 256
"""Maximum messages that wait to be learnt or forgotten, for the helper, and for models
that others have locked."""

LEAST_ROOM: Final = 128 << 20
LARGE_ONES: Final = 4
"""Maximum bytes of all requests that are arriving or waiting: the larger of this, and
of so many messages of the largest size."""

GRACE: Final = 10.0
"""Seconds that requests have to be finished when the server is told to end."""

MOST_REFUSED: Final = 32
"""Maximum refused clients at once whose requests are drained."""

REFUSAL: Final = 1.0
"""Maximum seconds for which the request of a refused client is drained."""

PAUSE: Final = 0.1
"""Seconds until the next attempt when no client can be accepted."""


class Service(NamedTuple):
    """
    What a server offers, and to whom.

    Attributes:
        handling: how messages are classified and learnt.
        timeout: seconds that a client has to send its request, and as many again to
            read the answer.
        networks: clients that are served besides those on this machine.
        may_tell: whether all clients may have messages learnt and forgotten, and not
            only those of a private socket (`is_private`).
        trusts_names: whether a client over TCP, of which nothing else is known, may
            teach the model of any user that it names.
    """

    handling: HandlerOptions
    timeout: float = 60.0
    networks: Sequence[Network] = ()
    may_tell: bool = False
    trusts_names: bool = False


class Log(NamedTuple):
    """
    The log; each of these is called with a line.

    Attributes:
        request: for each request.
        event: for what else happens.
        trouble: for what goes wrong.
    """

    request: Callable[[str], None]
    event: Callable[[str], None]
    trouble: Callable[[str], None]


class Server:
    """A server, and what its connections share."""

    def __init__(
        self, service: Service, listeners: Sequence[socket.socket], log: Log
    ) -> None:
        """Accept nobody yet."""
        self._service = service
        self._listeners = listeners
        self._log = log
        self._handler = handler_of(service.handling, log.event, log.trouble)
        self._learning = Lane(self._handler.learn, MOST_SLOW)
        most_of_one = MOST_OF_ONE if service.handling.users is not None else MOST_SLOW
        self._lessons = Lessons(service.handling.wait, MOST_SLOW, most_of_one)
        self._helper = Helper(service.handling, log.trouble, MOST_SLOW)
        self._batches = Batches(self._handler.classify)
        self._connections: dict[asyncio.Task[None], Connection] = {}
        self._refused: set[asyncio.Task[None]] = set()
        self._most_clients = most_clients()
        self._budget = MemoryBudget(
            max(LEAST_ROOM, LARGE_ONES * service.handling.max_size)
        )

    def warm_up(self) -> None:
        """Open the model and load what classifies by it."""
        self._handler.warm_up()

    def read_again(self) -> None:
        """Have the model opened again for the next message."""
        self._handler.read_again()
        self._helper.read_again()

    async def serve(self, stopping: asyncio.Event) -> None:
        """Serve until the event is set, and then finish what has begun."""
        with suppress(OSError):  # the first message that needs it reports that
            self._helper.start()
        for listener in self._listeners:
            self._listen(listener)
        await stopping.wait()
        loop = asyncio.get_running_loop()
        for listener in self._listeners:
            loop.remove_reader(listener)
            listener.close()
        tasks = list(self._connections.items())
        idle = [task for task, one in tasks if not one.is_answer_due]
        await ended([*self._refused, *idle])
        owed = [task for task, one in tasks if one.is_answer_due]
        if owed:
            _, late = await asyncio.wait(owed, timeout=GRACE)
            await ended(late)
        self._helper.close()
        self._learning.close()

    def _listen(self, listener: socket.socket) -> None:
        if listener.fileno() >= 0:
            queue = select.poll()
            queue.register(listener, select.POLLIN)
            loop = asyncio.get_running_loop()
            loop.add_reader(listener, self._accept, listener, queue)

    def _accept(self, listener: socket.socket, queue: select.poll) -> None:
        """
        Accept the clients that wait; one that is alone is served at once.

        Args:
            listener: the socket on which they wait.
            queue: tells if one more does, in a tenth of the time that it takes to find
                that none can be accepted.
        """
        accepted: list[Connection] = []
        for number in range(MOST_AT_ONCE):
            if number and not queue.poll(0):
                break
            try:
                client, where = listener.accept()
            except (BlockingIOError, ConnectionAbortedError):
                break  # another process has accepted it, or it is gone
            except OSError as error:  # out of files, or of memory
                self._log.trouble(f"no client can be accepted: {error.strerror}")
                loop = asyncio.get_running_loop()
                loop.remove_reader(listener)
                loop.call_later(PAUSE, self._listen, listener)
                break
            connection = self._welcome(client, where, len(accepted))
            if connection is not None:
                accepted.append(connection)
        if len(accepted) == 1 and not self._connections:
            self._serve_alone(accepted[0])
            return
        for connection in accepted:
            self._begin(connection, self._attend(connection, perf_counter()))

    def _welcome(
        self, client: socket.socket, where: Any, n_before: int
    ) -> Connection | None:
        """Return the connection of a client, None if it is refused."""
        host, port = where[:2] if isinstance(where, tuple) else ("", 0)
        name = str(Address(host, port, "")) if host else "local"
        if not is_allowed(host, self._service.networks):
            client.close()
            self._log.trouble(f"client={name} refused: neither local nor allowed")
            return None
        if len(self._connections) + n_before >= self._most_clients:
            answer = refused(RequestError(TRY_AGAIN, "too many clients"))
            self._refuse(client, answer.response)
            self._log.trouble(f"client={name} {answer.log}")
            return None
        max_size = self._service.handling.max_size
        return Connection(client, name, max_size, self._budget)

    def _begin(self, connection: Connection, work: Coroutine[Any, Any, None]) -> None:
        """Have something done for a client as a task."""
        connection.socket.setblocking(False)
        task = asyncio.create_task(work)
        self._connections[task] = connection
        task.add_done_callback(self._connections.__delitem__)

    def _refuse(self, client: socket.socket, response: bytes | bytearray) -> None:
        """Send a client what refuses it, and close when it has had time to read it."""
        if len(self._refused) >= MOST_REFUSED:
            with client, suppress(OSError):
                client.send(response, socket.MSG_DONTWAIT)
            return
        task = asyncio.create_task(refuse(client, response))
        self._refused.add(task)
        task.add_done_callback(self._refused.discard)

    def _serve_alone(self, connection: Connection) -> None:
        """
        Serve a client while there is no other.

        If its request is here, and the answer takes no time, all of it is done now: a
        task that waits for its turns takes a fifth of what a mail does.
        """
        began = perf_counter()
        answer: Answer | None = None
        is_sent = False
        try:
            if connection.receive_now():
                answer = self._answer_now(connection)
            if answer is not None:
                connection.check_end_now()
                is_sent = connection.send_now(answer.response)
        except Exception as error:  # a fault of the client, or ours
            self._begin(connection, self._attend(connection, began, trouble=error))
            return
        if not (answer and is_sent):
            self._begin(connection, self._attend(connection, began, answer))
            return
        self._note(connection, began, answer.log)
        if not connection.close_now():
            self._begin(connection, drained(connection))

    async def _attend(
        self,
        connection: Connection,
        began: float,
        answer: Answer | None = None,
        trouble: Exception | None = None,
    ) -> None:
        """
        Serve a client to its last byte.

        Args:
            connection: the client.
            began: when it was accepted, by `perf_counter`.
            answer: the answer, if it is known already.
            trouble: what went wrong so far.
        """
        try:
            with connection.socket:
                outcome = await self._handle(connection, answer, trouble)
                self._note(connection, began, outcome)
                await connection.drain()
        finally:
            connection.release()

    def _note(self, connection: Connection, began: float, outcome: str) -> None:
        """Log a request."""
        took = (perf_counter() - began) * 1000
        more = f" {outcome}" if outcome else ""
        self._log.request(f"{connection.facts()} ms={took:.1f}{more}")

    async def _handle(
        self,
        connection: Connection,
        answer: Answer | None,
        trouble: Exception | None,
    ) -> str:
        """Receive and answer a request; return its values in the log."""
        seconds = self._service.timeout
        try:
            if trouble is not None:
                raise trouble
            if answer is None:
                await connection.receive(seconds)
                answer = await self._answer(connection)
                connection.check_end_now()
        except TimeoutError:
            answer = refused(RequestError(TIMEOUT, f"({seconds:g} seconds)"))
        except OSError as error:
            return broken(connection, error.strerror)
        except Exception as error:  # a fault of the client, or ours
            answer = refused(error)
        return await self._send(connection, answer)

    async def _send(self, connection: Connection, answer: Answer) -> str:
        """Send an answer; return its values in the log."""
        try:
            await connection.send(answer.response, self._service.timeout)
        except TimeoutError:
            return broken(connection, "the answer was not read in time")
        except OSError as error:
            return broken(connection, error.strerror)
        return answer.log

    async def _answer(self, connection: Connection) -> Answer:
        """
        Return the answer to a request that has arrived.

        Raises:
            RequestError: nothing was done; it says why.
        """
        parser = connection.parser
        request = parser.request
        if request.verb in WITHOUT_MESSAGE:
            return without_message(request)
        is_tell = request.verb == "TELL"
        if is_tell and not self._may_tell(connection):
            raise RequestError(UNAVAILABLE, "TELL commands are not enabled")
        if is_tell:
            if self._service.handling.users is not None:
                await self._check_teacher(connection)
            return await self._lesson(parser)
        if self._is_slow(parser):
            # what is long is held once: it is gone here when the helper has it
            return await self._helper.answer(request, parser.take_body())
        return await self._batches.answer(parser.take_request())

    async def _lesson(self, parser: RequestParser) -> Answer:
        """
        Return the answer to a TELL that is allowed.

        Raises:
            RequestError: nothing was done; it says why.
        """
        path = model_of(self._service.handling, parser.request.user)
        if self._is_slow(parser):
            ask, body = self._helper.answer, parser.take_body()
            return await self._lessons.answer(path, partial(ask, parser.request, body))
        teach = partial(self._learning.answer, parser.take_request())
        return await self._lessons.answer(path, teach)

    def _answer_now(self, connection: Connection) -> Answer | None:
        """Return the answer to a request that takes no time, None if it may."""
        parser = connection.parser
        request = parser.request
        if request.verb not in WITH_MESSAGE:
            return without_message(request)
        if request.verb == "TELL" or request.verb in EXPLAINED or is_long(parser):
            return None
        answer = self._handler.at_once(request)
        return answer(parser.take_request()) if answer else None

    def _is_slow(self, parser: RequestParser) -> bool:
        """Return whether a message is not for the event loop itself to read."""
        # asked of every message, so that the log tells what becomes of the model
        may_search_long = self._handler.may_search_long(parser.request)
        is_explained = parser.request.verb in EXPLAINED
        return is_long(parser) or is_explained or may_search_long

    def _may_tell(self, connection: Connection) -> bool:
        """Return whether a client may have messages learnt and forgotten."""
        return self._service.may_tell or is_private(connection.socket)

    async def _check_teacher(self, connection: Connection) -> None:
        """
        Refuse a client that teaches the model of another user, or may do so.

        Raises:
            RequestError: it does.
        """
        if is_private(connection.socket):
            return
        peer, user = peer_of(connection.socket), connection.parser.user
        if peer is None and not self._service.trusts_names:
            trust = wording.given(trusts_names=True)
            reason = f"over TCP models of users are taught with {trust} alone"
            raise RequestError(UNAVAILABLE, reason)
        # in a thread: names of users may be looked up over the network
        if peer is not None and not await asyncio.to_thread(may_teach, peer, user):
            reason = "a client may teach the model of its own user alone"
            raise RequestError(UNAVAILABLE, reason)


async def refuse(client: socket.socket, response: bytes | bytearray) -> None:
    """Send a client what refuses it, half-close, and discard for a while what comes."""
    with client, suppress(OSError):
        client.setblocking(False)
        client.send(response)
        client.shutdown(socket.SHUT_WR)
        await drain(client, REFUSAL)


def is_long(parser: RequestParser) -> bool:
    """Return whether a message is long, or may be."""
    return parser.size > SMALL or parser.request.is_compressed


def without_message(request: Request) -> Answer:
    """Return the answer to a request that has no message: PING or SKIP."""
    return Answer(pong() if request.verb == "PING" else b"")


async def drained(connection: Connection) -> None:
    """Read what a client still sends, and close."""
    with connection.socket:
        await connection.drain()


def broken(connection: Connection, reason: str | None) -> str:
    """Close the connection to a client that is lost; return its values in the log."""
    connection.socket.close()
    return f"broken={loggable(reason or 'unknown')}"


async def ended(tasks: Iterable["asyncio.Task[None]"]) -> None:
    """Cancel tasks, and wait until they have ended."""
    tasks = list(tasks)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def most_clients() -> int:
    """Return the maximum of clients; raise the limit of open files if need be."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_CLIENTS + SPARE_FILES
    allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft < allowed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    most = max(soft, allowed)
    return min(MOST_CLIENTS, max(most - SPARE_FILES, most // LEAST_PART, 1))
