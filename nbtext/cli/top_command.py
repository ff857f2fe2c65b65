"""`nbtext top`: the terms that most speak for a class."""

import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import click

from nbtext.cli import _completion as completion
from nbtext.cli._alike import MOST_BEFORE, joined
from nbtext.cli._explained import top_json, top_row
from nbtext.cli._keyed import check_keyed
from nbtext.cli._options import (
    keyed_option,
    model_option,
    output_options,
    source_options,
)
from nbtext.cli._report import json_line
from nbtext.cli._room import load_numpy
from nbtext.cli._status import outcome
from nbtext.cli._terminal import (
    Output,
    is_watched,
    name_notes,
    name_problems,
    say_notes,
    show,
    to_stdout,
)
from nbtext.document import Document, readable
from nbtext.scoring import Classifier, Model, load_model
from nbtext.sources import Options
from nbtext.sources import documents as source_documents

if TYPE_CHECKING:
    from nbtext.counts import ReadReport
    from nbtext.scoring.top import TopTerm

LOOK_UP = (
    "name documents with --from, such as those that it was trained on, to have them "
    "looked up"
)


@click.command()
@click.argument(
    "label", metavar="[CLASS]", required=False, shell_complete=completion.classes
)
@click.option(
    "--from",
    "sources",
    multiple=True,
    metavar="SOURCE",
    shell_complete=completion.files,
    help="Look terms up in these documents of which the model keeps no text; no more "
    "are read than needed. May be repeated.",
)
@click.option(
    "--top",
    type=click.IntRange(1, 100_000),
    default=20,
    show_default=True,
    metavar="N",
    help="How many terms are listed, by `top` of each class.",
)
@model_option
@keyed_option
@source_options
@output_options
def command(
    label: str | None,
    sources: tuple[str, ...],
    top: int,
    model: str,
    keyed: str | None,
    options: Options,
    output: Output,
) -> int:
    """
    List the terms that most speak for a class, or for each.

    \b
    nbtext top spam
    nbtext top --json --top 1000
    nbtext top -m keyed.nbt --keyed key --from spam/ --from ham/

    Terms are ranked by the likelihood ratio G2 of the documents that have them, in the
    class and elsewhere. One line a term: class, G2, log-odds in nats, in how many
    documents of the class it is and in how many others, view, field, and the term. A
    model has the texts of most terms that three documents or more had, unless it was
    trained with --no-texts or is keyed; for others --from has them looked up.
    """  # noqa: D301  click wants a real backspace
    opened = load_model(model)
    check_keyed(keyed, opened)
    name_notes(opened, quiet=output.quiet)
    load_numpy()
    from nbtext.counts import ReadReport

    report = ReadReport()
    options = options.for_model(opened.settings.fields, opened.classes)
    found: Iterable[Document] = _read(sources, options, report) if sources else ()
    is_table = is_watched(sys.stdout) and not output.as_json
    n_terms = top * MOST_BEFORE if is_table else top
    terms = Classifier(opened).top(
        None if label is None else readable(label), n_terms, found, report.remark
    )
    others = [0] * len(terms)
    if is_table:
        views = opened.settings.views
        runs = {view.name for view in views if view.alphabet == "ngrams"}
        rows = joined(terms, top, runs)
        terms, others = [term for term, _ in rows], [more for _, more in rows]
    missing = sum(term.text is None for term in terms)
    if missing and not sources:
        say_notes(_why_missing(opened, missing), quiet=output.quiet)
    _print(terms, others, output)
    name_problems(report, quiet=output.quiet)
    return outcome(report.skipped)


def _why_missing(model: Model, missing: int) -> str:
    """Say why terms are shown as keys, and what to do."""
    if all(table.header.texts is None for table in model.file.tables):
        return f"the model keeps no texts of terms, only keys; {LOOK_UP}"
    of_terms = "a term" if missing == 1 else f"{missing:,} terms"
    return f"the model has no text of {of_terms}; {LOOK_UP}"


def _read(
    sources: tuple[str, ...], options: Options, report: "ReadReport"
) -> Iterator[Document]:
    from nbtext.counts.read_report import documents

    items = source_documents(sources, options, labelled=False)
    return documents(items, report, options.max_bytes)


def _print(terms: "list[TopTerm]", others: list[int], output: Output) -> None:
    if output.as_json:
        to_stdout(json_line(top_json(term)) for term in terms)
    elif is_watched(sys.stdout):
        from nbtext.cli._explained_tables import TOP_LEGEND, top_table
        from nbtext.cli._narrow import sentence

        legend = [] if output.quiet else [sentence(TOP_LEGEND, "dim")]
        show([top_table(terms, others), *legend])
    else:
        to_stdout("\t".join(top_row(term)) for term in terms)
