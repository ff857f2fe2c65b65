"""`nbtext tune`: which way to score does best on these documents."""

import shlex
import sys
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from nbtext.cli._garbage import hold, settle
from nbtext.cli._options import (
    model_option,
    new_keyed_option,
    output_options,
    replace_option,
    source_options,
    sources_argument,
)
from nbtext.cli._places import default_model
from nbtext.cli._policy_options import false_positives_option
from nbtext.cli._report import as_json as json_of
from nbtext.cli._report import class_name, size
from nbtext.cli._status import outcome
from nbtext.cli._terminal import (
    Output,
    is_watched,
    progress,
    report_handler,
    say_notes,
    show,
    to_stderr,
    to_stdout,
)
from nbtext.cli._words import line_of
from nbtext.document import Skipped
from nbtext.learning.overrides import DEFAULTS
from nbtext.policy import FalsePositives
from nbtext.sources import Options, total_bytes
from nbtext.tuning import MEASURES

if TYPE_CHECKING:
    from rich.text import Text

    from nbtext.cli._narrow import NarrowTable
    from nbtext.tuning import Tuned

LEAST_OPTIONS: Final = 16
"""Columns of the terminal to which options are folded, so that each is whole."""

HEADINGS: Final = ("value", "95 %", "behind", "held out", "", "options")


@click.command()
@sources_argument(is_required=True)
@click.option(
    "--measure",
    type=click.Choice(list(MEASURES)),
    default="log-loss",
    show_default=True,
    help="What is made least; balanced-error is the mean of the classes' error rates.",
)
@false_positives_option
@click.option(
    "--write",
    "is_written",
    is_flag=True,
    help="Train a model with what was chosen, in place of the old one.",
)
@model_option
@new_keyed_option
@replace_option
@source_options
@output_options
def command(
    sources: tuple[str, ...],
    measure: str,
    false_positives: FalsePositives | None,
    is_written: bool,
    model: str,
    keyed: str | None,
    replace: bool,
    options: Options,
    output: Output,
) -> int:
    """
    Find the way to score that does best on labelled documents.

    \b
    nbtext tune spam/ ham/
    nbtext tune --measure balanced-error rows.csv
    nbtext tune --write -m mail.nbt spam/ ham/

    Tries every score, its smoothing, how repeated tokens count, its parameters, each
    view left out, how categories and numbers are smoothed, a correction, and the other
    --alphabet, each on documents that it has not counted. Prints all that was tried,
    and chooses the simplest of those within one standard error of the best. Prints the
    lines to type, or writes the model; one that keeps to --max-false-positives, if that
    is given.
    """  # noqa: D301  click wants a real backspace
    hold()
    from nbtext.api.advising import tune
    from nbtext.api.training import train
    from nbtext.upkeep import set_policy

    settle(is_seldom=True)
    if is_written and "-" in [source.rpartition("=")[2] for source in sources]:
        message = (
            "--write reads the sources once more, and standard input can be read once; "
            "name a file."
        )
        raise click.UsageError(message)
    if is_written:
        _check_place(model, keyed, replace=replace)
    skipped = Skipped()
    on_read = report_handler(skipped, quiet=output.quiet)
    total = partial(total_bytes, sources)
    with progress(quiet=output.quiet, total=total) as shown:
        tuned = tune(
            sources,
            measure=measure,
            max_false_positives=false_positives,
            options=options,
            progress=shown,
            on_read=on_read,
            on_trial=None if shown is None else shown.trial,
        )
    lines = {}
    where = [] if model == default_model() else ["-m", model]
    if tuned.threshold is not None:
        lines["policy"] = line_of(["policy", *where, *tuned.threshold.options])
    secret = [] if keyed is None else ["--keyed", keyed]
    how = [*where, *secret, *tuned.options, *_of_sources(options)]
    lines["train"] = line_of(["train", *how], sources)
    if output.as_json:
        to_stdout([json_of(tuned.as_dict() | lines)])
    elif is_watched(sys.stdout):
        show(_tables(tuned, lines))
    else:
        to_stdout(_lines(tuned, lines))
    if is_written:
        trained = train(
            sources,
            model,
            options=options,
            overrides=tuned.overrides,
            replace=replace,
            keyed=keyed,
        )
        if false_positives is not None and tuned.threshold is not None:
            set_policy(model, tuned.threshold.policy)
        say_notes(*trained.notes, quiet=output.quiet)
        if not output.quiet:
            to_stderr(f"wrote {model} ({size(Path(model).stat().st_size)})")
    return outcome(skipped)


def _check_place(model: str, keyed: str | None, *, replace: bool) -> None:
    """Refuse before hours of trials what `train` would refuse after them."""
    from nbtext.keyring import make_secret
    from nbtext.learning.preparing import check_stays_keyed
    from nbtext.store import check_replaceable

    check_replaceable(model, replace=replace)
    if keyed is not None:
        make_secret(keyed)
    elif not replace:
        check_stays_keyed(model, DEFAULTS)


def _of_sources(options: Options) -> Iterator[str]:
    """Yield the options that sources are read by, where they are not the default."""
    default = Options()
    for name in ("format", "delimiter", "label_column", "id_column", "max_bytes"):
        value = getattr(options, name)
        if value != getattr(default, name):
            yield f"--{name.replace('_', '-')}"
            yield str(value)
    for kind in ("text", "categorical", "numeric"):
        for column in getattr(options, f"{kind}_columns"):
            yield from (f"--{kind}-column", column)


def _rows(tuned: "Tuned") -> Iterator[tuple[str, ...]]:
    for row in tuned.rows:
        mark = "chosen" if row.is_chosen else "best" if row.is_best else "-"
        yield (
            f"{row.value:.4f}",
            f"{row.low:.4f} to {row.high:.4f}",
            f"{row.behind:.2f}",
            row.how,
            mark,
            shlex.join(row.options) or "(the default)",
        )


def _lines(tuned: "Tuned", lines: Mapping[str, str]) -> Iterator[str]:
    """Render what was tried as TSV, and last the lines to type."""
    yield "\t".join((tuned.measure, *HEADINGS[1:4], "mark", HEADINGS[5]))
    yield from map("\t".join, _rows(tuned))
    yield ""
    threshold = _threshold(tuned)
    if threshold:
        yield f"threshold\t{threshold}"
    yield from map("\t".join, lines.items())


def _threshold(tuned: "Tuned") -> str:
    found = tuned.threshold
    if found is None:
        return ""
    return (
        f"{class_name(found.positive)} from {found.probability:.4f} on: "
        f"{100 * found.caught:.1f} % of it, {100 * found.lost:.2f} % of the rest"
    )


def _tables(tuned: "Tuned", lines: Mapping[str, str]) -> Iterator["NarrowTable | Text"]:
    from rich.text import Text

    from nbtext.cli._narrow import Column, NarrowTable

    _, *fixed, last = HEADINGS
    table = NarrowTable(
        Column(Text(tuned.measure)),
        *(
            Column(Text(heading), rank)
            for heading, rank in zip(fixed, (3, 2, 1, 0), strict=True)
        ),
        Column(Text(last), least=LEAST_OPTIONS),
    )
    for row in _rows(tuned):
        table.add_row(*row, style="bold" if row[4] == "chosen" else "")
    yield table
    yield Text()
    threshold = _threshold(tuned)
    if threshold:
        yield Text(f"threshold: {threshold}")
    yield from (Text(line, "bold") for line in lines.values())
