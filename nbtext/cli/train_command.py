"""`nbtext train`: make a model of labelled documents."""

import os
import time
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from nbtext.classes import note_on_alike, with_value
from nbtext.cli._garbage import hold, settle
from nbtext.cli._options import (
    check_cluster,
    cluster_option,
    jobs_option,
    memory_option,
    model_option,
    new_keyed_option,
    output_options,
    replace_option,
    shared_option,
    source_options,
    sources_argument,
    wait_option,
)
from nbtext.cli._regime_options import regime_options
from nbtext.cli._report import as_json as json_of
from nbtext.cli._report import counted, size
from nbtext.cli._room import load_numpy
from nbtext.cli._scoring_options import training_options
from nbtext.cli._status import outcome
from nbtext.cli._terminal import (
    Output,
    name_problems,
    progress,
    say_notes,
    then_busy,
    to_stderr,
    to_stdout,
)
from nbtext.errors import MOST_LISTED, clipped
from nbtext.learning import SettingsOverrides
from nbtext.learning.regimes import Regime
from nbtext.sources import Options, total_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nbtext.learning.summary import TrainingSummary


@click.command(epilog="Labels: a folder's name is its class; LABEL=PATH names another.")
@sources_argument(is_required=True)
@model_option
@source_options
@training_options
@click.option("--no-ledger", is_flag=True, help="Do not remember which documents.")
@click.option(
    "--no-texts",
    is_flag=True,
    help="Keep no texts of terms, so that the model does not tell what it was trained "
    "on; `top` needs documents then.",
)
@new_keyed_option
@replace_option
@regime_options
@wait_option
@jobs_option
@memory_option
@cluster_option
@shared_option
@output_options
def command(
    sources: tuple[str, ...],
    model: str,
    options: Options,
    overrides: SettingsOverrides,
    no_ledger: bool,
    no_texts: bool,
    keyed: str | None,
    replace: bool,
    regime: Regime,
    wait: float,
    jobs: int,
    memory: int | None,
    cluster: str | None,
    shared: str | None,
    output: Output,
) -> int:
    """
    Make a model of labelled documents, in place of the old one.

    \b
    nbtext train spam/ ham/
    nbtext train spam=junk.mbox ham=Maildir/.Archive ham=sent.mbox.gz
    nbtext train --label-column topic --text-column title news.csv

    Sources are files, folders (searched, a file a document), Maildir, mbox, MH, JSON
    lines or arrays, CSV and TSV, each also .gz, .bz2 or .xz, and - for standard input.
    Two classes or more. The old model stays as it is until the new one is complete; one
    that was taught since it was trained is replaced with --replace only. Its policy
    stays. A regime takes the documents in the order of their digests.
    """  # noqa: D301  click wants a real backspace
    given = {
        "--jobs": jobs > 1,
        "--memory": memory is not None,
        "--keyed": keyed is not None,
        "--regime": regime.is_choosy,
    }
    check_cluster(cluster, shared, given)
    tell = partial(name_problems, quiet=output.quiet, is_last=False)
    started = time.monotonic()
    with progress(quiet=output.quiet, total=partial(total_bytes, sources)) as advance:
        train = partial(
            _train,
            sources,
            options=options,
            overrides=overrides._replace(ledger=not no_ledger, texts=not no_texts),
            replace=replace,
            wait=wait,
            progress=advance,
            on_read=then_busy(tell, advance, "making the model of"),
        )
        made = (
            train(model, keyed=keyed, jobs=jobs, memory=memory, regime=regime)
            if cluster is None
            else train(model, cluster=cluster, shared=shared)
        )
    written = os.stat(model).st_size  # noqa: PTH116  a path object takes 5 ms to import
    seconds = time.monotonic() - started
    in_vain = overrides.in_vain(made.scoring)
    say_notes(in_vain, *made.notes, quiet=output.quiet)
    lines = summary(made, model, written, seconds)
    for line in warnings_of(made) if output.quiet else lines:
        to_stderr(line)
    if output.as_json:
        to_stdout([json_of(facts(made, model, written, seconds))])
    return outcome(made.report.skipped)


def _train(
    sources: tuple[str, ...], model: str, *, cluster: str | None = None, **how: Any
) -> "TrainingSummary":
    """Train on this machine, or on a cluster."""
    if cluster is None:
        hold()
        load_numpy()
        from nbtext.api.training import train

        settle(is_seldom=True)
        return train(sources, model, **how).summary()
    from nbtext.distributed import connected
    from nbtext.distributed import train as train_on_cluster

    with connected(cluster) as client:
        return train_on_cluster(sources, client, model, **how)


def summary(
    made: "TrainingSummary", model: str, written: int, seconds: float
) -> list[str]:
    """Say what was read and what was made of it."""
    report = made.report
    lines = [
        f"read {counted(report.documents, 'document')} of {made.format} "
        f"({size(report.bytes)}) in {seconds:.1f} s: {_sizes(made.classes)}",
        f"{counted(made.n_tokens, 'token')}, {counted(made.n_terms, 'term')}, "
        f"{report.skipped.documents:,} skipped, {copies(made.repeats)}",
    ]
    if made.left_out:
        n_learnt = counted(sum(made.classes.values()), "document")
        lines.append(
            f"learnt {n_learnt}, left out {made.left_out:,} that the model judges "
            "rightly without them"
        )
    lines += warnings_of(made)
    if len(made.losses) > 1:
        losses = ", ".join(f"{n:.3f} by {name}" for name, n in made.losses.items())
        lines.append(
            f"scored by {made.scoring.score}: held-out loss {losses} (nats a document)"
        )
    lines.append(f"wrote {model} ({size(written)})")
    return lines


def warnings_of(made: "TrainingSummary") -> list[str]:
    """Say what is probably wrong with the documents."""
    lines = []
    if made.report.empty:
        lines.append(
            f"WARNING: {counted(made.report.empty, 'document')} without a byte, of "
            "which nothing is learnt but how often a class occurs"
        )
    if made.conflicts:
        lines.append(
            f"WARNING: {counted(made.conflicts, 'document')} stood under two labels "
            "or more; each label has counted it"
        )
    if found := note_on_alike(made.classes):
        lines.append(f"WARNING: {found}")
    return lines


def _sizes(classes: "Mapping[str, int]") -> str:
    """List how many documents the classes have; of many classes the largest ones."""
    largest = sorted(classes, key=lambda name: -classes[name])[:MOST_LISTED]
    listed = ", ".join(
        with_value(clipped(name), f"{n:,}")
        for name, n in classes.items()
        if name in largest
    )
    n_more = len(classes) - len(largest)
    return f"{listed} and {n_more:,} more" if n_more else listed


def copies(number: int) -> str:
    """Say how many documents are the same as one before them."""
    if number == 1:
        return "1 copy of another document"
    return f"{number:,} copies of other documents"


def facts(
    made: "TrainingSummary", model: str, written: int, seconds: float
) -> dict[str, Any]:
    """Return the same for a program."""
    report = made.report
    return {
        "documents": report.documents,
        "classes": made.classes,
        "format": made.format,
        "tokens": made.n_tokens,
        "terms": made.n_terms,
        "bytes": report.bytes,
        "seconds": round(seconds, 3),
        "skipped": report.skipped.documents,
        "empty": report.empty,
        "truncated": len(report.truncated),
        "repeats": made.repeats,
        "left_out": made.left_out,
        "conflicts": made.conflicts,
        "held_out_losses": {name: round(n, 6) for name, n in made.losses.items()},
        "path": model,
        "size": written,
    }
