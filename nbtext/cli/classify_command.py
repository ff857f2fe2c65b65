"""`nbtext classify`: print the class of each document and its probability."""

from functools import partial

import click

from nbtext.cli._classify import Request, run
from nbtext.cli._options import (
    executor_of,
    jobs_option,
    json_option,
    model_option,
    needs_sources,
    quiet_option,
    reading_options,
    scoring_options,
    source_options,
    unsure_option,
    verbose_option,
)


@click.command()
@click.argument("sources", nargs=-1)
@model_option
@click.option(
    "--is",
    "wanted",
    metavar="CLASS",
    help="Exit with status 0 if the one document is of CLASS, 1 if it is of another, "
    "2 if it is unsure.",
)
@unsure_option
@source_options
@scoring_options
@jobs_option
@json_option
@quiet_option
@verbose_option
@click.pass_context
def command(
    context: click.Context,
    sources: tuple[str, ...],
    model: str,
    wanted: str | None,
    threshold: float,
    format_: str,
    label_column: str | None,
    text_columns: tuple[str, ...],
    id_column: str | None,
    max_bytes: int,
    score: str | None,
    smoothing: float | None,
    count_: str | None,
    jobs: int,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> int:
    """
    Print the class of each document and its probability.

    \b
    nbtext classify < email.txt
    nbtext classify inbox/ more.mbox -
    nbtext classify --json inbox/ | jq 'select(.label == "spam") | .name'
    nbtext classify --is spam < email.txt && echo "it is spam"

    One line a document, in their order: label, probability, name, with tabs between;
    the label is ? where the model is unsure. A name's tabs, newlines, backslashes and
    bytes that are not UTF-8 are escaped.
    """  # noqa: D301  click wants a real backspace
    needs_sources(context, sources)
    request = Request(
        sources=sources,
        model=model,
        wanted=wanted,
        threshold=threshold,
        options=reading_options(
            format_, label_column, text_columns, id_column, max_bytes
        ),
        scoring=(score, smoothing, count_),
        as_json=as_json,
        quiet=quiet,
        verbose=verbose,
    )
    return run(request, jobs, partial(executor_of, jobs))
