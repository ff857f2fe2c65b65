"""
The weighted score, for two classes: log-odds weighted by what they say.

In each view, with n_tc the count of term t in class c, N_c their sum over the terms,
and n_t how often t occurs in the document:

    r_t = ln((n_t1 / N_1 + h) / (n_t0 / N_0 + h)),   h = 2 a / (N_0 + N_1)
    g_t = 1 + ln(n_t) / 4
    F   = sum over the views of  (sum of g_t r_t |r_t|) / (sum of g_t |r_t| + k)

over the known terms; the log-odds of the second class are s F + b, with s and b
fitted. A view's share of F is the mean of its r_t, each weighted by its own size, with
k nats more that say nothing: they keep a few terms from being believed like many.
Held-out scores choose k. Each repeat of a term adds to its weight, by a logarithm, so
that no term rules a document by being repeated; docs/method.md, section 3, says why.
"""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING, Final

from nbtext.counts.calibration import Prior
from nbtext.scoring.models.evidence import Evidence
from nbtext.scoring.models.parameters import Parameter
from nbtext.scoring.models.two_classes import TwoClasses, log_odds_of_terms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nbtext.scoring.batch_model import (
        BatchModel,
        Floats,
        FoundTerms,
        Labels,
        Scores,
    )
    from nbtext.scoring.model import Model
    from nbtext.settings.scoring import Scoring
    from nbtext.tokens import Terms
    from nbtext.tokens.bag import TermCounts

REPEATS: Final = 0.25
"""What a term's weight grows by when its occurrences become e times as many."""

STRENGTH: Final = Parameter(
    "strength", 8.0, least=1e-6, most=1e6, choices=(8.0, 4.0, 2.0)
)
"""k, in nats (docs/experiments/008-text-of-two-classes.md)."""


class Weighted(TwoClasses):
    """The weighted score."""

    name = "weighted"
    about = "the mean of the terms, weighted by what they say (two classes)"
    smoothing = 0.1
    expected = Prior(slope=0.7, precision=5.0, offset=1.0)
    parameters = (STRENGTH,)
    reads_ngrams = True
    can_be_corrected = True

    def view_evidence(self, model: Model, view: int, terms: TermCounts) -> Evidence:
        """Return what one view's terms say, and their weights as the divisor."""
        log_odds = log_odds_of_terms(model, view, terms, log)
        smoothing = weights = model.scoring.parameter(STRENGTH.name)
        rows = []
        for key, r in log_odds.items():
            weight = _growth(model.scoring, terms[key]) * abs(r)
            weights += weight
            if r:
                rows.append((key, 0, weight * r))
        known = sum(terms[key] for key in log_odds)
        name = model.settings.views[view].name
        return Evidence(name, rows, divisor=weights, known=known, smoothing=smoothing)

    def many_by(
        self,
        model: BatchModel,
        scorings: Sequence[Scoring],
        documents: FoundTerms,
        labels: Labels | None = None,
    ) -> list[Scores]:
        """Return the scores of many documents by scorings of several strengths."""
        import numpy as np

        from nbtext.scoring.models.arrays import odds_left_out
        from nbtext.tokens.bags import sum_by_document

        scores = [documents.zeros() for _ in scorings]
        for view, (terms, places) in enumerate(documents):
            if labels is None:
                r = model.once(_log_odds)[view].take(places)
            else:
                r = odds_left_out(model, view, documents, labels)
                np.log(r, out=r)
            weights = np.abs(r)
            weights *= _growths(model.scoring, terms)
            sums = sum_by_document(weights, terms.starts)
            r *= weights
            evidence = sum_by_document(r, terms.starts)
            for score, scoring in zip(scores, scorings, strict=True):
                score += evidence / (sums + scoring.parameter(STRENGTH.name))
        return scores


def _growth(scoring: Scoring, n: int) -> float:
    """Return g, by which a term that occurs n times weighs more than one."""
    return 1.0 if scoring.counting == "once" else 1.0 + REPEATS * log(n)


def _growths(scoring: Scoring, terms: Terms) -> Floats:
    """Return g of each term, shape (n_terms,)."""
    import numpy as np

    if scoring.counting == "once":
        return np.ones(len(terms.counts))
    growths: Floats = np.log(terms.counts, dtype=np.float64)
    growths *= REPEATS
    growths += 1.0
    return growths


def _log_odds(model: BatchModel) -> list[Floats]:
    """Return for each view what every term says, in nats, shape (n_terms + 1,)."""
    import numpy as np

    from nbtext.scoring.models.arrays import odds_of_terms

    return [np.log(odds_of_terms(model, view)) for view in range(len(model.terms))]


MODEL: Final = Weighted()
