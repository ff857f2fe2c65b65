"""`nbtext merge`: add models up."""

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nbtext.classes import with_value
from nbtext.cli import _completion as completion
from nbtext.cli import _status as status
from nbtext.cli._keyed import check_keyed
from nbtext.cli._options import (
    keyed_option,
    output_options,
    replace_option,
    source_options,
    wait_option,
    within_memory,
)
from nbtext.cli._report import as_json as json_of
from nbtext.cli._report import counted, escaped, size
from nbtext.cli._room import load_numpy
from nbtext.cli._terminal import (
    Naming,
    Output,
    name_notes,
    name_rest,
    problem_handler,
    say_notes,
    to_stderr,
    to_stdout,
)
from nbtext.document import Skipped
from nbtext.errors import SettingsError
from nbtext.sources import Options

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nbtext.store import ModelFile
    from nbtext.upkeep import Merged


@click.command(
    epilog="`cat a.nbt b.nbt > both.nbt` has the same counts, scored as the last one. "
    "The sum of models that differ only in what training chose is scored as the one "
    "with the most held-out documents."
)
@click.argument(
    "models",
    nargs=-1,
    required=True,
    metavar="MODELS...",
    shell_complete=completion.models,
)
@click.option(
    "-o",
    "--output",
    "path",
    required=True,
    metavar="FILE",
    help="Where the new model goes.",
)
@click.option(
    "--documents",
    "sources",
    multiple=True,
    metavar="SOURCE",
    help="Documents that may be in several models: what they left too often is taken "
    "away. May be repeated.",
)
@click.option(
    "--drop-correction",
    is_flag=True,
    help="Add the counts alone. Needed where two models have a correction.",
)
@click.option(
    "--tree",
    "in_turn",
    is_flag=True,
    help="Open one model after the other, for thousands of them: what is added goes up "
    "a tree of sums. Not with --documents.",
)
@keyed_option
@source_options
@replace_option
@wait_option
@within_memory
@output_options
def command(
    models: tuple[str, ...],
    path: str,
    sources: tuple[str, ...],
    keyed: str | None,
    drop_correction: bool,
    in_turn: bool,
    options: Options,
    replace: bool,
    wait: float,
    output: Output,
) -> int:
    """
    Add models up.

    \b
    nbtext merge work.nbt home.nbt -o both.nbt
    nbtext merge work.nbt home.nbt -o both.nbt --documents ~/Maildir
    nbtext merge --tree --memory 1G users/*.nbt -o all.nbt

    A document that several models have counted, or several of those that a file was
    joined of with cat, is counted as often in the sum, and a warning says how many
    there are, and under which labels. Given with --documents, each is counted once, as
    the last of the models has it.
    """  # noqa: D301  click wants a real backspace
    load_numpy()
    from nbtext.sources import documents
    from nbtext.store import replace_model
    from nbtext.upkeep import merge, open_models, take_doubles
    from nbtext.upkeep.merging import check_policy

    if in_turn and sources:
        message = (
            "--tree keeps no model open to take documents away from; leave out --tree, "
            "or --documents."
        )
        raise click.UsageError(message)
    _check_output(path, models)
    opened = open_models(models, drop_correction=drop_correction)
    files = [] if in_turn else [*opened]
    merged = merge(_named(opened if in_turn else files, keyed, output))
    failures = Skipped()
    on_problem = problem_handler(failures, quiet=output.quiet)
    if sources:
        classes = merged.contents.counts.classes
        options = options.for_model(files[0].settings.fields, classes)
        items = documents(sources, options, labelled=False)
        take_doubles(
            merged, files, items, max_bytes=options.max_bytes, on_problem=on_problem
        )
    name_rest(failures)
    check_policy(merged)  # of the classes that are left
    if merged.lost_policy:
        to_stderr(
            f"WARNING: the policy of the last model, {escaped(models[-1])}, is not "
            f"kept, because the sum cannot decide by it: {escaped(merged.lost_policy)}"
            f"; set another with `nbtext -m {escaped(path)} policy`"
        )
    elif len(merged.policies) > 1:
        note = _of_policies(merged, path, escaped(models[-1]))
        say_notes(note, quiet=output.quiet)
    if merged.left_out:
        note = (
            f"{counted(merged.left_out, 'held-out document')} of models that score "
            "otherwise than the sum say nothing of its probabilities, as they would in "
            "one model trained on all documents"
        )
        say_notes(note, quiet=output.quiet)
    refused = Naming("refused")
    for name, reason in merged.refused:
        refused.say(f"{name}: {reason}")
    refused.name_rest()
    chunks = merged.contents.pack()
    written = replace_model(path, chunks, replace=replace, wait=wait)
    warnings = warnings_of(merged, has_sources=bool(sources))
    for line in warnings if output.quiet else summary(merged, path, written, warnings):
        to_stderr(line)
    if output.as_json:
        to_stdout([json_of(facts(merged, path, written))])
    return status.DATA if merged.refused else status.outcome(failures)


