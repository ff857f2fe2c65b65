"""
The Poisson model: how often each term occurs, as a rate a document.

With n_tc the count of term t in class c, N_c their sum over the terms, D_c the
documents of the class, V the view's distinct terms, x_t how often the term occurs in
the document, a the smoothing and b the documents that it stands for:

    lambda_tc = (n_tc + a) / (D_c + b)
    z_c = ln P(c) + sum over views and all V terms of
          x_t ln lambda_tc - lambda_tc

up to the sum of ln x_t!, which is the same for all classes; lambda_tc is the mean of a
Gamma posterior whose prior has the shape a and the rate b. Absent terms count by the
rates alone, and these add up to (N_c + a V) / (D_c + b), so that no document needs a
pass over the vocabulary. (Church and Gale 1995; Kim, Han, Rim and Myaeng 2006, 3.1.)
"""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING, Final

from nbtext.scoring.models.evidence import ABSENT, UNKNOWN, Evidence, counted_column
from nbtext.scoring.models.joint import JointLikelihood
from nbtext.scoring.models.parameters import Parameter
from nbtext.scoring.models.unknown import counts_unknown, singletons

if TYPE_CHECKING:
    from nbtext.scoring.batch_model import BatchModel, FoundTerms, Labels, Scores
    from nbtext.scoring.model import Model
    from nbtext.tokens import Bag
    from nbtext.tokens.bag import TermCounts

RATE: Final = Parameter("rate", 1.0, least=1e-6, most=1e6)
"""b, in documents."""


class Poisson(JointLikelihood):
    """The Poisson model of counts."""

    name = "poisson"
    about = "how often each term occurs, as a rate a document (not calibrated)"
    smoothing = 0.01
    not_linear = ""
    parameters = (RATE,)
    has_unknown = True

    def evidence(self, model: Model, bag: Bag) -> list[Evidence]:
        """Return the prior, what each view's terms say, and all rates together."""
        a, b = model.scoring.smoothing, model.scoring.parameter(RATE.name)
        column = counted_column(model.scoring)
        rates = [0.0] * len(model.classes)
        is_unk = counts_unknown(model.scoring)
        model = model.remembering() if is_unk else model
        for view, by_class in enumerate(model.totals):
            place = model.settings.views[view].column(column)
            n_terms = model.n_terms(view) + is_unk
            unk = singletons(model, view)
            for class_, n in enumerate(model.documents):
                count = by_class[class_][place] + unk[class_]
                rates[class_] -= (count + a * n_terms) / (n + b)
        parts = [*super().evidence(model, bag), Evidence(ABSENT, rest=rates)]
        if is_unk:
            parts.append(Evidence(UNKNOWN, rest=_of_unknown(model, bag)))
        return parts

    def view_evidence(self, model: Model, view: int, terms: TermCounts) -> Evidence:
        """Return what the terms of one view say that a document has."""
        a, b = model.scoring.smoothing, model.scoring.parameter(RATE.name)
        is_once = model.scoring.counting == "once"
        settings = model.settings.views[view]
        column = settings.column(counted_column(model.scoring))
        rows = []
        known = found = 0
        for key, entries in model.found(view, terms).items():
            known += terms[key]
            times = 1 if is_once else terms[key]
            found += times
            for class_, columns in entries:
                rows.append((key, class_, times * log((columns[column] + a) / a)))
        rest = [found * log(a / (n + b)) for n in model.documents]
        return Evidence(settings.name, rows, rest=rest, known=known)

    def view_scores(
        self, model: BatchModel, view: int, documents: FoundTerms, labels: Labels | None
    ) -> Scores:
        """Return what one view of many documents says, all rates with it."""
        import numpy as np

        from nbtext.scoring.models.arrays import (
            damped_times,
            known_terms,
            spread_entries,
        )
        from nbtext.scoring.models.unknown import singletons_by_document
        from nbtext.tokens.bags import sum_by_document

        a, b = model.scoring.smoothing, model.scoring.parameter(RATE.name)
        column = counted_column(model.scoring)
        terms, places = documents.views[view], documents.places[view]
        table = model.terms[view]
        times = damped_times(model.scoring, terms)
        # rows: one for each class that a term of a document is in
        rows = spread_entries(table, terms.starts, places)
        counts = table.columns[model.column(view, column)].take(rows.entries)
        # lengths and sizes: (n_documents, n_classes), N_c and D_c
        shape = documents.n_documents, 1
        lengths = np.tile(model.total(view, column), shape)
        sizes = np.tile(np.array(model.documents), shape)
        is_known = known_terms(model, view, documents, labels)
        n_terms = np.full(documents.n_documents, table.n_terms)
        if labels is not None:
            n_terms -= sum_by_document(~is_known, terms.starts)
            is_own = rows.classes == labels.take(rows.documents)
            own = times * documents.copies_of(terms)
            counts = counts - own.take(rows.terms) * is_own
            each = np.arange(len(labels))
            lengths[each, labels] -= sum_by_document(own, terms.starts)
            sizes[each, labels] -= documents.times_counted
        n_unknown = sum_by_document(times * ~is_known, terms.starts)
        times = times * is_known
        found = sum_by_document(times, terms.starts)
        scores: Scores = found[:, None] * np.log(a / (sizes + b))
        scores -= (lengths + a * n_terms[:, None]) / (sizes + b)
        if counts_unknown(model.scoring):
            unk = singletons_by_document(model, view, documents, labels, rows)
            rate = (unk + a) / (sizes + b)
            scores += n_unknown[:, None] * np.log(rate) - rate
        rows.add(scores, times.take(rows.terms) * np.log((counts + a) / a))
        return scores


def _of_unknown(model: Model, bag: Bag) -> list[float]:
    """Return for each class what the terms say that no class knows."""
    a, b = model.scoring.smoothing, model.scoring.parameter(RATE.name)
    is_once = model.scoring.counting == "once"
    sums = [0.0] * len(model.classes)
    for view, terms in enumerate(bag):
        known = model.found(view, terms)
        unknown = [n for key, n in terms.items() if key not in known]
        times = len(unknown) if is_once else sum(unknown)
        for class_, number in enumerate(singletons(model, view)):
            sums[class_] += times * log((number + a) / (model.documents[class_] + b))
    return sums


MODEL: Final = Poisson()
