r"""
The library in a few calls: train a model, load it, classify with it.

    from nbtext import classify, load, train

    train(["spam/", "ham/"], "mail.nbt")
    model = load("mail.nbt")
    decision = classify(model, b"Subject: hello\n\nHello.")
    print(decision.label, decision.probability)

The command line calls these, or the functions behind them. What evaluation, doctor and
tuning need is imported where they are called, because training does not need it.
"""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from distributed import Client

    from nbtext.counts import ReadReport
    from nbtext.counts.counting import Progress
    from nbtext.doctor import Findings
    from nbtext.document import OnProblem
    from nbtext.evaluation import Evaluation
    from nbtext.evaluation.stream import OrderName
    from nbtext.scoring.classifier import Decider
    from nbtext.scoring.combining import CombinedClassifier
    from nbtext.settings import Scoring
    from nbtext.store.blocks import Buffer
    from nbtext.tuning import Tuned

from nbtext.arguments import (
    AnyPath,
    documents_of,
    label_of,
    pair_of,
    path_of,
    sources_of,
)
from nbtext.counts.room import bounded
from nbtext.document import (
    AnyDocument,
    Document,
    Item,
    as_document,
    raise_unreadable,
)
from nbtext.errors import SettingsError
from nbtext.keyring import make_secret, name_secret
from nbtext.learning import (
    LearnRequest,
    LearnResult,
    SettingsOverrides,
    Trained,
    learn_documents,
)
from nbtext.learning import train as train_counts
from nbtext.learning.inheriting import with_policy_of_old
from nbtext.learning.overrides import DEFAULTS
from nbtext.learning.preparing import check_stays_keyed, reading_columns
from nbtext.learning.regimes import EVERYTHING, Regime
from nbtext.learning.training import MAX_BYTES
from nbtext.parallel import processes
from nbtext.policy import MOST_PROBABLE, FalsePositives, Policy
from nbtext.scoring import Classifier, Decision, batches, load_model
from nbtext.scoring.batch import keep_memory
from nbtext.scoring.classifying import MANY, readable_of, works_in_threads
from nbtext.sources import Options, documents, labels, rereadable
from nbtext.store import check_replaceable, replace_model
from nbtext.store.lock import WAIT

AUTO: Final = Options()
"""Sources are what they look like."""

AnyClassifier: TypeAlias = "Classifier | CombinedClassifier"
"""A model, or several that decide together."""

IMPORTS: Final = ("nbtext.counts.counting",)
"""What processes import that count documents."""


def train(
    sources: Sequence[AnyPath],
    path: AnyPath,
    *,
    options: Options = AUTO,
    overrides: SettingsOverrides = DEFAULTS,
    replace: bool = False,
    keyed: AnyPath | None = None,
    wait: float = WAIT,
    jobs: int = 1,
    memory: int | None = None,
    progress: Progress | None = None,
    on_read: Callable[[ReadReport], None] | None = None,
    regime: Regime = EVERYTHING,
) -> Trained:
    """
    Make a model of labelled sources, and put it in a file's place.

    Args:
        sources: as on the command line: `spam/`, `ham=Maildir/.Archive`, `rows.csv`.
        path: where the model goes; what is there is replaced once it is complete.
        options: what the sources are, if not what they look like.
        overrides: what differs from the default settings.
        replace: whether to replace a model that was taught since it was trained.
        keyed: file of a secret without which nobody can read documents with the model;
            it is made if it is not there.
        wait: how many seconds to wait for another writer of the model.
        jobs: how many processes, or of mail threads, read documents.
        memory: about how many bytes of memory the counts may take; what is more goes to
            the temporary folder. None for half of what there is.
        progress: told now and then how many more documents and bytes were read.
        on_read: told what was read and what was skipped, before anything is refused.
        regime: which of the documents are learnt, in the order of their digests.

    Returns:
        The counts, and a report of what was read and what was skipped. The policy of
        the model that was replaced stays, if the new one can decide by it.

    Raises:
        TrainingError: fewer than two classes, or not one token.
        SettingsError: the score does not go with the number of classes, or with the
            regime; a source is empty, the standard input is named twice, or several
            processes are asked for where documents wait for one another.
        SecretError: the file holds no secret, or others may read it; or the model
            there is keyed, and the new one would not be.
        TaughtError: the model there was taught, and would be lost.
        BusyError: another process has been writing the model all the time.
        ModelFileError: the file cannot be written.
        NoRoomError: the temporary folder has no room for what memory is too short for.
        TypeError: the sources are one string, or none.

    """
    sources, path = sources_of(sources), path_of(path)
    check_replaceable(path, replace=replace)
    overrides = _keyed(overrides, keyed)
    if not replace:
        check_stays_keyed(path, overrides)
    keep_memory()
    options, overrides = reading_columns(options, overrides)
    if jobs > 1 and regime.is_choosy:
        message = (
            f"--regime {regime.name} has each document wait for the one before it; "
            "leave out --jobs"
        )
        raise SettingsError(message)
    with bounded(memory):
        trained = train_counts(
            rereadable(sources, options),
            n_classes=_n_classes(sources, options),
            overrides=overrides,
            max_bytes=options.max_bytes,
            workers=partial(processes, jobs, IMPORTS),
            jobs=jobs,
            progress=progress,
            on_read=on_read,
            regime=regime,
        )
        return _put(trained, path, replace=replace, wait=wait)


