"""How good a model is: on unseen documents, by folds, or by learning one by one."""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from distributed import Client

    from nbtext.arguments import AnyPath
    from nbtext.counts import ReadReport
    from nbtext.counts.read_report import Progress
    from nbtext.document import AnyDocument, Item, Note
    from nbtext.evaluation import Evaluation
    from nbtext.evaluation.stream import OrderName
    from nbtext.learning import SettingsOverrides
    from nbtext.learning.regimes import Regime
    from nbtext.policy import Policy
    from nbtext.scoring import Decision
    from nbtext.scoring.combining import Decider
    from nbtext.settings.scoring import Scoring

from nbtext.api._shared import (
    AUTO,
    IMPORTS,
    checked_regime,
    labelled,
    labelled_sources,
)
from nbtext.arguments import (
    MOST_FOLDS,
    count_of,
    decider_of,
    instance_of,
    sources_of,
    text_of,
)
from nbtext.learning.overrides import DEFAULTS
from nbtext.learning.preparing import reading_columns
from nbtext.learning.regimes import EVERYTHING
from nbtext.policy import MOST_PROBABLE, checked_policy
from nbtext.processes import processes
from nbtext.scoring import Classifier
from nbtext.scoring.batch import keep_memory
from nbtext.scoring.classifying import works_in_threads
from nbtext.sources import Options, documents, rereadable


def evaluate(
    model: Decider,
    sources: Sequence[AnyPath],
    *,
    options: Options = AUTO,
    estimate_prior: bool = False,
    positive: str | None = None,
    seen: bool = False,
    against: Decider | None = None,
    reasons: int = 0,
    progress: Progress | None = None,
    on_read: Callable[[ReadReport], None] | None = None,
    jobs: int = 1,
    client: Client | None = None,
    shared: AnyPath | None = None,
) -> Evaluation:
    """
    Measure how good a model is on labelled sources that it has not seen.

    Documents that it has counted are scored as if it had not (leave-one-out), or left
    out where that cannot be computed exactly (`nbtext.scoring.unseen`).

    Args:
        model: what `load` or `combine` returned; it has a policy, by which it decides.
        sources: as on the command line: `spam/`, `ham=Maildir/.Archive`, `rows.csv`.
        options: what the sources are, if not what they look like.
        estimate_prior: whether the shares of the classes are estimated from the
            documents, instead of those in the model's policy.
        positive: which of two classes is the one looked for; if not given, `spam`,
            or else the rarer one.
        seen: whether documents that the model has counted are scored as they are.
        against: another model, which decides about the same documents.
        reasons: how many reasons are told of each misjudged document; if 0, these
            documents are not told at all; models that decide together tell none.
        progress: told now and then how many more documents were read.
        on_read: told what was read and what was skipped, before anything is refused.
        jobs: how many threads or processes read and score documents.
        client: a cluster whose workers do so (`nbtext.distributed.connected`).
        shared: a folder that its workers see; that of the model if None.

    Raises:
        SourceError: not one document can be read.
        ClusterError: the cluster does not do its work.
        SettingsError: `positive` is not one of two classes, not one label is a class of
            the model, it has counted all documents and cannot tell what it would be
            without one, a source is empty, or the standard input is named twice.
        TypeError: the sources are one string, or none, the options are none, `positive`
            is no string, or a model is not open.
        ValueError: `jobs` is below 1, or `reasons` below 0.
    """
    from nbtext.evaluation import evaluate_model

    sources, options = sources_of(sources), instance_of("options", options, Options)
    model = _telling(model, against, reasons)
    _check_positive(positive)
    jobs = count_of("jobs", jobs, least=1)
    keep_memory()
    deciding = model
    options = options._replace(
        model_fields=lambda: deciding.fields, model_classes=model.classes
    )
    if client is not None:
        read: Callable[[], Iterable[Item]] = list
    elif against is None:
        read = partial(documents, sources, options, labelled=True)
    else:
        read = rereadable(sources, options)

    def measured(
        model: Decider,
        on_read: Callable[[ReadReport], None] | None,
        on_decision: Callable[[Decision], None] | None = None,
        **how: Any,
    ) -> Evaluation:
        nonlocal deciding
        deciding = model if seen else _as_unseen(model)
        if client is None:
            deciders = _processes(deciding, jobs)
        else:
            from nbtext.distributed.classifying import classified_on

            deciders = classified_on(client, deciding, sources, options, shared=shared)
        with deciders as workers:
            return evaluate_model(
                deciding,
                read(),
                sources=sources,
                is_estimated=estimate_prior,
                max_bytes=options.max_bytes,
                progress=progress,
                on_read=on_read,
                on_decision=on_decision,
                jobs=jobs,
                **how,
                **workers,
            )

    return _of_both(measured, model, against, positive, on_read)


