"""`nbtext tokens`: show exactly what the tokenizer sees."""

import sys
from collections import Counter as Tally
from collections.abc import Iterable

import click

from nbtext.cli._keyed import check_keyed
from nbtext.cli._options import (
    json_option,
    keyed_option,
    max_bytes_option,
    model_option,
    needs_sources,
    sources_argument,
)
from nbtext.cli._report import escaped
from nbtext.cli._report import json_line as as_json_line
from nbtext.cli._status import outcome
from nbtext.cli._terminal import (
    is_watched,
    name_notes,
    name_problems,
    show,
    to_stderr,
    to_stdout,
)
from nbtext.counts import ReadReport
from nbtext.counts.read_report import documents
from nbtext.document import readable
from nbtext.errors import NoModelError
from nbtext.scoring import load_model
from nbtext.settings.reading import Settings, default_settings
from nbtext.sources import Options
from nbtext.sources import documents as source_documents
from nbtext.tokens import is_mail, read, terms


@click.command()
@sources_argument()
@model_option
@keyed_option
@click.option(
    "--as",
    "kind",
    type=click.Choice(["mail", "text"]),
    help="Read the documents as mail or text with the default settings of two classes, "
    "whatever the model says.",
)
@max_bytes_option
@json_option
@click.pass_context
def command(
    context: click.Context,
    sources: tuple[str, ...],
    model: str,
    keyed: str | None,
    kind: str | None,
    max_bytes: int,
    as_json: bool,
) -> int:
    """
    Show what the tokenizer sees, view by view and field by field.

    \b
    nbtext tokens < email.txt
    nbtext tokens --json email.txt | jq .views.body

    One line a term: view, field, how often, the term; the two tokens of a pair have a
    space between them. Read by the model's settings, or without a model by the
    default ones. A document's name stands on a line of its own if there are several.
    """  # noqa: D301  click wants a real backspace
    needs_sources(context, sources)
    settings: Settings | None = None
    classes: tuple[str, ...] = ()
    if kind is not None:
        if keyed is not None:
            message = "--keyed is about a model; with --as none is read."
            raise click.UsageError(message)
        settings = default_settings("mail" if kind == "mail" else "text", 2)
    else:
        try:
            opened = load_model(model)
            check_keyed(keyed, opened)
            settings, classes = opened.settings, opened.classes
            name_notes(opened)
        except NoModelError:
            to_stderr(f"note: {model}: no model there; reading by the default settings")
    report = ReadReport()
    fields = () if settings is None else settings.fields
    options = Options(max_bytes=max_bytes).for_model(fields, classes)
    items = source_documents(sources, options, labelled=False)
    for document in documents(items, report, max_bytes):
        wanted = settings or default_settings(
            "mail" if is_mail(document) else "text", 2
        )
        rows = counted_terms(wanted, read(document, wanted).views)
        if as_json:
            to_stdout([json_line(document.name, rows)])
            continue
        if len(sources) > 1 or document.name not in ("-", *sources):
            to_stdout([f"# {escaped(document.name)}"])
        _print(
            (view, escaped(field), str(count), escaped(term))
            for view, field, term, count in rows
        )
    name_problems(report, quiet=False)
    return outcome(report.skipped)


def _print(rows: Iterable[tuple[str, str, str, str]]) -> None:
    """Write the terms of a document: view, field, how often, and the term."""
    if is_watched(sys.stdout):
        from nbtext.cli._tables import term_lines

        show(term_lines(rows))
    else:
        to_stdout(map("\t".join, rows))


Row = tuple[str, str, str, int]
"""A view, a field, a term, and how often it occurs there."""


def counted_terms(
    settings: Settings, views: "tuple[list[tuple[str, str]], ...]"
) -> list[Row]:
    """Return each term once, in the order of its first occurrence."""
    rows: list[Row] = []
    for view, fields in zip(settings.views, views, strict=True):
        counts = Tally(
            (field, token if second is None else f"{token} {second}")
            for field, token, second in terms(view, fields)
        )
        rows += [(view.name, *place, count) for place, count in counts.items()]
    return rows


def json_line(name: str, rows: list[Row]) -> str:
    """Return the terms of a document as one JSON object."""
    views: dict[str, list[dict[str, object]]] = {}
    for view, field, term, count in rows:
        row: dict[str, object] = {"field": field, "term": term, "count": count}
        views.setdefault(view, []).append(row)
    return as_json_line({"name": readable(name), "views": views})
