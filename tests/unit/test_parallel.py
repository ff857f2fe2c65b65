import gc
import multiprocessing
import signal
import subprocess
import sys
import time
from _thread import start_new_thread
from collections.abc import Iterator
from contextlib import suppress
from sys import gettrace, settrace
from threading import Event, Thread, Timer, current_thread, main_thread
from types import FrameType
from typing import Any
from weakref import ReferenceType, ref

import pytest

from nbtext import parallel
from nbtext.cli._failures import NO_THREAD
from nbtext.parallel import AHEAD, DONE, ahead, threads
from nbtext.processes import processes
from tests.waiting import PATIENCE, wait_until


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_results_come_in_order(jobs: int) -> None:
    with threads(jobs) as map_:
        found = list(map_(lambda number: number * number, range(50)))

    assert found == [number * number for number in range(50)]


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_what_is_computed_ahead_comes_in_order(jobs: int) -> None:
    taken: list[int] = []

    def numbers() -> Iterator[int]:
        for number in range(90):
            taken.append(number)
            yield number

    squares = ahead(jobs, lambda number: number * number, numbers())

    assert next(squares) == 0
    assert len(taken) <= 1 + AHEAD * jobs
    assert list(squares) == [number * number for number in range(1, 90)]


def test_results_that_wait_for_a_slow_one_are_bounded() -> None:
    begun, ended = Event(), Event()
    taken: list[int] = []

    def numbers() -> Iterator[int]:
        for number in range(1000):
            taken.append(number)
            if len(taken) > DONE * 2 + AHEAD:
                ended.set()
            yield number

    def work(number: int) -> int:
        if number == 0:
            begun.set()
            ended.wait(PATIENCE)
        else:
            begun.wait(PATIENCE)
        return number

    found = ahead(2, work, numbers())
    ended_late = Timer(0.5, ended.set)
    ended_late.start()

    assert next(found) == 0
    assert len(taken) <= DONE * 2 + AHEAD
    assert list(found) == [*range(1, 1000)]
    ended_late.join()


def test_when_all_is_taken_this_thread_helps() -> None:
    helped = Event()
    helpers: list[bool] = []

    def work(number: int) -> int:
        is_main = current_thread() is main_thread()
        helpers.append(is_main)
        if is_main:
            helped.set()
        else:
            helped.wait(PATIENCE)
        return number

    assert list(ahead(2, work, range(AHEAD))) == [*range(AHEAD)]
    assert helped.is_set()
    assert len(helpers) == AHEAD


def test_of_what_is_computed_results_are_kept_alone() -> None:
    class One:
        pass

    given: list[ReferenceType[One]] = []
    are_done = Event()
    n_done: list[int] = []

    def many() -> Iterator[One]:
        for _ in range(AHEAD):
            one = One()
            given.append(ref(one))
            yield one

    def work(one: One) -> None:
        if one is given[0]():
            are_done.wait(PATIENCE)
        n_done.append(1)
        if len(n_done) == AHEAD - 1:
            are_done.set()

    found = ahead(2, work, many())
    next(found)

    assert len(n_done) == AHEAD
    assert sum(one() is not None for one in given) <= 1  # the last one
    assert len(list(found)) == AHEAD - 1


@pytest.mark.parametrize("is_ahead", [True, False])
def test_nothing_is_kept_of_what_has_failed(is_ahead: bool) -> None:
    """Not even until the collector of cycles comes by: it may be large."""

    class One:
        pass

    def fail(_one: One) -> None:
        raise ZeroDivisionError

    one = One()
    given = ref(one)
    gc.disable()
    try:
        with suppress(ZeroDivisionError), threads(2) as map_:
            list(ahead(2, fail, [one]) if is_ahead else map_(fail, [one]))
        del one
        assert given() is None
    finally:
        gc.enable()


def test_a_failure_of_the_helping_thread_is_raised_in_its_turn() -> None:
    helped = Event()
    found: list[int] = []

    def work(number: int) -> int:
        if current_thread() is main_thread():
            helped.set()
            raise ZeroDivisionError
        helped.wait(PATIENCE)
        return number

    with pytest.raises(ZeroDivisionError):
        found.extend(ahead(2, work, range(AHEAD)))

    assert found == [0]


