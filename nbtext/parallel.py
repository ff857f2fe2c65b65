"""
Doing one thing to each of many: in turn, in threads, or in processes.

numpy lets go of the interpreter while it sorts, takes and computes, so threads that
work on ranges of large arrays run side by side. What comes out does not depend on how
many there are.
"""

from __future__ import annotations

import os
from collections import deque
from contextlib import contextmanager, suppress
from contextvars import copy_context
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from concurrent.futures import (
        Executor,
        Future,
        ProcessPoolExecutor,
        ThreadPoolExecutor,
    )
    from multiprocessing.process import BaseProcess

One = TypeVar("One")
Other = TypeVar("Other")


AHEAD: Final = 8
"""How many calls wait for each thread, or are being computed by it, at most: enough for
the time in which what was yielded is sorted (docs/experiments/024-readers-ahead.md)."""

DONE: Final = 16
"""How many results wait for one before them, for each thread, at most."""


POLL: Final = 0.1
"""Seconds after which it is looked whether processes can still start."""


class Map(Protocol):
    """How something is done to each of many: `map`, or that of a pool of threads."""

    def __call__(
        self, function: Callable[[One], Other], many: Iterable[One], /
    ) -> Iterator[Other]:
        """Yield the results, in order."""


@contextmanager
def threads(jobs: int) -> Iterator[Map]:
    """
    Give a `map` that works in so many threads; the plain one for a single job.

    That of the threads takes all it is given at once, and holds what is done until it
    is asked for.
    """
    if jobs == 1:
        yield map
        return
    with _pool(jobs) as pool:
        try:
            yield pool.map
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


@contextmanager
def _pool(jobs: int) -> Iterator[ThreadPoolExecutor]:
    """
    Start so many threads when they are needed, and wait for them in the end.

    A generator that nobody wants any more is ended by whatever thread collects it. That
    may be one of its own, which cannot wait for itself.
    """
    from concurrent.futures import ThreadPoolExecutor
    from threading import get_ident

    own: set[int] = set()
    context = copy_context()

    def begin() -> None:
        own.add(get_ident())
        for variable, value in context.items():  # such as the bound on memory
            variable.set(value)

    pool = ThreadPoolExecutor(jobs, initializer=begin)
    try:
        yield pool
    finally:
        pool.shutdown(wait=get_ident() not in own)


def ahead(
    jobs: int, function: Callable[[One], Other], many: Iterable[One]
) -> Iterator[Other]:
    """
    Yield what a function makes of each of many, in order, as `map` does.

    With several jobs other threads compute it ahead, while this one takes the next of
    `many`, deals with what was yielded, or computes if the others have enough to do. It
    helps them when all is taken (docs/experiments/063-helping-readers.md). Where no
    more threads can be started, those that were do it, and this one.
    """
    if jobs == 1:
        yield from map(function, many)
        return
    pending: deque[tuple[Callable[[], Other], Future[Other]]] = deque()
    most = AHEAD * (jobs - 1)
    with _pool(jobs - 1) as pool:
        try:
            for one in many:
                call, future = partial(_take, function, [one]), None
                if sum(not future.done() for _, future in pending) < most:
                    try:
                        future = pool.submit(call)
                    except RuntimeError:  # no thread can be started; one may have it
                        most, call = 0, partial(_take, function, [one])
                pending.append((call, future or _computed(call)))
                while pending and (pending[0][1].done() or len(pending) > DONE * jobs):
                    yield pending.popleft()[1].result()
            while pending:
                _help(pending)
                yield pending.popleft()[1].result()
        finally:
            for _, future in pending:
                future.cancel()


def _take(function: Callable[[One], Other], given: list[One]) -> Other:
    """Compute of the one that is given, which is not kept when it is done."""
    return function(given.pop())


def _help(pending: deque[tuple[Callable[[], Other], Future[Other]]]) -> None:
    """Compute what no thread has begun to, until the first of all is done."""
    first = pending[0][1]
    for place, (call, future) in enumerate(pending):
        if first.done():
            return
        if future.cancel():
            pending[place] = call, _computed(call)


