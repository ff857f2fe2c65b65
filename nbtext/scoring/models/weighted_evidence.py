"""
What the terms of weighted views say, by arrays: a table of evidence, and sums of it.

What a class's entry of a term says in `nbtext.scoring.models.weighted_terms` does not
depend on the document, unless that is left out of the counts (`contrast_sums`). So it
is computed for all entries once, and documents add it up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

import numpy as np

from nbtext.counts.room import Ranges, empty
from nbtext.scoring.models.arrays import Said, unit_length
from nbtext.scoring.models.registry import event_model
from nbtext.scoring.models.weighted_terms import LEAST_SIZE, SHARE, WEIGHT
from nbtext.settings.columns import UNIT
from nbtext.tokens.bags import sum_by_document

if TYPE_CHECKING:
    from nbtext.scoring.batch_model import BatchModel, Floats, FoundTerms, Scores
    from nbtext.scoring.models.weighted_terms import OnWeightedTerms, ViewWeight

RANGE: Final = 1 << 15
"""How many terms are dealt with at a time."""


def sums_of_evidence(model: BatchModel, documents: FoundTerms) -> Scores:
    """
    Return the scores of documents by an event model on weighted terms.

    Args:
        model: the counts, and how they are scored.
        documents: their terms.

    Returns:
        Shape (n_documents, n_classes); not scaled.
    """
    scores = documents.zeros(len(model.classes))
    for view, said in enumerate(model.once(_said)):
        if said is None:
            continue
        terms, places = documents.views[view], documents.places[view]
        x = unit_length(terms, places != said.table.n_terms)
        scores += said.sums(terms, places, x, len(model.classes))
        sizes = model.total(view, WEIGHT) / UNIT
        rest = sizes.sum() - sizes
        rest += model.scoring.smoothing * max(said.table.n_terms, 1)
        weight = _weight(model, view).view
        scores += weight * sum_by_document(x, terms.starts)[:, None] * np.log(rest)
    return scores


def _said(model: BatchModel) -> list[Said | None]:
    """Return what all entries of each view say, None if the view weighs nothing."""
    return [
        Said.by(model.terms[view], _evidence(model, view))
        if _weight(model, view).view
        else None
        for view in range(len(model.terms))
    ]


def _weight(model: BatchModel, view: int) -> ViewWeight:
    event = cast("OnWeightedTerms", event_model(model.scoring.score))
    return event.weight_of(model.settings.views[view], model.scoring)


def _evidence(model: BatchModel, view: int) -> Floats:
    """Return what the entries of a view say for a term that counts 1, (n_entries,)."""
    table, weight = model.terms[view], _weight(model, view)
    weights = table.columns[model.column(view, WEIGHT)]
    sizes = model.total(view, WEIGHT)
    # of a weight of 1/65535; so is a
    rates = sizes.sum() / np.maximum(sizes, LEAST_SIZE * UNIT)
    rates /= SHARE * len(sizes) * UNIT
    a = model.scoring.smoothing * UNIT
    says = empty(len(weights), np.float64)
    working = Ranges([table.starts, table.classes, weights, says])
    for start in range(0, table.n_terms, RANGE):
        starts = table.starts[start : min(start + RANGE, table.n_terms) + 1]
        part = slice(starts[0], starts[-1])
        of_entries = weights[part].astype(np.float64)
        # W_t of each term, for each of its entries
        wholes = np.add.reduceat(of_entries, starts[:-1] - starts[0])
        wholes = np.repeat(wholes, np.diff(starts))
        of_part = np.log((wholes + a) / (wholes - of_entries + a))
        if weight.own:
            of_entries *= rates.take(table.classes[part])
            of_part += weight.own * np.log1p(of_entries)
        says[part] = weight.view * of_part
        working.done(8 * len(of_part))
    working.let_go()
    return says