def _fail_among_processes() -> None:
    began = time.monotonic()
    try:
        with processes(2) as executor:
            assert executor is not None
            executor.submit(time.sleep, PATIENCE)
            raise ZeroDivisionError
    finally:
        assert time.monotonic() - began < PATIENCE, "they are not waited for"


def test_a_failure_ends_no_process_of_the_program_around() -> None:
    context = multiprocessing.get_context("fork")
    bystander = context.Process(target=Event().wait, args=[PATIENCE])
    bystander.start()
    try:
        with pytest.raises(ZeroDivisionError):
            _fail_among_processes()
        bystander.join(0.1)
        assert bystander.is_alive()
    finally:
        bystander.kill()
        bystander.join()


def test_where_an_executor_cannot_start_its_threads_it_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    start = Thread.start

    def refuse(thread: Thread) -> None:
        if thread.name == "QueueFeederThread":
            raise RuntimeError(NO_THREAD)
        start(thread)

    monkeypatch.setattr(Thread, "start", refuse)

    # from Python 3.12 on the executor itself says that it is broken
    with pytest.raises(RuntimeError, match=f"{NO_THREAD}|abruptly"), processes(2):
        pass
    # they have ended; it may be the executor's thread that is told, and yet to note it
    wait_until(lambda: not multiprocessing.active_children(), "the end of processes")


def test_where_no_thread_can_be_started_this_one_works(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object) -> None:
        raise RuntimeError(NO_THREAD)

    monkeypatch.setattr("nbtext.parallel.start_new_thread", refuse)

    assert list(ahead(4, str, range(9))) == [*map(str, range(9))]
    with threads(4) as map_:
        assert list(map_(str, range(9))) == [*map(str, range(9))]


def test_where_one_thread_can_be_started_all_is_computed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    started = Event()

    def refuse(*given: Any) -> int:
        if started.is_set():
            time.sleep(0.01)  # for the other to take what was handed out
            raise RuntimeError(NO_THREAD)
        started.set()
        return start_new_thread(*given)

    monkeypatch.setattr(parallel, "start_new_thread", refuse)

    def work(number: int) -> int:
        time.sleep(0.001)
        return number

    assert list(ahead(4, work, range(90))) == [*range(90)]


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_failure_ahead_is_raised_in_its_turn(jobs: int) -> None:
    found: list[float] = []

    with pytest.raises(ZeroDivisionError):
        found.extend(ahead(jobs, lambda number: 1 / number, [1, 2, 0, 4]))

    assert found == [1, 0.5]


def test_one_of_its_threads_may_end_what_nobody_wants_any_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    faults: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", faults.append)
    is_second, unwanted, is_over = Event(), Event(), Event()
    held: list[Iterator[int]] = []

    def numbers() -> Iterator[int]:
        yield 0
        is_second.set()
        yield from range(1, 100)

    def work(number: int) -> int:
        if number == 0:
            is_second.wait(PATIENCE)
        if number == 1 and current_thread() is not main_thread():
            unwanted.wait(PATIENCE)
            held.clear()
            is_over.set()
        return number

    held.append(ahead(2, work, numbers()))
    first = next(held[0])
    unwanted.set()

    assert is_over.wait(PATIENCE)
    assert first == 0
    assert faults == []


def test_what_has_not_begun_is_dropped_after_a_failure() -> None:
    begun: list[int] = []

    def work(number: int) -> None:
        begun.append(number)
        Event().wait(0.01)

    def fail() -> None:
        with threads(2) as map_:
            map_(work, range(1000))
            raise KeyError

    with pytest.raises(KeyError):
        fail()

    assert len(begun) < 1000


def end_of(program: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        check=False,
        timeout=PATIENCE,
    )


def test_an_interrupt_ends_processes_that_are_writing_results() -> None:
    program = (
        "from nbtext.processes import processes\n"
        "with processes(2) as executor:\n"
        "    results = [executor.submit(bytes, 1 << 26) for _ in range(9)]\n"
        "    results[0].result()\n"
        "    raise KeyboardInterrupt\n"
    )

    ended = end_of(program)

    assert ended.stderr.endswith(b"\nKeyboardInterrupt\n")


