"""
A model by arrays: the counts that scoring many documents looks up.

A count table or an open model file goes in; out comes what `nbtext.scoring.model` is
for one document: classes, totals and, for each view, the counts by term.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from functools import partial
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from nbtext.counts import CountTable, TermTable
    from nbtext.counts.correction_table import Correction
    from nbtext.exact import Sums
    from nbtext.parallel import Map
    from nbtext.scoring.batch_correction import BatchCorrection
    from nbtext.scoring.model import Model
    from nbtext.settings.columns import Column
    from nbtext.settings.reading import Settings
    from nbtext.settings.scoring import Scoring
    from nbtext.tokens import Terms

from nbtext.counts.room import is_in_file
from nbtext.counts.term_table import arrange_runs, restricted, subtract
from nbtext.exact import as_sums
from nbtext.scoring.models.registry import check_scoring, event_model
from nbtext.store import check_sound
from nbtext.store.corrections import read_correction
from nbtext.store.packing import stored_terms, unpack

Floats: TypeAlias = "NDArray[np.float64]"
Integers: TypeAlias = "NDArray[np.signedinteger]"

Labels: TypeAlias = "NDArray[np.int64]"
"""Shape (n_documents,), places of classes."""

Scores: TypeAlias = "NDArray[np.float64]"
"""Shape (n_documents,) for a score of one number, else (n_documents, n_classes)."""

Computed = TypeVar("Computed")


@dataclass(frozen=True, eq=False, repr=False)
class BatchModel:
    """
    What scoring many documents needs of a model.

    Attributes:
        settings: how documents are read.
        scoring: how counts become a score.
        classes: the names of the classes, sorted.
        documents: for each class, how many documents.
        totals: for each view, shape (n_classes, n_columns), the sum of each column; of
            numbers they are in `sums`.
        terms: for each view its terms.
        correction: what training has learnt beside the counts, None if there is none.
        sums: the exact sums of each view of numbers, by class.
    """

    settings: Settings
    scoring: Scoring
    classes: tuple[str, ...]
    documents: tuple[int, ...]
    totals: tuple[Floats, ...]
    terms: tuple[TermTable, ...]
    correction: BatchCorrection | None = None
    sums: dict[int, tuple[Sums, ...]] = field(default_factory=dict, repr=False)
    _computed: dict[Any, Any] = field(default_factory=dict, repr=False)
    _locks: dict[int, Any] = field(default_factory=dict, repr=False)

    def of_text(self) -> BatchModel:
        """Return the same model without the views of attributes, for event models."""
        return self.once(_of_text) if self.settings.has_attributes else self

    def column(self, view: int, column: Column) -> int:
        """Return the place of a column among those of a view."""
        return self.settings.views[view].column(column)

    def total(self, view: int, column: Column) -> Floats:
        """Return the sums of a column over the terms of a view, by class."""
        sums: Floats = self.totals[view][:, self.column(view, column)]
        return sums

    def once(self, compute: Callable[[BatchModel], Computed]) -> Computed:
        """
        Return what is computed from the counts, for all documents and threads once.

        Args:
            compute: a function of a module, so that it is the same each time.
        """
        key = compute, self.scoring
        # by process: in a forked one nobody is there to let go of what a thread held
        with self._locks.setdefault(os.getpid(), RLock()):
            if key not in self._computed:
                self._computed[key] = compute(self)
            computed: Computed = self._computed[key]
            return computed

    def scored_by(self, scoring: Scoring) -> BatchModel:
        """Return the same counts, to be scored otherwise."""
        return self if scoring == self.scoring else replace(self, scoring=scoring)

    def find(self, views: Sequence[Terms]) -> FoundTerms:
        """Find the terms of documents, of which there is a batch for each view."""
        places = [
            np.zeros(len(terms.keys), np.int64)  # of numbers, which are not looked up
            if number in self.sums
            else table.find(terms.keys)
            for number, (table, terms) in enumerate(zip(self.terms, views, strict=True))
        ]
        return FoundTerms(views, places, views[0].n_documents)


def _of_text(model: BatchModel) -> BatchModel:
    n_texts = model.settings.n_texts
    return replace(
        model,
        settings=model.settings.of_text(),
        totals=model.totals[:n_texts],
        terms=model.terms[:n_texts],
        sums={},
        _computed={},  # it has other views than what was computed so far
    )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FoundTerms:
    """
    Documents to be scored: their terms, and where the model has them.

    Attributes:
        views: for each view the terms, grouped by document.
        places: for each view, shape (n_terms,), each term's place in the model's
            `TermTable`; n_terms of the table for those that it does not know.
        n_documents: how many documents there are.
        copies: shape (n_documents,), how often each is counted, all of which is left
            out with it; None if once.
        kept: what event models keep of documents that they score in several ways, by
            view; None if nothing is to be kept.
    """

    views: Sequence[Terms]
    places: Sequence[Integers]
    n_documents: int
    copies: Integers | None = None
    kept: dict[int, Any] | None = field(default=None, compare=False, repr=False)

    def of_views(self, n_views: int) -> FoundTerms:
        """Return the same documents in the first views alone; there may be none."""
        return replace(self, views=self.views[:n_views], places=self.places[:n_views])

    def counted(self, copies: Integers | None) -> FoundTerms:
        """Return the same documents, which are counted so often."""
        return replace(self, copies=copies)

    @property
    def times_counted(self) -> Integers | int:
        """How often each is counted: 1, or shape (n_documents,)."""
        return 1 if self.copies is None else self.copies

    def copies_of(self, terms: Terms) -> Integers | int:
        """Return how often the document of each term is counted, shape (n_terms,)."""
        return 1 if self.copies is None else np.repeat(self.copies, terms.sizes)

    def zeros(self, *n_classes: int) -> Scores:
        """Return scores that are zero, one number a document or one a class."""
        return np.zeros((self.n_documents, *n_classes))

    def __iter__(self) -> Iterator[tuple[Terms, Integers]]:
        """Yield the terms and their places view by view."""
        return zip(self.views, self.places, strict=True)


def batch_model(
    settings: Settings,
    scoring: Scoring,
    classes: tuple[str, ...],
    documents: tuple[int, ...],
    totals: Sequence[Sequence[Sequence[int]]],
    terms: tuple[TermTable, ...],
) -> BatchModel:
    """
    Prepare counts for scoring many documents.

    Raises:
        SettingsError: the counts do not support the score.
    """
    check_scoring(scoring, settings, classes)
    sums = tuple(
        np.array([] if view.kind == "number" else by_class, np.float64).reshape(
            -1, len(view.columns)
        )
        for view, by_class in zip(settings.views, totals, strict=True)
    )
    return BatchModel(
        settings=settings,
        scoring=scoring,
        classes=classes,
        documents=documents,
        totals=sums,
        terms=terms,
        sums={
            number: tuple(map(as_sums, totals[number]))
            for number, view in settings.attributes
            if view.kind == "number"
        },
    )


def batch_model_of(table: CountTable, scoring: Scoring, map_: Map = map) -> BatchModel:
    """
    Prepare a count table for scoring many documents.

    Args:
        table: the counts.
        scoring: how they are scored.
        map_: deals with the views, or with the ranges of the only one.
    """
    totals = [[run.totals() for run in runs] for runs in table.runs]
    # never with both: threads would wait for one another
    has_many = len(table.runs) > 1
    arranged = partial(arrange_runs, map_=map if has_many else map_)
    terms = tuple((map_ if has_many else map)(arranged, table.runs))
    return batch_model(
        table.settings, scoring, table.classes, table.documents, totals, terms
    )


def of_documents(model: BatchModel, blocks: Sequence[Sequence[Terms]]) -> BatchModel:
    """
    Return a model that scores some documents as another does.

    Counts in files that are larger than memory are read once, in order, and of them
    only the documents' own terms are kept, if that is all that their scores rest on.

    Args:
        model: the counts.
        blocks: for each view the terms of some documents, block by block.
    """
    is_enough = event_model(model.scoring.score).reads_own_terms
    is_large = any(is_in_file(table.keys) for table in model.terms)
    if not is_large or not is_enough or model.settings.has_attributes:
        return model
    terms = []
    for table, *of_view in zip(model.terms, *blocks, strict=True):
        wanted = [np.unique(part.keys) for part in of_view]
        keys = np.unique(np.concatenate([table.keys[:0], *wanted]))
        terms.append(restricted(table, keys))
    return replace(model, terms=tuple(terms), _computed={})


def without(model: BatchModel, less: BatchModel) -> BatchModel:
    """
    Return the counts of a model less those of some of its documents.

    Columns of text that its scores do not rest on are left out.

    Args:
        model: the counts.
        less: what the documents have been counted to, with the model's classes.
    """
    pairs = zip(model.documents, less.documents, strict=True)
    totals = zip(model.totals, less.totals, strict=True)
    return replace(
        less,
        documents=tuple(whole - taken for whole, taken in pairs),
        totals=tuple(whole - taken for whole, taken in totals),
        terms=tuple(map(subtract, model.terms, less.terms, _columns_read(model))),
        sums={
            view: tuple(
                as_sums([*map(int.__sub__, whole, taken)])
                for whole, taken in zip(by_class, less.sums[view], strict=True)
            )
            for view, by_class in model.sums.items()
        },
    )


def _columns_read(model: BatchModel) -> Iterator[set[int] | None]:
    """Yield for each view the columns that scores rest on, by place; None for all."""
    event = event_model(model.scoring.score)
    for view in model.settings.views:
        if model.settings.has_attributes:  # which other event models score
            yield None
        else:
            columns = *event.columns(view), *event.further_columns(model.scoring)
            yield {view.column(column) for column in columns}


def open_batch_model(model: Model, counts: CountTable | None = None) -> BatchModel:
    """
    Arrange an open model's counts for scoring many documents.

    Args:
        model: the model.
        counts: the sum of its file's tables, if somebody has it already.

    Raises:
        ModelFileError: the file is damaged.
        SettingsError: the counts do not support the score.
    """
    file = model.file
    check_sound(file)
    if len(file.tables) > 1:
        table = counts or unpack(file)
        # of a model of text, the views of attributes are left out
        runs = table.runs[: len(model.settings.views)]
        table = replace(table, settings=model.settings, runs=runs)
        batch = batch_model_of(table, model.scoring)
    else:
        terms = tuple(
            stored_terms(file.tables[0], view)
            for view in range(len(model.settings.views))
        )
        batch = batch_model(
            model.settings,
            model.scoring,
            model.classes,
            model.documents,
            model.totals,
            terms,
        )
    correction = None if model.correction is None else read_correction(file)
    return batch if correction is None else corrected(batch, correction)


def corrected(model: BatchModel, correction: Correction) -> BatchModel:
    """Return a model whose scores are corrected."""
    from nbtext.scoring.batch_correction import batch_correction  # few models are

    if correction.classes != model.classes:
        correction = correction.of_classes(model.classes)
    return replace(model, correction=batch_correction(correction))
