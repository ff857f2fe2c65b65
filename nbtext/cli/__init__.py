"""
The command line: a thin shell over the library.

Each command is a file that reads as usage, options, call, print; commands are loaded
when called. Errors become one line and an exit status in `_failures`, and nowhere else.
What is imported here, and in `_quick`, is waited for with each message.
"""

import gc
import os
import sys

from nbtext.cli._quick import quick_run, speak

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final, NoReturn

NOT_PRINTED: "Final" = 74
TRY_AGAIN: "Final" = 75
"""As in `_status`, which there may be no memory for when they are needed."""


def main(arguments: list[str] | None = None) -> "NoReturn":
    """Run a command and exit with its status."""
    words, is_on, threshold = _spoken(), gc.isenabled(), gc.get_threshold()
    try:
        _main(arguments)
    finally:
        if arguments is not None:  # a program has its collector back, too
            (gc.enable if is_on else gc.disable)()
            gc.set_threshold(*threshold)
        if "nbtext.wording" in sys.modules:
            from nbtext import wording

            wording.speak(words)  # a program that has called this has its own back


def _spoken() -> str:
    """Return the words of the program that calls this; most have none loaded."""
    if "nbtext.wording" not in sys.modules:
        return ""
    from nbtext import wording

    return wording.spoken()


def _main(arguments: list[str] | None) -> "NoReturn":
    is_program = arguments is None
    if arguments is None:
        arguments = _arguments()
        gc.disable()  # until all is imported
    try:
        code = _run(arguments)
        if sys.stdout is not None:
            sys.stdout.flush()
        _leave_to_signals(is_program)
    except BaseException as error:
        _leave_to_signals(is_program)
        code = _told(error, arguments)
        if isinstance(error, MemoryError) and _is_pass(arguments):
            code = NOT_PRINTED  # at least not all of the message
    _see_out_errors()
    if arguments[:1] == ["bogofilter"]:
        from nbtext.cli import _status as status

        code = status.as_bogofilter(code)
    if is_program:
        gc.freeze()  # else the interpreter, ending, looks for circles in all there is
    sys.exit(code)


def _leave_to_signals(is_program: bool) -> None:
    """
    Have a signal end the process at once: what was begun is finished, or undone.

    If this was called by a program, signals do what they did before there.
    """
    if "nbtext.cli._failures" in sys.modules:
        from nbtext.cli._failures import give_back_signals, leave_to_signals

        if is_program:
            leave_to_signals()
        elif _is_main_thread():
            give_back_signals()


def _is_main_thread() -> bool:
    """Return whether this thread is the one that may handle signals."""
    from threading import current_thread, main_thread

    return current_thread() is main_thread()


def _told(error: BaseException, arguments: list[str]) -> int:
    """Say what went wrong, and return the exit status."""
    try:
        from nbtext.cli._failures import told

        return told(error, arguments)
    except MemoryError:  # there is not even enough for what would say it
        try:  # noqa: SIM105  contextlib may find none either
            os.write(2, b"Error: there is not enough memory; allow more\n")
        except OSError:
            pass
        return TRY_AGAIN


def _arguments() -> list[str]:
    """Return the command line; under the name of bogofilter, as a link, that is it."""
    is_bogofilter = sys.argv[0].rpartition("/")[2] == "bogofilter"
    return ["bogofilter", *sys.argv[1:]] if is_bogofilter else sys.argv[1:]


def _run(arguments: list[str]) -> int:
    # numpy would start threads for linear algebra, and none is worth that here
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if "numpy" not in sys.modules:
        sys.meta_path.insert(0, _BeforeNumpy())
    is_piped = sys.stdin is not None and not sys.stdin.isatty()
    quick = quick_run(arguments) if is_piped else None
    return _run_with_click(arguments) if quick is None else quick()


class _BeforeNumpy:
    """A finder of modules that finds none: it looks for room before numpy is loaded."""

    def find_spec(self, name: str, *_: object) -> None:
        """Refuse what would end the process without a word."""
        if name == "numpy":  # which is looked for once
            from nbtext.cli._room import check_room

            check_room()


def _run_with_click(arguments: list[str]) -> int:
    """Run any command; a signal to end cleans up what has been begun."""
    speak()
    from nbtext.cli import _status as status
    from nbtext.cli._failures import end_by_signals, told

    if _is_main_thread():
        end_by_signals()  # before more is imported, which may drop one
    from nbtext.cli._group import run_command
    from nbtext.errors import NbtextError

    is_piped = sys.stdin is not None and not sys.stdin.isatty()
    must_go_on = is_piped and _is_pass(arguments)  # the message, in any case
    try:
        code = run_command(arguments)
    except NbtextError as error:
        if not must_go_on:
            raise
        told(error)
        code = status.USAGE  # an option's: `pass` itself lets no such error out
    if must_go_on and code == status.USAGE:
        from nbtext.cli._pass import pass_unchanged

        return pass_unchanged()
    return code


def _is_pass(arguments: list[str]) -> bool:
    """Return whether the command is `pass`, perhaps behind options."""
    rest = arguments[:]
    while rest and rest[0].startswith("-"):
        del rest[: 2 if rest[0] in ("-m", "--model") else 1]
    return rest[:1] == ["pass"]


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
        from nbtext.cli._failures import give_up

        give_up(sys.stderr)