INTERRUPTED = """
import faulthandler, random, signal, sys
from nbtext.parallel import ahead, threads

def stop(*_):
    raise KeyboardInterrupt

def all_of(how):
    if how:
        return [*ahead(3, abs, range(4000))]
    with threads(3) as map_:
        return [[*map_(abs, range(20))] for _ in range(200)]

faulthandler.dump_traceback_later({limit}, exit=True)
sys.unraisablehook = lambda _: None  # where the interpreter drops one, that is that
signal.signal(signal.SIGALRM, stop)
for number in range(600):
    try:
        signal.setitimer(signal.ITIMER_REAL, random.uniform(0.0002, 0.006))
        all_of(number % 2)
    except KeyboardInterrupt:
        pass
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
"""


def test_an_interrupt_at_any_instruction_leaves_no_thread_waiting() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", INTERRUPTED.format(limit=PATIENCE / 2)],
        capture_output=True,
        check=False,
        timeout=PATIENCE,
        text=True,
    )

    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.parametrize("place", range(0, 120, 3))
def test_an_interrupt_as_threads_are_waited_for_has_it_done_again(place: int) -> None:
    """At each instruction, and at each line: Python 3.12 tells lines alone at first."""
    left = place

    def trace(frame: FrameType, event: str, _value: object) -> Any:
        nonlocal left
        if frame.f_code.co_name not in ("close", "wait"):
            return None
        frame.f_trace_opcodes = True
        if event in ("opcode", "line"):
            left -= 1
            if left == -1:
                raise KeyboardInterrupt
        return trace

    crew = parallel._crew(2)
    with suppress(KeyboardInterrupt), crew as of_two:
        assert [*of_two.map(abs, range(4))] == [*range(4)]
        before = gettrace()
        settrace(trace)
    settrace(before)

    assert left < 0 or place > 20
    assert all(member.has_ended for member in of_two._members)


def test_where_a_thread_never_begins_this_one_works(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """So it is where there is no memory for its first call."""
    monkeypatch.setattr("nbtext.parallel.start_new_thread", lambda *_: 0)
    monkeypatch.setattr("nbtext.parallel.POLL", 0.001)

    assert list(ahead(3, str, range(99))) == [*map(str, range(99))]
    with threads(3) as map_:
        assert list(map_(str, range(9))) == [*map(str, range(9))]


def test_what_is_not_taken_to_its_end_is_left_at_the_end_of_python() -> None:
    program = (
        "from nbtext.parallel import ahead\n"
        "numbers = ahead(2, abs, range(999))\n"
        "first = next(numbers)\n"
    )

    ended = end_of(program)

    assert (ended.returncode, ended.stderr) == (0, b"")


STARTED = """
import os, signal, sys
from multiprocessing.process import BaseProcess
from nbtext.processes import processes

class End(BaseException):
    pass

def end(*_):
    raise End

signal.signal(signal.{name}, end)
before, start = os.getpid(), BaseProcess.start

def started(process):
    start(process)
    os.kill(process.pid, signal.{name})
    os.kill(before, signal.{name})

BaseProcess.start = started
try:
    with processes(2):
        print("begun")
except End:
    print("ended")
"""


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_while_processes_start_leaves_none_behind(name: str) -> None:
    """Not even one that it comes to, too, as Ctrl-C does, before that has begun."""
    ended = subprocess.run(
        [sys.executable, "-c", STARTED.format(name=name)],
        capture_output=True,
        check=False,
        timeout=PATIENCE,
        text=True,
    )

    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "ended\n", "")


def test_an_exception_as_signals_are_held_back_leaves_none_blocked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Python calls handlers of those that have come, when they are blocked already."""
    set_mask = signal.pthread_sigmask
    before = set_mask(signal.SIG_BLOCK, ())

    def interrupted(how: int, mask: Any) -> Any:
        found = set_mask(how, mask)
        if how == signal.SIG_BLOCK and mask:
            raise KeyboardInterrupt
        return found

    monkeypatch.setattr(signal, "pthread_sigmask", interrupted)
    with pytest.raises(KeyboardInterrupt), processes(2):
        pass

    assert set_mask(signal.SIG_BLOCK, ()) == before