def evaluate_on(
    model: Decider,
    pairs: Iterable[tuple[str, AnyDocument]],
    *,
    estimate_prior: bool = False,
    positive: str | None = None,
    seen: bool = False,
    against: Decider | None = None,
    reasons: int = 0,
    on_read: Callable[[ReadReport], None] | None = None,
    jobs: int = 1,
) -> Evaluation:
    """
    Measure how good a model is on documents from memory, as `evaluate` does on sources.

    Args:
        model: what `load` or `combine` returned.
        pairs: a label and a document each.
        estimate_prior: as for `evaluate`.
        positive: likewise.
        seen: likewise.
        against: likewise.
        reasons: likewise.
        on_read: likewise; documents are called by their numbers, from 1, if they have
            no names of their own that differ.
        jobs: likewise.

    Raises:
        SourceError: there is no document.
        SettingsError: as of `evaluate`.
        TypeError: what is given are no pairs of a label and a document, `positive` is
            no string, or a model is not open.
        ValueError: a label is empty, `jobs` is below 1, or `reasons` below 0.
    """
    from nbtext.errors import SourceError
    from nbtext.evaluation import evaluate_model

    model = _telling(model, against, reasons)
    _check_positive(positive)
    jobs = count_of("jobs", jobs, least=1)
    keep_memory()
    found = [*labelled(pairs)]
    if not found:
        message = "there is no document to evaluate; give pairs of a label and a text"
        raise SourceError(message)
    if len({one.name for one in found}) < len(found):  # two models compare by name
        found = [one._replace(name=str(n)) for n, one in enumerate(found, 1)]

    def measured(
        model: Decider,
        on_read: Callable[[ReadReport], None] | None,
        on_decision: Callable[[Decision], None] | None = None,
        **how: Any,
    ) -> Evaluation:
        deciding = model if seen else _as_unseen(model)
        with _processes(deciding, jobs) as workers:
            return evaluate_model(
                deciding,
                found,
                is_estimated=estimate_prior,
                max_bytes=AUTO.max_bytes,
                on_read=on_read,
                on_decision=on_decision,
                jobs=jobs,
                **how,
                **workers,
            )

    return _of_both(measured, model, against, positive, on_read)


def _check_positive(positive: str | None) -> None:
    """
    Refuse what is no name of a class, before documents are read for hours.

    Raises:
        TypeError: it is none.
    """
    if positive is not None:
        text_of("positive", positive)


def _telling(model: Decider, against: Decider | None, reasons: int) -> Decider:
    """
    Return the model that is measured, which tells so many reasons of an error.

    Raises:
        TypeError: a model is not open.
        ValueError: `reasons` is below 0.
    """
    decider_of("model", model)
    if against is not None:
        decider_of("against", against)
    reasons = count_of("reasons", reasons, least=0)
    if reasons and isinstance(model, Classifier):
        return Classifier(model.model, policy=model.policy, n_reasons=reasons)
    return model


