"""
Doing one thing to each of many: in turn, or in threads.

numpy lets go of the interpreter while it sorts, takes and computes, so threads that
work on ranges of large arrays run side by side. What comes out does not depend on how
many there are.
"""

from __future__ import annotations

import os
import sys
from _thread import allocate_lock, get_ident, start_new_thread
from collections import deque
from contextlib import contextmanager
from contextvars import copy_context
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from queue import SimpleQueue

One = TypeVar("One")
Other = TypeVar("Other")


AHEAD: Final = 8
"""How many calls wait for each thread, or are being computed by it, at most: enough for
the time in which what was yielded is sorted (docs/experiments/024-readers-ahead.md)."""

DONE: Final = 16
"""How many results wait for one before them, for each thread, at most."""


POLL: Final = 0.1
"""Seconds after which it is looked whether a thread has begun what is waited for."""


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
    with _crew(jobs) as crew:
        yield crew.map


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
    pending: deque[_Task[Other]] = deque()
    most = AHEAD * (jobs - 1)
    with _crew(jobs - 1) as crew:
        for one in many:
            task = _Task(partial(function, one))
            if sum(not task.is_done for task in pending) < most:
                crew.take(task)
            else:
                task.run()
            pending.append(task)
            del task  # what it has made is not to be kept here
            while pending and (pending[0].is_done or len(pending) > DONE * jobs):
                yield pending.popleft().result()
        while pending:
            _help(pending)
            yield pending.popleft().result()


def _help(pending: deque[_Task[Other]]) -> None:
    """Compute what no thread has begun to, until the first of all is done."""
    for task in pending:
        if pending[0].is_done:
            return
        task.run()


class _Task(Generic[Other]):
    """
    A call, made by whichever thread is first to begin it.

    The exception of a signal's handler may come between any two instructions of the
    main thread. In Python's own futures it can leave a lock taken for which another
    thread then waits for ever, and all for that thread. The main thread takes none here
    that another one waits for.
    """

    __slots__ = ("_begun", "_call", "_done", "_error", "_result", "is_done")

    def __init__(self, call: Callable[[], Other]) -> None:
        self._begun, self._done = allocate_lock(), allocate_lock()
        self._done.acquire()
        self._call: Callable[[], Other] | None = call
        self._error: BaseException | None = None
        self._result: list[Other] = []
        self.is_done = False

    def run(self) -> None:
        """
        Make the call, unless it has begun; an error is raised with the result.

        Raises:
            BaseException: it ends more than this call, as an interrupt does.
        """
        call = self._call
        if call is None or not self._begun.acquire(blocking=False):
            return
        try:
            self._result.append(call())
        except Exception as error:  # raised when the result is asked for
            self._error = error
        except BaseException as error:
            self._error = error
            raise
        finally:
            self._call = call = None  # what it was given may be large
            self.is_done = True
            self._done.release()
            del self  # an error holds this frame, and this holds the error

    def cancel(self) -> None:
        """Have it not begun any more."""
        self._begun.acquire(blocking=False)

    def result(self) -> Other:
        """Wait for the call, and return what it returned, or raise what it raised."""
        while not (self.is_done or self._done.acquire(timeout=POLL)):
            self.run()  # nobody may be left who would
        try:
            if self._error is not None:
                raise self._error
            return self._result.pop()
        finally:
            del self  # an error holds this frame, and this holds the error


class _Member:
    """
    A thread of a crew.

    Attributes:
        number: what the system calls it, None before it has begun. One for which there
            is no memory never does.
        has_begun: locked until then.
        has_ended: whether it makes no more calls.
        is_over: locked until then, and by whoever has waited for it.
    """

    __slots__ = ("has_begun", "has_ended", "is_over", "number")

    def __init__(self) -> None:
        self.number: int | None = None
        self.has_begun, self.is_over = allocate_lock(), allocate_lock()
        self.has_begun.acquire()
        self.is_over.acquire()
        self.has_ended = False

    def wait(self) -> None:
        """Wait until it has ended: once, for an interrupt may come as that is so."""
        while not self.has_ended:
            self.is_over.acquire()


class _Crew:
    """Threads that make calls, started when there is something to do."""

    def __init__(self, most: int) -> None:
        # which loads threading, that one message needs not; and before a thread does
        from queue import SimpleQueue

        self._most = most
        self._members: list[_Member] = []
        self._tasks: SimpleQueue[_Task[Any] | None] = SimpleQueue()
        self._context = copy_context()
        self._process = os.getpid()
        self._is_closed = False

    def take(self, task: _Task[Any]) -> None:
        """Have a thread make a call; this one makes it if there is no other."""
        self._tasks.put(task)
        if len(self._members) < self._most:
            self._start()
        if not self._members:
            task.run()

    def _start(self) -> None:
        """Start a thread, if there is room for it, and let it begin."""
        member = _Member()
        self._members.append(member)  # first: all that begin are told to end
        try:
            start_new_thread(self._work, (member,))
        except RuntimeError:
            self._members.remove(member)
            self._most = len(self._members)
            return
        member.has_begun.acquire(timeout=POLL)

    def map(
        self, function: Callable[[One], Other], many: Iterable[One], /
    ) -> Iterator[Other]:
        """Begin with all that are given, and return an iterator over the results."""
        tasks = [_Task(partial(function, one)) for one in many]
        for task in tasks:
            self.take(task)
        tasks.reverse()
        return _results(tasks)

    def close(self) -> None:
        """
        Begin nothing more, and wait for what has begun.

        A generator that nobody wants any more is ended by whatever thread collects it.
        That may be one of its own, which cannot wait for itself; or it is where no
        other thread runs, in a process that was forked or at the end of Python.
        """
        self._is_closed = True
        for _ in self._members:
            self._tasks.put(None)
        own = {member.number for member in self._members}
        is_alone = self._process != os.getpid() or sys.is_finalizing()
        if is_alone or get_ident() in own:
            return
        for member in self._members:
            if member.number is not None:  # another will find that all is over
                member.wait()

    def _work(self, member: _Member) -> None:
        member.number = get_ident()
        member.has_begun.release()
        try:
            for variable, value in self._context.items():
                variable.set(value)  # such as the bound on memory
            while not self._is_closed:
                task = self._tasks.get()
                if task is None:
                    break
                if not self._is_closed:
                    task.run()
                del task
        except MemoryError:  # whoever asks for the results makes the other calls
            pass
        finally:
            member.has_ended = True
            member.is_over.release()


@contextmanager
def _crew(most: int) -> Iterator[_Crew]:
    """Give threads, and wait for what they have begun in the end."""
    crew = _Crew(most)
    try:
        yield crew
    finally:
        try:
            crew.close()
        except BaseException:
            crew.close()  # a signal, most likely: what has begun is waited for
            raise


def _results(tasks: list[_Task[Other]]) -> Iterator[Other]:
    """Yield the results of tasks from the last on; if that fails, drop the others."""
    try:
        while tasks:
            yield tasks.pop().result()
    finally:
        for task in tasks:
            task.cancel()
