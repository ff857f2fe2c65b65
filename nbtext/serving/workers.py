"""
Workers: as many server processes as are wanted, and another for each that ends.

All of them listen on the same sockets, and the system hands each client to one that is
waiting. So whatever happens to one, the others go on. Their supervisor serves nobody
itself: it opens and removes the sockets, and waits for signals and for workers that
end. It controls each worker over a socket pair: first it sends the service, then an `r`
whenever the model is to be read again. When the supervisor closes its end, or is gone,
the worker ends.
"""

import asyncio
import gc
import os
import signal
import socket
import sys
from asyncio.subprocess import Process
from collections.abc import Sequence
from contextlib import suppress
from ipaddress import ip_network
from time import monotonic
from types import FrameType
from typing import Any, Final

from nbtext.processes import signals_held
from nbtext.serving.framing import framed, unframed
from nbtext.serving.handlers import HandlerOptions
from nbtext.serving.helper import DEAF, variables
from nbtext.serving.server import GRACE, Log, Server, Service, ended
from nbtext.serving.sockets import Listener
from nbtext.store.reuse import keep_tables

READ_AGAIN: Final = b"r"
READY: Final = b"1"

PAUSE: Final = 0.1
LONGEST_PAUSE: Final = 5.0
"""Seconds until the successor of a worker is started: at first, and at most."""

SIGNALS: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
"""What tells a server to end, and SIGHUP, which has it read the model again."""

NO_START: Final = (OSError, RuntimeError)
"""Errors of a system that has no room for a process, a socket or a thread now."""

LAST_GRACE: Final = GRACE + 5.0
"""Seconds after which a worker is killed that was told to end."""


def supervise(
    service: Service,
    listeners: Sequence[Listener],
    n_workers: int,
    command: str,
    log: Log,
) -> None:
    """
    Serve until SIGTERM or SIGINT comes; SIGHUP has the model read again.

    Args:
        service: what is offered.
        listeners: where to listen.
        n_workers: number of worker processes.
        command: Python that calls `serve_as_worker` in a new process.
        log: the log.
    """
    asyncio.run(_Supervisor(service, listeners, command, log).run(n_workers))
    for number in SIGNALS:  # all is done, whatever else comes
        signal.signal(number, signal.SIG_IGN)