def _of_both(
    measured: Callable[..., Evaluation],
    model: Decider,
    against: Decider | None,
    positive: str | None,
    on_read: Callable[[ReadReport], None] | None,
) -> Evaluation:
    """Measure a model, and say how another compares with it if there is one."""
    if against is None:
        return measured(model, on_read, positive=positive)
    from nbtext.evaluation.comparing import Rights, compare

    told, first, second = _Told(on_read), Rights(), Rights()
    result = measured(model, told.of_first, first, positive=positive)
    name = "the other model"
    if isinstance(against, Classifier):
        name = f"the model {against.model.path}"
    measured(against, told.of_second, second, name=name)
    return replace(result, against=compare(first.by_name, second.by_name))


class _Told:
    """What was read for two models, so that what both would tell is told once."""

    def __init__(self, on_read: Callable[[ReadReport], None] | None) -> None:
        self._on_read = on_read
        self._notes: list[Note] = []

    def of_first(self, report: ReadReport) -> None:
        """Tell what was read for the first model."""
        self._notes.extend(report.notes)
        if self._on_read is not None:
            self._on_read(report)

    def of_second(self, report: ReadReport) -> None:
        """Tell warnings that are of the second model alone."""
        from nbtext.counts import ReadReport

        new = [
            note for note in report.notes if note.is_warning and note not in self._notes
        ]
        if new and self._on_read is not None:
            self._on_read(ReadReport(notes=new))


@contextmanager
def _processes(model: Decider, jobs: int) -> Iterator[dict[str, Any]]:
    """Start processes that have the model, if several are needed."""
    if jobs == 1 or works_in_threads(model):
        yield {}
        return
    from nbtext.scoring.in_processes import initializer_of

    with processes(jobs, IMPORTS, initializer_of(model)) as executor:
        yield {"executor": executor}


def _as_unseen(model: Decider) -> Decider:
    """Return a model that scores documents it has counted as if it had not."""
    if isinstance(model, Classifier):
        return _as_unseen_alone(model)
    return model.of_changed(_as_unseen_alone)


def _as_unseen_alone(model: Classifier) -> Classifier:
    from nbtext.scoring.unseen import UnseenClassifier

    if not model.model.settings.ledger:  # nobody knows what it has counted
        return model
    return UnseenClassifier(model.model, policy=model.policy, n_reasons=model.n_reasons)


def evaluate_folds(
    sources: Sequence[AnyPath],
    folds: int = 10,
    *,
    options: Options = AUTO,
    overrides: SettingsOverrides = DEFAULTS,
    policy: Policy = MOST_PROBABLE,
    estimate_prior: bool = False,
    positive: str | None = None,
    progress: Progress | None = None,
    on_read: Callable[[ReadReport], None] | None = None,
    jobs: int = 1,
    on_fold: Callable[[int, int], None] | None = None,
    reasons: int = 0,
    on_whole: Callable[[Classifier], None] | None = None,
    on_scoring: Callable[[Scoring], None] | None = None,
) -> Evaluation:
    """
    Measure what models made of these sources would be worth, by cross-validation.

    Args:
        sources: as on the command line: `spam/`, `ham=Maildir/.Archive`, `rows.csv`.
        folds: how many models, each scoring the documents that it has not seen.
        options: what the sources are, if not what they look like.
        overrides: what differs from the default settings.
        policy: how decisions are made.
        estimate_prior: whether its prior is estimated from the documents.
        positive: which of two classes is the one looked for; if not given, `spam`,
            or else the rarer one.
        progress: told now and then how many more documents and bytes were read.
        on_read: told what was read and what was skipped, before anything is refused.
        jobs: how many processes score folds.
        on_fold: told how many folds are done, and of how many, at first none.
        reasons: how many reasons are told of each misjudged document, by the model of
            its fold; if 0, these documents are not told at all.
        on_whole: told of the model of all documents, whose file is gone when this
            returns.
        on_scoring: told how documents were scored.

    Raises:
        TrainingError: too few classes, tokens or documents.
        SettingsError: as `train` and `evaluate`.
        TypeError: the sources are one string, or none, `positive` is no string, or the
            policy, options or overrides are none.
        ValueError: `folds` is not from 2 to 1,000, `jobs` is below 1, or `reasons`
            below 0.
    """
    from nbtext.evaluation import cross_validate
    from nbtext.evaluation.fold_models import FoldModels

    sources, policy = sources_of(sources), checked_policy(policy)
    folds = count_of("folds", folds, least=2, most=MOST_FOLDS)
    jobs = count_of("jobs", jobs, least=1)
    reasons = count_of("reasons", reasons, least=0)
    _check_positive(positive)
    keep_memory()
    options, overrides = reading_columns(options, overrides)
    labelled = labelled_sources(sources, options, progress, on_read)
    models = None
    if reasons or on_whole is not None:
        models = FoldModels(
            labelled.read,
            options.max_bytes,
            n_reasons=reasons,
            has_whole=on_whole is not None,
        )
    with models or nullcontext():
        checked = cross_validate(
            labelled,
            folds,
            overrides=overrides,
            jobs=jobs,
            on_fold=on_fold,
            models=models,
        )
        if on_scoring is not None:
            on_scoring(checked.scoring)
        result = checked.evaluation(
            policy=policy, is_estimated=estimate_prior, positive=positive, models=models
        )
        if models is not None and on_whole is not None:
            on_whole(models.whole())
        return result


