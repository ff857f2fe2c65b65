"""`nbtext pass`: a message passed through, with a field that says what it is."""

import sys
from typing import Any

import click

from nbtext.classes import quoted
from nbtext.cli import _completion as completion
from nbtext.cli._options import (
    keyed_option,
    max_bytes_option,
    message_output_options,
    model_option,
)
from nbtext.cli._pass import PassRequest, run
from nbtext.cli._policy_options import message_policy_options
from nbtext.filtering.header_field import FIELD


@click.command(epilog="Whatever fails, the message is printed as it came.")
@model_option
@keyed_option
@click.option(
    "--header",
    "field",
    default=FIELD,
    show_default=True,
    metavar="NAME",
    help="The name of the field. Only a name that begins like the default is no "
    "evidence when the message is learnt later.",
)
@click.option(
    "--subject-tag",
    "tags",
    multiple=True,
    metavar="CLASS=TEXT",
    shell_complete=completion.classes_before,
    help="Put TEXT before the subject of messages of CLASS, which are other messages "
    "to `learn` then; may be repeated.",
)
@click.option(
    "--why",
    type=click.IntRange(0, 20),
    default=0,
    show_default=True,
    metavar="N",
    help="Tell in the field, too, the N terms that say most for its label, or against.",
)
@message_policy_options
@max_bytes_option
@message_output_options
@click.pass_context
def command(context: click.Context, /, tags: tuple[str, ...], **given: Any) -> int:
    """
    Print a message as it came, with a field that says what it is.

    \b
    nbtext pass < email.txt
    nbtext pass --subject-tag 'spam=[SPAM]' < email.txt
    nbtext pass --why 3 < email.txt

    The field is X-NBText: spam, probability=0.9987. Copies of it that came with the
    message are taken out. Nothing else changes, and all of the message is printed,
    however much of it is read. A header of more than 16 MiB is ended there. If anything
    fails, it is printed unchanged, and the exit status is 75; if it cannot be printed,
    74.
    """  # noqa: D301  click wants a real backspace
    if sys.stdin is not None and sys.stdin.isatty():
        message = "Pipe a message in."
        raise click.UsageError(message, context)
    pairs = [tuple(tag.partition("=")[::2]) for tag in tags]
    for tag, (label, _) in zip(tags, pairs, strict=True):
        if not label or "=" not in tag:
            message = f"{quoted(tag)} is not CLASS=TEXT."
            raise click.BadParameter(message, context, param_hint="'--subject-tag'")
    return run(PassRequest(tags=tuple((label, text) for label, text in pairs), **given))
