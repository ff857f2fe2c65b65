"""
Complement naive Bayes on documents of unit length: the default for many classes.

A class is judged by what the other classes have of a term (Rennie, Shih, Teevan and
Karger 2003, section 3.1), with documents scaled to unit length (their section 4.3)
and without their normalisation of the weights. In each view, with l_t = ln(1 + n_t) for
a known term t that occurs n_t times in the document (their section 4.1), w_tc the sum
of the weights x_t of the training documents of class c, W_t its sum over the classes,
W_c over the terms and W over both:

    x_t = l_t / sqrt(sum of l_t^2)
    z_c = -sum over the views of  sum of x_t ln((W_t - w_tc + a) / (W - W_c + a V))

The posterior is softmax(s z), with s fitted. What is the same for all classes cancels
in it, so sum of x_t ln(W_t + a) is added: a class without a term costs nothing.
"""

from __future__ import annotations

from math import log, sqrt
from typing import TYPE_CHECKING, Final

from nbtext.counts.calibration import Prior
from nbtext.scoring.models.evidence import Evidence
from nbtext.scoring.models.separately import Separately
from nbtext.scoring.models.weights import WEIGHT
from nbtext.settings import UNIT
from nbtext.tokens.bag import log_count

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
    from nbtext.scoring.models.evidence import Calibrated
    from nbtext.scoring.models.protocol import EventModel
    from nbtext.settings import Column, Scoring, Settings, View
    from nbtext.tokens import Bag
    from nbtext.tokens.bag import Terms


class Complement(Separately):
    """Complement naive Bayes."""

    name: Final = "complement"
    about: Final = "complement naive Bayes"
    smoothing: Final = 0.03
    calibration: Calibrated = "temperature"
    reads_vocabulary: Final = False

    def columns(self, view: View) -> tuple[Column, ...]:
        """Return what must have been counted in a view."""
        del view
        return ("documents", WEIGHT)

    def refusal(
        self, scoring: Scoring, settings: Settings, classes: Sequence[str]
    ) -> str:
        """Refuse to count terms once: weights are of occurrences."""
        del settings, classes
        return "counts repeats" if scoring.counting == "once" else ""

    def prior(self, settings: Settings, n_classes: int) -> Prior:
        """Return what is expected of a fit before any document was scored."""
        del settings, n_classes
        return Prior(slope=0.5, precision=1.0)

    def evidence(self, model: Model, bag: Bag) -> list[Evidence]:
        """Return for each view what its terms say."""
        return [_view_evidence(model, view, terms) for view, terms in enumerate(bag)]

    def many(self, model: BatchModel, documents: FoundTerms) -> Scores:
        """Return the scores of many documents."""
        import numpy as np

        from nbtext.scoring.models.arrays import spread_entries, unit_length
        from nbtext.tokens.bags import sum_by_document

        a = model.scoring.smoothing
        scores = documents.zeros(len(model.classes))
        for view, (terms, places) in enumerate(documents):
            table = model.terms[view]
            x = unit_length(terms, places != table.n_terms)
            # rows: one for each class that a term of a document is in
            rows = spread_entries(table, terms.starts, places)
            whole = model.once(_weight_sums)[view].take(places).take(rows.terms)
            rest = whole - _weights(model, view, rows.entries)
            rows.add(scores, x.take(rows.terms) * np.log((whole + a) / (rest + a)))
            sizes = model.total(view, WEIGHT) / UNIT
            divisors = np.log(sizes.sum() - sizes + a * max(table.n_terms, 1))
            scores += np.outer(sum_by_document(x, terms.starts), divisors)
        return scores

    def left_out(
        self, model: BatchModel, documents: FoundTerms, labels: Labels
    ) -> Scores:
        """Return each document's score as if it alone had not been counted."""
        import numpy as np

        from nbtext.scoring.models.arrays import is_shared, spread_entries, unit_length
        from nbtext.tokens.bags import sum_by_document, unit_weights

        a = model.scoring.smoothing
        scores = documents.zeros(len(model.classes))
        for view, (terms, places) in enumerate(documents):
            table = model.terms[view]
            own = unit_weights(terms) / UNIT
            # W_t without the document; rounding must not take it below zero
            remains = model.once(_weight_sums)[view].take(places) - own
            remains = np.maximum(remains, 0.0)
            # a term that is in this document alone is unknown without it
            is_known = model.once(is_shared)[view].take(places)
            x = unit_length(terms, is_known)
            rows = spread_entries(table, terms.starts, places)
            whole = remains.take(rows.terms)
            weight = _weights(model, view, rows.entries)
            of_own = (rows.classes == labels.take(rows.documents)).nonzero()[0]
            weight[of_own] -= own.take(rows.terms.take(of_own))
            # in place, because these arrays are the largest here
            rest = np.subtract(whole, weight, out=weight)
            np.maximum(rest, 0.0, out=rest)
            whole += a
            rest += a
            whole /= rest
            contributions = np.log(whole, out=whole)
            contributions *= x.take(rows.terms)
            rows.add(scores, contributions)

            # sizes: (n_documents, n_classes), W_c without the document
            n_terms = table.n_terms - sum_by_document(~is_known, terms.starts)
            sizes = np.tile(model.total(view, WEIGHT) / UNIT, (len(labels), 1))
            sizes[np.arange(len(labels)), labels] -= sum_by_document(own, terms.starts)
            others = sizes.sum(axis=1, keepdims=True) - sizes
            others += a * np.maximum(n_terms, 1)[:, None]
            scores += sum_by_document(x, terms.starts)[:, None] * np.log(others)
        return scores


def _view_evidence(model: Model, view: int, terms: Terms) -> Evidence:
    a = model.scoring.smoothing
    name = model.settings.views[view].name
    weight = model.settings.views[view].column(WEIGHT)
    found = model.found(view, terms)
    logs = {key: log_count(terms[key]) for key in found}
    squares = sum(value * value for value in logs.values())
    if not squares:
        return Evidence(name)
    length = sqrt(squares)
    rows = []
    known, sum_of_x = 0, 0.0
    for key, entries in found.items():
        known += terms[key]
        x = logs[key] / length
        sum_of_x += x
        whole = sum(columns[weight] for _, columns in entries) / UNIT
        for class_, columns in entries:
            rest = whole - columns[weight] / UNIT
            rows.append((key, class_, x * log((whole + a) / (rest + a))))
    sizes = [by_class[weight] / UNIT for by_class in model.totals[view]]
    n_terms = max(model.n_terms(view), 1)
    others = [sum_of_x * log(sum(sizes) - size + a * n_terms) for size in sizes]
    return Evidence(name, rows, rest=others, known=known)


def _weight_sums(model: BatchModel) -> list[Floats]:
    """Return for each view W_t of every term, shape (n_terms + 1,)."""
    return [
        table.sums(model.column(view, WEIGHT)) / UNIT
        for view, table in enumerate(model.terms)
    ]


def _weights(model: BatchModel, view: int, entries: Labels) -> Floats:
    """Return w_tc of some entries of a view."""
    column = model.terms[view].columns[model.column(view, WEIGHT)]
    weights: Floats = column.take(entries) / UNIT
    return weights


MODEL: Final[EventModel] = Complement()
