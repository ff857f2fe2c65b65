"""How commands end for want of memory, or by a signal at a bad moment."""

import errno
import os
import resource
import signal
import subprocess
import sys

import pytest

from nbtext import cli
from nbtext.cli import _failures, _group
from nbtext.cli import _status as status
from nbtext.cli._failures import NO_MEMORY, told
from nbtext.errors import NbtextError
from tests.waiting import PATIENCE


class _Short:
    """A finder of modules for which there is no memory."""

    def find_spec(self, name: str, *_: object) -> None:
        if name == "nbtext.cli._failures":
            raise MemoryError


@pytest.mark.parametrize(
    ("command", "expected"),
    [("classify", status.TRY_AGAIN), ("pass", status.IO_ERROR)],
)
@pytest.mark.parametrize("is_short", [False, True], ids=["some", "none"])
def test_want_of_memory_is_told_even_where_nothing_is_left_to_tell_it(
    command: str,
    expected: int,
    is_short: bool,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    def fail(_arguments: list[str]) -> int:
        raise MemoryError

    monkeypatch.setattr(cli, "_run", fail)
    if is_short:
        monkeypatch.delitem(sys.modules, "nbtext.cli._failures", raising=False)
        monkeypatch.setattr(sys, "meta_path", [_Short(), *sys.meta_path])

    with pytest.raises(SystemExit) as ended:
        cli.main([command])

    assert ended.value.code == expected
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith("Error: there is not enough memory; allow more")
    assert err.count("\n") == 1


def test_want_of_memory_is_the_same_whoever_says_so(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A file that is mapped takes addresses, and their want is that of memory."""
    short = OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))

    assert told(short) == status.TRY_AGAIN
    assert capsys.readouterr().err == f"Error: {NO_MEMORY}\n"


@pytest.mark.parametrize(
    ("arguments", "limit", "advice"),
    [
        (["train", "spam"], -1, ""),
        (["train", "--jobs", "2"], -1, ", or do without --jobs"),
        (["train", "spam"], 512 << 20, " addresses than `ulimit -v 524288` does"),
        (
            ["train", "--jobs=2", "--memory=64M"],
            512 << 20,
            " addresses than `ulimit -v 524288` does, or do without --jobs; what "
            "--memory puts into files takes addresses, too",
        ),
    ],
)
def test_what_is_advised_for_want_of_memory_is_not_done_already(
    arguments: list[str],
    limit: int,
    advice: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (limit, limit))

    assert told(MemoryError(), arguments) == status.TRY_AGAIN
    assert capsys.readouterr().err == f"Error: {NO_MEMORY}{advice}\n"


SWALLOWED = """
import signal, sys, time, weakref
from nbtext import cli
from nbtext.cli import _group

class Thing:
    pass

def run(_arguments):
    thing = Thing()
    seen = weakref.ref(thing, lambda _: signal.raise_signal({number}))
    del thing
    time.sleep(60)
    return 0

_group.run_command = run
cli.main(["info"])
"""


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT"])
def test_a_signal_ends_a_command_that_python_has_dropped_it_in(name: str) -> None:
    code = SWALLOWED.format(number=f"signal.{name}")

    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )

    numbers = {"SIGTERM": 143, "SIGHUP": 129, "SIGINT": status.INTERRUPTED}
    assert done.returncode == numbers[name]
    assert done.stderr == ""


def ended_of(body: str) -> "subprocess.CompletedProcess[str]":
    """Run a program whose command is the body of a function."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    program = (
        "import atexit, signal, sys, threading, time, types\n"
        "from functools import partial\n"
        "from nbtext import cli\n"
        "from nbtext.cli import _group\n"
        "def run(_arguments):\n"
        f"{lines}"
        "    return 0\n"
        "_group.run_command = run\n"
        "sys.argv = ['nbtext', 'info']\n"
        "cli.main()\n"
    )
    return subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


TAKEN = {
    "a condition": (
        "free = threading.Lock()\n"
        "lock = types.SimpleNamespace(acquire=free.acquire, release=free.release)\n"
        "lock.__enter__, lock.__exit__ = comes, lambda *_: print('left', flush=True)\n"
        "with threading.Condition(lock):\n"
        "    pass\n"
    ),
    "an import": (
        "from importlib import _bootstrap as importing\n"
        "code = 'comes(); print(\\'left\\', flush=True)'\n"
        "name = importing._find_and_load.__code__.co_filename\n"
        "exec(compile(code, name, 'exec'), {'comes': comes})\n"
    ),
}


@pytest.mark.parametrize("taken", TAKEN)
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT"])
def test_a_signal_leaves_no_lock_taken_that_a_thread_may_wait_for(
    name: str, taken: str
) -> None:
    done = ended_of(
        f"comes = partial(signal.raise_signal, signal.{name})\n"
        f"{TAKEN[taken]}time.sleep(600)\n"
    )

    assert done.returncode == 128 + getattr(signal, name)
    assert (done.stdout, done.stderr) == ("left\n", "")


def test_a_signal_that_is_put_off_comes_though_the_parent_has_blocked_alarms() -> None:
    """A mask of signals is handed down to what is executed."""
    done = ended_of(
        "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])\n"
        "comes = partial(signal.raise_signal, signal.SIGTERM)\n"
        f"{TAKEN['an import']}time.sleep(600)\n"
    )

    assert (done.returncode, done.stdout, done.stderr) == (143, "left\n", "")


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
def test_what_python_makes_of_a_signal_is_no_fault_of_nbtext(name: str) -> None:
    """Its compiler says that it has no names of characters, for instance."""
    done = ended_of(
        "try:\n"
        f"    signal.raise_signal(signal.{name})\n"
        "except BaseException:\n"
        "    raise SyntaxError('no names') from None\n"
    )

    assert (done.returncode, done.stderr) == (128 + getattr(signal, name), "")


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
def test_a_signal_after_all_is_done_ends_quietly(name: str) -> None:
    done = ended_of(f"atexit.register(signal.raise_signal, signal.{name})")

    assert (done.returncode, done.stderr) == (-getattr(signal, name), "")


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
def test_a_signal_that_was_put_off_may_come_when_all_is_done(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = getattr(signal, name)
    put_off = iter([_failures.Terminated(number), KeyboardInterrupt()])

    def comes(timer: int, seconds: float) -> None:
        assert (timer, seconds) == (signal.ITIMER_REAL, 0)
        for error in put_off:
            raise error

    before = signal.signal(number, _failures.terminate)
    alarm = signal.getsignal(signal.SIGALRM)
    monkeypatch.setattr(signal, "setitimer", comes)
    try:
        _failures.leave_to_signals()

        assert signal.getsignal(number) == signal.SIG_DFL
    finally:
        signal.signal(number, before)
        signal.signal(signal.SIGALRM, alarm)


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT"])
def test_signals_of_a_program_that_calls_a_command_do_what_they_did_before(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """And what has ended one command has no part in how the next one ends."""
    number = signal.Signals[name]

    def run(arguments: list[str]) -> int:
        if arguments == ["info"]:
            _failures._soon(lambda _: None)
            signal.raise_signal(number)
        raise NbtextError("there is none")

    def state() -> list[object]:
        handlers = [
            signal.getsignal(one) for one in (*_failures.ENDING, signal.SIGALRM)
        ]
        return [*handlers, sys.unraisablehook, signal.getitimer(signal.ITIMER_REAL)]

    monkeypatch.setattr(_group, "run_command", run)
    monkeypatch.setattr(sys, "unraisablehook", sys.__unraisablehook__)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    before = state()

    for command, code in (("info", 128 + number), ("check", status.DATA)):
        with pytest.raises(SystemExit) as ended:
            cli.main([command])
        assert ended.value.code == code
        assert state() == before

    assert capsys.readouterr().err == "Error: there is none\n"
