"""`nbtext why`: the evidence that a decision rests on."""

import sys
from collections.abc import Iterator

import click

from nbtext.cli import _completion as completion
from nbtext.cli._explained import against_json, against_lines, why_json, why_lines
from nbtext.cli._options import (
    AGAINST_HELP,
    keyed_option,
    model_option,
    needs_sources,
    output_options,
    policy_options,
    scoring_options,
    source_options,
    sources_argument,
)
from nbtext.cli._report import json_line, readable
from nbtext.cli._status import outcome
from nbtext.cli._terminal import (
    Output,
    is_watched,
    name_problems,
    show,
    to_stderr,
    to_stdout,
)
from nbtext.counts import ReadReport
from nbtext.counts.counting import documents
from nbtext.errors import SettingsError
from nbtext.learning import SettingsOverrides
from nbtext.scoring import Classifier, Policy, load_model
from nbtext.scoring.comparing import differences
from nbtext.scoring.explanation import Explanation
from nbtext.sources import Options
from nbtext.sources import documents as source_documents


@click.command()
@sources_argument()
@click.option(
    "--top",
    type=click.IntRange(min=0),
    default=8,
    show_default=True,
    metavar="N",
    help="How many terms are listed; the others are one line.",
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
@model_option
@keyed_option
@policy_options
@source_options
@scoring_options
@output_options
@click.pass_context
def command(
    context: click.Context,
    sources: tuple[str, ...],
    top: int,
    label: str | None,
    against: str | None,
    model: str,
    policy: Policy,
    options: Options,
    overrides: SettingsOverrides,
    output: Output,
) -> int:
    """
    Say why a document is of its class.

    \b
    nbtext why < email.txt
    nbtext why --class ham email.txt
    nbtext why a.eml --against b.eml
    nbtext why --json email.txt | jq '.terms[0]'

    The terms that say most are listed, largest first: by how many nats the term moves
    the score, where it is, how often, in how many documents of either class the model
    has seen it. Overlapping terms are joined. Below stands how all of them add up to
    the score, and how that becomes the probability.
    """  # noqa: D301  click wants a real backspace
    needs_sources(context, sources)
    opened = load_model(model)
    for note in () if output.quiet else opened.notes:
        to_stderr(f"note: {note}")
    opened = opened._replace(scoring=overrides.scoring(opened.scoring))
    classifier = Classifier(opened)
    options = options._replace(model_columns=lambda: opened.settings.text_columns)
    label = None if label is None else readable(label)  # as sources read labels
    report = ReadReport()

    def explained(names: tuple[str, ...]) -> Iterator[Explanation]:
        items = source_documents(names, options, labelled=False)
        for document in documents(items, report, options.max_bytes):
            yield classifier.explain(document, label=label, policy=policy)

    if against is None:
        is_first = True
        for explanation in explained(sources):
            _print(explanation, top, output, is_first=is_first)
            is_first = False
    else:
        first = _only(explained(sources), "the document that is compared")
        if first is not None:
            label = first.label  # for which the other is explained, too
            second = _only(explained((against,)), "--against")
            if second is not None:
                _print_differences(first, second, top, output)
    name_problems(report, quiet=output.quiet)
    return outcome(report.skipped)


def _only(explained: Iterator[Explanation], what: str) -> Explanation | None:
    """
    Return the one explanation, None if its document cannot be read.

    Raises:
        SettingsError: there are more.

    """
    found = next(explained, None)
    if next(explained, None) is not None:
        message = f"{what}: one document was expected, and there are more; name one"
        raise SettingsError(message)
    return found


def _print(
    explanation: Explanation, top: int, output: Output, *, is_first: bool
) -> None:
    if output.as_json:
        to_stdout([json_line(why_json(explanation, top))])
    elif is_watched(sys.stdout):
        from nbtext.cli._explained_tables import why_tables

        show(why_tables(explanation, top, is_first=is_first))
    else:
        to_stdout([*([] if is_first else [""]), *why_lines(explanation, top)])


def _print_differences(
    first: Explanation, second: Explanation, top: int, output: Output
) -> None:
    rows = differences(first, second)
    if output.as_json:
        to_stdout([json_line(against_json(first, second, rows, top))])
    elif is_watched(sys.stdout):
        from nbtext.cli._explained_tables import against_tables

        show(against_tables(first, second, rows, top))
    else:
        to_stdout(against_lines(first, second, rows, top))
