"""The correction of many scores: `nbtext.scoring.correction` by arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from nbtext.counts.correction_table import Correction
    from nbtext.tokens import Terms

from nbtext.counts.correction import AMOUNT_UNIT, BIAS, VALUE_UNIT
from nbtext.scoring.models.arrays import Said
from nbtext.settings.columns import UNIT
from nbtext.tokens.bags import unit_weights


class BatchCorrection(NamedTuple):
    """
    A correction, for many documents.

    Attributes:
        slope: what the scores that it corrects are multiplied by.
        biases: shape (n_classes,), in nats.
        said: for each view what the values of terms say.
    """

    slope: float
    biases: NDArray[np.float64]
    said: tuple[Said, ...]

    def add_to(self, scores: NDArray[np.float64], views: Sequence[Terms]) -> None:
        """
        Correct the scores of documents.

        Args:
            scores: of one number, which is the second class's, or one a class.
            views: for each view of text the terms of the documents.
        """
        said = self.scores(views)
        scores += said[:, 1] - said[:, 0] if scores.ndim == 1 else said

    def scores(self, views: Sequence[Terms]) -> NDArray[np.float64]:
        """Return what is added for each class, shape (n_documents, n_classes)."""
        scores = np.tile(self.biases, (views[0].n_documents, 1))
        # of a record's attributes, which come last, there is no correction
        for said, terms in zip(self.said, views, strict=False):
            if said.table.n_terms:
                x = unit_weights(terms) / (UNIT * VALUE_UNIT)
                places = said.table.find(terms.keys)
                scores += said.sums(terms, places, x, len(self.biases))
        scores /= self.slope
        return scores


def batch_correction(correction: Correction) -> BatchCorrection:
    """Arrange a correction for many documents."""
    return BatchCorrection(
        slope=correction.info.slope,
        biases=np.array(correction.biases) * (BIAS / AMOUNT_UNIT),
        said=tuple(
            Said.by(table._replace(columns=()), table.columns[0].astype(np.float64))
            for table in correction.terms
        ),
    )