def train_on(
    pairs: Iterable[tuple[str, AnyDocument]],
    path: AnyPath,
    *,
    overrides: SettingsOverrides = DEFAULTS,
    replace: bool = False,
    keyed: AnyPath | None = None,
    wait: float = WAIT,
) -> Trained:
    """
    Make a model of labels and documents in memory, and put it in a file's place.

    Args:
        pairs: a label and a document each; text is read as its UTF-8 bytes.
        path: where the model goes; what is there is replaced once it is complete.
        overrides: what differs from the default settings.
        replace: whether to replace a model that was taught since it was trained.
        keyed: file of a secret, as for `train`.
        wait: how many seconds to wait for another writer of the model.

    Raises:
        As `train` does.
        TypeError: what is given are no pairs of a label and a document.

    """
    path = path_of(path)
    items: list[Item] = [
        as_document(document, str(number))._replace(label=label)
        for number, (label, document) in enumerate(map(pair_of, pairs), 1)
    ]
    overrides = _keyed(overrides, keyed)
    if not replace:
        check_stays_keyed(path, overrides)
    trained = train_counts(lambda: items, overrides=overrides)
    return _put(trained, path, replace=replace, wait=wait)


def _put(trained: Trained, path: str, *, replace: bool, wait: float) -> Trained:
    """Put a model in a file's place, with the policy of the one that was there."""

    def pack(policy: Policy | None) -> list[Buffer]:
        nonlocal trained
        trained = with_policy_of_old(trained, policy)
        return trained.contents.pack()

    replace_model(path, pack, replace=replace, wait=wait)
    return trained


def load(
    path: AnyPath,
    *,
    overrides: SettingsOverrides = DEFAULTS,
    policy: Policy | None = None,
    keyed: AnyPath | None = None,
) -> Classifier:
    """
    Open a model, ready to classify.

    Args:
        path: the model file.
        overrides: how to score, where it differs from what the file asks for.
        policy: how decisions are made, if not by the policy that is kept in the model;
            `Policy()` is the one that decides for the most probable class.
        keyed: file of the secret of a model that was trained with one; this process
            remembers it for all models of that secret.

    Raises:
        ModelFileError: there is no model, or it is damaged.
        SecretError: the secret of the model is not there.
        SettingsError: the counts do not support the score, or the policy does not go
            with the classes.

    """
    if keyed is not None:
        name_secret(path_of(keyed))
    model = load_model(path_of(path))
    model = model._replace(scoring=overrides.scoring(model.scoring))
    return Classifier(model, policy=policy)


