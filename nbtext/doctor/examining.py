"""
Examining labelled documents: everything that is said of them, computed.

Documents are read twice: once for their terms, which are kept, and once more until
those are found that findings are told with a text of.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from nbtext.counts import CountTable, TermCache
    from nbtext.scoring.batch_model import BatchModel
    from nbtext.settings.reading import Settings

from nbtext.classes import alike
from nbtext.doctor.dates import apart
from nbtext.doctor.findings import Findings, Leak, Pair, Suspect
from nbtext.doctor.leaks import LeakingTerm, leaking_terms
from nbtext.doctor.near import Near, Sketches
from nbtext.doctor.telling import EXPLAINED, Told, tell
from nbtext.evaluation.documents import DatedNames
from nbtext.evaluation.left_out_scores import left_out_posteriors
from nbtext.learning import SettingsOverrides, check_trainable
from nbtext.learning.overrides import DEFAULTS
from nbtext.learning.reading_once import LabelledSources, counts_of, read_once
from nbtext.learning.training import check_classes
from nbtext.scoring import check_scoring
from nbtext.scoring.batch_model import batch_model_of

FEWEST: Final = 20
"""Documents of a class, below which it is too small to learn."""

REPEATED: Final = 0.02
"""The share of a class that must be near duplicates of others to be told."""

UNEQUAL: Final = 50
"""How many times as large the largest class is as one that is too small beside it."""


def examine(
    sources: LabelledSources, *, overrides: SettingsOverrides = DEFAULTS, most: int
) -> Findings:
    """
    Look for what is wrong with labelled documents.

    Raises:
        TrainingError: fewer than two classes, or not one token.
        SettingsError: the score does not go with the number of classes.
    """
    names = DatedNames()
    cache, settings, report = read_once(sources, overrides.settings, names.meet)
    with cache:
        sources.tell(report)
        check_classes(sorted(set(cache.labels)), sources.read)
        examined = _Examined(cache, settings, names, overrides)
        found = examined.findings(most, partial(tell, sources.read, sources.max_bytes))
        return replace(found, unreadable=report.skipped.documents)


class _Examined:
    """Documents whose terms are known, and the counts of all of them."""

    def __init__(
        self,
        cache: TermCache,
        settings: Settings,
        names: DatedNames,
        overrides: SettingsOverrides,
    ) -> None:
        self._cache, self._names = cache, names.documents
        self._times = np.array(names.times, np.float64)  # NaN for None
        self._table = counts_of(cache, settings, np.ones(len(cache.labels), np.bool_))
        check_trainable(self._table)
        classes = self._classes = self._table.classes
        place_of = {name: place for place, name in enumerate(classes)}
        self._labels = np.array([place_of[label] for label in cache.labels], np.int64)
        scoring = overrides.scoring_for(settings, len(classes))
        check_scoring(scoring, settings, classes)
        self._model: BatchModel = batch_model_of(self._table, scoring)

    def findings(self, top: int, tell: Callable[..., Told]) -> Findings:
        """
        Look for everything, and tell so many findings of each kind.

        Args:
            top: how many.
            tell: returns the texts of terms, given suspects and leaks.
        """
        sketches = self._sketches()
        same, near = self._same(), self._near(sketches)
        places, suspects = self._suspects()
        leaks = leaking_terms(self._model)
        rest = self._without(places[: min(top, EXPLAINED)])
        told = tell(self._model, rest, suspects[: min(top, EXPLAINED)], leaks[:top])
        sizes = dict(zip(self._classes, self._table.documents, strict=True))
        least = max(FEWEST, max(sizes.values()) / UNEQUAL)
        return Findings(
            documents=len(self._names),
            classes=sizes,
            unreadable=0,
            small=tuple(name for name, size in sizes.items() if size < least),
            alike=alike(self._classes),
            n_same=len(same),
            same=tuple(same[:top]),
            n_near=len(near),
            near=tuple(near[:top]),
            copies=self._copies(),
            repeated=self._repeated(sketches),
            n_suspects=len(suspects),
            suspects=tuple(
                replace(one, reasons=told.reasons.get(one, ()))
                for one in suspects[:top]
            ),
            n_leaks=len(leaks),
            leaks=tuple(self._leak(one, told) for one in leaks[:top]),
            apart=tuple(apart(self._times, self._labels, self._classes)),
        )

    def _same(self) -> list[Pair]:
        """Return documents that are there under two labels, each with the first."""
        first: dict[bytes, int] = {}
        pairs = []
        for place, digest in enumerate(self._cache.digests):
            other = first.setdefault(digest, place)
            if self._labels[other] != self._labels[place]:
                pairs.append(self._pair(Near(other, place, 1.0)))
        return pairs

    def _sketches(self) -> Sketches:
        """Return what is kept of documents to find those that are alike."""
        sketches = Sketches()
        views = self._table.settings.views
        texts = [n for n, view in enumerate(views) if view.kind == "text"]
        if not texts:
            return sketches
        words = [n for n in texts if views[n].alphabet != "ngrams"]
        bodies = [n for n in words if views[n].text == "body"]
        view = (bodies or words or texts)[0]
        for _, terms in self._cache.batches(np.ones(len(self._labels), np.bool_)):
            sketches.add(terms[view])
        return sketches

    def _near(self, sketches: Sketches) -> list[Pair]:
        """Return near duplicates of different classes."""
        digests = self._cache.digests
        return [
            self._pair(one)
            for one in sketches.near(self._labels)
            if digests[one.first] != digests[one.second]  # which is said already
        ]

    def _copies(self) -> dict[str, int]:
        """Return classes with copies of their own documents, and how many these are."""
        labels = self._cache.labels
        n_different = Counter(
            label for _, label in {*zip(self._cache.digests, labels, strict=True)}
        )
        n_all = Counter(labels)
        copies = {name: n_all[name] - n_different[name] for name in self._classes}
        return {name: n for name, n in copies.items() if n}

    def _repeated(self, sketches: Sketches) -> dict[str, int]:
        """Return classes with near duplicates that count, and how many these are."""
        numbers: dict[bytes, int] = {}
        copies = [numbers.setdefault(one, len(numbers)) for one in self._cache.digests]
        found = sketches.repeats(self._labels, np.array(copies, np.int64))
        counts = np.bincount(self._labels[found], minlength=len(self._classes))
        return {
            name: n
            for name, n, size in zip(
                self._classes, counts.tolist(), self._table.documents, strict=True
            )
            if n >= max(FEWEST, size * REPEATED)
        }

    def _pair(self, near: Near) -> Pair:
        names, labels = self._names, self._cache.labels
        return Pair(
            names[near.first].name,
            labels[near.first],
            names[near.second].name,
            labels[near.second],
            near.similarity,
        )

    def _without(self, places: list[int]) -> CountTable:
        """Return the counts of all documents but some."""
        if not places:
            return self._table
        chosen = np.zeros(len(self._labels), np.bool_)
        chosen[places] = True
        return self._table - counts_of(self._cache, self._table.settings, chosen)

    def _suspects(self) -> tuple[list[int], list[Suspect]]:
        """
        Return documents that look like another class, the likeliest errors first.

        Returns:
            Their places, and what is said of each.
        """
        posterior, known = left_out_posteriors(self._model, self._cache, self._labels)
        rows = np.arange(len(self._labels))
        own = posterior[rows, self._labels]
        others = posterior.copy()
        others[rows, self._labels] = -np.inf
        likelier = others.argmax(axis=1)
        nats = others[rows, likelier] - own
        nats[known == 0] = 0.0
        order = np.argsort(-nats, kind="stable")
        places: list[int] = order[: int((nats > 0).sum())].tolist()
        return places, [
            Suspect(
                self._names[place].name,
                self._cache.labels[place],
                self._classes[likelier[place]],
                float(nats[place]),
            )
            for place in places
        ]

    def _leak(self, leak: LeakingTerm, told: Told) -> Leak:
        return Leak(
            self._classes[leak.class_],
            self._table.settings.views[leak.view].name,
            told.terms.get((leak.view, leak.key), f"{leak.key:x}"),
            leak.documents,
            leak.documents / self._table.documents[leak.class_],
        )
