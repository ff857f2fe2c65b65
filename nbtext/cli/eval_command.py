"""`nbtext eval`: measure a model, or what these documents would make of one."""

from typing import TYPE_CHECKING, Any

import click

from nbtext.arguments import MOST_FOLDS
from nbtext.cli import _completion as completion
from nbtext.cli._garbage import hold, settle
from nbtext.cli._options import (
    AGAINST_HELP,
    GIVEN,
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
from nbtext.cli._replay_options import check_replay, replay_options
from nbtext.cli._report_files import check_kinds, check_places
from nbtext.cli._room import load_numpy
from nbtext.cli._scoring_options import training_options
from nbtext.cli._values import not_empty
from nbtext.document import readable
from nbtext.learning import SettingsOverrides
from nbtext.sources import named_paths

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nbtext.cli._eval import EvalRequest


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
    type=readable,  # as labels are read
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
    help="Write a report: a page with pictures (FILE.html), its figures (FILE.md, "
    "FILE.csv), or what was decided about each document, a line of JSON each "
    "(FILE.jsonl). May be repeated.",
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
def command(context: click.Context, /, **given: Any) -> int:
    """
    Measure how good a model is on labelled documents.

    \b
    nbtext eval spam/ ham/                the model, on documents it has not seen
    nbtext eval --folds 10 spam/ ham/     ten models of its own, each tried on a tenth
    nbtext eval --errors spam/ ham/       and which documents were misjudged, and why
    nbtext eval --against old.nbt spam/ ham/    which of two models is better
    nbtext eval --replay spam/ ham/       one after the other, each classified first
    nbtext eval --json --folds 10 mail/ | jq .two_class.lam_percent

    Prints accuracy, precision, recall, F1, log-loss, Brier score, calibration error
    and, for two classes, the measures of the TREC spam track, each with the interval
    that it has in 95 % of bootstrap samples. docs/measures.md defines each of them.
    """  # noqa: D301  click wants a real backspace
    hold()
    from nbtext.cli._eval import EvalRequest, run

    is_model_named = context.get_parameter_source("model") in GIVEN
    request = EvalRequest(is_model_named=is_model_named, **given)
    _check(request)
    load_numpy()
    settle(is_seldom=True)
    return run(request)


def _check(request: "EvalRequest") -> None:
    """
    Refuse options that do not go together.

    Raises:
        click.UsageError: they do not.
        ReportError: a report cannot be written where it shall be.
    """
    if not request.is_new and request.overrides.are_for_training:
        given = ", ".join(_written(request.overrides))
        message = (
            f"A trained model keeps what it counts; {given} can be given with "
            "--folds, or to `train`, or with --replay if no model is named."
        )
        raise click.UsageError(message)
    about_a_model = {"seen": request.is_seen, "against": request.against is not None}
    of_a_model = {"keyed": request.keyed is not None, "model": request.is_model_named}
    for name, is_given in (about_a_model | of_a_model).items():
        if is_given and request.folds is not None:
            message = f"--{name} is about a model; with --folds none is read."
            raise click.UsageError(message)
    are_jobs, is_replay = request.jobs > 1, request.replay.is_asked_for
    on_machine = {"--folds": request.folds is not None, "--jobs": are_jobs}
    on_machine["--replay"] = is_replay
    check_cluster(request.cluster, request.shared, on_machine)
    if is_replay:
        one_by_one = {
            "folds": request.folds is not None,
            **about_a_model,
            "errors": request.is_errors,
            "prior estimate": request.policy.is_estimated,
            "jobs": are_jobs,
        }
        check_replay(one_by_one, request.model)
        if request.keyed is not None and not request.is_model_named:
            message = "--keyed is about a model; --replay begins with none: name one."
            raise click.UsageError(message)
    if request.is_errors and len(request.model) > 1:
        message = "--errors tells the reasons of one model, and there are several."
        raise click.UsageError(message)
    if request.reports:
        others = [*request.model, *filter(None, [request.against])]
        named = named_paths(request.sources, labelled=True)
        check_places(request.reports, [*(path for _, path in named), *others])


def _written(overrides: SettingsOverrides) -> "Iterator[str]":
    """Yield the options of what is counted as they are written, without values."""
    from nbtext.learning.overrides import DEFAULTS
    from nbtext.tuning.tuned import options_of

    for name in overrides.are_for_training:
        yield options_of(DEFAULTS._replace(**{name: getattr(overrides, name)}))[0]