def evaluate_replay(
    sources: Sequence[AnyPath],
    *,
    model: Classifier | None = None,
    order: OrderName = "name",
    feedback: str = "immediate",
    regime: Regime = EVERYTHING,
    options: Options = AUTO,
    overrides: SettingsOverrides = DEFAULTS,
    policy: Policy | None = None,
    positive: str | None = None,
    progress: Progress | None = None,
    on_read: Callable[[ReadReport], None] | None = None,
    on_step: Callable[[int, int], None] | None = None,
) -> Evaluation:
    """
    Measure what learning documents one after the other is worth, by replaying them.

    Each is classified as `classify` would have done at that moment, and then learnt.

    Args:
        sources: as on the command line, a TREC index among them.
        model: what to begin with, which nothing is written to; None for nothing.
        order: "name", "date", or "index": as the sources have them.
        feedback: when labels are told: "immediate", "delay:N" or "first:N".
        regime: which documents are learnt.
        options: what the sources are, if not what they look like.
        overrides: without a model, what differs from the default settings.
        policy: how decisions are made; None for that of the model.
        positive: which of two classes is the one looked for; if not given, `spam`,
            or else the rarer one.
        progress: told now and then how many more documents and bytes were read.
        on_read: told what was read and what was skipped, before anything is refused.
        on_step: told now and then how many documents are judged, and of how many.

    Raises:
        SourceError: not one document can be read.
        TrainingError: there are fewer than two classes.
        SettingsError: the order or the feedback is none, the score cannot be replayed,
            or the policy does not go with the classes; or as `evaluate`.
        TypeError: the sources are one string, or none, the model is not open, or is
            several, `positive` or `feedback` is no string, or the policy, the regime,
            options or overrides are none.
        ValueError: there is no such regime.
    """
    from nbtext.evaluation.replaying import Protocol, replay
    from nbtext.evaluation.stream import feedback_of, order_of

    sources, regime = sources_of(sources), checked_regime(regime)
    options = instance_of("options", options, Options)
    if model is not None:
        decider_of("model", model, alone=True)
    if policy is not None:
        policy = checked_policy(policy)
    _check_positive(positive)
    feedback = text_of("feedback", feedback)
    keep_memory()
    if model is None:
        options, overrides = reading_columns(options, overrides)
    else:
        options = options.for_model(model.fields, model.classes)
        policy = model.policy if policy is None else policy
    return replay(
        labelled_sources(sources, options, progress, on_read),
        Protocol(order_of(order), feedback_of(feedback), regime),
        base=None if model is None else model.model,
        overrides=overrides,
        policy=policy or MOST_PROBABLE,
        positive=positive,
        on_step=on_step,
    )
