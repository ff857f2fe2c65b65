"""`nbtext rename`: give classes other names."""

import click

from nbtext.classes import quoted
from nbtext.cli import _completion as completion
from nbtext.cli._options import model_option, output_options, wait_option
from nbtext.cli._report import as_json as json_of
from nbtext.cli._report import class_name, readable
from nbtext.cli._terminal import Output, name_notes, to_stderr, to_stdout


def pair_of(text: str) -> tuple[str, str]:
    """Return a class and its new name."""
    old, _, new = text.partition("=")
    if not (old and new):
        message = f"{quoted(text)} has not the form OLD=NEW"
        raise click.BadParameter(message)
    return readable(old), readable(new)


@click.command()
@click.argument(
    "names",
    nargs=-1,
    required=True,
    type=pair_of,
    metavar="OLD=NEW...",
    shell_complete=completion.classes_before,
)
@model_option
@wait_option
@output_options
def command(
    names: tuple[tuple[str, str], ...], model: str, wait: float, output: Output
) -> None:
    """
    Give classes of a model other names.

    \b
    nbtext rename Junk=spam Archive=ham

    Nothing else changes: neither counts nor probabilities, nor what the model knows of
    documents that it has learnt.
    """  # noqa: D301  click wants a real backspace
    from nbtext.store import read_contents
    from nbtext.store.file import open_locked
    from nbtext.store.lock import locked
    from nbtext.store.writing import replace_file
    from nbtext.upkeep import rename

    if len(dict(names)) < len(names):
        message = "'OLD=NEW': a class can have one new name only."
        raise click.UsageError(message)
    with locked(model, wait=wait):
        file = open_locked(model)
        renamed = rename(read_contents(file), dict(names), model)
        replace_file(model, renamed.pack())
    if not output.quiet:
        name_notes(file)
        for old, new in names:
            to_stderr(f"{class_name(old)} is called {class_name(new)}")
    if output.as_json:
        facts = {"renamed": dict(names), "classes": list(renamed.counts.classes)}
        to_stdout([json_of({**facts, "path": readable(model)})])
