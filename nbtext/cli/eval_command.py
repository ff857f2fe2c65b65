"""`nbtext eval`: measure a model, or what these documents would make of one."""

import sys
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import click

from nbtext.arguments import MOST_FOLDS
from nbtext.cli import _completion as completion
from nbtext.cli._options import (
    AGAINST_HELP,
    check_cluster,
    cluster_option,
    jobs_option,
    keyed_option,
    models_option,
    output_options,
    shared_option,
    source_options,
    sources_argument,
    within_memory,
)
from nbtext.cli._policy_options import policy_options
from nbtext.cli._replay_options import ReplayOptions, check_replay, replay_options
from nbtext.cli._replayed import replay_text
from nbtext.cli._report import as_json as json_of
from nbtext.cli._report import class_name, evaluation_lines, evaluation_text, readable
from nbtext.cli._report_files import check_kinds, check_places, write_reports
from nbtext.cli._scoring_options import training_options
from nbtext.cli._status import outcome
from nbtext.cli._terminal import (
    Output,
    is_watched,
    name_losses,
    name_notes,
    name_problems,
    progress,
    show,
    to_stderr,
    to_stdout,
)
from nbtext.cli._values import not_empty
from nbtext.document import Skipped
from nbtext.learning import SettingsOverrides
from nbtext.policy import PolicyOverrides
from nbtext.sources import Options, total_bytes

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from nbtext.counts import ReadReport
    from nbtext.evaluation import Evaluation
    from nbtext.scoring import Classifier
    from nbtext.scoring.top import TopTerm

TERMS: Final = 10
"""How many terms that speak for a class are in a report."""

MOST_CLASSES: Final = 30
"""Of more classes a report has no such terms."""

REASONS: Final = 3
"""How many terms are told of a misjudged document."""

NO_LEDGER: Final = (
    "the model keeps no ledger; documents that it has counted, if there are any among "
    "these, are not recognised"
)


