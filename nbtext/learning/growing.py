"""
A model in memory that learns one document at a time, as `learn` would have it.

In: a model, or settings for one that knows nothing yet; and documents whose terms are
read already. At any moment it scores a document as `classify` would after `learn` of
those learnt so far, each on its own: the counts are the same, and so is what they say
for calibration, where every document is scored before it is learnt. Nothing is written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from nbtext.counts import Calibration, CountTable, TermCache
    from nbtext.scoring import Model
    from nbtext.scoring.leave_one_out import Labelled
    from nbtext.scoring.score import Scored
    from nbtext.settings.reading import Settings
    from nbtext.settings.scoring import Scoring
    from nbtext.tokens import Bag, Terms

from nbtext.counts import Counter, Fit, fit
from nbtext.counts.calibration import calibration_for, totals
from nbtext.counts.fitting import chosen
from nbtext.counts.table import add, with_classes
from nbtext.errors import SettingsError, memory_for_model
from nbtext.exact import sums_of
from nbtext.learning.growing_correction import TaughtCorrection
from nbtext.learning.growing_counts import FoundCounts, GrowingView
from nbtext.learning.reading_once import counts_of
from nbtext.learning.scored_afterwards import are_too_few
from nbtext.scoring import event_model, fitted
from nbtext.scoring.batch_model import batch_model_of
from nbtext.scoring.held_out import (
    held_out_by,
    keeps_corrected,
    no_calibration,
    no_calibrations,
)
from nbtext.scoring.leave_one_out import left_out
from nbtext.scoring.model import model_of
from nbtext.scoring.models.registry import keeps_histograms
from nbtext.scoring.observed import observed
from nbtext.scoring.policy_rule import Basis
from nbtext.scoring.score import score
from nbtext.store import Contents, ModelFile
from nbtext.store.calibrations import calibrations_of
from nbtext.store.header import KEPT_RECORDS
from nbtext.store.packing import unpack
from nbtext.store.table import read_table

IN_MEMORY: Final = "a model in memory"
"""What is named in place of a file."""


def empty_model(settings: Settings, scoring: Scoring) -> Model:
    """Return a model that knows no class and no term."""
    counts = Counter(settings).table()
    keeps = keeps_histograms(scoring)
    pieces = Contents(counts, scoring, keeps_histograms=keeps).pack()
    whole = memoryview(b"".join(pieces))
    table = read_table(IN_MEMORY, whole, 0)
    tables = () if table is None else (table,)
    return model_of(ModelFile(IN_MEMORY, len(whole), tables, 0, whole, ()), scoring)


class GrowingModel:
    """
    A model that grows.

    Attributes:
        classes: the names of all classes that it may know in the end, sorted.
        documents: for each of them, how many documents it knows now.
        learnt: the places of the documents that it has learnt, in their order.
    """

    def __init__(
        self, base: Model, cache: TermCache, may_learn: NDArray[np.bool_]
    ) -> None:
        """
        Begin with a model.

        Args:
            base: the model, which may be empty.
            cache: documents, with their classes.
            may_learn: shape (n_documents,), which of them may be learnt, each once.

        Raises:
            SettingsError: it is scored by a pass over all of its terms, or by a frozen
                idf.
        """
        if event_model(base.scoring.score).reads_vocabulary:
            message = (
                f"the {base.scoring.score} score looks at all terms of a model for "
                "each document, which takes too long one document after the other"
            )
            raise SettingsError(message)
        if base.settings.has_frozen_idf:
            message = (
                f"the {base.scoring.score} score weighs terms by how many of all "
                "documents have them, which nobody knows while they come"
            )
            raise SettingsError(message)
        self.learnt: list[int] = []
        # the terms of the last document that was looked up, and the model for it
        self._last: tuple[Sequence[Terms], Model] | None = None
        self._taught = None if base.correction is None else TaughtCorrection(base)
        self._base, self._cache = base, cache
        self._scoring = base.scoring
        self._kept = calibrations_of(base.file.tables)
        self._fit: Fit | None = None if len(base.classes) < 2 else fitted(base)
        with memory_for_model(base.path):
            before = unpack(base.file)
            counts = counts_of(cache, base.settings, may_learn)
            whole = add([before, counts])
            self.classes = whole.classes
            self.documents = [*with_classes(before, self.classes).documents]
            self._views = self._arranged(whole, with_classes(counts, self.classes))
        place_of = {name: place for place, name in enumerate(base.classes)}
        # by view and class, the sum of each column
        self._totals = [
            [
                by_class[place_of[name]]
                if name in place_of
                else (0,) * len(view.columns)
                for name in self.classes
            ]
            for view, by_class in zip(base.settings.views, base.totals, strict=True)
        ]

    def _arranged(
        self, whole: CountTable, counts: CountTable
    ) -> list[GrowingView | None]:
        """Return the views of terms; of numbers there are sums alone."""
        keeps = self._base.file.keeps_histograms
        return [
            None
            if view.kind == "number"
            else GrowingView(
                view, runs, part, self.classes,
                keeps_histograms=keeps and view.kind == "text",
            )
            for view, runs, part in zip(
                whole.settings.views, whole.runs, counts.runs, strict=True
            )
        ]  # fmt: skip

    @property
    def known(self) -> list[int]:
        """Return the places of the classes of which it knows documents."""
        return [place for place, count in enumerate(self.documents) if count]

    @property
    def fit(self) -> Fit:
        """Return what turns scores into probabilities now."""
        if self._fit is None:
            model = self._without_terms()
            self._fit = fit(self._calibration(model), model.classes)
            if not model.scoring.calibrated:
                self._fit = Fit()
        return self._fit

    def basis(self) -> Basis:
        """Return what a policy needs to know of it."""
        model = self._without_terms()
        return Basis(
            name=model.path,
            classes=model.classes,
            documents=model.documents,
            calibration=self._calibration(model),
            fit=self.fit,
            scoring=model.scoring,
        )

    def score(self, views: Sequence[Terms]) -> Scored:
        """
        Score a document; at least two classes are known.

        Returns:
            The log posteriors of the classes that are known, in their order.
        """
        return score(self._model(views), _bag(views), self.fit)

    def learn(
        self, place: int, views: Sequence[Terms], *, is_observed: bool = True
    ) -> None:
        """
        Learn a document.

        Args:
            place: which of the cache.
            views: for each view its terms.
            is_observed: whether its score speaks for calibration.
        """
        label = self._cache.labels[place]
        class_ = self.classes.index(label)
        begins = not self.documents[class_]
        seen: tuple[Calibration, ...] = ()
        if is_observed and not begins and len(self.known) > 1:
            seen = observed(self._model(views), _bag(views), label)
        if self._taught is not None and not begins:
            self._taught.learn(self._model(views), label, _bag(views))
        self._count(views, class_)
        self.learnt.append(place)
        if self._base.correction is None:  # which keeps the slope that it was made for
            self._fit = None
        if is_observed:
            self._observe(self._first_scores(place, views) if begins else seen)

    def _count(self, views: Sequence[Terms], class_: int) -> None:
        """Add a document to the counts."""
        self._last = None
        self.documents[class_] += 1
        for view, terms, sums in zip(self._views, views, self._totals, strict=True):
            if view is None:
                numbers = terms.bag(0).items()
                rows = [[*sums_of((key,), (n,))] for key, n in numbers]
            else:
                rows = [view.add(terms, class_)]
            for row in rows:
                sums[class_] = tuple(map(int.__add__, sums[class_], row))

    def _observe(self, seen: Sequence[Calibration]) -> None:
        """Take in what a document scored, as the table of its own that `learn` adds."""
        if not (self._kept or seen):
            return
        model = self._without_terms()
        own = totals([seen, no_calibrations(model)])
        self._kept = totals([self._kept, own])
        if self._base.file.correction is None:  # which stays with its scoring
            self._scoring = chosen(self._scoring, self._kept, model.classes)

    def _first_scores(
        self, place: int, views: Sequence[Terms]
    ) -> tuple[Calibration, ...]:
        """
        Score the first document of a class, and those that could not be scored before.

        As `nbtext.learning.scored_afterwards` has it: each as if it alone had not
        been learnt.
        """
        model = self._without_terms()
        event, label = event_model(self._scoring.score), self._cache.labels[place]
        if len(model.classes) < 2 or event.refusal(
            model.scoring, model.settings, model.classes
        ):
            return ()
        calibration = calibration_for(self._scoring, self._kept)
        scored = {} if calibration is None else calibration.documents
        unscored = {name for name in model.classes if not scored.get(name)} - {label}
        mask = np.zeros(len(self._cache.labels), np.bool_)
        mask[self.learnt] = True
        after = counts_of(self._cache, model.settings, mask)
        if self._base.classes:
            after = add([unpack(self._base.file), after])
        mask[:] = False
        mask[
            [one for one in self.learnt[:-1] if self._cache.labels[one] in unscored][
                -KEPT_RECORDS:
            ]
        ] = True
        has_bins = event.calibration == "histogram"
        if are_too_few(1 + int(mask.sum()), scored, has_bins=has_bins):
            return ()
        batches: list[Labelled] = [([label], views)]
        others = self._cache.labelled(mask)
        batches += [(labels, of_views) for labels, _, of_views in others]
        counts = batch_model_of(after, self._scoring)
        return left_out(counts, batches, path=self._base.path).calibrations

    def _calibration(self, model: Model) -> Calibration:
        """Return what documents have scored before they were learnt."""
        is_corrected = keeps_corrected(model)
        found = held_out_by(model.scoring, self._kept, is_corrected=is_corrected)
        return found or no_calibration(model.scoring, len(model.classes))

    def _without_terms(self) -> Model:
        """Return the model as it is now; it finds no term."""
        known = self.known
        histograms = None
        if self._base.file.keeps_histograms:
            histograms = tuple(
                {} if view is None else view.changed_histograms()
                for view in self._views
            )
        classes = tuple(self.classes[place] for place in known)
        taught = self._taught
        return self._base._replace(
            scoring=self._scoring,
            correction=None if taught is None else taught.for_classes(classes),
            classes=classes,
            documents=tuple(self.documents[place] for place in known),
            totals=tuple(
                tuple(by_class[place] for place in known) for by_class in self._totals
            ),
            more_terms=tuple(
                0 if view is None else view.new_terms for view in self._views
            ),
            more_histograms=histograms,
            stored=tuple(() for _ in self._views),
        )

    def _model(self, views: Sequence[Terms]) -> Model:
        """Return the model as it is now, for one document; twice in a row the same."""
        if self._last is not None and self._last[0] is views:
            return self._last[1]
        places = np.zeros(len(self.classes), np.int64)
        places[self.known] = np.arange(len(self.known))
        model = self._without_terms()._replace(
            stored=tuple(
                () if view is None else (FoundCounts(view.found(terms, places)),)
                for view, terms in zip(self._views, views, strict=True)
            )
        )
        self._last = views, model
        return model


def _bag(views: Sequence[Terms]) -> Bag:
    return tuple(terms.bag(0) for terms in views)
