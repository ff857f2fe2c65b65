"""
What ends a command before its end: an error told in one line, and an exit status.

What was raised goes in; the exit status comes out. It is loaded when something was.
"""

import errno
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Final, NoReturn, TextIO

from nbtext.cli import _status as status
from nbtext.cli._streams import to_stderr
from nbtext.errors import NbtextError

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


def terminate(number: int, _frame: object) -> NoReturn:
    """End by an exception, as the handler of a signal."""
    raise Terminated(number)


def raise_again(dropped: "sys.UnraisableHookArgs") -> None:
    """
    Have a signal end the process that was handled where Python drops what is raised.

    That is so in the callbacks of its own imports, which commands make as they run.
    """
    error = dropped.exc_value
    if not isinstance(error, Terminated | KeyboardInterrupt):
        sys.__unraisablehook__(dropped)
        return

    def again(_number: int, _frame: object) -> NoReturn:
        raise error

    signal.signal(signal.SIGALRM, again)
    signal.setitimer(signal.ITIMER_REAL, SOON)


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
    match error:
        case BrokenPipeError():
            give_up(sys.stdout)
            return status.CLOSED_PIPE
        case KeyboardInterrupt():
            return status.INTERRUPTED
        case Terminated():
            return 128 + error.number  # as the shell says it
        case NbtextError():
            _say_error(str(error))
            return status.status_of(error)
        case MemoryError() | OSError(errno=errno.ENOMEM):
            _say_error(no_memory(arguments))
            return status.TRY_AGAIN
        case OSError():
            give_up(sys.stdout)
            what = error.filename or "input or output"
            _say_error(f"{what}: {error.strerror or error}")
            return status.IO_ERROR
        case Exception():
            return _fault(error, arguments)
    raise error


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
