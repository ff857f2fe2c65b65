"""`nbtext prune`: drop the terms that hardly any document has."""

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import click

from nbtext.cli import _status as status
from nbtext.cli._keyed import check_keyed
from nbtext.cli._options import (
    dry_run_option,
    keyed_option,
    named_model,
    output_options,
    source_options,
    wait_option,
    within_memory,
)
from nbtext.cli._report import as_json as json_of
from nbtext.cli._report import counted, size
from nbtext.cli._room import load_numpy
from nbtext.cli._terminal import (
    Output,
    name_notes,
    name_rest,
    problem_handler,
    to_stderr,
    to_stdout,
)
from nbtext.document import Skipped
from nbtext.sources import Options

if TYPE_CHECKING:
    from nbtext.upkeep import Pruned


@click.command(epilog="docs/experiments/003-pruning.md says what it costs.")
@named_model
@click.option(
    "--min-documents",
    type=click.IntRange(2, 1_000_000),
    default=2,
    show_default=True,
    metavar="N",
    help="Keep the terms that occur in N documents or more.",
)
@click.option(
    "--counted",
    "sources",
    multiple=True,
    metavar="SOURCE",
    help="Documents that the model has counted: its probabilities are fitted anew to "
    "what they score with the terms that are left. May be repeated.",
)
@keyed_option
@source_options
@dry_run_option
@wait_option
@within_memory
@output_options
def command(
    model: str,
    min_documents: int,
    sources: tuple[str, ...],
    keyed: str | None,
    options: Options,
    dry_run: bool,
    wait: float,
    output: Output,
) -> int:
    """
    Drop the terms that hardly any document has.

    \b
    nbtext prune --dry-run
    nbtext prune --min-documents 2 --counted spam/ --counted ham/

    The model becomes smaller, and a little worse: what occurs once says something, too.
    Documents that were counted before can then be forgotten with --approximate only.
    Its probabilities stay fitted to what documents scored with all terms, unless they
    are given with --counted.
    """  # noqa: D301  click wants a real backspace
    load_numpy()
    from nbtext.sources import documents
    from nbtext.store import open_model, read_contents
    from nbtext.store.file import open_locked
    from nbtext.store.lock import locked
    from nbtext.store.writing import replace_file
    from nbtext.upkeep import prune
    from nbtext.upkeep.recalibrating import recalibrated

    failures = Skipped()
    with nullcontext() if dry_run else locked(model, wait=wait):
        file = open_model(model) if dry_run else open_locked(model)
        check_keyed(keyed, file)
        pruned, n_scored = prune(read_contents(file), min_documents), 0
        if sources:
            classes = pruned.contents.counts.classes
            options = options.for_model(file.settings.fields, classes)
            pruned, n_scored = recalibrated(
                pruned,
                file,
                documents(sources, options, labelled=False),
                min_documents=min_documents,
                max_bytes=options.max_bytes,
                on_problem=problem_handler(failures, quiet=output.quiet),
            )
        chunks = pruned.contents.pack()
        is_change = pruned.terms[0] != pruned.terms[1]
        if is_change and not dry_run:
            replace_file(model, chunks)
    name_notes(file, quiet=output.quiet)
    sizes = file.size, sum(memoryview(chunk).nbytes for chunk in chunks)
    facts = facts_of(pruned, sizes, model, is_done=is_change and not dry_run)
    facts["scored"] = n_scored
    if output.as_json:
        to_stdout([json_of(facts)])
    if not output.quiet:
        to_stderr(summary(facts))
        if facts["done"]:
            to_stderr(
                "note: what was counted before is forgotten or corrected with "
                "--approximate only"
            )
    if sources and not n_scored:
        to_stderr("WARNING: the model has counted none of these documents")
    name_rest(failures)
    return status.outcome(failures)


def facts_of(
    pruned: "Pruned", sizes: tuple[int, int], model: str, *, is_done: bool
) -> dict[str, Any]:
    """Return what was done, or would be, for a program."""
    return {
        "done": is_done,
        "terms": {"before": pruned.terms[0], "after": pruned.terms[1]},
        "tokens": {"before": pruned.tokens[0], "after": pruned.tokens[1]},
        "bytes": {"before": sizes[0], "after": sizes[1]},
        "path": model,
    }


def summary(facts: dict[str, Any]) -> str:
    """Say the same in a sentence."""
    terms, tokens, n_bytes = facts["terms"], facts["tokens"], facts["bytes"]
    if terms["before"] == terms["after"]:
        return f"all {terms['before']:,} terms are in enough documents: nothing to do"
    share = 100 * tokens["after"] / max(tokens["before"], 1)
    return (
        f"{'left' if facts['done'] else 'would leave'} {terms['after']:,} of "
        f"{terms['before']:,} terms, with {share:.1f} % of the tokens, in "
        f"{size(n_bytes['after'])} of {size(n_bytes['before'])}; {calibration(facts)}"
    )


def calibration(facts: dict[str, Any]) -> str:
    """Say what the probabilities of a pruned model rest on."""
    if facts["scored"]:
        return (
            f"probabilities fitted anew to {counted(facts['scored'], 'document')} with "
            "the terms that are left"
        )
    return (
        "probabilities still fitted to what documents scored with all terms (give them "
        "with --counted to fit anew)"
    )
