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
from dataclasses import dataclass, replace
from functools import partial
from itertools import compress
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from nbtext.counts import CountTable, ReadReport, TermCache
    from nbtext.learning.reading_once import Kept
    from nbtext.scoring.batch import ScoredBatch
    from nbtext.settings.reading import Settings
    from nbtext.settings.scoring import Scoring

from nbtext.classes import note_on_alike
from nbtext.counts.adding import KeptTables
from nbtext.counts.room import shared
from nbtext.counts.table import add
from nbtext.document import Note
from nbtext.errors import TrainingError, clipped, listed
from nbtext.evaluation.documents import Named, Names
from nbtext.evaluation.evaluation import (
    NO_CLASS,
    Evaluation,
    evaluate,
    stratified_folds,
)
from nbtext.evaluation.fold_models import WHOLE, FoldModels
from nbtext.learning import SettingsOverrides, check_trainable
from nbtext.learning.choosing import rival_scoring
from nbtext.learning.finishing import finish
from nbtext.learning.overrides import DEFAULTS
from nbtext.learning.reading_once import (
    LabelledSources,
    counts_of,
    read_once,
    sample_of,
)
from nbtext.learning.second_pass import settings_scored, weighed_from_cache
from nbtext.learning.training import check_classes
from nbtext.policy import MOST_PROBABLE, Policy
from nbtext.processes import processes
from nbtext.scoring import check_scoring, event_model
from nbtext.scoring.batch import score_batch
from nbtext.scoring.batch_model import batch_model_of
from nbtext.scoring.decide import DEFAULT as NO_POLICY
from nbtext.scoring.estimating import EstimatedPrior, estimated_shares
from nbtext.scoring.policy_rule import Basis, basis_of_contents, prior_by_class, rule_of
from nbtext.store import Contents

OnFold: TypeAlias = Callable[[int, int], None]
"""Told how many folds are done, and how many there are."""


@dataclass(frozen=True, slots=True)
class CrossValidated:
    """
    The scores of each document, by a model that had not seen it.

    Attributes:
        classes: the names of the classes, sorted.
        truth: shape (n_documents,), each document's class; -1 for one of a class that
            no model can know.
        log_posterior: shape (n_documents, n_classes), in nats; it ranks documents.
        printed: the same where probabilities are told.
        known: shape (n_documents,), how many of its tokens the model knew.
        report: what was read.
        settings: how it was read.
        scoring: how it was scored, by the model of the last fold.
        fold_of: shape (n_documents,), the fold of each document.
        bases: for each fold what a policy needs to know of its model; None for a fold
            without documents.
        documents: what they are called; empty if nobody asked.
    """

    classes: tuple[str, ...]
    truth: NDArray[np.int64]
    log_posterior: NDArray[np.float64]
    printed: NDArray[np.float64]
    known: NDArray[np.int64]
    report: ReadReport
    settings: Settings
    scoring: Scoring
    fold_of: NDArray[np.intp]
    bases: tuple[Basis | None, ...]
    documents: Sequence[Named] = ()

    def evaluation(
        self,
        *,
        policy: Policy = MOST_PROBABLE,
        is_estimated: bool = False,
        positive: str | None = None,
        models: FoldModels | None = None,
    ) -> Evaluation:
        """
        Decide about each document by its fold's scores, and compare with the labels.

        Args:
            policy: how decisions are made.
            is_estimated: whether its prior is estimated from the documents.
            positive: which of two classes is the one looked for; if not given, `spam`,
                or else the rarer one.
            models: those of the folds, which tell why documents were misjudged; None
                if nobody asks.

        Raises:
            SettingsError: `positive` is not one of two classes, or the policy does not
                go with the classes.
        """
        if is_estimated:
            policy = self._estimated().policy(policy)
        rules = [basis and rule_of(policy, basis) for basis in self.bases]
        printed, decided = self.printed.copy(), []
        rows = zip(self.log_posterior.tolist(), self.known.tolist(), strict=True)
        for place, (log_posterior, known) in enumerate(rows):
            rule = rules[self.fold_of[place]] or NO_POLICY
            if rule.shift:
                printed[place] = rule.printed(log_posterior)
            chosen = rule.choose(printed[place].tolist(), log_posterior, known)
            decided.append(NO_CLASS if chosen is None else chosen)
        basis, rule = next(
            (basis, rule)
            for basis, rule in zip(self.bases, rules, strict=True)
            if basis is not None and rule is not None
        )
        result = evaluate(
            self.truth,
            self.log_posterior,
            np.array(decided),
            self.classes,
            printed=printed,
            positive=positive,
            costs=rule.costs,
            prior=prior_by_class(policy, basis),
            documents=self.documents,
            fold_of=self.fold_of,
        )
        if models is None:
            return result
        errors = models.errors(
            self.settings, policy, self.truth, np.array(decided), printed,
            self.fold_of, self.classes, self.documents,
        )  # fmt: skip
        return replace(result, errors=errors)

    def _estimated(self) -> EstimatedPrior:
        """Return the prior that the documents of all folds speak for."""
        log_shares = np.zeros((len(self.bases), len(self.classes)))
        for fold, basis in enumerate(self.bases):
            if basis is not None:
                log_shares[fold] = np.log(basis.shares)
        likelihoods = self.log_posterior - log_shares[self.fold_of]
        labelled = self.truth[self.truth != NO_CLASS]
        start = np.bincount(labelled, minlength=len(self.classes)) + 1
        shares = estimated_shares(likelihoods[self.known > 0], start / start.sum())
        by_class = dict(zip(self.classes, shares, strict=True))
        return EstimatedPrior(by_class, int((self.known > 0).sum()))


