"""`nbtext forget`: take documents out of a model."""

import click

from nbtext.cli._options import (
    json_option,
    model_option,
    needs_sources,
    quiet_option,
    reading_options,
    source_options,
    teaching_options,
    verbose_option,
)
from nbtext.cli._teach import Request, run
from nbtext.learning.plan import Teaching


@click.command(epilog="What was never learnt is refused, by name.")
@click.argument("sources", nargs=-1)
@model_option
@source_options
@teaching_options
@json_option
@quiet_option
@verbose_option
@click.pass_context
def command(
    context: click.Context,
    sources: tuple[str, ...],
    model: str,
    format_: str,
    label_column: str | None,
    text_columns: tuple[str, ...],
    id_column: str | None,
    max_bytes: int,
    wait: float,
    approximate: bool,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> int:
    """
    Take documents out of a model, as if it never counted them.

    \b
    nbtext forget < email.txt
    nbtext forget ~/Maildir/.Trash

    A document may have been trained or learnt, in any class. Its counts are taken away
    exactly, or it is refused.
    """  # noqa: D301  click wants a real backspace
    needs_sources(context, sources)
    options = reading_options(format_, label_column, text_columns, id_column, max_bytes)
    teaching = Teaching(path=model, label=None, wait=wait, approximate=approximate)
    return run(Request(teaching, sources, options, as_json, quiet, verbose))
