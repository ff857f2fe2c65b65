"""`nbtext classify`: print the class of each document and its probability."""

from typing import Any

import click

from nbtext.cli import _completion as completion
from nbtext.cli._classify import ClassifyRequest, run
from nbtext.cli._options import (
    check_cluster,
    cluster_option,
    jobs_option,
    keyed_option,
    models_option,
    needs_sources,
    shared_option,
    source_options,
    sources_argument,
    verbose_output_options,
)
from nbtext.cli._policy_options import policy_options
from nbtext.cli._scoring_options import scoring_options


@click.command()
@sources_argument()
@models_option
@keyed_option
@click.option(
    "--is",
    "wanted",
    metavar="CLASS",
    shell_complete=completion.classes,
    help="Exit with status 0 if the one document is of CLASS, 1 if it is of another, "
    "2 if it is unsure.",
)
@policy_options
@source_options
@scoring_options
@jobs_option
@cluster_option
@shared_option
@verbose_output_options
@click.pass_context
def command(
    context: click.Context, /, model: tuple[str, ...], jobs: int, **given: Any
) -> int:
    """
    Print the class of each document and its probability.

    \b
    nbtext classify < email.txt
    nbtext classify inbox/ more.mbox -
    nbtext classify --json inbox/ | jq 'select(.label == "spam") | .name'
    nbtext classify --format lines < tickets.txt
    nbtext classify -m headers.nbt -m body.nbt < email.txt
    nbtext classify --is spam < email.txt && echo "it is spam"

    One line a document, in their order: label, probability, name, with tabs between;
    the label is ? where the model is unsure. A name's tabs, newlines, backslashes and
    bytes that are not UTF-8 are escaped. The id of a row is last: --id-column.
    """  # noqa: D301  click wants a real backspace
    request = ClassifyRequest(model=model[0], further=model[1:], **given)
    of_machine = {"--jobs": jobs > 1, "--is": request.wanted is not None}
    check_cluster(request.cluster, request.shared, of_machine)
    needs_sources(context, request.sources)
    if request.cluster is not None and not request.sources:
        message = "Standard input is not on the cluster; name sources."
        raise click.UsageError(message)
    return run(request, jobs)
