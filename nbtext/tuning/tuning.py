"""
Trying settings on labelled documents, which are read and counted once or twice.

Every event model of the registry is tried as it is. Of the best ones smoothing is
tried, of the best of all how repeated terms count, its parameters, each view left out,
how categories and numbers of records are smoothed, and a correction. What has choices
of its own is chosen among them by held-out loss, as training does. So the number of
trials grows with the number of event models and of parameters, and not with their
product.

All trials hold documents out: by leave-one-out, which is exact, or by folds where
training learns more than counts: a correction, a choice between event models, weights
that rest on all documents (`tfidf`). Last, documents are read once more with the other
alphabet, by which the default is tried, and what was best.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nbtext.counts import CountTable, ReadReport, TermCache
    from nbtext.policy import FalsePositives
    from nbtext.scoring import EventModel
    from nbtext.scoring.batch_model import BatchModel
    from nbtext.settings.reading import Settings
    from nbtext.settings.scoring import Scoring
    from nbtext.settings.views import Alphabet

from nbtext import wording
from nbtext.errors import SettingsError, TrainingError
from nbtext.evaluation.binary_metrics import positive_class
from nbtext.evaluation.cross_validation import Dealt, deal, score_folds
from nbtext.evaluation.left_out_scores import candidate_posteriors
from nbtext.learning import SettingsOverrides, check_trainable
from nbtext.learning.reading_once import LabelledSources, counts_of, read_once
from nbtext.scoring import check_scoring, event_model, event_models
from nbtext.scoring.batch_model import batch_model_of
from nbtext.scoring.models.registry import (
    DEFAULT_WITHOUT_TEXT,
    counting_by,
    for_classes,
    rival_of,
    scoring_of,
    suited_to,
    with_attributes,
)
from nbtext.scoring.policy_rule import keeps_scores
from nbtext.settings.columns import in_order
from nbtext.tuning.measures import MEASURES, OF_TWO
from nbtext.tuning.tuned import Row, Tried, Tuned, choose, safe_threshold

FOLDS: Final = 5
"""How many folds a trial has that leave-one-out cannot make."""

FACTORS: Final = (0.01, 0.1, 0.3, 3.0, 10.0)
"""By what the smoothing of an event model is multiplied."""

FINALISTS: Final = 3
"""Of so many event models smoothing is tried."""

COUNTINGS: Final = ("once", "log", "min:2")
"""What is tried in place of all occurrences, where an event model can count so."""

SCALES: Final = (0.5, 2.0)
"""By what a parameter without choices is multiplied."""

WEIGHED_FACTORS: Final = (0.1, 10.0)
"""By what the smoothing of an event model is multiplied that is tried by folds."""

CATEGORY_SMOOTHINGS: Final = (0.1, 0.3, 3.0, 10.0)
"""What is tried in place of 1 added to the count of every value of a category."""

OTHERS: Final[dict[Alphabet, Alphabet]] = {"marks": "words", "words": "marks"}
"""What is tried in place of an alphabet."""

VARIANCE_SMOOTHINGS: Final = (1e-6, 1e-3, 1e-2, 1e-1)
"""What is tried in place of 1e-9 of the largest variance added to all variances."""

OnTrial = Callable[[int, int], None]
"""Told how many trials are done, and about how many there are."""


def tune(
    sources: LabelledSources,
    *,
    measure: str,
    overrides: SettingsOverrides,
    max_false_positives: FalsePositives | None,
    on_trial: OnTrial | None,
) -> Tuned:
    """
    Try settings, and choose the simplest of the best.

    Args:
        sources: the documents.
        measure: what is made least, one of MEASURES.
        overrides: what is fixed, of how documents are read.
        max_false_positives: what threshold is looked for, of two classes; one in a
            thousand for `spam` or the rarer class if None.
        on_trial: told how many trials are done, and about how many there are.

    Raises:
        TrainingError: fewer than two classes, not one token, or fewer than two
            different documents of a class.
        SettingsError: there is no such measure, or it is not for these classes.
    """
    if measure not in MEASURES:
        message = f"the measure is {measure!r}, expected one of {', '.join(MEASURES)}"
        raise SettingsError(message)
    cache, settings, report = read_once(sources, partial(_widest, overrides))
    with cache:
        sources.tell(report)
        table = counts_of(cache, settings, np.ones(len(cache.labels), np.bool_))
        check_trainable(table, report.skipped, sources.read)
        if measure == OF_TWO and len(table.classes) != 2:
            found = len(table.classes)
            message = f"the measure {OF_TWO} is for two classes, found {found}"
            raise SettingsError(message)
        if max_false_positives is not None:  # before hours of trials
            if len(table.classes) != 2:
                limit = wording.named("max_false_positives")
                message = (
                    f"{limit} looks for a threshold between two classes, "
                    f"and the documents have {len(table.classes)}; leave it out"
                )
                raise SettingsError(message)
            positive_class(table.classes, max_false_positives.label, table.documents)
        dealt = deal(cache, FOLDS)
        if dealt.lost:
            raise dealt.error()
        trials = _Trials(cache, dealt, table, report, measure, overrides, on_trial)
        left_out = choose(measure, trials.left_out(), dealt.truth)
        by_folds = trials.by_folds(left_out)
    other = _other_alphabet(settings, overrides)
    if other is not None:
        widest = partial(_widest, overrides._replace(alphabet=other))
        read = read_once(sources._replace(progress=None), widest)
        by_folds += trials.with_alphabet(other, read, by_folds)
    folds = choose(measure, by_folds, dealt.truth)
    chosen = next(row for row in folds if row.is_chosen)
    before = tuple(replace(row, is_best=False, is_chosen=False) for row in left_out)
    of_chosen = next(one for one in by_folds if one.overrides == chosen.overrides)
    is_followed = _keeps_scores(chosen.overrides, table)
    posterior = of_chosen.log_posterior
    if not is_followed and of_chosen.printed is not None:
        posterior = of_chosen.printed
    return Tuned(
        measure=measure,
        documents=len(dealt.truth),
        rows=(*folds, *before),
        overrides=chosen.overrides._replace(fields=(), guessed=None),
        threshold=safe_threshold(
            dealt.truth,
            posterior,
            table.classes,
            max_false_positives,
            is_followed=is_followed,
        ),
    )


def _other_alphabet(settings: Settings, fixed: SettingsOverrides) -> Alphabet | None:
    """Return the alphabet to try besides, None if what a token is was said."""
    if fixed.alphabet is not None or fixed.pattern is not None:
        return None
    texts = [one for one in settings.views if (one.kind, one.text) == ("text", "body")]
    return next((OTHERS[one.alphabet] for one in texts if one.alphabet in OTHERS), None)


def _is_corrected_first(event: EventModel) -> bool:
    """Return whether held-out scores say little of a model, as it will be corrected."""
    return event.can_be_corrected and event.calibration == "temperature"


def _keeps_scores(overrides: SettingsOverrides, table: CountTable) -> bool:
    """Return whether training keeps what held-out documents score, for certain."""
    scoring = overrides.scoring_for(table.settings, len(table.classes))
    if overrides.score is None and rival_of(scoring.score):
        return False  # it chooses between two
    return keeps_scores(scoring)


def _widest(overrides: SettingsOverrides, default: Settings) -> Settings:
    """Return settings by which everything is counted that any trial needs."""
    settings = overrides.settings(default)
    wider = [counting_by(settings, counting) for counting in COUNTINGS]
    wider += [suited_to(settings, scoring_of(one.name)) for one in event_models()]
    columns: dict[str, set[str]] = {
        view.name: {*view.columns} for view in settings.views
    }
    for one in wider:
        for view in one.views:
            columns[view.name] |= {*view.columns}
    views = (
        view._replace(columns=in_order(columns[view.name]))
        if view.kind == "text"
        else view
        for view in settings.views
    )
    return settings._replace(views=tuple(views))


@dataclass(slots=True)
class _Trials:
    """Trials on documents that are counted."""

    cache: TermCache
    dealt: Dealt
    table: CountTable
    report: ReadReport
    measure: str
    fixed: SettingsOverrides
    on_trial: OnTrial | None
    tried: list[Tried] = field(default_factory=list)
    _models: dict[tuple[str, ...], BatchModel] = field(default_factory=dict)

    def left_out(self) -> list[Tried]:
        """Try everything by leave-one-out, each step from what was best before."""
        self.tell()
        has_text = bool(self.table.settings.n_texts)
        for event in event_models():
            if has_text or event.name == DEFAULT_WITHOUT_TEXT:
                self._try(self.fixed._replace(score=event.name))
        if not has_text:  # then neither smoothing nor repeats make a difference
            self._step(self._attributes)
            return self.tried
        for one in sorted(self.tried, key=self._value)[:FINALISTS]:
            event = event_model(one.overrides.score or "")
            for factor in FACTORS:
                self._try(one.overrides._replace(smoothing=event.smoothing * factor))
        for step in (_countings, _parameters, self._views, self._attributes):
            self._step(step)
        return self.tried

    def _step(
        self, step: Callable[[SettingsOverrides], Iterator[SettingsOverrides]]
    ) -> None:
        """Try what comes of the best so far."""
        best = min(self.tried, key=self._value).overrides
        for overrides in step(best):
            self._try(overrides)

    def by_folds(self, left_out: Sequence[Row]) -> list[Tried]:
        """
        Try the default by folds, and what is chosen by leave-one-out.

        The default may well be what was chosen, under another name: it is told once.

        Args:
            left_out: what was tried so, the best first. The first that can have a
                correction is tried with it. Event models whose weights rest on all
                documents are tried as they are, and with what they are smoothed by.
        """
        asked = [
            self.fixed,
            *(row.overrides for row in left_out if row.is_chosen),
            *[
                row.overrides._replace(correction=True)
                for row in left_out
                if _is_corrected_first(event_model(row.overrides.score or ""))
            ][:1],
        ]
        tried: list[Tried] = []
        for overrides in dict.fromkeys(asked):
            found = self._by_folds(overrides)
            if not any(map(found.is_same_model, tried)):
                tried.append(found)
        for event in event_models():
            if event.weighs_again and not self.table.settings.has_attributes:
                tried += self._weighed_again(event, min(map(self._value, tried)))
        return tried

    def with_alphabet(
        self,
        alphabet: Alphabet,
        read: tuple[TermCache, Settings, ReadReport],
        tried: Sequence[Tried],
    ) -> list[Tried]:
        """
        Try the default by folds, and the best so far, with tokens of another alphabet.

        Args:
            alphabet: it.
            read: the same documents, read so.
            tried: what was tried by folds.
        """
        cache, settings, report = read
        with cache:
            if (cache.digests, cache.labels) != (self.cache.digests, self.cache.labels):
                return []  # they changed meanwhile
            table = replace(self.table, settings=settings)
            again = replace(self, cache=cache, table=table, report=report)
            best = min(tried, key=self._value)
            asked = dict.fromkeys((self.fixed, best.overrides))
            found: list[Tried] = []
            for one in asked:
                with suppress(TrainingError):  # it may leave not one token
                    new = again._by_folds(one._replace(alphabet=alphabet))
                    if not any(map(new.is_same_model, [*tried, *found])):
                        found.append(new)
        return found

    def _weighed_again(self, event: EventModel, least: float) -> list[Tried]:
        """Try an event model by folds, with other smoothing if it is best as it is."""
        plain = self.fixed._replace(score=event.name, correction=False, calibrate=True)
        tried = [self._by_folds(plain)]
        if self._value(tried[0]) < least:
            for factor in WEIGHED_FACTORS:
                smoothing = event.smoothing * factor
                tried.append(self._by_folds(plain._replace(smoothing=smoothing)))
        return tried

    def _value(self, tried: Tried) -> float:
        parts = MEASURES[self.measure](self.dealt.truth, tried.log_posterior)
        return float(parts.mean())

    def _views(self, best: SettingsOverrides) -> Iterator[SettingsOverrides]:
        """Yield the same without each view of text."""
        texts = {v.name for v in self.table.settings.views if v.kind == "text"}
        names = tuple(name for name in self._view_names(best) if name in texts)
        for name in names if len(names) > 1 else ():
            left = tuple(other for other in names if other != name)
            yield best._replace(views=left)

    def _attributes(self, best: SettingsOverrides) -> Iterator[SettingsOverrides]:
        """Yield the same with categories and numbers smoothed otherwise."""
        kinds = {view.kind for view in self.table.settings.views}
        if "value" in kinds:
            for smoothing in CATEGORY_SMOOTHINGS:
                yield best._replace(category_smoothing=smoothing)
        if "number" in kinds:
            for smoothing in VARIANCE_SMOOTHINGS:
                yield best._replace(variance_smoothing=smoothing)

    def _view_names(self, overrides: SettingsOverrides) -> tuple[str, ...]:
        """Return the views that training would count."""
        score, named = overrides.score, overrides.views
        reads_ngrams = score is None or event_model(score).reads_ngrams
        return tuple(
            view.name
            for view in self.table.settings.views
            if view.kind != "text"
            or (view.name in named if named else reads_ngrams)
            or (not named and view.alphabet != "ngrams")
        )

    def _places(self, names: tuple[str, ...]) -> list[int]:
        """Return the places of views."""
        views = self.table.settings.views
        return [place for place, view in enumerate(views) if view.name in names]

    def _with_views(self, names: tuple[str, ...]) -> CountTable:
        """Return the counts of some views."""
        places, settings = self._places(names), self.table.settings
        views = tuple(settings.views[place] for place in places)
        runs = tuple(self.table.runs[place] for place in places)
        return replace(self.table, settings=settings._replace(views=views), runs=runs)

    def _try(self, overrides: SettingsOverrides) -> None:
        """Hold each document out by leave-one-out, if these can be scored so."""
        classes = self.table.classes
        event = event_model(overrides.score or "")
        overrides = overrides._replace(
            calibrate=event.is_textbook, correction=not _is_corrected_first(event)
        )
        names = self._view_names(overrides)
        default = with_attributes(scoring_of(event.name), self.table.settings)
        scoring = for_classes(overrides.scoring(default), len(classes))
        try:
            model = self._model(names, scoring)
        except SettingsError:
            return
        cache = self.cache.of_views(self._places(names))
        posterior = candidate_posteriors(model, cache, self.dealt.truth)
        self._add(Tried(overrides, "leave-one-out", posterior))

    def _by_folds(self, overrides: SettingsOverrides) -> Tried:
        """Hold documents out by folds, each scored by what training makes of others."""
        names = self._view_names(overrides)
        settings = self._with_views(names).settings
        cache = self.cache.of_views(self._places(names))
        found = score_folds(cache, self.dealt, settings, self.report, overrides)
        tried = Tried(overrides, f"{FOLDS} folds", found.log_posterior, found.printed)
        self._add(tried)
        return tried

    def _add(self, tried: Tried) -> None:
        self.tried.append(tried)
        self.tell()

    def tell(self) -> None:
        """Tell how many trials are done, and about how many there are."""
        if self.on_trial is not None:
            n_trials = sum(1 for _ in event_models()) + FINALISTS * len(FACTORS) + 12
            self.on_trial(len(self.tried), n_trials)

    def _model(self, names: tuple[str, ...], scoring: Scoring) -> BatchModel:
        """Return the counts of some views, which are arranged once."""
        if names not in self._models:
            self._models.clear()
            self._models[names] = batch_model_of(self._with_views(names), scoring)
        model = self._models[names].scored_by(scoring)
        check_scoring(scoring, model.settings, model.classes)
        return model


def _countings(best: SettingsOverrides) -> Iterator[SettingsOverrides]:
    """Yield the same with repeated terms counted otherwise."""
    for counting in COUNTINGS:
        if counting in event_model(best.score or "").countings:
            yield best._replace(counting=counting)


def _parameters(best: SettingsOverrides) -> Iterator[SettingsOverrides]:
    """Yield the same with other values of parameters that training does not choose."""
    event = event_model(best.score or "")
    own = dict(best.parameters)
    for one in event.parameters:
        if one.choices or one.name in event.parameters_for(2):
            continue
        for scale in SCALES:
            value = (
                max(min(round(one.default * scale), one.most), one.least)
                if one.name == "levels"
                else one.default * scale
            )
            if one.least <= value <= one.most and value != one.default:
                changed = tuple(sorted((own | {one.name: float(value)}).items()))
                yield best._replace(parameters=changed)
