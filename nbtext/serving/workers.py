"""
Servers looked after: as many processes as are wanted, and another for each that ends.

All of them listen on the same sockets, and the system hands each client to one that is
waiting. So whatever happens to one, the others go on. The process that started them
serves nobody itself: it waits for signals and for the ends of the others, and opens and
removes the sockets. What it says to a server goes over a socket of their own: first the
service, then an `r` for each time that the model is to be read again; and when nothing
more can come, be it because the process is gone, the server ends.
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
from struct import Struct
from time import monotonic
from typing import Final

import msgpack

from nbtext.serving.handlers import Task
from nbtext.serving.server import GRACE, Log, Server, Service, ended
from nbtext.serving.sockets import Listener

READ_AGAIN: Final = b"r"
READY: Final = b"1"

LENGTH: Final = Struct("<I")

PAUSE: Final = 0.1
LONGEST_PAUSE: Final = 5.0
"""How long after a server ended the next is started, at first and if it goes on."""

LAST_GRACE: Final = GRACE + 5.0
"""So many seconds after it was told to end, a server is killed."""


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
        listeners: where.
        n_workers: how many processes serve.
        command: Python that calls `be_a_server` in a new process.
        log: where to say what happens.

    """
    asyncio.run(_Supervisor(service, listeners, command, log).run(n_workers))


class _Supervisor:
    """What looks after servers."""

    def __init__(
        self, service: Service, listeners: Sequence[Listener], command: str, log: Log
    ) -> None:
        self._service = service
        self._listeners = listeners
        self._command = command
        self._log = log
        self._stopping = asyncio.Event()
        self._controls: set[socket.socket] = set()

    async def run(self, n_workers: int) -> None:
        """Serve until a signal comes."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stop)
        loop.add_signal_handler(signal.SIGHUP, self._read_again)
        ready = [asyncio.Event() for _ in range(n_workers)]
        tenders = [asyncio.create_task(self._tend(event)) for event in ready]
        announcing = asyncio.create_task(self._announce(ready))
        await self._stopping.wait()
        self._log.event("stopping")
        for listener in self._listeners:
            listener.close()
        await asyncio.wait(tenders, timeout=LAST_GRACE)
        await ended([announcing, *tenders])
        self._log.event("stopped")

    async def _announce(self, ready: Sequence[asyncio.Event]) -> None:
        """Say where there is a server, once there is one."""
        for event in ready:
            await event.wait()
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

    async def _tend(self, ready: asyncio.Event) -> None:
        """Have one server at any time, until it is time to end."""
        pause = PAUSE
        while not self._stopping.is_set():
            began = monotonic()
            process = await self._lived(ready)
            if self._stopping.is_set():
                return
            self._log.trouble(
                f"server pid={process.pid} has ended, status {process.returncode}; "
                "another is started"
            )
            ready.set()  # there is nothing to wait for
            is_quick = monotonic() - began < LONGEST_PAUSE
            pause = min(2 * pause, LONGEST_PAUSE) if is_quick else PAUSE
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), pause)

    async def _lived(self, ready: asyncio.Event) -> Process:
        """Start a server, and return it when it has ended."""
        loop = asyncio.get_running_loop()
        ours, theirs = socket.socketpair()
        with ours:
            with theirs:
                process = await self._started(theirs)
            try:
                ours.setblocking(False)
                await loop.sock_sendall(ours, framed(self._service, self._listeners))
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

    async def _started(self, control: socket.socket) -> Process:
        """Start a server that is at the other end of a connection."""
        # the same modules as ours, wherever we found them, and none from where we are
        paths = [os.path.realpath(path) for path in sys.path]
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-c", self._command),
            stdin=control.fileno(),
            stdout=asyncio.subprocess.DEVNULL,
            pass_fds=[listener.socket.fileno() for listener in self._listeners],
            env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
        )


def framed(service: Service, listeners: Sequence[Listener]) -> bytes:
    """Return the bytes that tell a server what it is to be, behind their length."""
    networks = list(map(str, service.networks))
    plain = [
        [*service.task], service.timeout, networks, service.may_tell,
        [listener.socket.fileno() for listener in listeners],
    ]  # fmt: skip
    # names of files may have bytes that are not UTF-8, as lone surrogates (PEP 383)
    data = msgpack.packb(plain, unicode_errors="surrogatepass")
    return LENGTH.pack(len(data)) + bytes(data)


def unframed(data: bytes) -> tuple[Service, list[socket.socket]]:
    """Return what such bytes, without the length, say: the service, and the sockets."""
    plain = msgpack.unpackb(data, unicode_errors="surrogatepass")
    task, timeout, networks, may_tell, descriptors = plain
    allowed = [ip_network(network) for network in networks]
    sockets = [socket.socket(fileno=descriptor) for descriptor in descriptors]
    return Service(Task(*task), timeout, allowed, may_tell), sockets


def be_a_server(log: Log) -> None:
    """Serve as the process says that is at the other end of standard input."""
    # it is the one that signals are for, and which says when it is time to end
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    with socket.socket(fileno=os.dup(0)) as control:
        start = control.recv(LENGTH.size, socket.MSG_WAITALL)
        if len(start) < LENGTH.size:
            return  # it has ended meanwhile
        (length,) = LENGTH.unpack(start)
        service, listeners = unframed(control.recv(length, socket.MSG_WAITALL))
        server = Server(service, listeners, log)
        server.warm_up()
        gc.freeze()  # what is here now stays, and need not be looked through
        control.setblocking(False)
        with suppress(OSError):  # nobody is there: so it ends as soon as it has begun
            control.send(READY)
        asyncio.run(_obey(server, control))


async def _obey(server: Server, control: socket.socket) -> None:
    """Serve until nothing more can be said over a socket."""
    loop = asyncio.get_running_loop()
    stopping = asyncio.Event()

    def hear() -> None:
        try:
            said = control.recv(64)
        except BlockingIOError:
            return
        except OSError:
            said = b""
        if READ_AGAIN in said:
            server.read_again()
        if not said:
            loop.remove_reader(control)
            stopping.set()

    loop.add_reader(control, hear)
    await server.serve(stopping)
