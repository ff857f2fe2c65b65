"""
The norms of `wcnb`: sums of a complement's weights over the vocabulary, by arrays.

For each class they are sums over all terms; those terms that the class does not have
are a sum that all classes share, so that a class costs no more than its entries. Where
a document is left out, only its own terms change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from nbtext.scoring.models.arrays import known_terms, spread_entries, unit_length
from nbtext.scoring.models.contrast_sums import view_sums
from nbtext.scoring.models.weighted_terms import WEIGHT
from nbtext.scoring.stored_view import Entry, summed
from nbtext.scoring.tail import ChangesView
from nbtext.settings.columns import UNIT
from nbtext.tokens.bags import sum_by_document, unit_weights

if TYPE_CHECKING:
    from nbtext.scoring.batch_model import (
        BatchModel,
        Floats,
        FoundTerms,
        Labels,
        Scores,
    )
    from nbtext.scoring.model import Model

LEAST_NORM: Final = 1e-9
"""A smaller sum of weights is that of a vocabulary of one term: nothing is said."""


def normalised_sums(
    model: BatchModel, documents: FoundTerms, labels: Labels | None
) -> Scores:
    """
    Return the scores of documents, shape (n_documents, n_classes).

    Args:
        model: the counts.
        documents: their terms.
        labels: shape (n_documents,), the places of the classes that the documents are
            counted in, each of which is left out alone; None if none is.
    """
    scores = documents.zeros(len(model.classes))
    for view, (terms, places) in enumerate(documents):
        a = model.scoring.smoothing
        wholes = model.once(_wholes)[view].take(places)
        is_known = known_terms(model, view, documents, labels)
        if labels is not None:
            own = unit_weights(terms) * documents.copies_of(terms)
            wholes = np.maximum(wholes - own, 0)
        x = unit_length(terms, is_known)
        shared = sum_by_document(x * np.log(wholes / UNIT + a), terms.starts)
        sums = view_sums(model, view, documents, labels, has_owns=False).complements
        norms = (
            factors(model, view)
            if labels is None
            else _factors_left_out(model, view, documents, labels)
        )
        scores += norms * (sums - shared[:, None])
    return scores


def factors(model: BatchModel, view: int) -> Floats:
    """Return -V / (sum over all terms of L_tc) of each class, shape (n_classes,)."""
    n_terms = model.terms[view].n_terms
    sizes = model.total(view, WEIGHT)
    return _factors(model, model.once(_log_sums)[view], sizes.sum() - sizes, n_terms)


def factors_with_changes(counts: BatchModel, model: Model, view: int) -> Floats:
    """Return the same for an open model, whose changes are not in its file's counts."""
    log_sums = counts.once(_log_sums)[view]
    *stored, last = model.stored[view]
    if isinstance(last, ChangesView):
        log_sums = log_sums + _logs(model, view, model.found(view, last.keys))
        log_sums -= _logs(model, view, summed(stored, last.keys))
    column = model.settings.views[view].column(WEIGHT)
    sizes = np.array([of_class[column] for of_class in model.totals[view]])
    return _factors(counts, log_sums, sizes.sum() - sizes, model.n_terms(view))


def _logs(model: Model, view: int, found: dict[int, list[Entry]]) -> Floats:
    """Return the sum over some terms of ln(W_t - w_tc + a), by class."""
    column = model.settings.views[view].column(WEIGHT)
    weights = np.zeros((len(found), len(model.classes)))
    for row, entries in zip(weights, found.values(), strict=True):
        for class_, columns in entries:
            row[class_] = columns[column]
    others = weights.sum(axis=1, keepdims=True) - weights
    logs: Floats = np.log(others / UNIT + model.scoring.smoothing).sum(axis=0)
    return logs


def _factors(
    model: BatchModel, log_sums: Floats, others: Floats, n_terms: Floats | int
) -> Floats:
    """
    Return -V / (sum over all terms of L_tc), of the shape of its arguments.

    Args:
        model: the counts.
        log_sums: the sum over all terms of ln(W_t - w_tc + a).
        others: W - W_c, in units of 1/65535.
        n_terms: V.
    """
    a = model.scoring.smoothing
    norms = n_terms * np.log(others / UNIT + a * np.maximum(n_terms, 1)) - log_sums
    return np.where(norms > LEAST_NORM, n_terms / np.maximum(norms, LEAST_NORM), 0.0)


def _factors_left_out(
    model: BatchModel, view: int, documents: FoundTerms, labels: Labels
) -> Floats:
    """Return the factors where each document is left out, by document and class."""
    a = model.scoring.smoothing
    terms, places = documents.views[view], documents.places[view]
    table = model.terms[view]
    own = unit_weights(terms) * documents.copies_of(terms)
    is_known = known_terms(model, view, documents, labels)
    wholes = model.once(_wholes)[view].take(places)
    # without the document: a term that it alone has is gone from the sum
    remains = np.maximum(wholes - own, 0)
    before = np.log(wholes / UNIT + a)
    after = np.log(remains / UNIT + a) * is_known
    # first as if no class had the terms: shape (n_documents,)
    change = sum_by_document(after - before, terms.starts)
    log_sums = model.once(_log_sums)[view] + change[:, None]

    # rows: one for each class that a term of a document is in, whose sum is less
    rows = spread_entries(table, terms.starts, places)
    weights = table.columns[model.column(view, WEIGHT)].take(rows.entries)
    weights = weights.astype(np.int64)
    less = np.log(np.maximum(wholes.take(rows.terms) - weights, 0) / UNIT + a)
    is_own = rows.classes == labels.take(rows.documents)
    weights -= own.take(rows.terms) * is_own
    weights = np.maximum(remains.take(rows.terms) - np.maximum(weights, 0), 0)
    now_less = np.log(weights / UNIT + a) * is_known.take(rows.terms)
    rows.add(log_sums, now_less - less - (after - before).take(rows.terms))

    sizes = np.tile(model.total(view, WEIGHT), (len(labels), 1))
    sizes[np.arange(len(labels)), labels] -= sum_by_document(own, terms.starts)
    others = sizes.sum(axis=1, keepdims=True) - sizes
    n_terms = table.n_terms - sum_by_document(~is_known, terms.starts)
    return _factors(model, log_sums, others, n_terms[:, None])


def _wholes(model: BatchModel) -> list[Floats]:
    """Return for each view W_t of every term in units of 1/65535, (n_terms + 1,)."""
    return [
        table.sums(model.column(view, WEIGHT)).astype(np.float64)
        for view, table in enumerate(model.terms)
    ]


def _log_sums(model: BatchModel) -> list[Floats]:
    """Return for each view the sum over all terms of ln(W_t - w_tc + a), by class."""
    a = model.scoring.smoothing
    log_sums = []
    for view, table in enumerate(model.terms):
        wholes = model.once(_wholes)[view][:-1]
        logs = np.log(wholes / UNIT + a)
        # an entry's term: its number, as often as the term has entries
        terms = np.repeat(np.arange(table.n_terms), np.diff(table.starts[:-1]))
        weights = table.columns[model.column(view, WEIGHT)]
        less = np.log(np.maximum(wholes.take(terms) - weights, 0) / UNIT + a)
        changes = np.bincount(
            table.classes, less - logs.take(terms), minlength=len(model.classes)
        )
        log_sums.append(logs.sum() + changes)
    return log_sums
