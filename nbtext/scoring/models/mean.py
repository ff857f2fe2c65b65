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
from nbtext.scoring.models.evidence import Evidence, counted_column
from nbtext.scoring.models.parameters import Parameter
from nbtext.scoring.models.separately import Separately

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nbtext.scoring.batch_model import (
        BatchModel,
        Floats,
        FoundTerms,
        Integers,
        Labels,
        Scores,
    )
    from nbtext.scoring.model import Model
    from nbtext.scoring.models.evidence import Calibrated
    from nbtext.scoring.models.protocol import EventModel
    from nbtext.settings import Column, Scoring, Settings, View
    from nbtext.tokens import Bag
    from nbtext.tokens.bag import Terms


MIN_EVIDENCE: Final = "min_evidence"
"""The parameter: the least log-odds of a term that counts, in nats."""

MOST_EVIDENCE: Final = 700.0
"""No term says as much, in nats; what is not much more has no exponential."""


class Mean(Separately):
    """The mean score."""

    name: Final = "mean"
    about: Final = "the mean of the telling terms (two classes)"
    smoothing: Final = 0.01
    calibration: Calibrated = "histogram"
    parameters = (Parameter(MIN_EVIDENCE, 2.0, least=1e-6, most=MOST_EVIDENCE),)
    reads_vocabulary: Final = False

    def columns(self, view: View) -> tuple[Column, ...]:
        """Return what must have been counted in a view."""
        del view
        return ("occurrences", "documents")

    def refusal(
        self, scoring: Scoring, settings: Settings, classes: Sequence[str]
    ) -> str:
        """Refuse more classes than two."""
        del scoring, settings
        n_classes = len(classes)
        return f"is for two classes, the model has {n_classes}" if n_classes > 2 else ""

    def prior(self, settings: Settings, n_classes: int) -> Prior:
        """Return what is expected of a fit before any document was scored."""
        del settings, n_classes
        return Prior(slope=0.5, precision=50.0, offset=2.0)

    def evidence(self, model: Model, bag: Bag) -> list[Evidence]:
        """Return for each view what its terms say, and their number as the divisor."""
        return [_view_evidence(model, view, terms) for view, terms in enumerate(bag)]

    def many(self, model: BatchModel, documents: FoundTerms) -> Scores:
        """Return the scores of many documents."""
        from nbtext.scoring.models.arrays import means, times_counted

        scores = documents.zeros()
        log_odds = model.once(_log_odds)
        for view, (terms, places) in enumerate(documents):
            times = times_counted(model.scoring, terms)
            scores += means(log_odds[view].take(places), times, terms)
        return scores

    def left_out(
        self, model: BatchModel, documents: FoundTerms, labels: Labels
    ) -> Scores:
        """Return each document's score as if it alone had not been counted."""
        import numpy as np

        from nbtext.counts.term_table import take_pairs
        from nbtext.scoring.models.arrays import means, times_counted
        from nbtext.tokens.bags import sum_by_document

        scores = documents.zeros()
        pairs = model.once(_pairs)
        for view, (terms, places) in enumerate(documents):
            times = times_counted(model.scoring, terms)
            lengths = np.diff(terms.starts)
            # sizes: (2, n_documents), N_c less the document's own
            sizes = np.empty((2, len(labels)))
            sizes[:] = model.total(view, counted_column(model.scoring))[:, None]
            sizes[labels, np.arange(len(labels))] -= sum_by_document(
                times, terms.starts
            )
            sizes = np.maximum(sizes, 1)
            h = 2 * model.scoring.smoothing / (sizes[0] + sizes[1])

            # counts: (n_terms, 2), seen flat to take each term's own from its class
            counts = take_pairs(pairs[view], places)
            own = np.repeat(labels, lengths) + np.arange(0, counts.size, 2)
            counts.reshape(-1)[own] -= times
            first, second = counts[:, 0], counts[:, 1]
            is_unknown = (first | second) == 0
            # (n_1 / N_1 + h) / (n_0 / N_0 + h), h divided out of both
            ratio = second * np.repeat(1 / (sizes[1] * h), lengths)
            ratio += 1
            divisor = first * np.repeat(1 / (sizes[0] * h), lengths)
            divisor += 1
            ratio /= divisor
            log_odds = _log_of_strong(ratio, model.scoring)
            log_odds[is_unknown] = 0.0
            scores += means(log_odds, times, terms)
        return scores


def _view_evidence(model: Model, view: int, terms: Terms) -> Evidence:
    scoring = model.scoring
    is_once = scoring.counting == "once"
    column = model.settings.views[view].column(counted_column(scoring))
    sizes = [float(max(by_class[column], 1)) for by_class in model.totals[view]]
    h = 2 * scoring.smoothing / (sizes[0] + sizes[1])
    least = exp(scoring.parameter(MIN_EVIDENCE))
    log_odds: dict[tuple[int, int], float] = {}
    rows = []
    known = kept = 0
    for key, entries in model.found(view, terms).items():
        n = terms[key]
        known += n
        counts = [0, 0]
        for class_, columns in entries:
            counts[class_] = columns[column]
        pair = counts[0], counts[1]
        if pair not in log_odds:
            ratio = (pair[1] / sizes[1] + h) / (pair[0] / sizes[0] + h)
            # compared before the logarithm, so that arrays keep the same terms
            is_strong = ratio >= least or ratio * least <= 1.0
            log_odds[pair] = log(ratio) if is_strong else 0.0
        r = log_odds[pair]
        if r:
            times = 1 if is_once else n
            kept += times
            rows.append((key, 0, times * r))
    name = model.settings.views[view].name
    return Evidence(name, rows, divisor=kept or 1, known=known)


def _pairs(model: BatchModel) -> list[Integers]:
    """Return for each view every term's counts in both classes, (n_terms + 1, 2)."""
    column = counted_column(model.scoring)
    return [
        table.pairs(model.column(view, column))
        for view, table in enumerate(model.terms)
    ]


def _log_odds(model: BatchModel) -> list[Floats]:
    """
    Return for each view what every term says, in nats.

    Shape (n_terms + 1,); zero for terms that are left out and for the unknown one.
    """
    import numpy as np

    log_odds = []
    column = counted_column(model.scoring)
    for view, table in enumerate(model.terms):
        counts = table.pairs(model.column(view, column))
        sizes = np.maximum(model.total(view, column), 1)
        h = 2 * model.scoring.smoothing / (sizes[0] + sizes[1])
        ratio = counts[:, 1] / sizes[1] + h
        ratio /= counts[:, 0] / sizes[0] + h
        log_odds.append(_log_of_strong(ratio, model.scoring))
    return log_odds


def _log_of_strong(ratio: Floats, scoring: Scoring) -> Floats:
    """Return the logarithms, in place, of ratios that are kept; zero for others."""
    import numpy as np

    least = exp(scoring.parameter(MIN_EVIDENCE))
    # compared before the logarithm, as for one document
    ratio[(ratio < least) & (ratio * least > 1.0)] = 1.0
    return np.log(ratio, out=ratio)


MODEL: Final[EventModel] = Mean()
