"""
Mean products of documents' vectors with those of all that are counted, by arrays.

`nbtext.learning.correction_change.usual_product` is this for one document.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from nbtext.scoring.batch_model import BatchModel
    from nbtext.tokens import Terms

from nbtext.learning.visits import weighted_views
from nbtext.settings.columns import UNIT
from nbtext.tokens.bags import sum_by_document, unit_weights

LOW: Final = 24
"""Sums of weights are multiplied in two parts, of which the lower has so many bits:
products of the parts add up in 64 bits whatever a document's length."""


def usual_products(model: BatchModel, views: Sequence[Terms]) -> list[float]:
    """
    Return what the vectors of documents usually give, multiplied with another one.

    Returns:
        For each document the mean of the products.
    """
    totals = [0] * views[0].n_documents
    for view, of_all in zip(
        weighted_views(model.settings), model.once(sums_of_weights), strict=True
    ):
        terms = views[view]
        weights = unit_weights(terms)
        others = of_all.take(model.terms[view].find(terms.keys))
        high = sum_by_document(weights * (others >> LOW), terms.starts).tolist()
        low = sum_by_document(
            weights * (others & ((1 << LOW) - 1)), terms.starts
        ).tolist()
        totals = [
            total + (more << LOW) + less
            for total, more, less in zip(totals, high, low, strict=True)
        ]
    n_documents = max(sum(model.documents), 1)
    return [total / (n_documents * UNIT * UNIT) for total in totals]


def sums_of_weights(model: BatchModel) -> list[NDArray[np.int64]]:
    """Return for each view that has weights their sums by term; 0 for the sentinel."""
    return [
        model.terms[view].sums(model.column(view, "weight"))
        for view in weighted_views(model.settings)
    ]
