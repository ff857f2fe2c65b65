"""
The server's side of its workers: processes that are started, asked and replaced.

Requests wait in a queue of known length, and whichever worker is free takes the next.
A worker that ends, or that takes too long, is replaced; the request that it had is
refused for now, and nobody else notices.
"""

import asyncio
import os
import sys
from asyncio.subprocess import Process
from collections.abc import Callable
from contextlib import suppress
from socket import AF_UNIX, SOCK_STREAM, socket, socketpair
from time import monotonic
from typing import Final, NamedTuple

from nbtext.errors import RequestError
from nbtext.jobs import LENGTH, Answer, Frame, Job, Task, answer_of, packed
from nbtext.spamd import TRY_AGAIN

COMMAND: Final = "from nbtext.answering import main; main()"

CHUNK: Final = 1 << 18

PAUSE: Final = 0.1
LONGEST_PAUSE: Final = 5.0
"""How long after a worker ended the next is started, at first and if it goes on."""


class _Waiting(NamedTuple):
    """A job in the queue, and where its answer goes."""

    job: Job
    answer: "asyncio.Future[Answer]"


class Pool:
    """Workers of one kind."""

    def __init__(
        self,
        task: Task,
        n_workers: int,
        *,
        n_waiting: int,
        patience: float,
        log: Callable[[str], None],
    ) -> None:
        """
        Start nothing yet.

        Args:
            task: what the workers are for.
            n_workers: how many there are.
            n_waiting: how many jobs may wait for a free one.
            patience: how many seconds a job may take.
            log: told of workers that end, and of what workers remark.

        """
        self._task = task
        self._n_workers = n_workers
        self._patience = patience
        self._log = log
        self._queue: asyncio.Queue[_Waiting] = asyncio.Queue(n_waiting)
        self._tenders: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Start the workers, and wait until each has ended or is ready."""
        ready = [asyncio.Event() for _ in range(self._n_workers)]
        self._tenders = [asyncio.create_task(self._tend(event)) for event in ready]
        for event in ready:
            await event.wait()

    async def answer(self, job: Job) -> Answer:
        """
        Have a job done.

        Raises:
            RequestError: too many are waiting already, or the worker was lost.

        """
        if not self._tenders:
            await self.start()
        waiting = _Waiting(job, asyncio.get_running_loop().create_future())
        try:
            self._queue.put_nowait(waiting)
        except asyncio.QueueFull:
            raise RequestError(TRY_AGAIN, "too many requests are waiting") from None
        return await waiting.answer

    async def stop(self) -> None:
        """End the workers; what they are doing is given up."""
        for tender in self._tenders:
            tender.cancel()
        await asyncio.gather(*self._tenders, return_exceptions=True)
        self._tenders = []

    async def _tend(self, ready: asyncio.Event) -> None:
        """Have one worker at any time, and give it what there is to do."""
        pause = PAUSE
        while True:
            began = monotonic()
            ours, theirs = socketpair(AF_UNIX, SOCK_STREAM)
            ours.setblocking(False)
            with ours:
                with theirs:
                    process = await started(theirs)
                try:
                    await self._converse(ours, ready)
                except TimeoutError:
                    self._log(f"worker pid={process.pid} took too long, is replaced")
                except (EOFError, OSError):
                    self._log(f"worker pid={process.pid} has ended, is replaced")
                finally:
                    with suppress(ProcessLookupError):
                        process.kill()
                    await process.wait()
            ready.set()  # there is nothing to wait for
            is_quick = monotonic() - began < LONGEST_PAUSE
            pause = min(2 * pause, LONGEST_PAUSE) if is_quick else PAUSE
            await asyncio.sleep(pause)

    async def _converse(self, worker: socket, ready: asyncio.Event) -> None:
        """
        Give a worker jobs for as long as it answers.

        Raises:
            EOFError, OSError, TimeoutError: it does not any more.

        """
        self._remark(await _exchange(worker, packed(self._task), self._patience))
        ready.set()
        while True:
            job, answer = await self._queue.get()
            if answer.done():  # whoever asked is gone
                continue
            try:
                answered = await _exchange(worker, packed(job), self._patience)
            except BaseException:
                if not answer.done():
                    reason = "the worker that had this message was lost"
                    answer.set_exception(RequestError(TRY_AGAIN, reason))
                raise
            self._remark(answered)
            if not answer.done():
                answer.set_result(answered)

    def _remark(self, answer: Answer) -> None:
        for remark in answer.remarks:
            self._log(remark)


async def started(connection: socket) -> Process:
    """Start a worker that is at the other end of a connection."""
    # the same modules as ours, wherever we found them, and none from where we are
    paths = [os.path.realpath(path) for path in sys.path]
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-c", COMMAND),
        stdin=connection.fileno(),
        stdout=asyncio.subprocess.DEVNULL,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
    )


async def _exchange(worker: socket, frame: Frame, patience: float) -> Answer:
    """
    Tell a worker something and return what it answers.

    Raises:
        EOFError, OSError, TimeoutError: it does not.

    """
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(patience):
        await loop.sock_sendall(worker, frame)
        data = await _more(worker)
        while len(data) < LENGTH.size:
            data += await _more(worker)
        (length,) = LENGTH.unpack_from(data)
        pieces, missing = [data[LENGTH.size :]], length + LENGTH.size - len(data)
        while missing > 0:
            pieces.append(await _more(worker))
            missing -= len(pieces[-1])
    return answer_of(b"".join(pieces))


async def _more(worker: socket) -> bytes:
    data = await asyncio.get_running_loop().sock_recv(worker, CHUNK)
    if not data:
        raise EOFError
    return data
