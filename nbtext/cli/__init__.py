"""
The command line: a thin shell over the library.

Each command is a file that reads as usage, options, call, print; commands are loaded
when called. Errors become one line and an exit status here, and nowhere else.
"""

import os
import sys
from contextlib import suppress
from typing import NoReturn

from nbtext.cli import _status as status
from nbtext.cli._quick import quick_run
from nbtext.errors import NbtextError


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run a command and exit with its status."""
    if arguments is None:
        arguments = _arguments()
    code = _outcome(arguments)
    _see_out_errors()
    is_bogofilter = arguments[:1] == ["bogofilter"]
    sys.exit(status.as_bogofilter(code) if is_bogofilter else code)


def _arguments() -> list[str]:
    """Return the command line; under the name of bogofilter, as a link, that is it."""
    is_bogofilter = sys.argv[0].rpartition("/")[2] == "bogofilter"
    return ["bogofilter", *sys.argv[1:]] if is_bogofilter else sys.argv[1:]


def _outcome(arguments: list[str]) -> int:
    """Run a command, say what went wrong, and return the exit status."""
    try:
        code = _run(arguments)
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        _give_up_output()
        code = status.CLOSED_PIPE
    except KeyboardInterrupt:
        code = status.INTERRUPTED
    except NbtextError as error:
        code = status.status_of(error)
        _say_error(str(error))
    except OSError as error:
        _give_up_output()
        code = status.IO_ERROR
        _say_error(f"{error.filename or 'input or output'}: {error.strerror or error}")
    except MemoryError:
        code = status.TRY_AGAIN
        _say_error("there is not enough memory; allow more, or try --jobs 1")
    except Terminated as error:
        code = 128 + error.number  # as the shell says it
    except Exception as error:
        if type(error).__name__ == "BrokenProcessPool":
            _say_error("a process was killed, perhaps for want of memory; try --jobs 1")
            return status.TRY_AGAIN
        if os.environ.get("NBTEXT_DEBUG"):
            raise
        code = status.SOFTWARE
        _say_error(
            f"a fault in nbtext itself: {type(error).__name__}: {error}; please report "
            "it, with what NBTEXT_DEBUG=1 prints"
        )
    return code


class Terminated(BaseException):
    """This process was asked to end: what has been begun is cleaned up first."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def _terminate(number: int, _frame: object) -> NoReturn:
    raise Terminated(number)


def _run(arguments: list[str]) -> int:
    is_piped = sys.stdin is not None and not sys.stdin.isatty()
    quick = quick_run(arguments) if is_piped else None
    if quick is not None:
        return quick()
    import signal
    from threading import current_thread, main_thread

    from nbtext.cli._group import run_command

    if current_thread() is main_thread():
        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) == signal.SIG_DFL:
                signal.signal(number, _terminate)
    code = run_command(arguments)
    if code == status.USAGE and is_piped and _is_pass(arguments):
        from nbtext.cli._pass import pass_unchanged

        return pass_unchanged()  # the message must go on in any case
    return code


def _is_pass(arguments: list[str]) -> bool:
    """Return whether the command is `pass`, perhaps behind a --model."""
    if arguments[:1] == ["pass"]:
        return True
    is_model = arguments[:1] in (["-m"], ["--model"])
    return (is_model and arguments[2:3] == ["pass"]) or arguments[1:2] == ["pass"]


def _give_up_output() -> None:
    """Lead what is left of the output nowhere: the interpreter, ending, flushes it."""
    with suppress(OSError, ValueError, AttributeError):  # there is none, or no file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _see_out_errors() -> None:
    """
    Lead what is left on standard error nowhere if it cannot be written.

    The interpreter, ending, would try again, and have 120 for the exit status; but a
    log on a full disk is no reason to say anything else of a message.
    """
    try:
        if sys.stderr is not None:
            sys.stderr.flush()
    except (OSError, ValueError):
        with suppress(OSError, ValueError, AttributeError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def _say_error(message: str) -> None:
    from nbtext.cli._terminal import to_stderr

    to_stderr(f"Error: {message}")
