"""`nbtext train`: make a model of labelled documents."""

import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nbtext.cli._options import (
    jobs_option,
    memory_option,
    model_option,
    new_keyed_option,
    output_options,
    replace_option,
    source_options,
    sources_argument,
    training_options,
    wait_option,
)
from nbtext.cli._replay_options import regime_options
from nbtext.cli._report import as_json as json_of
from nbtext.cli._report import counted, size
from nbtext.cli._status import outcome
from nbtext.cli._terminal import Output, name_problems, progress, to_stderr, to_stdout
from nbtext.learning import SettingsOverrides
from nbtext.learning.regimes import Regime
from nbtext.sources import Options, total_bytes

if TYPE_CHECKING:
    from nbtext.learning import Trained


@click.command(epilog="Labels: a folder's name is its class; LABEL=PATH names another.")
@sources_argument(is_required=True)
@model_option
@source_options
@training_options
@click.option("--no-ledger", is_flag=True, help="Do not remember which documents.")
@new_keyed_option
@replace_option
@regime_options
@wait_option
@jobs_option
@memory_option
@output_options
def command(
    sources: tuple[str, ...],
    model: str,
    options: Options,
    overrides: SettingsOverrides,
    no_ledger: bool,
    keyed: str | None,
    replace: bool,
    regime: Regime,
    wait: float,
    jobs: int,
    memory: int | None,
    output: Output,
) -> int:
    """
    Make a model of labelled documents, in place of the old one.

    \b
    nbtext train spam/ ham/
    nbtext train spam=junk.mbox ham=Maildir/.Archive ham=sent.mbox.gz
    nbtext train --label-column topic --text-column title news.csv

    Sources are files, folders (searched, a file a document), Maildir, mbox, MH, JSON
    lines, CSV and TSV, each also .gz, .bz2 or .xz, and - for standard input. Two
    classes or more. The old model stays as it is until the new one is complete; one
    that was taught since it was trained is replaced with --replace only. Its policy
    stays. A regime takes the documents in the order of their digests.
    """  # noqa: D301  click wants a real backspace
    from nbtext.api import train

    started = time.monotonic()
    with progress(quiet=output.quiet, total=partial(total_bytes, sources)) as advance:
        trained = train(
            sources,
            model,
            options=options,
            overrides=overrides._replace(ledger=not no_ledger),
            replace=replace,
            keyed=keyed,
            wait=wait,
            jobs=jobs,
            memory=memory,
            progress=advance,
            on_read=partial(name_problems, quiet=output.quiet, is_last=False),
            regime=regime,
        )
    written = Path(model).stat().st_size
    seconds = time.monotonic() - started
    if not output.quiet:
        in_vain = overrides.in_vain(trained.contents.scoring)
        if in_vain:
            to_stderr(f"note: {in_vain}")
        for note in trained.notes:
            to_stderr(f"note: {note}")
        for line in summary(trained, model, written, seconds):
            to_stderr(line)
    if output.as_json:
        to_stdout([json_of(facts(trained, model, written, seconds))])
    return outcome(trained.report.skipped)


def summary(trained: "Trained", model: str, written: int, seconds: float) -> list[str]:
    """Say what was read and what was made of it."""
    report, contents = trained.report, trained.contents
    table = contents.counts
    classes = ", ".join(
        f"{name} {documents:,}"
        for name, documents in zip(table.classes, table.documents, strict=True)
    )
    lines = [
        f"read {counted(report.documents, 'document')} of {table.settings.format} "
        f"({size(report.bytes)}) in {seconds:.1f} s: {classes}",
        f"{counted(contents.n_tokens, 'token')}, {counted(contents.n_terms, 'term')}, "
        f"{report.skipped.documents:,} skipped, {copies(trained.repeats)}",
    ]
    if trained.left_out:
        n_learnt = counted(sum(table.documents), "document")
        lines.append(
            f"learnt {n_learnt}, left out {trained.left_out:,} that the model judges "
            "rightly without them"
        )
    if trained.conflicts:
        lines.append(
            f"WARNING: {counted(trained.conflicts, 'document')} stood under two labels "
            "or more; each label has counted it"
        )
    if len(trained.losses) > 1:
        score = contents.scoring.score
        losses = ", ".join(f"{n:.3f} by {name}" for name, n in trained.losses.items())
        lines.append(f"scored by {score}: held-out loss {losses} (nats a document)")
    lines.append(f"wrote {model} ({size(written)})")
    return lines


def copies(number: int) -> str:
    """Say how many documents are the same as one before them."""
    if number == 1:
        return "1 copy of another document"
    return f"{number:,} copies of other documents"


def facts(
    trained: "Trained", model: str, written: int, seconds: float
) -> dict[str, Any]:
    """Return the same for a program."""
    report, contents = trained.report, trained.contents
    table = contents.counts
    return {
        "documents": report.documents,
        "classes": dict(zip(table.classes, table.documents, strict=True)),
        "format": table.settings.format,
        "tokens": contents.n_tokens,
        "terms": contents.n_terms,
        "bytes": report.bytes,
        "seconds": round(seconds, 3),
        "skipped": report.skipped.documents,
        "truncated": len(report.truncated),
        "repeats": trained.repeats,
        "left_out": trained.left_out,
        "conflicts": trained.conflicts,
        "held_out_losses": {name: round(n, 6) for name, n in trained.losses.items()},
        "path": model,
        "size": written,
    }
