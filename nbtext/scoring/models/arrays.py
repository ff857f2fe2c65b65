"""
Operations on arrays that several event models are made of.

The terms of a batch of documents stand one below the other, grouped by document
(`nbtext.tokens.bags.Terms`); a model's entries, the counts of a term in a class, stand
grouped by term (`nbtext.counts.term_table.TermTable`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from nbtext.counts.term_table import take_pairs
from nbtext.scoring.models.damping import damping
from nbtext.scoring.models.evidence import counted_column
from nbtext.tokens.bag import LOG_UNIT
from nbtext.tokens.bags import log_counts, sum_by_document
from nbtext.tokens.engine import engine

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nbtext.counts import TermTable
    from nbtext.scoring.batch_model import (
        BatchModel,
        Floats,
        FoundTerms,
        Integers,
        Labels,
        Scores,
    )
    from nbtext.settings.scoring import Scoring
    from nbtext.tokens import Terms


def _is_shared(model: BatchModel) -> list[NDArray[np.bool_]]:
    """
    Return for each view whether each term is in two documents or more.

    Shape (n_terms + 1,). The others are unknown once their document is left out.
    """
    return [
        np.zeros(1, np.bool_)  # numbers are no terms
        if model.settings.views[view].kind == "number"
        else table.sums(model.column(view, "documents")) > 1
        for view, table in enumerate(model.terms)
    ]


def known_terms(
    model: BatchModel, view: int, documents: FoundTerms, labels: Labels | None
) -> NDArray[np.bool_]:
    """
    Return whether the model knows each term of documents in a view, shape (n_terms,).

    Args:
        model: the counts.
        view: the number of the view.
        documents: the documents' terms.
        labels: the classes that the documents are counted in; a term that is in its
            document alone, and in its copies, is unknown then. None if none is.
    """
    places = documents.places[view]
    is_known: NDArray[np.bool_]
    if labels is None:
        is_known = places != model.terms[view].n_terms
    elif documents.copies is None:
        is_known = model.once(_is_shared)[view].take(places)
    else:
        copies = documents.copies_of(documents.views[view])
        is_known = model.once(_n_documents)[view].take(places) > copies
    return is_known


def _n_documents(model: BatchModel) -> list[Integers]:
    """Return for each view in how many documents each term is, (n_terms + 1,)."""
    return [
        table.sums(model.column(view, "documents"))
        for view, table in enumerate(model.terms)
    ]


def damped_times(scoring: Scoring, terms: Terms) -> NDArray[np.integer] | Floats:
    """Return what each term of documents counts by a scoring's damping, (n_terms,)."""
    damped = damping(scoring.counting)
    if damped.unit == LOG_UNIT:
        return log_counts(terms.counts) / LOG_UNIT
    return np.minimum(terms.counts, damped.most) if damped.most else terms.counts


def damped_counts(model: BatchModel) -> list[NDArray[np.integer] | Floats]:
    """Return for each view the damped count of every entry, shape (n_entries,)."""
    damped = damping(model.scoring.counting)
    counts = []
    for view, table in zip(model.settings.views, model.terms, strict=True):
        places = damped.places(view)
        total: NDArray[Any] = table.columns[places[0]]
        if len(places) > 1:
            total = damped.factors[0] * total.astype(np.int64)
            for factor, place in zip(damped.factors[1:], places[1:], strict=True):
                total += factor * table.columns[place].astype(np.int64)
            np.maximum(total, 0, out=total)  # as `Damping.count_of` does
        counts.append(total if damped.unit == 1 else total / damped.unit)
    return counts


def damped_total(model: BatchModel, view: int) -> Floats:
    """Return the sums of damped counts over the terms of a view, by class."""
    damped = damping(model.scoring.counting)
    total: Floats = np.zeros(len(model.classes))
    for factor, column in zip(damped.factors, damped.columns, strict=True):
        total += factor * model.total(view, column)
    return np.maximum(total, 0) / damped.unit


def odds_of_terms(model: BatchModel, view: int) -> Floats:
    """
    Return for every term of a view the odds of the second of two classes.

    That is (n_1 / N_1 + h) / (n_0 / N_0 + h) with h = 2 a / (N_0 + N_1), of shape
    (n_terms + 1,); 1 for the unknown term.
    """
    column = counted_column(model.scoring)
    counts = model.terms[view].pairs(model.column(view, column))
    sizes = np.maximum(model.total(view, column), 1)
    h = 2 * model.scoring.smoothing / (sizes[0] + sizes[1])
    odds: Floats = counts[:, 1] / sizes[1] + h
    odds /= counts[:, 0] / sizes[0] + h
    return odds