def combine(
    models: Sequence[Classifier], *, policy: Policy | None = None
) -> CombinedClassifier:
    """
    Let models of the same classes decide together, as if each saw another part.

    `Decision.parts` of what it decides has what each of them finds alone.

    Args:
        models: what `load` returned, two or more.
        policy: how decisions are made; None for the policy kept in the first model.

    Raises:
        SettingsError: their classes differ, some read columns of tables and some do
            not, or the policy asks for a share of false positives.

    """
    from nbtext.scoring.combining import CombinedClassifier

    return CombinedClassifier(models, policy=policy)


def classify(model: Decider, document: AnyDocument) -> Decision:
    """
    Decide about one document.

    Args:
        model: what `load` or `combine` returned; it has a policy, by which it decides.
        document: a raw message, a text, or what `read_documents` gives.

    Raises:
        SourceError: the model's pattern takes too long to search it.

    """
    return model.classify([as_document(document)])[0]


def joint_log_likelihood(model: Classifier, document: AnyDocument) -> dict[str, float]:
    """
    Return ln P(class, document) of each class, as the event model has it.

    It is neither calibrated nor capped. Of a textbook's score, such as `sum`, it is
    exact; of others it is their score, up to what is the same for all classes.

    Args:
        model: what `load` returned.
        document: a raw message, a text, or what `read_documents` gives.

    Returns:
        Nats, by class.

    Raises:
        SourceError: the model's pattern takes too long to search it.

    """
    (values,) = model.joint_log_likelihoods([as_document(document)])
    return dict(zip(model.model.classes, values, strict=True))


def classify_all(
    model: Decider,
    documents: Iterable[AnyDocument],
    *,
    on_problem: OnProblem | None = None,
) -> Iterator[Decision]:
    """
    Decide about many documents, in their order.

    Decisions have the names of their documents; raw messages and texts are called 1, 2,
    3, ...

    Args:
        model: what `load` or `combine` returned; it has a policy, by which it decides.
        documents: raw messages, texts, or what `read_documents` gives.
        on_problem: called with each document that the model's pattern takes too long to
            search, which has no decision; without it, the first one is raised.

    Raises:
        SourceError: the model's pattern takes too long to search a document.
        TypeError: the documents are a single one.

    """
    numbered = _numbered(documents_of(documents))
    act, tell = model.classify, on_problem or raise_unreadable
    numbered_batches = iter(lambda: [*islice(numbered, MANY)], [])
    return (
        decision
        for batch in numbered_batches
        for decisions in readable_of(batch, act, tell)
        for decision in decisions
    )


