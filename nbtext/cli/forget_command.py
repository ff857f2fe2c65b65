"""`nbtext forget`: take documents out of a model."""

from typing import Any

import click

from nbtext.cli._learn import LearnCommand, run
from nbtext.cli._options import (
    approximate_option,
    frozen_idf_option,
    model_option,
    needs_sources,
    new_keyed_option,
    source_options,
    sources_argument,
    verbose_output_options,
    wait_option,
)
from nbtext.cli._terminal import Output
from nbtext.learning import LearnRequest
from nbtext.sources import Options


@click.command(epilog="What was never learnt is refused, by name.")
@sources_argument()
@model_option
@new_keyed_option
@source_options
@approximate_option
@frozen_idf_option
@wait_option
@verbose_output_options
@click.pass_context
def command(
    context: click.Context,
    /,
    sources: tuple[str, ...],
    model: str,
    options: Options,
    output: Output,
    **given: Any,
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
    request = LearnRequest(model, None, **given)
    return run(LearnCommand(request, sources, options, output))
