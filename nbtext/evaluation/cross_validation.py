"""
Cross-validation: how good a model made of these documents would be.

Every document is read once, and its terms are kept. Each fold's counts are then
subtracted from the whole, which leaves the counts of a model that never saw the fold;
it is calibrated on its own training part, and scores the fold. So ten folds cost about
one pass of counting and one of scoring, and the calibration samples.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from nbtext.document import Document, Item
    from nbtext.scoring.batch import ScoredBatch
    from nbtext.settings import Scoring, Settings
    from nbtext.tokens import AnyReading

from nbtext.counts import Counter, CountTable, ReadReport, Sample, TermCache
from nbtext.counts.counter import BATCH, LEAST_SIZE
from nbtext.counts.counting import Progress, documents, guess, readings, settings_for
from nbtext.counts.sample import Block
from nbtext.counts.table import add
from nbtext.errors import NoMemoryError, TrainingError
from nbtext.evaluation.evaluation import (
    NO_CLASS,
    Evaluation,
    evaluate,
    stratified_folds,
)
from nbtext.learning import SettingsOverrides, check_trainable
from nbtext.learning.choosing import rival_scoring
from nbtext.learning.finishing import finish, sample_limits
from nbtext.learning.overrides import DEFAULTS
from nbtext.parallel import processes
from nbtext.scoring import Policy, check_scoring, default_scoring
from nbtext.scoring.batch import score_batch
from nbtext.scoring.decide import DEFAULT
from nbtext.scoring.models.registry import for_classes
from nbtext.tokens import fingerprints, read_terms

NO_SAMPLE: Final = 0

OnFold: TypeAlias = Callable[[int, int], None]
"""Told how many folds are done, and how many there are."""


@dataclass(frozen=True, slots=True)
class CrossValidated:
    """
    The scores of each document, by a model that had not seen it.

    Attributes:
        classes: the names of the classes, sorted.
        truth: shape (n_documents,), each document's class.
        log_posterior: shape (n_documents, n_classes), in nats; it ranks documents.
        printed: the same where probabilities are told.
        known: shape (n_documents,), how many of its tokens the model knew.
        report: what was read.
        settings: how it was read.
        scoring: how it was scored, by the model of the last fold.
    """

    classes: tuple[str, ...]
    truth: NDArray[np.int64]
    log_posterior: NDArray[np.float64]
    printed: NDArray[np.float64]
    known: NDArray[np.int64]
    report: ReadReport
    settings: Settings
    scoring: Scoring

    def evaluation(
        self, *, policy: Policy = DEFAULT, positive: str | None = None
    ) -> Evaluation:
        """
        Decide about each document by its fold's scores, and compare with the labels.

        Args:
            policy: how decisions are made.
            positive: which of two classes is the one looked for; if not given, `spam`,
                or else the rarer one.

        Raises:
            SettingsError: `positive` is not one of two classes.

        """
        chosen = map(policy.choose, self.printed.tolist(), self.known.tolist())
        decided = [NO_CLASS if place is None else place for place in chosen]
        return evaluate(
            self.truth,
            self.log_posterior,
            np.array(decided),
            self.classes,
            printed=self.printed,
            positive=positive,
        )


def cross_validate(
    sources: Callable[[], Iterable[Item]],
    folds: int,
    *,
    n_classes: int | None = None,
    overrides: SettingsOverrides = DEFAULTS,
    max_bytes: int,
    progress: Progress | None = None,
    on_read: Callable[[ReadReport], None] | None = None,
    jobs: int = 1,
    on_fold: OnFold | None = None,
) -> CrossValidated:
    """
    Score each document by a model that was made of the other folds.

    Args:
        sources: gives the labelled documents, from the beginning each time.
        folds: how many, at least 2; stratified, copies of a document in one.
        n_classes: how many classes there will be, if that is known.
        overrides: what differs from the default settings and the default scoring.
        max_bytes: how much of a document is read.
        progress: told now and then how many more documents and bytes were read.
        on_read: told what was read, and what was skipped, before anything is refused.
        jobs: how many processes score folds.
        on_fold: told how many folds are done, and of how many, at first none.

    Raises:
        TrainingError: too few classes, tokens or documents.
        SettingsError: the score does not go with the number of classes.

    """
    cache, settings, report = _cached(
        sources, n_classes, overrides, max_bytes, progress
    )
    with cache:
        if on_read is not None:
            on_read(report)
        if report.skipped and not report.documents:
            raise report.skipped.first
        return _score_folds(
            cache, folds, settings, report, overrides, jobs, on_fold or _say_nothing
        )


def _say_nothing(_done: int, _folds: int) -> None:
    """Say nothing of how many folds are done."""


def _score_folds(
    cache: TermCache,
    folds: int,
    settings: Settings,
    report: ReadReport,
    overrides: SettingsOverrides,
    jobs: int,
    on_fold: OnFold,
) -> CrossValidated:
    on_fold(0, folds)
    classes = tuple(sorted(set(cache.labels)))
    truth = np.array([classes.index(label) for label in cache.labels], np.int64)
    fold_of = stratified_folds(truth.tolist(), folds, cache.digests)
    tables = [_count(cache, settings, fold_of == fold) for fold in range(folds)]
    whole = add(tables)
    check_trainable(whole)
    scoring = overrides.scoring(default_scoring(settings.format, len(classes)))
    scoring = for_classes(scoring, len(classes))
    check_scoring(scoring, settings, classes)

    used = scoring
    log_posterior = np.zeros((len(truth), len(classes)))
    printed = np.zeros_like(log_posterior)
    known = np.zeros(len(truth), np.int64)
    work = _Folds(cache, whole, tables, fold_of, scoring, overrides)
    with processes(jobs, (), partial(_FOLDS.set, work)) as executor:
        each = range(folds)
        done = (
            map(work.scored, each)
            if executor is None
            else executor.map(_scored_elsewhere, each)
        )
        for number, of_fold in enumerate(done, 1):
            used = of_fold.scoring or used
            for places, scored in of_fold.batches:
                log_posterior[places] = scored.log_posterior
                printed[places] = scored.printed
                known[places] = scored.known
            on_fold(number, folds)
    return CrossValidated(
        classes, truth, log_posterior, printed, known, report, settings, used
    )


@dataclass(frozen=True, slots=True)
class _ScoredFold:
    """
    The scores of a fold.

    Attributes:
        scoring: how its documents were scored, None if there are none.
        batches: the places of some of them, and their scores.
    """

    scoring: Scoring | None
    batches: list[tuple[NDArray[np.int64], ScoredBatch]]


@dataclass(frozen=True, slots=True)
class _Folds:
    """
    What scoring a fold needs; forked processes share it.

    Attributes:
        cache: the terms of all documents.
        whole: their counts.
        tables: the counts of each fold.
        fold_of: shape (n_documents,), the fold of each document.
        scoring: how they are scored.
        overrides: what the user wants.
    """

    cache: TermCache
    whole: CountTable
    tables: Sequence[CountTable]
    fold_of: NDArray[np.intp]
    scoring: Scoring
    overrides: SettingsOverrides

    def scored(self, fold: int) -> _ScoredFold:
        """
        Score the documents of a fold by a model of the others, batch by batch.

        Raises:
            TrainingError: the others lack a class.

        """
        in_fold = self.fold_of == fold
        if not in_fold.any():
            return _ScoredFold(None, [])
        rest = self.whole - self.tables[fold]
        if rest.classes != self.whole.classes:
            message = (
                f"a fold holds all documents of a class; {len(self.tables)} folds need "
                "two different documents of each class at least"
            )
            raise TrainingError(message)
        settings, scoring, overrides = rest.settings, self.scoring, self.overrides
        finished = finish(
            rest,
            scoring,
            _sample(self.cache, settings, overrides, ~in_fold),
            rival=rival_scoring(scoring, settings, rest.classes, overrides),
            may_correct=overrides.correction,
        )
        model = finished.model()
        return _ScoredFold(
            model.scoring,
            [
                (places, score_batch(model, views, finished.fit))
                for places, views in self.cache.batches(in_fold)
            ],
        )


_FOLDS: Final[ContextVar[_Folds]] = ContextVar("_FOLDS")
"""The folds that a process was forked to score."""


def _scored_elsewhere(fold: int) -> _ScoredFold:
    return _FOLDS.get().scored(fold)


def _cached(
    sources: Callable[[], Iterable[Item]],
    n_classes: int | None,
    overrides: SettingsOverrides,
    max_bytes: int,
    progress: Progress | None,
) -> tuple[TermCache, Settings, ReadReport]:
    """Read all documents, as most of them ask for, and put their terms by."""
    settings, items = guess(sources(), n_classes, max_bytes)
    while True:
        wished = overrides.settings(settings)
        cache, report = TermCache(), ReadReport()
        batch: list[tuple[Document, AnyReading]] = []
        size = 0
        opened = documents(items, report, max_bytes, progress)
        for document, reading in readings(opened, wished, report):
            batch.append((document, reading))
            size += max(reading.size, LEAST_SIZE)
            if size >= BATCH:
                _add(cache, wished, batch, report)
                batch, size = [], 0
        if batch:
            _add(cache, wished, batch, report)
        wanted = settings_for(report)
        if settings == wanted or not report.documents:
            return cache, wished, report
        cache.close()
        settings, items = wanted, iter(sources())


def _add(
    cache: TermCache,
    settings: Settings,
    batch: list[tuple[Document, AnyReading]],
    report: ReadReport,
) -> None:
    """Put documents by, or one at a time if memory is short for all of them."""
    batch = sorted(batch, key=lambda one: one[0].label or "")
    try:
        views = read_terms(settings, [reading.views for _, reading in batch])
    except MemoryError:
        views = None  # by the next line what was made of all of them is released
    if views is not None:
        labels = [document.label or "" for document, _ in batch]
        cache.add(labels, [reading.digest for _, reading in batch], views)
    elif len(batch) > 1:
        for one in batch:
            _add(cache, settings, [one], report)
    else:
        document, reading = batch[0]
        error = NoMemoryError(document.name)
        report.remove(document, error, is_mail=reading.is_mail)


def _count(
    cache: TermCache, settings: Settings, chosen: NDArray[np.bool_]
) -> CountTable:
    counter = Counter(settings, sample=Sample(documents=NO_SAMPLE))
    for places, views in cache.batches(chosen):
        counter.add_terms(
            [cache.labels[place] for place in places],
            [cache.digests[place] for place in places],
            views,
        )
    return counter.table()


def _sample(
    cache: TermCache,
    settings: Settings,
    overrides: SettingsOverrides,
    chosen: NDArray[np.bool_],
) -> Sample:
    """Return those of the chosen documents that training would keep."""
    limits = sample_limits(settings, may_correct=overrides.correction)
    sample = Sample(documents=limits[0], terms=limits[1])
    for places, views in cache.batches(chosen):
        sample.add(
            Block(
                [cache.labels[place] for place in places.tolist()],
                [cache.digests[place] for place in places.tolist()],
                fingerprints(views).tolist(),
                [terms.compact() for terms in views],
            )
        )
    return sample