def odds_left_out(
    model: BatchModel, view: int, documents: FoundTerms, labels: Labels
) -> Floats:
    """
    Return the odds that each document's terms have where it alone was not counted.

    Args:
        model: the counts, the documents' own among them.
        view: the number of the view.
        documents: the documents' terms.
        labels: shape (n_documents,), the places of their classes.

    Returns:
        Shape (n_terms,); 1 for terms that no other document has.
    """
    terms, places = documents.views[view], documents.places[view]
    times = damped_times(model.scoring, terms) * documents.copies_of(terms)
    lengths = terms.sizes
    # sizes: (2, n_documents), N_c less the document's own
    sizes = np.empty((2, len(labels)))
    sizes[:] = model.total(view, counted_column(model.scoring))[:, None]
    sizes[labels, np.arange(len(labels))] -= sum_by_document(times, terms.starts)
    sizes = np.maximum(sizes, 1)
    h = 2 * model.scoring.smoothing / (sizes[0] + sizes[1])

    # counts: (n_terms, 2), seen flat to take each term's own from its class
    counts = take_pairs(model.once(_pairs)[view], places)
    own = np.repeat(labels, lengths) + np.arange(0, counts.size, 2)
    counts.reshape(-1)[own] -= times
    first, second = counts[:, 0], counts[:, 1]
    # h divided out of both
    odds: Floats = second * np.repeat(1 / (sizes[1] * h), lengths)
    odds += 1
    divisor = first * np.repeat(1 / (sizes[0] * h), lengths)
    divisor += 1
    odds /= divisor
    return odds


def means_left_out(
    model: BatchModel, documents: FoundTerms, labels: Labels, least: float
) -> Scores:
    """
    Return the sum over the views of the means of what terms say, by the compiled loop.

    It does what `odds_left_out` and `means` specify, copies included.

    Args:
        model: the counts, the documents' own among them.
        documents: the documents' terms.
        labels: shape (n_documents,), the places of their classes.
        least: odds below it, and above its reciprocal, count nothing.
    """
    from nbtext import _compiled

    scores = documents.zeros()
    copies = np.empty(len(labels), np.int64)
    copies[:] = documents.times_counted
    for view, (terms, places) in enumerate(documents):
        pairs = model.once(_pairs)[view]
        _compiled.add_means_left_out(
            pairs,
            pairs.itemsize,
            places.astype(np.int64, copy=False),
            damped_times(model.scoring, terms).astype(np.int64),
            terms.starts,
            labels,
            copies,
            model.total(view, counted_column(model.scoring)).copy(),
            model.scoring.smoothing,
            least,
            scores,
        )
    return scores


def _pairs(model: BatchModel) -> list[Integers]:
    """Return for each view every term's counts in both classes, (n_terms + 1, 2)."""
    column = counted_column(model.scoring)
    return [
        table.pairs(model.column(view, column))
        for view, table in enumerate(model.terms)
    ]


def means(values: Floats, times: NDArray[np.integer] | Floats, terms: Terms) -> Scores:
    """
    Return the mean of each document's values that are not zero; zero if all are.

    Args:
        values: shape (n_terms,), what each term says.
        times: shape (n_terms,), how often it says so.
        terms: the terms, grouped by document.
    """
    n_kept = sum_by_document(times * (values != 0), terms.starts)
    sums: Scores = sum_by_document(values * times, terms.starts)
    sums /= np.maximum(n_kept, 1)
    return sums


def unit_length(terms: Terms, is_known: NDArray[np.bool_]) -> Floats:
    """Return the documents' vectors of ln(1 + n) of known terms, at unit length."""
    logs = log_counts(terms.counts)
    logs *= is_known
    squares = sum_by_document(logs * logs, terms.starts)
    lengths = np.sqrt(np.maximum(squares, 1))
    unit: Floats = logs / np.repeat(lengths, np.diff(terms.starts))
    return unit


