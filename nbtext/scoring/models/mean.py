"""
The mean score, for two classes: the mean log-odds of the terms that say something.

In each view, with n_tc the count of term t in class c, N_c their sum over the terms,
and n_t how often t occurs in the document:

    theta_tc = n_tc / N_c + h,   h = 2 a / (N_0 + N_1)
    r_t      = ln(theta_t1 / theta_t0)
    F        = sum over the views of  (sum of n_t r_t) / (sum of n_t)

over the known terms with |r_t| >= min_evidence; the log-odds of the second class are
s F + b, with s and b fitted. It is multinomial naive Bayes (McCallum and Nigam 1998)
without its prior, which b includes, and with its sum divided by the number of terms;
docs/method.md, section 3, says why.
"""

from __future__ import annotations

from math import exp, log
from typing import TYPE_CHECKING, Final

from nbtext.counts.calibration import Prior
from nbtext.scoring.models.evidence import Evidence
from nbtext.scoring.models.parameters import Parameter
from nbtext.scoring.models.two_classes import TwoClasses, log_odds_of_terms
from nbtext.tokens.engine import engine

if TYPE_CHECKING:
    from nbtext.scoring.batch_model import (
        BatchModel,
        Floats,
        FoundTerms,
        Labels,
        Scores,
    )
    from nbtext.scoring.model import Model
    from nbtext.settings.scoring import Scoring
    from nbtext.tokens.bag import TermCounts


MIN_EVIDENCE: Final = "min_evidence"
"""The parameter: the least log-odds of a term that counts, in nats."""

MOST_EVIDENCE: Final = 700.0
"""No term says as much, in nats; what is not much more has no exponential."""


class Mean(TwoClasses):
    """The mean score."""

    name = "mean"
    about = "the mean of the telling terms (two classes)"
    smoothing = 0.01
    expected = Prior(slope=0.35, precision=100.0, offset=1.0)
    parameters = (Parameter(MIN_EVIDENCE, 2.0, least=1e-6, most=MOST_EVIDENCE),)

    def view_evidence(self, model: Model, view: int, terms: TermCounts) -> Evidence:
        """Return what one view's terms say, and their number as the divisor."""
        is_once = model.scoring.counting == "once"
        least = exp(model.scoring.parameter(MIN_EVIDENCE))

        def log_of(odds: float) -> float:
            # compared before the logarithm, so that arrays keep the same terms
            is_strong = odds >= least or odds * least <= 1.0
            return log(odds) if is_strong else 0.0

        log_odds = model.log_odds(view, terms)
        if log_odds is None:
            log_odds = log_odds_of_terms(model, view, terms, log_of)
        rows = []
        kept = 0
        for key, r in log_odds.items():
            if r:
                times = 1 if is_once else terms[key]
                kept += times
                rows.append((key, 0, times * r))
        known = sum(terms[key] for key in log_odds)
        name = model.settings.views[view].name
        return Evidence(name, rows, divisor=kept or 1, known=known)

    def many(
        self, model: BatchModel, documents: FoundTerms, labels: Labels | None
    ) -> Scores:
        """
        Return the scores of many documents.

        Those that are left out are scored by the compiled loop; arrays specify what it
        does, and do it where nothing is compiled.
        """
        from nbtext.scoring.models.arrays import (
            damped_times,
            means,
            means_left_out,
            odds_left_out,
        )

        if labels is not None and engine().is_compiled:
            least = exp(model.scoring.parameter(MIN_EVIDENCE))
            return means_left_out(model, documents, labels, least)
        scores = documents.zeros()
        for view, (terms, places) in enumerate(documents):
            if labels is None:
                log_odds = model.once(_log_odds)[view].take(places)
            else:
                odds = odds_left_out(model, view, documents, labels)
                log_odds = _log_of_strong(odds, model.scoring)
            scores += means(log_odds, damped_times(model.scoring, terms), terms)
        return scores


def _log_odds(model: BatchModel) -> list[Floats]:
    """
    Return for each view what every term says, in nats.

    Shape (n_terms + 1,); zero for terms that are left out and for the unknown one.
    """
    from nbtext.scoring.models.arrays import odds_of_terms

    return [
        _log_of_strong(odds_of_terms(model, view), model.scoring)
        for view in range(len(model.terms))
    ]


def _log_of_strong(ratio: Floats, scoring: Scoring) -> Floats:
    """Return the logarithms, in place, of ratios that are kept; zero for others."""
    import numpy as np

    least = exp(scoring.parameter(MIN_EVIDENCE))
    # compared before the logarithm, as for one document
    ratio[(ratio < least) & (ratio * least > 1.0)] = 1.0
    return np.log(ratio, out=ratio)


MODEL: Final = Mean()
