"""`nbtext learn`: add documents to a class of a model, or move them to it."""

from typing import Any

import click

from nbtext.classes import quoted
from nbtext.cli import _completion as completion
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
from nbtext.cli._regime_options import regime_options
from nbtext.cli._terminal import Output
from nbtext.learning import LearnRequest
from nbtext.sources import Options


@click.command(epilog="What is known already is not counted again.")
@click.argument(
    "label", metavar="CLASS", required=False, shell_complete=completion.classes
)
@sources_argument()
@model_option
@new_keyed_option
@source_options
@approximate_option
@frozen_idf_option
@wait_option
@click.option(
    "--undo",
    "keep",
    type=click.IntRange(0, 1_000_000),
    metavar="N",
    help="Keep what the last N documents left, to undo them even if their headers have "
    "changed since [default: as before, at first 1000].",
)
@click.option(
    "--labelled",
    "own_labels",
    is_flag=True,
    help="Learn each document as its own label, as `train` reads it; leave CLASS out.",
)
@click.option(
    "--seen-only",
    is_flag=True,
    help="Of mailboxes, learn only messages that were read, so that no program's "
    "verdicts are learnt unread: in a Maildir flag S, in an mbox R in the field "
    "Status, in an MH folder not in the sequence unseen.",
)
@click.option(
    "--create",
    is_flag=True,
    help="Begin a model if there is none, or a class that resembles another; with "
    "--labelled any new class.",
)
@regime_options
@verbose_output_options
@click.pass_context
def command(
    context: click.Context,
    /,
    label: str | None,
    sources: tuple[str, ...],
    model: str,
    options: Options,
    seen_only: bool,
    own_labels: bool,
    output: Output,
    **given: Any,
) -> int:
    """
    Add documents to a class, or move them there from another.

    \b
    nbtext learn spam < email.txt
    nbtext learn spam ~/Maildir/.Junk      every hour, if you like
    nbtext learn ham < same-email.txt      a correction: it moves
    nbtext learn --regime errors spam ~/Maildir/.Junk    what is misjudged alone
    nbtext learn --labelled new.csv        all classes, by the column label

    A document that the model knows in this class already is not counted again; one
    that it knows in another class moves, in one step. Sources are those of `train`.
    """  # noqa: D301  click wants a real backspace
    if own_labels and label is not None:  # no class, but the first of the sources
        sources, label = (label, *sources), None
    elif not own_labels:
        _check_class(context, label, options)
    needs_sources(context, sources)
    request = LearnRequest(
        model, label, fields=options.fields, own_labels=own_labels, **given
    )
    return run(LearnCommand(request, sources, options, output, seen_only))


def _check_class(context: click.Context, label: str | None, options: Options) -> None:
    """
    Refuse to learn without a class, and a column of labels that would not be heeded.

    Raises:
        click.UsageError: there is none, or is one.
    """
    if label is None:
        message = "Name the CLASS, or learn labelled documents with --labelled."
        raise click.UsageError(message, context)
    if options.label_column is not None:
        message = (
            f"--label-column: all rows would be learnt as {quoted(label)}; leave the "
            "option out, or the class, and learn each row as its label with --labelled."
        )
        raise click.UsageError(message, context)