def evaluate(
    model: AnyClassifier,
    sources: Sequence[AnyPath],
    *,
    options: Options = AUTO,
    estimate_prior: bool = False,
    positive: str | None = None,
    seen: bool = False,
    against: AnyClassifier | None = None,
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
        jobs: how many processes read and score documents.
        client: a cluster whose workers do so (`nbtext.distributed.connected`).
        shared: a folder that its workers see; that of the model if None.

    Raises:
        SourceError: not one document can be read.
        ClusterError: the cluster does not do its work.
        SettingsError: `positive` is not one of two classes, not one label is a class of
            the model, it has counted all documents and cannot tell what it would be
            without one, a source is empty, or the standard input is named twice.
        TypeError: the sources are one string, or none.

    """
    from nbtext.evaluation import evaluate_model
    from nbtext.evaluation.comparing import Rights, compare

    sources = sources_of(sources)
    keep_memory()
    if reasons and isinstance(model, Classifier):
        model = Classifier(model.model, policy=model.policy, n_reasons=reasons)
    models = [model]
    models += [] if against is None else [against]
    if not seen:
        models = [*map(_as_unseen, models)]
    current = models[0]
    options = options._replace(
        model_columns=lambda: current.column_names,
        model_classes=model.classes,
    )
    if client is not None:
        read: Callable[[], Iterable[Item]] = list
    elif against is None:
        read = partial(documents, sources, options, labelled=True)
    else:
        read = rereadable(sources, options)
    run = partial(
        evaluate_model,
        sources=sources,
        is_estimated=estimate_prior,
        max_bytes=options.max_bytes,
        progress=progress,
        jobs=jobs,
    )
    right = [Rights() for _ in models]

    def workers(model: AnyClassifier) -> AbstractContextManager[dict[str, Any]]:
        if client is None:
            return _processes(model, jobs)
        from nbtext.distributed.classifying import classified_on

        return classified_on(client, model, sources, options, shared=shared)

    with workers(current) as how:
        result = run(
            current,
            read(),
            positive=positive,
            on_read=on_read,
            on_decision=right[0] if against is not None else None,
            **how,
        )
    if against is None:
        return result
    current = models[1]
    with workers(current) as how:
        run(current, read(), on_decision=right[1], **how)
    return replace(result, against=compare(*(one.by_name for one in right)))


@contextmanager
def _processes(model: Decider, jobs: int) -> Iterator[dict[str, Any]]:
    """Start processes that have the model, if several are needed."""
    if works_in_threads(model):
        yield {}
        return
    with processes(jobs, IMPORTS, _beginning(model, jobs)) as executor:
        yield {"executor": executor}


def _as_unseen(model: AnyClassifier) -> AnyClassifier:
    """Return a model that scores documents it has counted as if it had not."""
    if isinstance(model, Classifier):
        return _as_unseen_alone(model)
    return model.of_changed(_as_unseen_alone)


def _as_unseen_alone(model: Classifier) -> Classifier:
    from nbtext.scoring.unseen import UnseenClassifier

    if not model.model.settings.ledger:  # nobody knows what it has counted
        return model
    return UnseenClassifier(model.model, policy=model.policy, n_reasons=model.n_reasons)


def _beginning(model: Decider, jobs: int) -> Callable[[], None] | None:
    """Return what each of several processes that classify begins with."""
    from nbtext.scoring.in_processes import initializer_of

    return initializer_of(model) if jobs > 1 else None


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
        TypeError: the sources are one string, or none.

    """
    from nbtext.evaluation import cross_validate
    from nbtext.evaluation.fold_models import FoldModels

    sources = sources_of(sources)
    keep_memory()
    options, overrides = reading_columns(options, overrides)
    read = rereadable(sources, options)
    models = None
    if reasons or on_whole is not None:
        models = FoldModels(
            read,
            options.max_bytes,
            n_reasons=reasons,
            has_whole=on_whole is not None,
        )
    with models or nullcontext():
        checked = cross_validate(
            read,
            folds,
            n_classes=_n_classes(sources, options),
            overrides=overrides,
            max_bytes=options.max_bytes,
            progress=progress,
            on_read=on_read,
            jobs=jobs,
            on_fold=on_fold,
            models=models,
        )
        if on_scoring is not None:
            on_scoring(checked.scoring)
        result = checked.evaluation(
            policy=policy,
            is_estimated=estimate_prior,
            positive=positive,
            models=models,
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
        TypeError: the sources are one string, or none.

    """
    from nbtext.evaluation.replaying import Protocol, replay
    from nbtext.evaluation.stream import feedback_of, order_of

    sources = sources_of(sources)
    keep_memory()
    if model is None:
        options, overrides = reading_columns(options, overrides)
    else:
        columns = model.column_names
        options = options._replace(
            model_columns=lambda: columns, model_classes=model.classes
        )
        policy = model.policy if policy is None else policy
    return replay(
        rereadable(sources, options),
        Protocol(order_of(order), feedback_of(feedback), regime),
        base=None if model is None else model.model,
        n_classes=_n_classes(sources, options),
        overrides=overrides,
        policy=policy or MOST_PROBABLE,
        positive=positive,
        max_bytes=options.max_bytes,
        progress=progress,
        on_read=on_read,
        on_step=on_step,
    )


def examine(
    sources: Sequence[AnyPath],
    *,
    options: Options = AUTO,
    overrides: SettingsOverrides = DEFAULTS,
    most: int = 20,
    progress: Progress | None = None,
    on_read: Callable[[ReadReport], None] | None = None,
) -> Findings:
    """
    Look for what is wrong with labelled sources: wrong labels, duplicates, leaks.

    Args:
        sources: as on the command line: `spam/`, `ham=Maildir/.Archive`, `rows.csv`.
        options: what the sources are, if not what they look like.
        overrides: what differs from the default settings.
        most: how many findings of a kind are told.
        progress: told now and then how many more documents and bytes were read.
        on_read: told what was read and what was skipped, before anything is refused.

    Raises:
        TrainingError: too few classes or tokens.
        SettingsError: as `train`.
        TypeError: the sources are one string, or none.

    """
    from nbtext.doctor import examine as examine_documents

    sources = sources_of(sources)
    keep_memory()
    options, overrides = reading_columns(options, overrides)
    return examine_documents(
        rereadable(sources, options),
        n_classes=_n_classes(sources, options),
        overrides=overrides,
        max_bytes=options.max_bytes,
        most=most,
        progress=progress,
        on_read=on_read,
    )


def tune(
    sources: Sequence[AnyPath],
    *,
    measure: str = "log-loss",
    options: Options = AUTO,
    overrides: SettingsOverrides = DEFAULTS,
    max_false_positives: FalsePositives | None = None,
    progress: Progress | None = None,
    on_read: Callable[[ReadReport], None] | None = None,
    on_trial: Callable[[int, int], None] | None = None,
) -> Tuned:
    """
    Try event models and their settings on labelled sources; choose the simplest best.

    `Tuned.overrides` is for `train`, `Tuned.threshold.policy` for `set_policy`.

    Args:
        sources: as on the command line: `spam/`, `ham=Maildir/.Archive`, `rows.csv`.
        measure: what is made least: "log-loss", "error", "balanced-error" (the mean of
            the classes' error rates), "brier", or, for two classes, "1-auc".
        options: what the sources are, if not what they look like.
        overrides: what is fixed, of how documents are read.
        max_false_positives: the class and the share for which a threshold is looked
            for, of two classes; 0.001 for `spam`, or else the rarer one, if None.
        progress: told now and then how many more documents and bytes were read.
        on_read: told what was read and what was skipped, before anything is refused.
        on_trial: told how many trials are done, and about how many there are.

    Raises:
        TrainingError: too few classes, tokens or documents.
        SettingsError: there is no such measure; or as `train`.
        TypeError: the sources are one string, or none.

    """
    from nbtext.tuning import tune as tune_documents

    sources = sources_of(sources)
    keep_memory()
    options, overrides = reading_columns(options, overrides)
    return tune_documents(
        rereadable(sources, options),
        measure=measure,
        n_classes=_n_classes(sources, options),
        overrides=overrides,
        max_false_positives=max_false_positives,
        max_bytes=options.max_bytes,
        progress=progress,
        on_read=on_read,
        on_trial=on_trial,
    )


def read_documents(
    sources: Sequence[AnyPath],
    *,
    options: Options = AUTO,
    model: Decider | None = None,
    on_problem: OnProblem | None = None,
) -> Iterator[Document]:
    """
    Read documents for `classify_all`, `learn` or `forget`, one after the other.

    Args:
        sources: as on the command line: `inbox/`, `more.mbox`, `rows.csv`.
        options: what the sources are, if not what they look like.
        model: what they are for: tables are read by the columns it was trained on.
        on_problem: told of each document that cannot be read, and of notes; without
            it, the first that cannot be read is raised.

    Raises:
        SourceError: a document cannot be read.
        SettingsError: a source is empty, the standard input is named twice, or the
            model reads other columns.
        TypeError: the sources are one string, or none.

    """
    sources = sources_of(sources)
    if model is not None:
        columns = model.column_names
        options = options._replace(model_columns=lambda: columns)
    items = documents(sources, options, labelled=False)
    one_each = batches(items, options.max_bytes, on_problem or raise_unreadable, many=1)
    for batch in one_each:
        yield from batch


def learn(
    path: AnyPath,
    label: str,
    documents: Iterable[AnyDocument],
    *,
    create: bool = False,
    undo: int | None = None,
    approximate: bool = False,
    keyed: AnyPath | None = None,
    regime: Regime = EVERYTHING,
    wait: float = WAIT,
    frozen_idf: bool = False,
) -> list[LearnResult]:
    """
    Add documents to a class of a model, or move them there from another.

    A document that the model knows in this class is not counted again. What is returned
    as learnt is durable; other processes may read, learn and forget meanwhile.

    Args:
        path: the model file; one that was opened before does not see the change.
        label: the class.
        documents: raw messages, texts, or what `read_documents` gives; a batch of
            them is one change.
        create: whether to begin a model if there is none.
        undo: of how many documents the model keeps what they left, to undo them even
            if their headers have changed since; None for as many as before.
        approximate: of documents older than a pruning, whether to take away what it
            has left of them.
        keyed: file of the secret of a model that was trained with one, or is begun.
        regime: which of those that the model does not know are learnt.
        wait: how many seconds to wait for another writer of the model.
        frozen_idf: whether to weigh them by the idf that training has frozen; a model
            of TF-IDF weights is changed in no other way.

    Returns:
        What became of each document, in their order.

    Raises:
        NoModelError: there is no model, and none shall be begun.
        SettingsError: the model has an idf that shall not be kept, or none to keep.
        TrainingError: the class would need documents to be read otherwise.
        BusyError: another process has been writing the model all the time.
        ModelFileError: the model is damaged, or cannot be written.
        TypeError: the documents are a single one, or the label is no string.

    """
    request = LearnRequest(
        path_of(path),
        label_of(label),
        wait=wait,
        keep=undo,
        approximate=approximate,
        create=create,
        keyed=_secret_path(keyed),
        frozen_idf=frozen_idf,
        regime=regime,
    )
    return _learn(documents, request)


def forget(
    path: AnyPath,
    documents: Iterable[AnyDocument],
    *,
    approximate: bool = False,
    keyed: AnyPath | None = None,
    wait: float = WAIT,
    frozen_idf: bool = False,
) -> list[LearnResult]:
    """
    Take documents out of a model, as if it had never counted them.

    Args:
        path: the model file.
        documents: raw messages, texts, or what `read_documents` gives, which it has
            counted in any class.
        approximate: of documents older than a pruning, whether to take away what it
            has left of them.
        keyed: file of the secret of a model that was trained with one.
        wait: how many seconds to wait for another writer of the model.
        frozen_idf: whether they are weighed by the idf that training has frozen.

    Returns:
        What became of each document, in their order; refused if it is not in the model.

    Raises:
        As `learn` does.

    """
    request = LearnRequest(
        path_of(path),
        None,
        wait=wait,
        approximate=approximate,
        keyed=_secret_path(keyed),
        frozen_idf=frozen_idf,
    )
    return _learn(documents, request)


def _learn(
    documents: Iterable[AnyDocument], request: LearnRequest
) -> list[LearnResult]:
    items: Iterator[Item] = _numbered(documents_of(documents))
    batches = learn_documents(
        items, request, max_bytes=MAX_BYTES, on_problem=_nothing_to_say
    )
    return [result for batch in batches for result in batch]


def _secret_path(path: AnyPath | None) -> str | None:
    return None if path is None else path_of(path)


def _keyed(overrides: SettingsOverrides, path: AnyPath | None) -> SettingsOverrides:
    """Return overrides with the fingerprint of the secret in a file, if one is."""
    if path is None:
        return overrides
    return overrides._replace(secret=make_secret(path_of(path)))


def _nothing_to_say(_: object) -> None:
    """Pass over notes: documents in memory can be read."""


def _n_classes(sources: Sequence[str], options: Options) -> int | None:
    """Return how many classes there are, None if only the documents tell."""
    known = labels(sources, options)
    return None if known is None else len(known)


def _numbered(documents: Iterable[AnyDocument]) -> Iterator[Document]:
    """Yield documents; what has no name is called by its number, from 1."""
    for number, document in enumerate(documents, 1):
        yield as_document(document, str(number))
