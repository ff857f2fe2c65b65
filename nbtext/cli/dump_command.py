"""`nbtext dump`: write a model as text."""

import click

from nbtext.cli._options import named_model, within_memory
from nbtext.cli._terminal import name_notes, to_stdout
from nbtext.store import open_model


@click.command(epilog="The lines are described in docs/text-form.md.")
@named_model
@within_memory
def command(model: str) -> None:
    """
    Write a model as text, one JSON object a line.

    \b
    nbtext dump | nbtext load -m copy.nbt
    nbtext dump | gzip > model.jsonl.gz
    nbtext dump | jq 'select(.term and .counts.spam)'

    The text holds the sums of all that the model has counted, and `nbtext load` makes
    the same sums of it.
    """  # noqa: D301  click wants a real backspace
    from nbtext.store import read_contents
    from nbtext.textform import text_lines

    file = open_model(model)
    name_notes(file)
    to_stdout(text_lines(read_contents(file), model))
