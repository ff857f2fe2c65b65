"""`nbtext train`: make a model of labelled documents."""

import time
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from nbtext.cli._options import (
    executor_of,
    jobs_option,
    json_option,
    model_option,
    quiet_option,
    reading_options,
    replace_option,
    rereadable,
    scoring_options,
    source_options,
    training_options,
    wait_option,
    wishes,
)
from nbtext.cli._report import as_json as json_of
from nbtext.cli._report import counted, size
from nbtext.cli._status import outcome
from nbtext.cli._terminal import complain, progress, to_stderr, to_stdout

if TYPE_CHECKING:
    from nbtext.learning.training import Trained


@click.command(epilog="Labels: a folder's name is its class; LABEL=PATH names another.")
@click.argument("sources", nargs=-1, required=True)
@model_option
@source_options
@training_options
@scoring_options
@click.option("--no-ledger", is_flag=True, help="Do not remember which documents.")
@replace_option
@wait_option
@jobs_option
@json_option
@quiet_option
def command(
    sources: tuple[str, ...],
    model: str,
    format_: str,
    label_column: str | None,
    text_columns: tuple[str, ...],
    id_column: str | None,
    max_bytes: int,
    ngrams: int | None,
    alphabet: str | None,
    score: str | None,
    smoothing: float | None,
    count_: str | None,
    no_ledger: bool,
    replace: bool,
    wait: float,
    jobs: int,
    as_json: bool,
    quiet: bool,
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
    that was taught since it was trained is replaced with --replace only.
    """  # noqa: D301  click wants a real backspace
    from nbtext.learning.training import train
    from nbtext.scoring.batch_opening import keep_memory
    from nbtext.sources import labels
    from nbtext.store.replacing import check_replaceable, replace_model

    check_replaceable(model, replace=replace)
    keep_memory()
    options = reading_options(format_, label_column, text_columns, id_column, max_bytes)
    known = labels(sources, options)
    n_classes = None if known is None else len(known)
    started = time.monotonic()
    with executor_of(jobs) as executor, progress(quiet=quiet) as advance:
        trained = train(
            rereadable(sources, options),
            n_classes=n_classes,
            adjust=wishes(format_, ngrams, alphabet, score, ledger=not no_ledger),
            scoring=lambda default: default.changed(score, smoothing, count_),
            max_bytes=max_bytes,
            executor=executor,
            jobs=jobs,
            progress=advance,
            complain=partial(complain, quiet=quiet, is_last=False),
        )
    written = replace_model(model, trained.pack(), replace=replace, wait=wait)
    seconds = time.monotonic() - started
    if not quiet:
        for line in summary(trained, model, written, seconds):
            to_stderr(line)
    if as_json:
        to_stdout([json_of(facts(trained, model, written, seconds))])
    return outcome(trained.account.skipped)


def summary(trained: "Trained", model: str, written: int, seconds: float) -> list[str]:
    """Say what was read and what was made of it."""
    account, table = trained.account, trained.table
    classes = ", ".join(
        f"{name} {documents:,}"
        for name, documents in zip(table.classes, table.documents, strict=True)
    )
    lines = [
        f"read {counted(account.documents, 'document')} of {table.settings.format} "
        f"({size(account.bytes)}) in {seconds:.1f} s: {classes}",
        f"{counted(trained.tokens, 'token')}, {counted(trained.n_terms, 'term')}, "
        f"{len(account.skipped):,} skipped, {counted(trained.repeats, 'repeat')}",
    ]
    if trained.conflicts:
        lines.append(
            f"WARNING: {counted(trained.conflicts, 'document')} stood under two labels "
            "or more; each label has counted it"
        )
    lines.append(f"wrote {model} ({size(written)})")
    return lines


def facts(
    trained: "Trained", model: str, written: int, seconds: float
) -> dict[str, Any]:
    """Return the same for a program."""
    account, table = trained.account, trained.table
    return {
        "documents": account.documents,
        "classes": dict(zip(table.classes, table.documents, strict=True)),
        "format": table.settings.format,
        "tokens": trained.tokens,
        "terms": trained.n_terms,
        "bytes": account.bytes,
        "seconds": round(seconds, 3),
        "skipped": len(account.skipped),
        "truncated": len(account.truncated),
        "repeats": trained.repeats,
        "conflicts": trained.conflicts,
        "path": model,
        "size": written,
    }