def cross_validate(
    sources: LabelledSources,
    folds: int,
    *,
    overrides: SettingsOverrides = DEFAULTS,
    jobs: int = 1,
    on_fold: OnFold | None = None,
    models: FoldModels | None = None,
) -> CrossValidated:
    """
    Score each document by a model that was made of the other folds.

    Args:
        sources: the documents.
        folds: how many, at least 2; stratified, copies of a document in one.
        overrides: what differs from the default settings and the default scoring.
        jobs: how many processes score folds.
        on_fold: told how many folds are done, and of how many, at first none.
        models: keeps the models of the folds; None if they are not needed.

    Raises:
        TrainingError: too few classes, tokens or documents.
        SettingsError: the score does not go with the number of classes.
    """
    names = Names()

    def on_kept(kept: Kept | None) -> None:
        names.meet(kept)
        if models is not None:
            models.meet(kept)

    cache, settings, report = read_once(sources, overrides.settings, on_kept)
    with cache:
        dealt = deal(cache, folds)
        if dealt.lost and len(dealt.classes) > 1:
            report.remark(dealt.note())
        if alike := note_on_alike(dealt.classes):
            report.remark(Note(alike, is_warning=True))
        sources.tell(report)
        check_classes(sorted(set(cache.labels)), sources.read)
        found = score_folds(
            cache, dealt, settings, report, overrides, jobs, on_fold, models
        )
        return replace(found, documents=names.documents)


class Dealt(NamedTuple):
    """
    Documents as they are dealt out to folds.

    Attributes:
        n_folds: how many there are.
        classes: those that the models have, sorted.
        lost: the other classes, and how many documents each has: those that are in one
            fold alone, so that the model which judges them cannot know them.
        truth: shape (n_documents,), the class of each document; -1 if it is lost.
        fold_of: shape (n_documents,), its fold.
    """

    n_folds: int
    classes: tuple[str, ...]
    lost: dict[str, int]
    truth: NDArray[np.int64]
    fold_of: NDArray[np.intp]

    @property
    def is_known(self) -> NDArray[np.bool_]:
        """Shape (n_documents,), whether a document's class is known to the models."""
        known: NDArray[np.bool_] = self.truth != NO_CLASS
        return known

    def is_in(self, fold: int) -> NDArray[np.bool_]:
        """Return whether each document is in a fold and known to the other models."""
        in_fold: NDArray[np.bool_] = self.fold_of == fold
        return in_fold & self.is_known

    def note(self) -> Note:
        """Return what to know of the lost classes."""
        text = (
            f"{self._lost_sentence()}; they count as errors, and no model learns them "
            "(mend these labels if they are misspelt, or add documents)"
        )
        return Note(text, is_warning=True)

    def error(self) -> TrainingError:
        """Return the lost classes as what cannot be done without."""
        return TrainingError(
            f"{self._lost_sentence()}; mend these labels if they are misspelt, add "
            "documents, or leave these out"
        )

    def _lost_sentence(self) -> str:
        names = [f"{clipped(name)} ({n:,})" for name, n in self.lost.items()]
        return (
            f"{self.n_folds} folds need two different documents of each class at "
            f"least, and all documents of {listed(names)} are in one fold"
        )


def deal(cache: TermCache, n_folds: int) -> Dealt:
    """Deal documents out to folds: stratified, copies of a document in one."""
    names = sorted(set(cache.labels))
    place_of = {name: place for place, name in enumerate(names)}
    truth = np.array([place_of[label] for label in cache.labels], np.int64)
    fold_of = stratified_folds(truth.tolist(), n_folds, cache.digests)
    lowest = np.full(len(names), n_folds)
    highest = np.full(len(names), -1)
    np.minimum.at(lowest, truth, fold_of)
    np.maximum.at(highest, truth, fold_of)
    is_known = lowest < highest
    n_documents = np.bincount(truth, minlength=len(names)).tolist()
    places = np.where(is_known, np.cumsum(is_known) - 1, NO_CLASS)
    return Dealt(
        n_folds=n_folds,
        classes=tuple(compress(names, is_known)),
        lost=dict(compress(zip(names, n_documents, strict=True), ~is_known)),
        truth=places[truth],
        fold_of=fold_of,
    )


