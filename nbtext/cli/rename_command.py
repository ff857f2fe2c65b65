"""`nbtext rename`: give classes other names."""

from collections.abc import Sequence

import click

from nbtext.classes import quoted
from nbtext.cli import _completion as completion
from nbtext.cli._options import model_option, output_options, wait_option
from nbtext.cli._report import as_json as json_of
from nbtext.cli._report import class_name
from nbtext.cli._terminal import Output, name_notes, to_stderr, to_stdout
from nbtext.document import readable


def pair_of(text: str, classes: Sequence[str]) -> tuple[str, str]:
    """
    Return a class and its new name, written OLD=NEW.

    Where there are several `=`, it is split at one before which a class is named.
    """
    places = [place for place, sign in enumerate(text) if sign == "="]
    pairs = [(text[:place], text[place + 1 :]) for place in places]
    pairs = [(readable(old), readable(new)) for old, new in pairs if old and new]
    if not pairs:
        message = f"{quoted(text)} has not the form OLD=NEW."
        raise click.BadParameter(message, param_hint="'OLD=NEW...'")
    return next((pair for pair in pairs if pair[0] in classes), pairs[0])


@click.command()
@click.argument(
    "names",
    nargs=-1,
    required=True,
    metavar="OLD=NEW...",
    shell_complete=completion.classes_before,
)
@model_option
@wait_option
@output_options
def command(names: tuple[str, ...], model: str, wait: float, output: Output) -> None:
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

    with locked(model, wait=wait):
        file = open_locked(model)
        contents = read_contents(file)
        pairs = [pair_of(text, contents.counts.classes) for text in names]
        if len(dict(pairs)) < len(pairs):
            message = "a class can have one new name only."
            raise click.BadParameter(message, param_hint="'OLD=NEW...'")
        renamed = rename(contents, dict(pairs), model)
        replace_file(model, renamed.pack())
    name_notes(file, quiet=output.quiet)
    if not output.quiet:
        for old, new in pairs:
            to_stderr(f"{class_name(old)} is called {class_name(new)}")
    if output.as_json:
        facts = {"renamed": dict(pairs), "classes": list(renamed.counts.classes)}
        to_stdout([json_of({**facts, "path": readable(model)})])
