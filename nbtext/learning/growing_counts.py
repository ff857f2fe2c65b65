"""
Counts in memory that grow by one document at a time.

In: the counts of a model, and those of all documents that may be learnt, so that every
term has its place from the beginning. A document is looked up and counted by arrays;
what is found is what `nbtext.scoring.model.Model` looks up in a file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

    from nbtext.counts import SortedCounts, TermTable
    from nbtext.counts.histograms import ByClass
    from nbtext.scoring.stored_view import Entry
    from nbtext.settings.views import View
    from nbtext.tokens import Terms

from nbtext.counts.histograms import ChangingHistograms
from nbtext.counts.term_table import arrange_runs, entries_of
from nbtext.scoring.models.arrays import spread_entries
from nbtext.scoring.stored_view import Stored
from nbtext.tokens.bags import further_columns


class GrowingView:
    """
    The counts of one view.

    Attributes:
        new_terms: how many distinct terms more there are than at first.
        histograms: how its histograms have changed, None if they are not kept.
    """

    def __init__(
        self,
        view: View,
        runs: Sequence[SortedCounts],
        to_learn: Sequence[SortedCounts],
        classes: Sequence[str],
        *,
        keeps_histograms: bool,
    ) -> None:
        """
        Arrange counts; of what is to be learnt there is nothing yet.

        Args:
            view: how documents are read.
            runs: for each class, the counts of the model and of all documents.
            to_learn: for each class, those of all documents.
            classes: the names of the classes.
            keeps_histograms: whether they are kept.
        """
        self.new_terms = 0
        self.histograms = ChangingHistograms(view) if keeps_histograms else None
        self._view = view
        self._classes = classes
        self._table: TermTable = arrange_runs(runs)
        part = arrange_runs(to_learn)
        rows = entries_of(self._table, self._table.find(part.keys[:-1]), part)
        for column, values in zip(self._table.columns, part.columns, strict=True):
            column[rows] -= values.astype(column.dtype)

    def found(self, terms: Terms, places: NDArray[np.int64]) -> dict[int, list[Entry]]:
        """
        Return the counts of those terms of a document that are known.

        Args:
            terms: the document's.
            places: shape (n_classes,), where each class is among those to be told.

        Returns:
            Key to the term's counts by class, in the order of the keys.
        """
        table = self._table
        spread = spread_entries(table, terms.starts, table.find(terms.keys))
        columns = [column.take(spread.entries) for column in table.columns]
        there = np.flatnonzero(sum((column != 0 for column in columns), np.zeros(1)))
        keys = terms.keys.take(spread.terms.take(there)).tolist()
        of_class = places.take(spread.classes.take(there)).tolist()
        rows = zip(*(column.take(there).tolist() for column in columns), strict=True)
        found: dict[int, list[Entry]] = {}
        for key, class_, row in zip(keys, of_class, rows, strict=True):
            found.setdefault(key, []).append((class_, row))
        return found

    def add(self, terms: Terms, class_: int) -> list[int]:
        """
        Count a document.

        Args:
            terms: its terms, which have places.
            class_: the place of its class among all of them.

        Returns:
            What it has added to the sum of each column.
        """
        before = self._by_name(terms)
        table = self._table
        spread = spread_entries(table, terms.starts, table.find(terms.keys))
        of_term = table.columns[self._view.column("documents")].take(spread.entries)
        known = np.bincount(spread.terms, of_term, minlength=len(terms.keys))
        self.new_terms += int((known == 0).sum())
        rows = spread.entries[spread.classes == class_]
        values = [
            terms.counts,
            np.ones(len(terms.keys), np.int64),
            *further_columns(terms, self._view.columns),
        ]
        for column, added in zip(table.columns, values, strict=True):
            column[rows] += added.astype(column.dtype)
        if self.histograms is not None:
            for counts in before.values():
                self.histograms.enter(counts, -1)
            for counts in self._by_name(terms).values():
                self.histograms.enter(counts, 1)
        return [int(added.sum(dtype=np.int64)) for added in values]

    def changed_histograms(self) -> ByClass:
        """Return how its histograms have changed."""
        return {} if self.histograms is None else self.histograms.by_class()

    def _by_name(self, terms: Terms) -> dict[int, dict[str, tuple[int, ...]]]:
        """Return counts of terms by names of classes, if histograms are kept."""
        if self.histograms is None:
            return {}
        found = self.found(terms, np.arange(len(self._classes)))
        return {
            key: {self._classes[class_]: row for class_, row in entries}
            for key, entries in found.items()
        }


class FoundCounts(Stored):
    """The counts of the terms of one document, as a model looks them up."""

    is_signed = False

    def __init__(self, found: dict[int, list[Entry]]) -> None:
        self._found = found

    def found(self, keys: Collection[int]) -> dict[int, list[Entry]]:
        """Return the counts of those terms that are here, in the order of the keys."""
        known = self._found
        return {key: known[key] for key in keys if key in known}