def _say_nothing(_done: int, _folds: int) -> None:
    """Say nothing of how many folds are done."""


def score_folds(
    cache: TermCache,
    dealt: Dealt,
    settings: Settings,
    report: ReadReport,
    overrides: SettingsOverrides,
    jobs: int = 1,
    on_fold: OnFold | None = None,
    models: FoldModels | None = None,
) -> CrossValidated:
    """
    Score documents that are read already, as `cross_validate` does.

    Raises:
        TrainingError: too few classes, tokens or documents.
        SettingsError: the score does not go with the number of classes.
    """
    n_folds, classes, lost, truth, fold_of = dealt
    if lost and len(classes) < 2:
        raise dealt.error()
    on_fold = on_fold or _say_nothing
    on_fold(0, n_folds)
    kept = KeptTables()
    for fold in range(n_folds):
        kept.add(counts_of(cache, settings, dealt.is_in(fold)))
    tables = kept.tables
    whole = add(tables)
    check_trainable(whole)
    scoring = overrides.scoring_for(settings, len(classes))
    settings = settings_scored(settings, scoring, len(truth))
    check_scoring(scoring, settings, classes)

    used = scoring
    log_posterior = np.zeros((len(truth), len(classes)))
    printed = np.zeros_like(log_posterior)
    known = np.zeros(len(truth), np.int64)
    bases: list[Basis | None] = []
    if models is not None and models.has_whole:
        models.keep(
            WHOLE, Contents(_weighed(whole, cache, scoring, dealt.is_known), scoring)
        )
    work = _Folds(cache, whole, tables, dealt, scoring, overrides, models)
    with shared(jobs), processes(jobs, (), partial(_FOLDS.set, work)) as executor:
        each = range(n_folds)
        done = (
            map(work.scored, each)
            if executor is None
            else executor.map(_scored_elsewhere, each)
        )
        for number, of_fold in enumerate(done, 1):
            used = of_fold.scoring or used
            bases.append(of_fold.basis)
            for places, scored in of_fold.batches:
                log_posterior[places] = scored.log_posterior
                printed[places] = scored.printed
                known[places] = scored.known
            on_fold(number, n_folds)
    return CrossValidated(
        classes, truth, log_posterior, printed, known, report, settings, used,
        fold_of, tuple(bases),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _ScoredFold:
    """
    The scores of a fold.

    Attributes:
        scoring: how its documents were scored, None if there are none.
        batches: the places of some of them, and their scores.
        basis: what a policy needs to know of the model, None likewise.
    """

    scoring: Scoring | None
    batches: list[tuple[NDArray[np.int64], ScoredBatch]]
    basis: Basis | None = None


@dataclass(frozen=True, slots=True)
class _Folds:
    """What scoring a fold needs; forked processes share it."""

    cache: TermCache
    whole: CountTable
    tables: Sequence[CountTable]
    dealt: Dealt
    scoring: Scoring
    overrides: SettingsOverrides
    models: FoldModels | None

    def scored(self, fold: int) -> _ScoredFold:
        """Score the documents of a fold by a model of the others, batch by batch."""
        in_fold = self.dealt.fold_of == fold
        if not in_fold.any():
            return _ScoredFold(None, [])
        learnt = self.dealt.is_known & ~in_fold
        rest = self.whole - self.tables[fold]
        rest = _weighed(rest, self.cache, self.scoring, learnt)
        settings, scoring, overrides = rest.settings, self.scoring, self.overrides
        finished = finish(
            batch_model_of(rest, scoring),
            sample_of(self.cache, settings, overrides, learnt),
            rival=rival_scoring(scoring, settings, rest.classes, overrides),
            may_correct=overrides.correction,
        )
        contents = finished.contents(rest)
        if self.models is not None:
            self.models.keep(fold, contents)
        model = finished.model()
        return _ScoredFold(
            model.scoring,
            [
                (places, score_batch(model, views, finished.fit_of_model))
                for places, views in self.cache.batches(in_fold)
            ],
            basis_of_contents(contents, "the model of a fold"),
        )


def _weighed(
    table: CountTable, cache: TermCache, scoring: Scoring, chosen: NDArray[np.bool_]
) -> CountTable:
    """Return counts of chosen documents, with the weights of the score."""
    if not event_model(scoring.score).weighs_again:
        return table
    return weighed_from_cache(table, cache, chosen)


_FOLDS: Final[ContextVar[_Folds]] = ContextVar("_FOLDS")
"""The folds that a process was forked to score."""


def _scored_elsewhere(fold: int) -> _ScoredFold:
    return _FOLDS.get().scored(fold)
