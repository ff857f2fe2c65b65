"""`nbtext bogofilter`: what bogofilter does, for recipes that are written for it."""

import sys
from typing import Any

import click

from nbtext.cli.bogofilter._options import USED, Option, Parsed, parse
from nbtext.cli.bogofilter._run import run


class _AsBogofilter(click.Command):
    """A command that reads its options as bogofilter does; click prints their help."""

    def parse_args(self, context: click.Context, arguments: list[str]) -> list[str]:
        """Take the command line apart."""
        for path in (context.default_map or {}).get("model", ()):  # before the command
            arguments = ["--model", path, *arguments]
        parsed = parse(arguments)
        if parsed.count("help"):
            arguments = ["--help"]
            return super().parse_args(context, arguments)
        context.params = {"parsed": parsed}
        context.args = []
        return []


def _shown(option: Option) -> click.Option:
    letters = [f"-{option.short}"] if option.short else []
    return click.Option(
        [*letters, f"--{option.long}"],
        metavar=option.metavar or None,
        is_flag=not option.metavar,
        help=option.help,
    )


def _reads_terminal(parsed: Parsed) -> bool:
    """Return whether a message could only be typed by hand."""
    elsewhere = ("version", "classify-files", "input-file")
    is_needed = not any(map(parsed.count, elsewhere))
    return is_needed and sys.stdin is not None and sys.stdin.isatty()


@click.command(
    cls=_AsBogofilter,
    options_metavar="[OPTIONS] [FILE]...",
    params=[_shown(option) for option in USED if option.long != "help"],
    epilog="docs/recipes/bogofilter.md says what differs from bogofilter, and which "
    "other options are ignored or refused.",
)
@click.pass_context
def command(context: click.Context, parsed: Any) -> int:
    """
    Do what bogofilter does, for recipes that call it.

    \b
    nbtext bogofilter -pe < email.txt      pass it on with X-Bogosity
    nbtext bogofilter -s < email.txt       learn it as spam
    nbtext bogofilter -Sn < email.txt      no, it is ham

    The exit status is 0 for spam, 1 for ham, 2 if unsure, 3 if anything failed; with -e
    it is 0 for all three, and it is 0 if something was learnt. With -p the message is
    printed whatever happens: as it came, if anything failed.
    """  # noqa: D301  click wants a real backspace
    if _reads_terminal(parsed):
        message = "Pipe a message in."
        raise click.UsageError(message, context)
    return run(parsed)
