"""
Weight-normalised complement naive Bayes on documents of unit length.

The weights of a complement are divided by their sum over the vocabulary, so that no
class has larger ones for having fewer documents or more dependent terms (Rennie, Shih,
Teevan and Karger 2003, section 3.2, table 4). In each view, with x_t, w_tc, W_t, W_c, W
and V as in `nbtext.scoring.models.weighted_terms`:

    L_tc = ln((W_t - w_tc + a) / (W - W_c + a V))
    z_c  = sum over the views of  V (sum of x_t L_tc) / (sum over all terms of L_tc)

The factor V, which the paper does not have, makes the mean of a view's weights 1, and
not their sum; so views of many and of few terms weigh the same, and scores have a size
that can be calibrated. The posterior is softmax(s z), with s fitted.
"""

from __future__ import annotations

from functools import lru_cache
from math import log, sqrt
from typing import TYPE_CHECKING, Final

from nbtext.counts.calibration import Prior
from nbtext.scoring.models.weighted_terms import WEIGHT, OnWeightedTerms
from nbtext.settings.columns import UNIT
from nbtext.tokens.bag import log_count

if TYPE_CHECKING:
    from nbtext.scoring.batch_model import BatchModel, FoundTerms, Labels, Scores
    from nbtext.scoring.model import Model
    from nbtext.scoring.models.evidence import Evidence
    from nbtext.tokens.bag import TermCounts


class NormalisedComplement(OnWeightedTerms):
    """Weight-normalised complement naive Bayes."""

    name = "wcnb"
    about = "complement naive Bayes with normalised weights"
    smoothing = 0.03
    expected = Prior(slope=5.0, precision=1.0)
    reads_vocabulary = True

    def view_evidence(self, model: Model, view: int, terms: TermCounts) -> Evidence:
        """Return what complements say, times factors for which all terms are read."""
        part = super().view_evidence(model, view, terms)
        if not part.rest:
            return part
        # without histograms, which say nothing here and have no hash
        factors = _factors_of(model.as_stored()._replace(more_histograms=None))[view]
        a = model.scoring.smoothing
        column = model.settings.views[view].column(WEIGHT)
        found = model.found(view, terms)
        logs = {key: log_count(terms[key]) for key in found}
        length = sqrt(sum(value * value for value in logs.values()))
        # ln(W_t + a) of every class, which no longer cancels where factors differ
        shared = sum(
            logs[key] / length * log(sum(row[column] for _, row in entries) / UNIT + a)
            for key, entries in found.items()
        )
        rows = [
            (key, class_, factors[class_] * says) for key, class_, says in part.terms
        ]
        rest = [
            factor * (value - shared)
            for factor, value in zip(factors, part.rest, strict=True)
        ]
        return part._replace(terms=rows, rest=rest)

    def many(
        self, model: BatchModel, documents: FoundTerms, labels: Labels | None
    ) -> Scores:
        """Return the scores of many documents."""
        from nbtext.scoring.models.complement_norms import normalised_sums

        return normalised_sums(model, documents, labels)


@lru_cache(maxsize=1)
def _factors_of(model: Model) -> list[list[float]]:
    """Return for each view, for each class, -V / (sum over all terms of L_tc)."""
    from nbtext.scoring.batch_model import open_batch_model
    from nbtext.scoring.models.complement_norms import factors_with_changes

    counts = open_batch_model(model)
    return [
        factors_with_changes(counts, model, view).tolist()
        for view in range(len(counts.terms))
    ]


MODEL: Final = NormalisedComplement()
