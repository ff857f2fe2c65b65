"""What `nbtext eval` does, apart from reading its command line."""

import sys
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from nbtext.cli._keyed import check_keyed
from nbtext.cli._replay_options import ReplayOptions
from nbtext.cli._replayed import replay_text
from nbtext.cli._report import as_json as json_of
from nbtext.cli._report import class_name, evaluation_lines, evaluation_text
from nbtext.cli._report_files import write_reports
from nbtext.cli._status import outcome
from nbtext.cli._terminal import (
    Output,
    Shown,
    ignored,
    is_watched,
    name_losses,
    name_notes,
    progress,
    report_handler,
    say_notes,
    show,
    to_stderr,
    to_stdout,
)
from nbtext.document import Skipped
from nbtext.learning import SettingsOverrides
from nbtext.policy import MOST_PROBABLE, PolicyOverrides
from nbtext.sources import Options, total_bytes

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from nbtext.evaluation import Evaluation
    from nbtext.policy import Policy
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


class EvalRequest(NamedTuple):
    """What is asked of `nbtext eval`; the options are those of the command."""

    sources: tuple[str, ...]
    options: Options
    model: tuple[str, ...]
    is_model_named: bool
    folds: int | None
    replay: ReplayOptions
    overrides: SettingsOverrides
    policy: PolicyOverrides
    positive: str | None
    is_seen: bool
    against: str | None
    is_errors: bool
    reports: tuple[str, ...]
    jobs: int
    cluster: str | None
    shared: str | None
    output: Output
    keyed: str | None = None

    @property
    def is_new(self) -> bool:
        """Whether models are made of the documents."""
        is_replay = self.replay.is_asked_for and not self.is_model_named
        return self.folds is not None or is_replay

    @property
    def n_reasons(self) -> int:
        """How many reasons are told of a misjudged document."""
        return REASONS if self.is_errors or self.are_figures else 0

    @property
    def are_figures(self) -> bool:
        """Whether a report has figures, and the terms and reasons beside them."""
        if not self.reports:
            return False
        from nbtext.report import DOCUMENTS

        return any(Path(path).suffix.lower() != DOCUMENTS for path in self.reports)


def run(request: EvalRequest) -> int:
    """
    Measure, print, write reports, and return the exit status.

    Raises:
        NbtextError: as `evaluate`, `evaluate_folds` and `evaluate_replay`; or a report
            cannot be written, after the results were printed.
    """
    output = request.output
    run_of = _Run(request)
    is_read_first = request.folds is not None or request.replay.is_asked_for
    total = partial(total_bytes, request.sources) if is_read_first else lambda: None
    with progress(quiet=output.quiet, total=total) as shown:
        result = run_of.evaluated(shown)
    if request.positive is None and not output.quiet:
        _say_positive(result)
    failure = write_reports(result, request.reports, run_of.terms)
    if not request.is_errors:
        result = replace(result, errors=None)
    _print(result, output, request.against)
    if failure is not None:
        raise failure
    return outcome(run_of.skipped)


