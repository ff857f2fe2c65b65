"""`nbtext doctor`: what is wrong with labelled documents."""

import sys
from functools import partial
from typing import Final

import click

from nbtext.cli._garbage import hold, settle
from nbtext.cli._options import output_options, source_options, sources_argument
from nbtext.cli._report import as_json as json_of
from nbtext.cli._status import outcome
from nbtext.cli._terminal import (
    Output,
    is_watched,
    progress,
    report_handler,
    show,
    then_busy,
    to_stderr,
    to_stdout,
)
from nbtext.document import Skipped
from nbtext.sources import Options, total_bytes

MOST: Final = 20
"""How many findings of a kind are shown."""


@click.command()
@sources_argument(is_required=True)
@click.option(
    "--most",
    type=click.IntRange(1, 100_000),
    default=MOST,
    show_default=True,
    metavar="N",
    help="Show no more than N findings of a kind.",
)
@source_options
@output_options
def command(
    sources: tuple[str, ...], most: int, options: Options, output: Output
) -> int:
    """
    Find wrong labels, duplicates and leaks in labelled documents.

    \b
    nbtext doctor spam/ ham/
    nbtext doctor --most 200 rows.csv | grep ^label

    Finds labels that are probably wrong, the same document under two labels, near
    duplicates across labels, copies within a label, labels that repeat themselves,
    terms and dates that give a label away, labels with too few documents, and what
    cannot be read. A line a finding, its kind first. Nothing is changed, and no model
    is read or written.
    """  # noqa: D301  click wants a real backspace
    hold()
    from nbtext.api.advising import examine
    from nbtext.cli._findings import finding_rows, findings_json, summary

    settle(is_seldom=True)
    skipped = Skipped()
    tell = report_handler(skipped, quiet=output.quiet)
    total = partial(total_bytes, sources)
    with progress(quiet=output.quiet, total=total) as shown:
        found = examine(
            sources,
            options=options,
            most=most,
            progress=shown,
            on_read=then_busy(tell, shown, "examining"),
        )
    if output.as_json:
        to_stdout([json_of(findings_json(found))])
    elif is_watched(sys.stdout):
        from nbtext.cli._findings_tables import finding_tables

        show(finding_tables(found))
    else:
        to_stdout("\t".join(row) for row in finding_rows(found))
    if not (output.quiet or is_watched(sys.stdout)):
        to_stderr(summary(found))
    return outcome(skipped)