def _named(
    files: "Iterable[ModelFile]", keyed: str | None, output: Output
) -> "Iterator[ModelFile]":
    """Yield models, keyed if that is asked for; notes of each are written first."""
    for file in files:
        check_keyed(keyed, file)
        name_notes(file, quiet=output.quiet)
        yield file


def _of_policies(merged: "Merged", path: str, last: str) -> str:
    """Say which of different policies the sum has."""
    if merged.contents.policy is not None:
        return (
            f"the models have different policies; that of the last one, {last}, is kept"
        )
    return (
        f"the last model, {last}, has no policy, so the sum has none, and those of "
        f"the others are left out; set one with `nbtext -m {escaped(path)} policy`, or "
        "name the model last whose policy is to be kept"
    )


def _check_output(output: str, models: tuple[str, ...]) -> None:
    """Refuse to put the sum in the place of one of the models: it may be learning."""
    for model in models:
        with suppress(OSError):
            if Path(output).samefile(model):
                message = f"--output {output} is one of the models; name another file"
                raise SettingsError(message)


def summary(
    merged: "Merged", output: str, written: int, warnings: list[str]
) -> list[str]:
    """Say what was merged, and all warnings."""
    table = merged.contents.counts
    classes = ", ".join(
        with_value(name, f"{documents:,}")
        for name, documents in zip(table.classes, table.documents, strict=True)
    )
    lines = [f"merged {counted(sum(table.documents), 'document')}: {classes}"]
    if merged.taken:
        lines.append(f"took away what {counted(merged.taken, 'document')} left twice")
    return [*lines, *warnings, f"wrote {output} ({size(written)})"]


def warnings_of(merged: "Merged", *, has_sources: bool) -> list[str]:
    """Say what is counted more than once, and under which labels."""
    lines = []
    left = merged.doubles - merged.taken
    if left:
        hint = "" if has_sources else "; bring them with --documents to count them once"
        lines.append(
            f"WARNING: {counted(left, 'document')} in more than one model, and counted "
            f"as often{hint}"
        )
    for (label, other), number in sorted(merged.labels.items()):
        lines.append(
            f"WARNING: {counted(number, 'document')} {label} in one model and {other} "
            "in a later one"
        )
    return lines


def facts(merged: "Merged", output: str, written: int) -> dict[str, Any]:
    """Return the same for a program."""
    table = merged.contents.counts
    return {
        "classes": dict(zip(table.classes, table.documents, strict=True)),
        "doubles": merged.doubles,
        "taken": merged.taken,
        "refused": len(merged.refused),
        "left_out": merged.left_out,
        "conflicts": [
            {"labels": list(labels), "documents": number}
            for labels, number in sorted(merged.labels.items())
        ],
        "path": output,
        "size": written,
    }
