"""`nbtext why`: the evidence that a decision rests on."""

from typing import Any

import click

from nbtext.cli import _completion as completion
from nbtext.cli._options import (
    AGAINST_HELP,
    keyed_option,
    model_option,
    needs_sources,
    output_options,
    source_options,
    sources_argument,
)
from nbtext.cli._policy_options import message_policy_options
from nbtext.cli._scoring_options import scoring_options
from nbtext.cli._why import WhyRequest, run


@click.command()
@sources_argument()
@click.option(
    "--top",
    type=click.IntRange(min=0),
    default=8,
    show_default=True,
    metavar="N",
    help="How many terms are listed, by `top` of each class.",
)
@click.option(
    "--class",
    "label",
    metavar="CLASS",
    shell_complete=completion.classes,
    help="Evidence for CLASS, and not for the most probable class.",
)
@click.option(
    "--against",
    metavar="FILE",
    shell_complete=completion.files,
    help=AGAINST_HELP,
)
@click.option(
    "--flip",
    "is_flip",
    is_flag=True,
    help="Say, too, what learning the document in the other class, or in --class, "
    "would change. Nothing is written.",
)
@model_option
@keyed_option
@message_policy_options
@source_options
@scoring_options
@output_options
@click.pass_context
def command(context: click.Context, /, **given: Any) -> int:
    """
    Say why a document is of its class.

    \b
    nbtext why < email.txt
    nbtext why --class ham email.txt
    nbtext why a.eml --against b.eml
    nbtext why --flip email.txt
    nbtext why --json email.txt | jq '.terms[0]'

    The terms that say most are listed, largest first: by how many nats the term moves
    the score, where it is, how often, in how many documents of either class the model
    has seen it. Overlapping terms are joined. Below stands how all of them add up to
    the score, and how that becomes the probability.
    """  # noqa: D301  click wants a real backspace
    request = WhyRequest(**given)
    needs_sources(context, request.sources)
    if request.is_flip and request.against is not None:
        message = "--flip is about one document, and --against about two; give one."
        raise click.UsageError(message)
    return run(request)
