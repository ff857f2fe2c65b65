"""The correction of many scores: `nbtext.scoring.correction` by arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from nbtext.counts import TermTable
    from nbtext.counts.correction_table import Correction
    from nbtext.tokens import Terms

from nbtext.counts.correction import AMOUNT_UNIT, BIAS, VALUE_UNIT
from nbtext.scoring.models.arrays import spread_entries
from nbtext.settings import UNIT
from nbtext.tokens.bags import unit_weights


@dataclass(frozen=True, slots=True)
class BatchCorrection:
    """
    A correction, for many documents.

    Attributes:
        slope: what the scores that it corrects are multiplied by.
        biases: shape (n_classes,), in nats.
        terms: for each view the values of terms, in one column.
    """

    slope: float
    biases: NDArray[np.float64]
    terms: tuple[TermTable, ...]

    def scores(self, views: Sequence[Terms]) -> NDArray[np.float64]:
        """
        Return what is added to the scores of documents.

        Args:
            views: for each view of text the terms of the documents.

        Returns:
            Shape (n_documents, n_classes).

        """
        scores = np.tile(self.biases, (views[0].n_documents, 1))
        # of a record's attributes, which come last, there is no correction
        for table, terms in zip(self.terms, views, strict=False):
            if table.n_terms:
                x = unit_weights(terms) / (UNIT * VALUE_UNIT)
                places = table.find(terms.keys)
                rows = spread_entries(table, terms.starts, places)
                values = table.columns[0].take(rows.entries)
                rows.add(scores, x.take(rows.terms) * values)
        scores /= self.slope
        return scores


def batch_correction(correction: Correction) -> BatchCorrection:
    """Arrange a correction for many documents."""
    return BatchCorrection(
        slope=correction.info.slope,
        biases=np.array(correction.biases) * (BIAS / AMOUNT_UNIT),
        terms=correction.terms(),
    )