def _computed(call: Callable[[], Other]) -> Future[Other]:
    """Compute here and now; what is raised is raised when the result is asked for."""
    from concurrent.futures import Future

    computed: Future[Other] = Future()
    try:
        computed.set_result(call())
    except Exception as error:  # raised when the result is asked for
        computed.set_exception(error)
    return computed


@contextmanager
def processes(
    jobs: int,
    imports: Sequence[str] = (),
    initializer: Callable[[], object] | None = None,
) -> Iterator[Executor | None]:
    """
    Start processes to work in; give None for a single job.

    Args:
        jobs: how many.
        imports: modules that all of them need. A forked process has them already.
        initializer: what each of them calls as it begins; it brings what they share.
    """
    if jobs == 1:
        yield None
        return
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    for name in imports:
        import_module(name)
    methods = multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("fork" if "fork" in methods else None)
    with _interrupts_ignored():  # an interrupt is for this process: it stops the others
        executor = ProcessPoolExecutor(
            jobs,
            mp_context=context,
            initializer=_begin,
            initargs=(os.getpid(), initializer),
        )
        workers = _started(executor)
    _leave_pipes_to_workers(executor)
    with executor:
        try:
            yield executor
        except BaseException:
            # Terminated rather than waited for. They are joined here, because the
            # interpreter and the executor's own thread would otherwise shut the
            # executor down at the same time.
            for process in [*workers.values()]:
                process.terminate()
            executor.shutdown(cancel_futures=True)
            raise


def _started(executor: ProcessPoolExecutor) -> Mapping[int, BaseProcess]:
    """
    Start the processes of an executor, and return them, by their numbers.

    Raises:
        Exception: the executor's own thread has ended by it: it could not start
            another, for instance. Nothing would ever be computed.
    """
    import threading
    from concurrent.futures import TimeoutError as NotYetError

    failures: list[BaseException] = []

    def take(failure: threading.ExceptHookArgs) -> None:
        own = getattr(executor, "_executor_manager_thread", None)
        if failure.thread is own and failure.exc_value is not None:
            failures.append(failure.exc_value)
        else:
            before(failure)

    # now: an executor that breaks forgets them, and they would not be waited for;
    # multiprocessing.active_children would name those of the program around, too
    workers: Mapping[int, BaseProcess] = getattr(executor, "_processes", {})
    before, threading.excepthook = threading.excepthook, take
    try:
        first = executor.submit(os.getpid)
        while not failures:
            with suppress(NotYetError):
                first.result(timeout=POLL)
                return workers
        raise failures[0]
    except BaseException:
        for process in [*workers.values()]:
            process.kill()  # there may be no room to end in any other way
            process.join()
        raise
    finally:
        threading.excepthook = before


def _leave_pipes_to_workers(executor: ProcessPoolExecutor) -> None:
    """
    Close this process's copies of the ends of pipes that only workers use.

    The executor keeps them open. It would then wait for ever for the rest of a result
    that a worker was writing when it was killed, and for room in a pipe that nobody
    reads any more.
    """
    for queue, end in (("_result_queue", "_writer"), ("_call_queue", "_reader")):
        connection = getattr(getattr(executor, queue, None), end, None)
        if connection is not None:
            connection.close()


@contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """Ignore SIGINT meanwhile; outside of the main thread no handler can be set."""
    import signal
    from threading import current_thread, main_thread

    if current_thread() is not main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _begin(parent: int, initializer: Callable[[], object] | None) -> None:
    """Prepare a process for its work."""
    try:
        _end_with(parent)
        if initializer is not None:
            initializer()
    except (MemoryError, RuntimeError):  # no room, perhaps for a thread
        os._exit(1)  # which is told there, and needs no traceback here


def _end_with(parent: int) -> None:
    """End this process when its parent has ended, however that was."""
    import signal
    from threading import Thread
    from time import sleep

    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)

    def watch() -> None:
        while os.getppid() == parent:
            sleep(1)
        os._exit(1)

    Thread(target=watch, daemon=True).start()
