"""
The multinomial model with Lidstone smoothing: the score `sum`, as in the textbooks.

With n_tc the count of term t in class c, N_c their sum over the terms of the view, V
the view's distinct terms, D_c the documents of class c and D all of them:

    z_c = ln(D_c / D) + sum over views and known terms of
          n_t ln((n_tc + a) / (N_c + a V))

(McCallum and Nigam 1998; Manning, Raghavan and Schütze 2008, section 13.2; a = 1 is
Laplace's rule). The posterior is exp(z) over its sum. Counting once, it is the
multinomial model with Boolean attributes (Metsis, Androutsopoulos and Paliouras 2006).

Each logarithm is taken apart, so that a class that does not have a term costs nothing:
ln((n_tc + a) / a), which the term says, and ln(a / (N_c + a V)), the same for all.
"""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING, Final

from nbtext.counts.calibration import Prior
from nbtext.scoring.models.evidence import PRIOR, Evidence, counted_column
from nbtext.scoring.models.separately import Separately
from nbtext.scoring.posterior import log_shares

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nbtext.scoring.batch_model import BatchModel, FoundTerms, Labels, Scores
    from nbtext.scoring.model import Model
    from nbtext.scoring.models.evidence import Calibrated
    from nbtext.scoring.models.protocol import EventModel
    from nbtext.settings import Column, Scoring, Settings, View
    from nbtext.tokens import Bag
    from nbtext.tokens.bag import Terms


class Multinomial(Separately):
    """The multinomial model."""

    name: Final = "sum"
    about: Final = "the textbook's sum (multinomial, not calibrated)"
    smoothing: Final = 1.0
    calibration: Calibrated = "temperature"
    is_textbook = True
    reads_vocabulary: Final = False

    def columns(self, view: View) -> tuple[Column, ...]:
        """Return what must have been counted in a view."""
        del view
        return ("occurrences", "documents")

    def refusal(
        self, scoring: Scoring, settings: Settings, classes: Sequence[str]
    ) -> str:
        """Refuse nothing."""
        del scoring, settings, classes
        return ""

    def prior(self, settings: Settings, n_classes: int) -> Prior:
        """Return what is expected of a fit before any document was scored."""
        del settings, n_classes
        return Prior(slope=0.1)

    def evidence(self, model: Model, bag: Bag) -> list[Evidence]:
        """Return the prior, and for each view what its terms say."""
        views = [_view_evidence(model, view, terms) for view, terms in enumerate(bag)]
        return [Evidence(PRIOR, rest=log_shares(model.documents)), *views]

    def many(self, model: BatchModel, documents: FoundTerms) -> Scores:
        """Return the scores of many documents."""
        import numpy as np

        from nbtext.scoring.models.arrays import spread_entries, times_counted
        from nbtext.tokens.bags import sum_by_document

        a = model.scoring.smoothing
        column = counted_column(model.scoring)
        scores = np.tile(log_shares(model.documents), (documents.n_documents, 1))
        for view, (terms, places) in enumerate(documents):
            table = model.terms[view]
            times = times_counted(model.scoring, terms) * (places != table.n_terms)
            # rows: one for each class that a term of a document is in
            rows = spread_entries(table, terms.starts, places)
            counts = table.columns[model.column(view, column)].take(rows.entries)
            rows.add(scores, times.take(rows.terms) * np.log((counts + a) / a))
            sizes = model.total(view, column) + a * max(table.n_terms, 1)
            scores += np.outer(sum_by_document(times, terms.starts), np.log(a / sizes))
        return scores

    def left_out(
        self, model: BatchModel, documents: FoundTerms, labels: Labels
    ) -> Scores:
        """Return each document's score as if it alone had not been counted."""
        import numpy as np

        from nbtext.scoring.models.arrays import (
            is_shared,
            spread_entries,
            times_counted,
        )
        from nbtext.tokens.bags import sum_by_document

        a = model.scoring.smoothing
        column = counted_column(model.scoring)
        n_classes = len(model.classes)
        rest = np.array(model.documents) - np.eye(n_classes, dtype=np.int64)
        # one row of shares for each class that the document may have been in
        scores = np.array([log_shares(row.tolist()) for row in rest])[labels]
        for view, (terms, places) in enumerate(documents):
            table = model.terms[view]
            own = times_counted(model.scoring, terms)
            # a term that is in this document alone is unknown without it
            is_known = model.once(is_shared)[view].take(places)
            times = own * is_known
            rows = spread_entries(table, terms.starts, places)
            counts = table.columns[model.column(view, column)].take(rows.entries)
            is_own = rows.classes == labels.take(rows.documents)
            counts = counts - own.take(rows.terms) * is_own
            rows.add(scores, times.take(rows.terms) * np.log((counts + a) / a))

            # sizes: (n_documents, n_classes), N_c + a V without the document
            sizes = np.tile(model.total(view, column), (len(labels), 1))
            sizes[np.arange(len(labels)), labels] -= sum_by_document(own, terms.starts)
            n_terms = table.n_terms - sum_by_document(~is_known, terms.starts)
            sizes += a * np.maximum(n_terms, 1)[:, None]
            found = sum_by_document(times, terms.starts)
            scores += found[:, None] * np.log(a / sizes)
        return scores


def _view_evidence(model: Model, view: int, terms: Terms) -> Evidence:
    a = model.scoring.smoothing
    is_once = model.scoring.counting == "once"
    column = model.settings.views[view].column(counted_column(model.scoring))
    rows = []
    known = found = 0
    for key, entries in model.found(view, terms).items():
        n = terms[key]
        known += n
        times = 1 if is_once else n
        found += times
        for class_, columns in entries:
            rows.append((key, class_, times * log((columns[column] + a) / a)))
    n_terms = max(model.n_terms(view), 1)
    rest = [
        found * log(a / (by_class[column] + a * n_terms))
        for by_class in model.totals[view]
    ]
    return Evidence(model.settings.views[view].name, rows, rest=rest, known=known)


MODEL: Final[EventModel] = Multinomial()
