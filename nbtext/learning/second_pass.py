"""
The second pass of training: TF-IDF weights, once all documents are counted.

A table of counts and the documents that it was made of go in, as `Counter` takes them;
out comes the same table with two columns more: the weights, and by how many documents
the idf of each term is frozen. Another document would change the idf of all.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from nbtext.counts import Counter, ReadReport, SortedCounts
from nbtext.counts.counting import feed
from nbtext.counts.sorted_counts import narrow
from nbtext.counts.tfidf import inverse_frequencies, whole_weights
from nbtext.errors import SettingsError, TrainingError
from nbtext.scoring import event_model
from nbtext.settings.columns import FROZEN, TFIDF

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from nbtext.counts import CountTable, TermCache
    from nbtext.counts.sorted_counts import Keys
    from nbtext.document import Item
    from nbtext.settings.reading import Settings
    from nbtext.settings.scoring import Scoring
    from nbtext.tokens import Terms


def weighed_by_idf(
    table: CountTable, items: Iterable[Item], *, max_bytes: int
) -> CountTable:
    """
    Return a table with the column of TF-IDF weights.

    Raises:
        TrainingError: they are other documents.
    """
    weigher = _Weigher(table)
    feed(weigher, items, table.settings, ReadReport(), max_bytes)
    return weigher.table()


def weighed_from_cache(
    table: CountTable, cache: TermCache, chosen: NDArray[np.bool_]
) -> CountTable:
    """
    Return a table with the column of TF-IDF weights, of documents read before.

    Args:
        table: the counts of the documents that are chosen.
        cache: the terms of these documents, and of others.
        chosen: shape (n_documents,), which they are.
    """
    weigher = _Weigher(table)
    for labels, digests, views in cache.labelled(chosen):
        weigher.add_terms(labels, digests, views)
    return weigher.table()


class _Weigher(Counter):
    """Adds up the weights of documents whose counts are known."""

    def __init__(self, table: CountTable) -> None:
        super().__init__(table.settings)
        self._counted = table
        self._keys: list[Keys] = []
        self._idf: list[NDArray[np.float64]] = []
        for view, runs in zip(table.settings.views, table.runs, strict=True):
            keys, places = np.unique(
                np.concatenate([run.keys for run in runs]), return_inverse=True
            )
            column = view.column("documents")
            documents = np.concatenate([run.columns[column] for run in runs])
            frequencies = np.bincount(places, documents, minlength=len(keys))
            self._keys.append(keys)
            n_documents = sum(table.documents)
            self._idf.append(inverse_frequencies(n_documents, frequencies))
        self._sums = [
            [np.zeros(len(run), np.int64) for run in runs] for runs in table.runs
        ]
        self._weighed = 0

    def add_terms(
        self,
        labels: Sequence[str],
        digests: Sequence[bytes],
        views: Sequence[Terms],
        marks: list[int] | None = None,
    ) -> None:
        """Add the weights of documents, those of a class side by side."""
        del digests, marks
        classes = self._counted.classes
        if not {*labels} <= {*classes}:
            raise _changed()
        self._weighed += len(labels)
        label_of = np.array([classes.index(label) for label in labels])
        for view, terms in enumerate(views):
            places = _find(self._keys[view], terms.keys)
            weights = whole_weights(terms, self._idf[view].take(places))
            class_of = np.repeat(label_of, terms.sizes)
            for class_ in sorted({*label_of.tolist()}):
                rows = np.flatnonzero(class_of == class_)
                run = self._counted.runs[view][class_]
                there = _find(run.keys, terms.keys.take(rows))
                np.add.at(self._sums[view][class_], there, weights.take(rows))

    def table(self) -> CountTable:
        """Return the counts with their weights."""
        self.count_waiting()
        if self._weighed != sum(self._counted.documents):
            raise _changed()
        views = self._settings.views
        runs = tuple(
            tuple(
                SortedCounts(
                    run.keys,
                    (*run.columns, narrow(sums), run.columns[view.column("documents")]),
                )
                for run, sums in zip(by_class, sums_by_class, strict=True)
            )
            for view, by_class, sums_by_class in zip(
                views, self._counted.runs, self._sums, strict=True
            )
        )
        settings = with_tfidf(self._settings, self._weighed)
        return replace(self._counted, settings=settings, runs=runs)


def settings_scored(settings: Settings, scoring: Scoring, n_documents: int) -> Settings:
    """
    Return the settings of counts that are scored so: with TF-IDF weights if need be.

    Raises:
        SettingsError: there are columns of categories or numbers beside such text.
    """
    if not event_model(scoring.score).weighs_again:
        return settings
    if settings.has_attributes:
        message = (
            f"the {scoring.score} score is of text alone; train without columns of "
            "categories and numbers"
        )
        raise SettingsError(message)
    return with_tfidf(settings, n_documents)


def with_tfidf(settings: Settings, n_documents: int) -> Settings:
    """Return settings of views that have TF-IDF weights, too, by the idf of so many."""
    views = tuple(
        view._replace(columns=(*view.columns, TFIDF, FROZEN)) for view in settings.views
    )
    return settings._replace(views=views, idf_documents=n_documents)


def _find(keys: Keys, wanted: Keys) -> NDArray[np.int64]:
    """Return the places of keys that must be there."""
    places = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
    if len(wanted) and not (len(keys) and (keys.take(places) == wanted).all()):
        raise _changed()
    return places


def _changed() -> TrainingError:
    message = (
        "the documents changed between the two passes that TF-IDF takes; train again"
    )
    return TrainingError(message)