class Spread(NamedTuple):
    """
    The entries of the terms of documents, one row for each (term, entry).

    Attributes:
        terms: shape (n_rows,), which term of the batch.
        entries: shape (n_rows,), which entry of the table.
        classes: shape (n_rows,), the entry's class.
        documents: shape (n_rows,), the term's document.
    """

    terms: NDArray[np.int64]
    entries: NDArray[np.int64]
    classes: Integers
    documents: NDArray[np.int64]

    def take(self, rows: NDArray[np.int64]) -> Spread:
        """Return some of the rows."""
        return Spread(
            self.terms.take(rows),
            self.entries.take(rows),
            self.classes.take(rows),
            self.documents.take(rows),
        )

    def add(self, scores: Scores, values: Floats) -> None:
        """Add a value for each row to its document's score of its class."""
        n_documents, n_classes = scores.shape
        cells = self.documents * n_classes + self.classes
        sums = np.bincount(cells, values, minlength=n_documents * n_classes)
        scores += sums.reshape(n_documents, n_classes)


def spread_entries(
    table: TermTable, starts: NDArray[np.int64], places: Integers
) -> Spread:
    """
    Put the entries of all terms of documents one below the other.

    Args:
        table: the terms of the view.
        starts: shape (n_documents + 1,), where each document's terms begin.
        places: shape (n_terms,), the terms' places in the table.
    """
    first = table.starts.take(places)
    lengths = table.starts.take(places + 1) - first
    # a row's entry: its number, less that of its term's first row, plus its first entry
    begin = np.cumsum(lengths) - lengths
    terms = np.repeat(np.arange(len(places)), lengths)
    entries = np.arange(len(terms)) + (first - begin).take(terms)
    documents = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    return Spread(terms, entries, table.classes.take(entries), documents.take(terms))


class Said(NamedTuple):
    """
    What every entry of a view says: a table of evidence.

    Attributes:
        table: the terms of the view.
        classes: shape (n_entries,), each entry's class.
        values: shape (n_entries,), what it says for its class if the term counts 1.
    """

    table: TermTable
    classes: NDArray[np.uint16]
    values: Floats

    @classmethod
    def by(cls, table: TermTable, values: Floats) -> Said:
        """Return what the entries of a table say."""
        return cls(table, table.classes.astype(np.uint16, copy=False), values)

    def sums(self, terms: Terms, places: Integers, x: Floats, n_classes: int) -> Scores:
        """
        Return what documents add up to: of each term x times what its entries say.

        Args:
            terms: those of the documents.
            places: shape (n_terms,), where the table has them.
            x: shape (n_terms,), how much each counts.
            n_classes: how many classes there are.

        Returns:
            Shape (n_documents, n_classes). It is the same to the bit from C and from
            arrays, which add in the same order.
        """
        sums = np.zeros((terms.n_documents, n_classes))
        if engine().is_compiled:
            from nbtext import _compiled

            _compiled.sum_entries(
                len(self.table.starts),
                self.table.starts,
                self.classes,
                self.values,
                terms.starts,
                places.astype(np.int64, copy=False),
                x,
                sums,
            )
        else:
            rows = spread_entries(self.table, terms.starts, places)
            rows.add(sums, x.take(rows.terms) * self.values.take(rows.entries))
        return sums


def softplus(x: Floats) -> Floats:
    """Return ln(1 + exp(x)), without overflow."""
    return np.maximum(x, 0.0) + np.log1p(np.exp(-np.abs(x)))


def by_class(scores: Scores) -> Scores:
    """Return scores of one number as the second class's, beside 0 of the first."""
    return np.stack([np.zeros_like(scores), scores], axis=1)


def normalised(scores: Scores) -> Scores:
    """
    Return scores less the logarithm of the sum of their exponentials, by row.

    A row that is minus infinity throughout gives the result of equal scores.
    """
    impossible = np.isneginf(scores).all(axis=-1, keepdims=True)
    if impossible.any():
        scores = np.where(impossible, 0.0, scores)
    # the best one's own term is 1; without it the sum does not round to certainty
    best = scores.argmax(axis=-1)[..., None]
    shifted = scores - np.take_along_axis(scores, best, axis=-1)
    terms = np.exp(shifted)
    np.put_along_axis(terms, best, 0.0, axis=-1)
    shifted -= np.log1p(terms.sum(axis=-1, keepdims=True))
    return shifted