class _Supervisor:
    """Starts and ends workers."""

    def __init__(
        self, service: Service, listeners: Sequence[Listener], command: str, log: Log
    ) -> None:
        self._service = service
        self._listeners = listeners
        self._command = command
        self._log = log
        self._stopping = asyncio.Event()
        self._starting = asyncio.Lock()  # of one at a time signals are held back
        self._controls: set[socket.socket] = set()

    async def run(self, n_workers: int) -> None:
        """Serve until a signal comes."""
        self._heed_signals()
        ready = [asyncio.Event() for _ in range(n_workers)]
        runners = [asyncio.create_task(self._keep_running(event)) for event in ready]
        announcing = asyncio.create_task(self._announce(ready))
        await self._stopping.wait()
        self._log.event("stopping")
        for listener in self._listeners:
            listener.close()
        await asyncio.wait(runners, timeout=LAST_GRACE)
        await ended([announcing, *runners])
        self._log.event("stopped")

    def _heed_signals(self) -> None:
        """
        Have signals act in the event loop.

        Its own handlers give way to those of the system when it is closed, and then a
        second SIGTERM would end this process before it has ended by itself.
        """
        loop = asyncio.get_running_loop()

        def heed(number: int, _: FrameType | None) -> None:
            act = self._read_again if number == signal.SIGHUP else self._stop
            with suppress(RuntimeError):  # it is closed
                loop.call_soon_threadsafe(act)

        for number in SIGNALS:
            signal.signal(number, heed)
        # one that came while Python imported would raise an exception in a moment
        if any(signal.setitimer(signal.ITIMER_REAL, 0)):
            self._stop()

    async def _announce(self, ready: Sequence[asyncio.Event]) -> None:
        """Log where the server listens, once all workers are ready."""
        for event in ready:
            await event.wait()
        if self._stopping.is_set():
            return
        for listener in self._listeners:
            self._log.event(f"listening on {listener.name}")

    def _stop(self) -> None:
        self._stopping.set()
        for control in self._controls:
            with suppress(OSError):  # it has ended by itself
                control.shutdown(socket.SHUT_WR)

    def _read_again(self) -> None:
        self._log.event("reading the model again")
        for control in self._controls:
            with suppress(OSError):
                control.send(READ_AGAIN)

    async def _keep_running(self, ready: asyncio.Event) -> None:
        """Keep one worker running until the supervisor stops."""
        pause = PAUSE
        while not self._stopping.is_set():
            began = monotonic()
            try:
                process = await self._run_worker(ready)
            except NO_START as error:
                why = getattr(error, "strerror", None) or error
                what = f"no server can be started: {why}; it is tried again"
            else:
                what = (
                    f"server pid={process.pid} has ended, status {process.returncode}; "
                    "another is started"
                )
                ready.set()  # there is nothing to wait for
            if self._stopping.is_set():
                return
            self._log.trouble(what)
            is_quick = monotonic() - began < LONGEST_PAUSE
            pause = min(2 * pause, LONGEST_PAUSE) if is_quick else PAUSE
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), pause)

    async def _run_worker(self, ready: asyncio.Event) -> Process:
        """
        Start a worker, and return its process when it has ended.

        Raises:
            OSError, RuntimeError: it cannot be started.
        """
        loop = asyncio.get_running_loop()
        ours, theirs = socket.socketpair()
        with ours:
            with theirs:
                process = await self._start_worker(theirs)
            try:
                ours.setblocking(False)
                if not self._stopping.is_set():  # else the sockets may be closed
                    plain = described(self._service, self._listeners)
                    await loop.sock_sendall(ours, framed(plain))
                self._controls.add(ours)
                if self._stopping.is_set():
                    ours.shutdown(socket.SHUT_WR)
                if await loop.sock_recv(ours, 1):
                    ready.set()
                await process.wait()
            except OSError:  # it has ended before it was told anything
                await process.wait()
            finally:
                self._controls.discard(ours)
                with suppress(ProcessLookupError):
                    process.kill()
        return process

    async def _start_worker(self, control: socket.socket) -> Process:
        """
        Start a worker with one end of a socket pair as standard input.

        Raises:
            OSError, RuntimeError: the system has no room for it.
        """
        # signals that come to all would end it before it does not hear them
        async with self._starting:
            with signals_held():
                return await asyncio.create_subprocess_exec(
                    *(sys.executable, "-P", "-c", DEAF + self._command),
                    stdin=control.fileno(),
                    stdout=asyncio.subprocess.DEVNULL,
                    pass_fds=[one.socket.fileno() for one in self._listeners],
                    env=variables(),
                )


def described(service: Service, listeners: Sequence[Listener]) -> list[Any]:
    """Return a service and its sockets as a worker is told of them."""
    networks = list(map(str, service.networks))
    descriptors = [listener.socket.fileno() for listener in listeners]
    options = [*service.handling]
    may = [service.may_tell, service.trusts_names]
    return [options, service.timeout, networks, *may, descriptors]


def rebuilt(plain: list[Any]) -> tuple[Service, list[socket.socket]]:
    """Return the service and sockets that `described` was given, without names."""
    handling, timeout, networks, *may, descriptors = plain
    allowed = [ip_network(network) for network in networks]
    sockets = [socket.socket(fileno=descriptor) for descriptor in descriptors]
    options = HandlerOptions.rebuilt(handling)
    return Service(options, timeout, allowed, *may), sockets


def serve_as_worker(log: Log) -> None:
    """Serve as the supervisor says over standard input, until it closes that."""
    with socket.socket(fileno=os.dup(0)) as control:
        try:
            service, listeners = rebuilt(unframed(control))
        except EOFError:
            return  # the supervisor has ended meanwhile
        keep_tables(only=service.handling.model)  # which stays open
        server = Server(service, listeners, log)
        server.warm_up()
        gc.freeze()  # what is here now stays, and need not be looked through
        control.setblocking(False)
        with suppress(OSError):  # nobody is there: so it ends as soon as it has begun
            control.send(READY)
        asyncio.run(_obey(server, control))


async def _obey(server: Server, control: socket.socket) -> None:
    """Serve until the supervisor closes its end of a socket."""
    loop = asyncio.get_running_loop()
    stopping = asyncio.Event()

    def receive() -> None:
        try:
            orders = control.recv(64)
        except BlockingIOError:
            return
        except OSError:
            orders = b""
        if READ_AGAIN in orders:
            server.read_again()
        if not orders:
            loop.remove_reader(control)
            stopping.set()

    loop.add_reader(control, receive)
    await server.serve(stopping)
