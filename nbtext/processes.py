"""
Processes that work side by side, and end with this one.

They are those of the standard library's executor, which is told here what it cannot
know: that a signal ends all of them, and that one may be killed at any time.
"""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import TYPE_CHECKING, Final

from nbtext import wording

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from concurrent.futures import Executor, ProcessPoolExecutor
    from multiprocessing.process import BaseProcess

POLL: Final = 0.1
"""Seconds after which it is looked whether processes can still start."""


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
    executor = ProcessPoolExecutor(
        jobs,
        mp_context=context,
        initializer=_begin,
        initargs=(os.getpid(), wording.spoken(), initializer),
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
        with signals_held():
            first = executor.submit(os.getpid)  # which starts all of them
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
def signals_held() -> Iterator[None]:
    """
    Keep signals that end this process back meanwhile, also from what is started.

    Their exception could leave a process behind that nobody knows of, or come in one
    that has only begun, and goes back through all that was called before.
    """
    import signal

    held = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    try:
        signal.pthread_sigmask(signal.SIG_BLOCK, held)  # one may come as it returns
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin(parent: int, words: str, initializer: Callable[[], object] | None) -> None:
    """Prepare a process for its work."""
    try:
        wording.speak(words)
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

    # an interrupt is for the parent: it stops the others
    usual = {signal.SIGTERM: signal.SIG_DFL, signal.SIGHUP: signal.SIG_DFL}
    for number, handler in (usual | {signal.SIGINT: signal.SIG_IGN}).items():
        signal.signal(number, handler)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [*usual, signal.SIGINT])

    def watch() -> None:
        while os.getppid() == parent:
            sleep(1)
        os._exit(1)

    Thread(target=watch, daemon=True).start()
