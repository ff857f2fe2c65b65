"""`nbtext help`: the help of a command, or of all."""

import click

from nbtext.cli import _completion as completion
from nbtext.cli._terminal import to_stdout


@click.command(epilog="`nbtext COMMAND --help` is the same.")
@click.argument(
    "name", metavar="[COMMAND]", required=False, shell_complete=completion.commands
)
@click.pass_context
def command(context: click.Context, name: str | None) -> None:
    """
    Say what a command does, and list its options.

    \b
    nbtext help
    nbtext help train
    """  # noqa: D301  click wants a real backspace
    above = context.parent or context
    if name is None:
        to_stdout(above.get_help().splitlines())
        return
    group = above.command
    if isinstance(group, click.Group):
        _, found, _ = group.resolve_command(above, [name])
        if found is not None:
            with found.context_class(found, parent=above, info_name=name) as of_found:
                to_stdout(found.get_help(of_found).splitlines())
