"""
Records by the batch: `nbtext.scoring.mixed` by arrays.

What scores attributes is imported where there are any: most documents have none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from nbtext.scoring.batch_model import BatchModel, FoundTerms, Labels, Scores
    from nbtext.settings.scoring import Scoring

from nbtext.scoring.models.arrays import normalised
from nbtext.scoring.models.registry import event_model
from nbtext.tokens.bags import sum_by_document


def scores_by(
    model: BatchModel,
    scorings: Sequence[Scoring],
    documents: FoundTerms,
    labels: Labels | None = None,
) -> list[Scores]:
    """
    Return what is fitted of documents, by each scoring: of text, unless all is one sum.

    Args:
        model: the counts.
        scorings: how to score, all by the event model of the model's own scoring.
        documents: the terms.
        labels: shape (n_documents,), the places of the classes that the documents are
            counted in, each of which is left out alone; None if none is.
    """
    event, settings = event_model(model.scoring.score), model.settings
    of_text = documents.of_views(settings.n_texts)
    scores = event.many_by(model.of_text(), scorings, of_text, labels)
    if event.is_textbook and settings.has_attributes:
        from nbtext.scoring.attributes.arrays import attribute_scores

        more = attribute_scores(model, documents, labels)
        scores = [of_scoring + more for of_scoring in scores]
    return scores


def with_attributes(
    posterior: Scores,
    model: BatchModel,
    documents: FoundTerms,
    labels: Labels | None = None,
) -> Scores:
    """
    Return log posteriors of records, from those of their text.

    Args:
        posterior: shape (n_documents, n_classes), in nats.
        model: the counts.
        documents: the terms.
        labels: as for `scores_by`.

    Returns:
        The same shape; minus infinity throughout where no class is possible.
    """
    from nbtext.scoring.attributes.arrays import attribute_scores

    joint = posterior + attribute_scores(model, documents, labels)
    possible = is_possible(joint)
    joint[possible] = normalised(joint[possible])
    return joint


def is_possible(joint: Scores) -> NDArray[np.bool_]:
    """Return whether each record is possible in any class."""
    possible: NDArray[np.bool_] = joint.max(axis=1) > -np.inf
    return possible


def known_attributes(
    model: BatchModel, documents: FoundTerms, known: Sequence[NDArray[np.bool_]]
) -> NDArray[np.int64]:
    """
    Return how many attributes of each record the model can tell something of.

    Args:
        model: the counts.
        documents: the terms.
        known: for each view, shape (n_terms,), whether the model knows each term.
    """
    from nbtext.scoring.attributes.arrays import known_numbers

    found = known_numbers(model, documents)
    for number, view in model.settings.attributes:
        if view.kind == "value":
            terms = documents.views[number]
            found += sum_by_document(terms.counts * known[number], terms.starts)
    return found