class _Run:
    """
    One evaluation, and what it tells meanwhile.

    Attributes:
        skipped: documents that could not be read.
        terms: what speaks most for each class, if there are reports of figures.
    """

    def __init__(self, request: EvalRequest) -> None:
        self.skipped = Skipped()
        self.terms: list[TopTerm] = []
        self._request = request
        self._on_read = report_handler(self.skipped, quiet=request.output.quiet)

    def evaluated(self, shown: Shown | None) -> "Evaluation":
        """Return the figures of what was asked for."""
        if self._request.replay.is_asked_for:
            return self._of_replay(shown)
        if self._request.folds is not None:
            return self._of_folds(self._request.folds, shown)
        return self._of_models(shown)

    def _of_replay(self, shown: Shown | None) -> "Evaluation":
        from nbtext.api.classifying import load
        from nbtext.api.evaluating import evaluate_replay

        request = self._request
        begun = None
        policy: Policy | None = request.policy.policy(None)
        if request.is_model_named:
            begun = load(request.model[0], overrides=request.overrides)
            check_keyed(request.keyed, begun.model)
            policy = request.policy.chosen(begun.model.policy)
            self._tell_of([begun], policy)
        return evaluate_replay(
            request.sources,
            model=begun,
            order=request.replay.order,
            feedback=str(request.replay.feedback),
            regime=request.replay.regime,
            options=request.options,
            overrides=request.overrides,
            policy=policy,
            positive=request.positive,
            progress=shown,
            on_read=self._on_read,
            on_step=None if shown is None else shown.step,
        )

    def _of_folds(self, folds: int, shown: Shown | None) -> "Evaluation":
        from nbtext.api.evaluating import evaluate_folds

        request = self._request
        return evaluate_folds(
            request.sources,
            folds,
            options=request.options,
            overrides=request.overrides,
            policy=request.policy.policy(None),
            estimate_prior=request.policy.is_estimated,
            positive=request.positive,
            progress=shown,
            on_read=self._on_read,
            jobs=request.jobs,
            on_fold=None if shown is None else shown.fold,
            reasons=request.n_reasons,
            on_whole=self._on_whole if request.are_figures else None,
            on_scoring=lambda scoring: say_notes(
                request.overrides.in_vain(scoring), quiet=request.output.quiet
            ),
        )

    def _of_models(self, shown: Shown | None) -> "Evaluation":
        from nbtext.api.classifying import combine, load
        from nbtext.api.evaluating import evaluate

        request = self._request
        opened = [
            load(path, overrides=request.overrides, policy=MOST_PROBABLE)
            for path in request.model
        ]
        own = request.policy.chosen(opened[0].model.policy)
        self._tell_of(opened, own)
        is_alone = len(opened) == 1
        decider = (
            opened[0].deciding_by(own) if is_alone else combine(opened, policy=own)
        )
        against = None if request.against is None else self._other(request.against)
        check_keyed(
            request.keyed, *(one.model for one in [*opened, *filter(None, [against])])
        )
        with _connected(request.cluster) as client:
            result = evaluate(
                decider,
                request.sources,
                options=request.options,
                estimate_prior=request.policy.is_estimated,
                positive=request.positive,
                seen=request.is_seen,
                against=against,
                reasons=request.n_reasons,
                progress=shown,
                on_read=self._on_read,
                jobs=request.jobs,
                client=client,
                shared=request.shared,
            )
        if request.are_figures and is_alone:
            self._on_whole(opened[0])
        return result

    def _tell_of(self, opened: "list[Classifier]", own: "Policy | None") -> None:
        """Say what should be known of models, and which options change nothing."""
        request = self._request
        for one in opened:
            name_notes(one.model, quiet=request.output.quiet)
            if not (request.is_seen or one.model.settings.ledger):
                say_notes(NO_LEDGER, quiet=request.output.quiet)
        for one in opened:
            chosen = one.model.policy if own is None else own
            # of several models, each has its own class prior
            in_vain = request.overrides.in_vain(
                one.model.scoring,
                chosen if len(opened) == 1 else None,
                len(one.classes),
            )
            say_notes(in_vain, quiet=request.output.quiet)

    def _other(self, path: str) -> "Classifier":
        """Open the model that another one is held against."""
        from nbtext.api.classifying import load

        opened = load(path, policy=MOST_PROBABLE)
        name_losses(opened.model)
        return opened.deciding_by(self._request.policy.chosen(opened.model.policy))

    def _on_whole(self, whole: "Classifier") -> None:
        self.terms += _top(whole, self._request.sources, self._request.options)


def _connected(cluster: str | None) -> "AbstractContextManager[Any]":
    """Connect to the scheduler of a cluster, if one has a part in this."""
    if cluster is None:
        return nullcontext()
    from nbtext.distributed import connected

    return connected(cluster)


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
            [path], options=options, model=model, on_problem=ignored
        )
    )
    return model.top(None, TERMS, found, ignored)


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
