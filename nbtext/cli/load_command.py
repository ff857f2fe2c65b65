"""`nbtext load`: make a model of its text form."""

from typing import TYPE_CHECKING, Any

import click

from nbtext.classes import with_value
from nbtext.cli import _completion as completion
from nbtext.cli._options import (
    model_option,
    needs_sources,
    output_options,
    replace_option,
    wait_option,
    within_memory,
)
from nbtext.cli._report import as_json as json_of
from nbtext.cli._report import counted, size
from nbtext.cli._terminal import Output, to_stderr, to_stdout
from nbtext.sources import open_binary

if TYPE_CHECKING:
    from nbtext.textform import Loaded


@click.command(epilog="The lines are described in docs/text-form.md.")
@click.argument(
    "source", metavar="[FILE]", required=False, shell_complete=completion.files
)
@model_option
@replace_option
@wait_option
@within_memory
@output_options
@click.pass_context
def command(
    context: click.Context,
    source: str | None,
    model: str,
    replace: bool,
    wait: float,
    output: Output,
) -> None:
    """
    Make a model of what `nbtext dump` has written.

    \b
    nbtext load -m copy.nbt model.jsonl
    nbtext load -m copy.nbt model.jsonl.gz

    Without FILE, or with -, standard input is read, perhaps a `nbtext dump |`. It may
    be compressed. All of it is verified before anything is written; the old model
    stays as it is until the new one is complete.
    """  # noqa: D301  click wants a real backspace
    needs_sources(context, () if source is None else (source,), "a dump")
    from nbtext.store import check_replaceable, replace_model
    from nbtext.textform import load_text

    check_replaceable(model, replace=replace)  # before reading what would be refused
    with open_binary(source or "-") as stream:
        loaded = load_text(stream, source or "-")
    written = replace_model(model, loaded.contents.pack(), replace=replace, wait=wait)
    if not output.quiet:
        for line in summary(loaded, model, written):
            to_stderr(line)
    if output.as_json:
        to_stdout([json_of(facts(loaded, model, written))])


def summary(loaded: "Loaded", model: str, written: int) -> list[str]:
    """Say what was read and where it went."""
    table = loaded.contents.counts
    classes = ", ".join(
        with_value(name, f"{documents:,}")
        for name, documents in zip(table.classes, table.documents, strict=True)
    )
    documents = counted(sum(table.documents), "document")
    return [
        f"loaded {documents} of {table.settings.format}: {classes or 'no class'}",
        f"{counted(loaded.terms, 'term')}, "
        f"{counted(len(loaded.contents.records), 'undo record')}",
        f"wrote {model} ({size(written)})",
    ]


def facts(loaded: "Loaded", model: str, written: int) -> dict[str, Any]:
    """Return the same for a program."""
    table = loaded.contents.counts
    return {
        "documents": sum(table.documents),
        "classes": dict(zip(table.classes, table.documents, strict=True)),
        "format": table.settings.format,
        "terms": loaded.terms,
        "undo": len(loaded.contents.records),
        "lines": loaded.lines,
        "path": model,
        "size": written,
    }
