"""The group of commands, each loaded when it is called."""

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, Final

import click

from nbtext import __version__
from nbtext.cli import _completion as completion
from nbtext.cli import _status as status
from nbtext.cli._garbage import settle
from nbtext.cli._help import NarrowContext
from nbtext.cli._terminal import to_stderr, to_stdout
from nbtext.cli._values import each_not_empty

COMMANDS: Final = (
    "train", "classify", "why", "top", "eval", "doctor", "tune", "pass", "filter",
    "learn", "forget", "undo", "info", "policy", "weights", "tokens", "merge", "rename",
    "compact", "prune", "check", "dump", "load", "serve", "bogofilter", "help",
)  # fmt: skip
"""In the order of the help; each is the module of the same name with `_command`."""


class _ClosedPipe(Exception):  # noqa: N818  it is no error, and never seen outside
    """Standard output is closed; click would exit with status 1, which is a verdict."""


@contextmanager
def _kept_from_click() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError as error:
        raise _ClosedPipe from error


class Commands(click.Group):
    """The group of commands, each loaded when it is called."""

    context_class = NarrowContext

    def make_context(self, *arguments: Any, **extra: Any) -> click.Context:
        """Read the command line."""
        with _kept_from_click():
            return super().make_context(*arguments, **extra)

    def invoke(self, context: click.Context) -> Any:
        """Call the command."""
        with _kept_from_click():
            return super().invoke(context)

    def list_commands(self, _context: click.Context) -> list[str]:
        """Name the commands, in the order in which a newcomer needs them."""
        return list(COMMANDS)

    def get_command(self, _context: click.Context, name: str) -> click.Command | None:
        """Load one command."""
        if name not in COMMANDS:
            return None
        command: click.Command = import_module(f"nbtext.cli.{name}_command").command
        command.context_class = NarrowContext
        settle()
        return command

    def resolve_command(
        self, context: click.Context, arguments: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, and suggest one if there is none of that name."""
        try:
            return super().resolve_command(context, arguments)
        except click.UsageError as error:
            from difflib import get_close_matches

            from nbtext.cli import _other_names as other_names  # of errors alone

            name = arguments[0].lower().replace("_", "-")
            meant = other_names.COMMANDS.get(name)
            if meant is not None:
                raise click.UsageError(
                    f"No such command '{arguments[0]}'. Did you mean 'nbtext {meant}'?",
                    context,
                ) from error
            near = get_close_matches(arguments[0], COMMANDS, 1)
            if near and near[0] not in error.message:
                message = f"{error.message} Did you mean '{near[0]}'?"
                raise click.UsageError(message, context) from error
            raise


def _show_version(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    """Print the version and which tokenizer is in use, and exit."""
    if wanted and not context.resilient_parsing:
        from nbtext.tokens.engine import engine

        to_stdout([f"nbtext {__version__} ({engine().description})"])
        context.exit()


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 88},
)
@click.option(
    "-V",
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Show the version and exit.",
)
@click.option(
    "-m",
    "--model",
    metavar="FILE",
    multiple=True,
    callback=each_not_empty,
    shell_complete=completion.models,
    help="The model file of the command, as if it stood behind it.",
)
@click.pass_context
def nbtext(context: click.Context, model: tuple[str, ...]) -> None:
    """
    Sort mail and text into classes that it learnt from examples.

    \b
    nbtext train spam/ ham/          learn two folders of mail
    nbtext classify < email.txt      print the class and its probability
    nbtext eval spam/ ham/           say how good that is
    """  # noqa: D301  click wants a real backspace
    name = context.invoked_subcommand or ""
    command = nbtext.get_command(context, name) if model else None
    if command is None:
        return
    if all(param.name != "model" for param in command.params):
        message = f"'nbtext {name}' does not take --model before it."
        raise click.UsageError(message, context)
    context.default_map = {name: {"model": model}}


def run_command(arguments: list[str]) -> int:
    """Read a command line, run its command and return the exit status."""
    try:
        outcome = nbtext.main(arguments, "nbtext", standalone_mode=False)
    except click.Abort as error:
        raise KeyboardInterrupt from error
    except _ClosedPipe as error:
        raise BrokenPipeError from error
    except click.NoSuchOption as error:
        _show(_of_stdin(error) if error.option_name == "-:" else _meant(error))
        return status.USAGE
    except click.UsageError as error:
        _show(error)
        if not arguments and sys.stdin is not None and not sys.stdin.isatty():
            to_stderr("Error: Name a command: nbtext classify says what is piped in.")
        return status.USAGE
    except click.ClickException as error:
        _show(error)
        return status.SOFTWARE
    return outcome if isinstance(outcome, int) else status.DONE


def _meant(error: click.NoSuchOption) -> click.UsageError:
    """Return what is wrong with an option, and which one is meant if it is known."""
    from nbtext.cli._other_names import option_meant  # of errors alone

    return option_meant(error)


def _of_stdin(error: click.NoSuchOption) -> click.UsageError:
    """Return what is wrong with -:17, which is no option: it is like box.mbox:17."""
    from nbtext.sources import NO_NUMBERS

    return click.UsageError(f"{NO_NUMBERS[0].upper()}{NO_NUMBERS[1:]}.", error.ctx)


def _show(error: click.ClickException) -> None:
    """Say what is wrong; a name on the command line may hold what a terminal obeys."""
    text = io.StringIO()
    error.show(text)
    for line in text.getvalue().removesuffix("\n").split("\n"):
        to_stderr(line)
