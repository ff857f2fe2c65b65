"""
The multinomial model on TF-IDF weights, with an idf that training has frozen.

With x_t the weight of term t in the document, at unit length (`nbtext.counts.tfidf`),
w_tc the sum of the weights of the training documents of class c, W_c their sum over the
terms of the view, V the view's distinct terms:

    z_c = ln P(c) + sum over views and known terms of  x_t ln((w_tc + a) / (W_c + a V))

with a = .01. That is scikit-learn's `TfidfVectorizer` and `MultinomialNB`; weights are
kept in units of 2^-24. Training reads the documents twice: the weights rest on how many
documents have each term. What is learnt later is weighed by the same idf
(`frozen_idf`), a term that training did not have by that of no document.
"""

from __future__ import annotations

from math import log, sqrt
from typing import TYPE_CHECKING, Final

from nbtext import wording
from nbtext.counts.calibration import Prior
from nbtext.counts.idf import TFIDF_UNIT as UNIT
from nbtext.scoring.models.evidence import Evidence
from nbtext.scoring.models.joint import JointLikelihood
from nbtext.settings.columns import FROZEN, TFIDF
from nbtext.settings.scoring import OCCURRENCES

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
    from nbtext.settings.reading import Settings
    from nbtext.settings.scoring import Scoring
    from nbtext.tokens.bag import TermCounts


class Tfidf(JointLikelihood):
    """The multinomial model on TF-IDF weights."""

    name = "tfidf"
    about = "the multinomial on TF-IDF weights (not calibrated)"
    smoothing = 0.01
    expected = Prior(slope=1.0)
    countings = (OCCURRENCES,)
    not_linear = "documents are scaled to unit length"
    weighs_again = True

    def refusal(
        self, scoring: Scoring, settings: Settings, classes: Sequence[str]
    ) -> str:
        """Refuse counts without TF-IDF weights, too."""
        if not all(TFIDF in view.columns for view in settings.views):
            return (
                "needs TF-IDF weights, which training makes of the documents "
                f"themselves (train with {wording.given(score=self.name)})"
            )
        return super().refusal(scoring, settings, classes)

    def view_evidence(self, model: Model, view: int, terms: TermCounts) -> Evidence:
        """Return what one view of a document says."""
        a, settings = model.scoring.smoothing, model.settings.views[view]
        frozen, weight = settings.column(FROZEN), settings.column(TFIDF)
        found = model.found(view, terms)
        whole = model.settings.idf_documents or 0
        values = {}
        for key, entries in found.items():
            n = sum(columns[frozen] for _, columns in entries)
            values[key] = terms[key] * (log((1 + whole) / (1 + n)) + 1)
        length = sqrt(sum(value * value for value in values.values())) or 1.0
        rows = []
        for key, entries in found.items():
            x = values[key] / length
            for class_, columns in entries:
                rows.append((key, class_, x * log((columns[weight] / UNIT + a) / a)))
        sum_of_x = sum(values.values()) / length
        n_terms = max(model.n_terms(view), 1)
        rest = [
            sum_of_x * log(a / (by_class[weight] / UNIT + a * n_terms))
            for by_class in model.totals[view]
        ]
        known = sum(terms[key] for key in found)
        return Evidence(settings.name, rows, rest=rest, known=known)

    def view_scores(
        self, model: BatchModel, view: int, documents: FoundTerms, labels: Labels | None
    ) -> Scores:
        """Return what one view of many documents says; the idf stays what it was."""
        import numpy as np

        from nbtext.counts.tfidf import unit_vectors, whole_weights
        from nbtext.scoring.models.arrays import known_terms, spread_entries
        from nbtext.tokens.bags import sum_by_document

        a = model.scoring.smoothing
        terms, places = documents.views[view], documents.places[view]
        table = model.terms[view]
        idf = model.once(_idf)[view].take(places)
        rows = spread_entries(table, terms.starts, places)
        column = table.columns[model.column(view, TFIDF)]
        counts = column.take(rows.entries).astype(np.int64)
        # sizes: (n_documents or 1, n_classes), W_c + a V
        sizes = model.total(view, TFIDF)[None, :]
        is_known = known_terms(model, view, documents, labels)
        if labels is None:
            sizes = sizes / UNIT + a * max(table.n_terms, 1)
        else:
            own = whole_weights(terms, idf) * documents.copies_of(terms)
            is_own = rows.classes == labels.take(rows.documents)
            counts -= own.take(rows.terms) * is_own
            sizes = np.tile(sizes, (len(labels), 1))
            sizes[np.arange(len(labels)), labels] -= sum_by_document(own, terms.starts)
            n_terms = table.n_terms - sum_by_document(~is_known, terms.starts)
            sizes = sizes / UNIT + a * np.maximum(n_terms, 1)[:, None]
        x = unit_vectors(terms, idf * is_known)
        scores: Scores = sum_by_document(x, terms.starts)[:, None] * np.log(a / sizes)
        weights = np.maximum(counts, 0) / UNIT
        rows.add(scores, x.take(rows.terms) * np.log((weights + a) / a))
        return scores


def _idf(model: BatchModel) -> list[Floats]:
    """Return for each view the idf of every term, shape (n_terms + 1,)."""
    from nbtext.counts.tfidf import inverse_frequencies

    n_documents = model.settings.idf_documents or 0
    found = []
    for view, table in enumerate(model.terms):
        frequencies = table.sums(model.column(view, FROZEN))
        idf = inverse_frequencies(n_documents, frequencies)
        idf[-1] = 0.0  # of the unknown term
        found.append(idf)
    return found


MODEL: Final = Tfidf()