@click.command()
@sources_argument(is_required=True)
@click.option(
    "--folds",
    type=click.IntRange(2, MOST_FOLDS),
    metavar="N",
    help="Cross-validate: N models, each scoring what it has not seen. No model file "
    "is read.",
)
@click.option(
    "--positive",
    metavar="CLASS",
    shell_complete=completion.classes,
    help="Of two classes the one that is looked for [default: spam, else the rarer].",
)
@click.option(
    "--seen",
    "is_seen",
    is_flag=True,
    help="Score documents that the model has counted as they are. Without it each is "
    "scored as if it had not been counted, or left out.",
)
@click.option(
    "--against",
    metavar="FILE",
    callback=not_empty,
    shell_complete=completion.models,
    help=AGAINST_HELP,
)
@click.option(
    "--errors",
    "is_errors",
    is_flag=True,
    help="List each misjudged document, the surest errors first, with the three terms "
    "that say most.",
)
@click.option(
    "--report",
    "reports",
    multiple=True,
    metavar="FILE",
    callback=check_kinds,
    shell_complete=completion.files,
    help="Write a report: a page with pictures (FILE.html), or its figures (FILE.md, "
    "FILE.csv). May be repeated.",
)
@replay_options
@policy_options
@models_option
@keyed_option
@source_options
@training_options
@jobs_option
@cluster_option
@shared_option
@within_memory
@output_options
@click.pass_context
def command(
    context: click.Context,
    sources: tuple[str, ...],
    folds: int | None,
    positive: str | None,
    is_seen: bool,
    against: str | None,
    is_errors: bool,
    reports: tuple[str, ...],
    replay: ReplayOptions,
    policy: PolicyOverrides,
    model: tuple[str, ...],
    options: Options,
    overrides: SettingsOverrides,
    jobs: int,
    cluster: str | None,
    shared: str | None,
    output: Output,
) -> int:
    """
    Measure how good a model is on labelled documents.

    \b
    nbtext eval spam/ ham/                the model, on documents it has not seen
    nbtext eval --folds 10 spam/ ham/     ten models, each on a tenth: no model needed
    nbtext eval --errors spam/ ham/       and which documents were misjudged, and why
    nbtext eval --against old.nbt spam/ ham/    which of two models is better
    nbtext eval --replay spam/ ham/       one after the other, each classified first
    nbtext eval --json --folds 10 mail/ | jq .two_class.lam_percent

    Prints accuracy, precision, recall, F1, log-loss, Brier score, calibration error
    and, for two classes, the measures of the TREC spam track, each with the interval
    that it has in 95 % of bootstrap samples. docs/measures.md defines each of them.
    """  # noqa: D301  click wants a real backspace
    from nbtext.api.classifying import combine, load
    from nbtext.api.evaluating import evaluate, evaluate_folds, evaluate_replay

    source = context.get_parameter_source("model")
    is_model_named = source is click.core.ParameterSource.COMMANDLINE
    is_new = folds is not None or (replay.is_asked_for and not is_model_named)
    if not is_new and overrides.are_for_training:
        options_given = ", ".join(f"--{name}" for name in overrides.are_for_training)
        message = (
            f"A trained model keeps what it counts; {options_given} can be given with "
            "--folds, or to `train`, or with --replay if no model is named."
        )
        raise click.UsageError(message)
    for name, is_given in (
        ("seen", is_seen),
        ("against", against is not None),
    ):
        if is_given and folds is not None:
            message = f"--{name} is about a model; with --folds none is read."
            raise click.UsageError(message)
    on_machine = {"--folds": folds is not None, "--jobs": jobs > 1}
    on_machine["--replay"] = replay.is_asked_for
    check_cluster(cluster, shared, on_machine)
    if replay.is_asked_for:
        given = {
            "folds": folds is not None,
            "seen": is_seen,
            "against": against is not None,
            "errors": is_errors,
            "prior estimate": policy.is_estimated,
            "jobs": jobs > 1,
        }
        check_replay(given, model)
    if is_errors and len(model) > 1:
        message = "--errors tells the reasons of one model, and there are several."
        raise click.UsageError(message)
    if positive is not None:
        positive = readable(positive)  # as sources read labels
    check_places(reports)
    skipped = Skipped()

    def on_read(report: "ReadReport") -> None:
        skipped.extend(report.skipped)
        name_problems(report, quiet=output.quiet, is_last=False)

    n_reasons = REASONS if is_errors or reports else 0
    terms: list[TopTerm] = []

    def on_whole(whole: "Classifier") -> None:
        terms.extend(_top(whole, sources, options))

    is_read_first = folds is not None or replay.is_asked_for
    total = partial(total_bytes, sources) if is_read_first else nothing
    with progress(quiet=output.quiet, total=total) as shown:
        if replay.is_asked_for:
            begun = load(model[0], overrides=overrides) if is_model_named else None
            own = None if begun is None else begun.model.policy
            result = evaluate_replay(
                sources,
                model=begun,
                order=replay.order,
                feedback=str(replay.feedback),
                regime=replay.regime,
                options=options,
                overrides=overrides,
                policy=policy.policy(None) if begun is None else policy.chosen(own),
                positive=positive,
                progress=shown,
                on_read=on_read,
                on_step=None if shown is None else shown.step,
            )
        elif folds is None:
            opened = [load(path, overrides=overrides) for path in model]
            if not output.quiet:
                for one in opened:
                    _name_notes(one, is_seen=is_seen)
            own = policy.chosen(opened[0].model.policy)
            for one in opened:
                chosen = one.model.policy if own is None else own
                # of several models, each has its own class prior
                in_vain = overrides.in_vain(
                    one.model.scoring,
                    chosen if len(opened) == 1 else None,
                    len(one.classes),
                )
                _name_in_vain(in_vain, output)
            decider = (
                opened[0].deciding_by(own)
                if len(opened) == 1
                else combine(opened, policy=own)
            )
            with _connected(cluster) as client:
                result = evaluate(
                    decider,
                    sources,
                    options=options,
                    estimate_prior=policy.is_estimated,
                    positive=positive,
                    seen=is_seen,
                    against=None
                    if against is None
                    else _other(against, policy, output.quiet),
                    reasons=n_reasons,
                    progress=shown,
                    on_read=on_read,
                    jobs=jobs,
                    client=client,
                    shared=shared,
                )
            if reports and len(opened) == 1:
                on_whole(opened[0])
        else:
            result = evaluate_folds(
                sources,
                folds,
                options=options,
                overrides=overrides,
                policy=policy.policy(None),
                estimate_prior=policy.is_estimated,
                positive=positive,
                progress=shown,
                on_read=on_read,
                jobs=jobs,
                on_fold=None if shown is None else shown.fold,
                reasons=n_reasons,
                on_whole=on_whole if reports else None,
                on_scoring=lambda scoring: _name_in_vain(
                    overrides.in_vain(scoring), output
                ),
            )
    if positive is None and not output.quiet:
        _say_positive(result)
    failure = write_reports(result, reports, terms)
    if not is_errors:
        result = replace(result, errors=None)
    _print(result, output, against)
    if failure is not None:
        raise failure
    return outcome(skipped)


