"""
What ends a command before its end: an error told in one line, and an exit status.

What was raised goes in; the exit status comes out. It is loaded when something was.
"""

import errno
import os
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from types import FrameType
from typing import Any, Final, TextIO

from nbtext.cli import _status as status
from nbtext.cli._streams import to_stderr
from nbtext.errors import MORE_FILES, TOO_MANY, NbtextError

NO_THREAD: Final = "can't start new thread"
"""What Python says where the system has no room for one, or allows no more."""

NO_ROOM: Final = "failed to map segment"
"""What the dynamic linker says where there is no memory for a library (glibc)."""

OF_UNIX: Final = ("fcntl", "grp", "pwd", "resource")
"""Modules that Python has on systems like Unix alone."""

NO_MEMORY: Final = "there is not enough memory; allow more"
"""What is said then, and of a MemoryError, with what else may help."""

SOON: Final = 0.01
"""When a signal is raised again that Python has dropped, in seconds."""


class Terminated(BaseException):
    """This process was asked to end: what has been begun is cleaned up first."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


IMPORTS: Final = "<frozen importlib._bootstrap>"
"""What the code that imports modules, and locks them, has for a file name."""

ENDING: Final = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
"""The signals that end a command."""

ends: Final[list[int]] = []
"""The signals that this process was asked to end by."""


_before: Final[dict[int, Any]] = {}
"""What those that are handled here did before, and SIGALRM."""


def end_by_signals() -> None:
    """Have signals end this process by an exception, unless they do something else."""
    ends.clear()  # those of a command before, within one program
    for number in ENDING:
        handler = signal.getsignal(number)
        if handler in (signal.SIG_DFL, signal.default_int_handler):
            _before[number] = handler
            signal.signal(number, terminate)
    if sys.unraisablehook is sys.__unraisablehook__:
        sys.unraisablehook = raise_again


def leave_to_signals() -> None:
    """Have them end this process as they usually do: there is nothing to clean up."""
    is_left = False
    while not is_left:
        with suppress(Terminated, KeyboardInterrupt):  # of one that was put off
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, signal.SIG_IGN)
            for number in ENDING:
                if signal.getsignal(number) == terminate:
                    signal.signal(number, signal.SIG_DFL)
            is_left = True


def give_back_signals() -> None:
    """Have them do what they did before in the program that has called a command."""
    if signal.SIGALRM in _before:
        signal.setitimer(signal.ITIMER_REAL, 0)
    while _before:
        signal.signal(*_before.popitem())
    if sys.unraisablehook is raise_again:
        sys.unraisablehook = sys.__unraisablehook__


def terminate(number: int, frame: FrameType | None) -> None:
    """
    End by an exception, as the handler of a signal.

    It comes a moment later where a `Condition` is being taken or left, or Python looks
    for a module: a lock might stay taken, so that a thread waits for it, and this one
    for that thread. A plain `with` of a lock of the interpreter is safe.
    """
    if frame is not None and _is_locking(frame):
        _soon(partial(terminate, number))
        return
    ends.append(number)
    raise KeyboardInterrupt if number == signal.SIGINT else Terminated(number)


def _is_locking(frame: FrameType) -> bool:
    if frame.f_code.co_filename == IMPORTS:
        return True
    is_of_threads = frame.f_globals.get("__name__") == "threading"
    return is_of_threads and frame.f_code.co_name in ("__enter__", "__exit__")


def _soon(act: Callable[[FrameType | None], None]) -> None:
    """Do something as the handler of a signal that comes soon."""
    before = signal.signal(signal.SIGALRM, lambda _, frame: act(frame))
    _before.setdefault(signal.SIGALRM, before or signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGALRM])  # as from the parent
    signal.setitimer(signal.ITIMER_REAL, SOON)


def raise_again(dropped: "sys.UnraisableHookArgs") -> None:
    """
    Have a signal end the process that was handled where Python drops what is raised.

    That is so in the callbacks of its own imports, which commands make as they run.
    """
    error = dropped.exc_value
    if not isinstance(error, Terminated | KeyboardInterrupt):
        sys.__unraisablehook__(dropped)
        return

    number = error.number if isinstance(error, Terminated) else signal.SIGINT
    _soon(partial(terminate, number))


def told(error: BaseException, arguments: Sequence[str] = ()) -> int:
    """
    Say what went wrong, and return the exit status.

    Args:
        error: what was raised.
        arguments: the command line, which has a part in what would help.

    Raises:
        BaseException: it is the error itself, which is none of a command, or is looked
            for.
    """
    if ends and isinstance(error, Exception):
        # what Python has made of a signal, such as "\\N escapes not supported"
        return _ended_by(ends[0])
    match error:
        case BrokenPipeError():
            give_up(sys.stdout)
            return status.CLOSED_PIPE
        case KeyboardInterrupt():
            return status.INTERRUPTED
        case Terminated():
            return _ended_by(error.number)
        case NbtextError():
            _say_error(str(error))
            return status.status_of(error)
        case MemoryError() | OSError(errno=errno.ENOMEM):
            _say_error(no_memory(arguments))
            return status.TRY_AGAIN
        case OSError():
            give_up(sys.stdout)
            what = error.filename or "input or output"
            advice = f"; {MORE_FILES}" if error.errno in TOO_MANY else ""
            _say_error(f"{what}: {error.strerror or error}{advice}")
            return status.IO_ERROR
        case Exception():
            return _fault(error, arguments)
    raise error


def _ended_by(number: int) -> int:
    return 128 + number  # as the shell says it


def no_memory(arguments: Sequence[str]) -> str:
    """Return what is said where there is not enough memory, and what would help."""
    message = NO_MEMORY
    limit = _addresses()
    if limit is not None:
        message += f" addresses than `ulimit -v {limit >> 10}` does"
    if any(one.startswith("--jobs") for one in arguments):  # there is one by default
        message += ", or do without --jobs"
    if limit is not None and any(one.startswith("--memory") for one in arguments):
        message += "; what --memory puts into files takes addresses, too"
    return message


def _addresses() -> int | None:
    """Return how many bytes of addresses this process may take, None for any."""
    try:
        import resource
    except ImportError:  # there is no room for it either
        return None
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if limit == resource.RLIM_INFINITY else limit


def _fault(error: Exception, arguments: Sequence[str]) -> int:
    """Say that this is a fault in nbtext, unless it was killed or is looked for."""
    if type(error).__name__ == "BrokenProcessPool":
        _say_error("a process was killed, perhaps for want of memory; try --jobs 1")
        return status.TRY_AGAIN
    if isinstance(error, RuntimeError) and str(error) == NO_THREAD:
        _say_error(f"{error}, perhaps for want of memory; allow more, or try --jobs 1")
        return status.TRY_AGAIN
    if isinstance(error, ImportError) and NO_ROOM in str(error):
        _say_error(no_memory(arguments))  # numpy's own words fill a page
        return status.TRY_AGAIN
    if os.environ.get("NBTEXT_DEBUG"):
        raise error
    if isinstance(error, ModuleNotFoundError) and error.name in OF_UNIX:
        _say_error(
            f"there is no {error.name} in this Python; nbtext runs on Linux, macOS and "
            "other systems like Unix"
        )
        return status.SOFTWARE
    _say_error(
        f"a fault in nbtext itself: {type(error).__name__}: {error}; please report "
        "it, with what NBTEXT_DEBUG=1 prints"
    )
    return status.SOFTWARE


def _say_error(message: str) -> None:
    to_stderr(f"Error: {message}")


def give_up(stream: TextIO | None) -> None:
    """Lead what is left of a stream nowhere: the interpreter, ending, flushes it."""
    with suppress(OSError, ValueError, AttributeError):  # there is none, or no file
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())  # type: ignore[union-attr]