def _connected(cluster: str | None) -> "AbstractContextManager[Any]":
    """Connect to the scheduler of a cluster, if one has a part in this."""
    if cluster is None:
        return nullcontext()
    from nbtext.distributed import connected

    return connected(cluster)


def _name_in_vain(in_vain: str, output: Output) -> None:
    """Say which option changes nothing, if one does."""
    if in_vain and not output.quiet:
        to_stderr(f"note: {in_vain}")


def _name_notes(model: "Classifier", *, is_seen: bool) -> None:
    """Say what should be known of a model."""
    name_notes(model.model)
    if not (is_seen or model.model.settings.ledger):
        to_stderr(f"note: {NO_LEDGER}")


def _other(path: str, policy: PolicyOverrides, quiet: bool) -> "Classifier":
    """Open the model that another one is held against."""
    from nbtext.api.classifying import load

    opened = load(path)
    if not quiet:
        name_losses(opened.model)
    return opened.deciding_by(policy.chosen(opened.model.policy))


def _top(
    model: "Classifier", sources: tuple[str, ...], options: Options
) -> "list[TopTerm]":
    """Return the terms that most speak for each class, as they are in the sources."""
    from nbtext.api.classifying import read_documents

    if len(model.model.classes) > MOST_CLASSES:
        return []
    is_piped = "-" in [source.rpartition("=")[2] for source in sources]
    paths = [] if is_piped else sources  # which can be read once only
    found = (
        document
        for path in paths
        for document in read_documents(
            [path], options=options, model=model, on_problem=_ignore
        )
    )
    return model.top(None, TERMS, found, _ignore)


def _ignore(_: object) -> None:
    """Say nothing of what cannot be read: that was said when it was judged."""


def nothing() -> None:
    """Return None: how many bytes a model is evaluated on is not told."""


def _say_positive(result: "Evaluation") -> None:
    """Say which class is taken for the positive one, where nothing tells."""
    two = result.two_class
    if two is not None and two.positive != "spam":
        are_equal = two.positives == two.negatives
        why = "the second of two as rare" if are_equal else "the rarer one"
        to_stderr(
            f"note: {class_name(two.positive)} is taken for the positive class, as "
            f"{why}; --positive names another"
        )


def _print(result: "Evaluation", output: Output, against: str | None) -> None:
    if output.as_json:
        values = result.as_dict()
        if result.errors is not None:
            from nbtext.cli._explained import errors_json

            values["errors"] = errors_json(result.errors)
        to_stdout([json_of(values)])
    elif is_watched(sys.stdout):
        from nbtext.cli._explained_tables import error_tables
        from nbtext.cli._tables import evaluation_tables

        show(error_tables(result.errors or ()))
        show(evaluation_tables(result, evaluation_lines(result), against))
    else:
        to_stdout(evaluation_text(result, against))
        to_stdout(replay_text(result))
        if result.errors is not None:
            from nbtext.cli._explained import error_lines

            to_stdout(["", *error_lines(result.errors)])
