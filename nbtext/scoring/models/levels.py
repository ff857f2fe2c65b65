"""
What event models of levels have in common: how often a term occurs, absence included.

With x_t the level of term t in a document, k = 0 .. K-1: how often it occurs, the last
level meaning that often or more; N_tck the documents of class c in which it has level
k, N_tc those in which it occurs at all, D_c all of them, V the view's distinct terms:

    P(x_t = k given c) = (N_tck + a) / (D_c + K a),   N_tc0 = D_c - N_tc
    z_c = ln P(c) + sum over views and all V terms of ln P(x_t given c)

That is the mean of a Dirichlet posterior (Murphy 2006, equations 23 to 28). Absent
terms count: what a class says of them is what it says of all terms as if they were
absent, less those of the document. It follows from how many terms are in n documents of
the class, H_c(n):

    sum over terms of ln(N_tc0 + a) = sum over n of H_c(n) ln(D_c - n + a)

so no document needs a pass over the vocabulary. Each logarithm is taken apart, so that
a class that does not have a term costs nothing.
"""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING, Any

from nbtext.scoring.models.evidence import ABSENT, Evidence
from nbtext.scoring.models.joint import JointLikelihood
from nbtext.settings.columns import LEVELS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from nbtext.scoring.batch_model import (
        BatchModel,
        Floats,
        FoundTerms,
        Integers,
        Labels,
        Scores,
    )
    from nbtext.scoring.model import Model
    from nbtext.scoring.models.arrays import Spread
    from nbtext.settings.columns import Column
    from nbtext.settings.scoring import Scoring
    from nbtext.tokens import Bag
    from nbtext.tokens.bag import TermCounts


class OfLevels(JointLikelihood):
    """An event model of the levels of all terms, those that are absent among them."""

    not_linear = "how often a term occurs is a level there, and no number"

    def levels(self, scoring: Scoring) -> int:
        """Return K, the number of levels: 2 or more."""
        raise NotImplementedError

    def keeps_histograms(self, scoring: Scoring) -> bool:
        """Say that one message is scored by histograms."""
        del scoring
        return True

    def further_columns(self, scoring: Scoring) -> tuple[Column, ...]:
        """Return the columns of documents by level; the last level is what is left."""
        return LEVELS[: self.levels(scoring) - 2]

    def evidence(self, model: Model, bag: Bag) -> list[Evidence]:
        """Return the prior, what each view's terms say, and the absent ones."""
        model = model.remembering()
        absent = [0.0] * len(model.classes)
        for view, terms in enumerate(bag):
            for place, value in enumerate(self._absent(model, view, terms)):
                absent[place] += value
        return [*super().evidence(model, bag), Evidence(ABSENT, rest=absent)]

    def view_evidence(self, model: Model, view: int, terms: TermCounts) -> Evidence:
        """Return what the terms of one view say that a document has."""
        a, n_levels = model.scoring.smoothing, self.levels(model.scoring)
        settings = model.settings.views[view]
        documents = settings.column("documents")
        columns = [settings.column(name) for name in LEVELS[: n_levels - 2]]
        rows = []
        known = 0
        found = model.found(view, terms)
        for key, entries in found.items():
            known += terms[key]
            level = min(terms[key], n_levels - 1)
            for class_, counts in entries:
                if level < n_levels - 1:
                    number = counts[columns[level - 1]]
                else:
                    number = counts[documents] - sum(counts[one] for one in columns)
                rows.append((key, class_, log((max(number, 0) + a) / a)))
        rest = [len(found) * log(a / (n + n_levels * a)) for n in model.documents]
        return Evidence(settings.name, rows, rest=rest, known=known)

    def _absent(self, model: Model, view: int, terms: TermCounts) -> list[float]:
        """Return for each class what the terms say that a document does not have."""
        a, n_levels = model.scoring.smoothing, self.levels(model.scoring)
        documents = model.settings.views[view].column("documents")
        found = model.found(view, terms)
        n_absent = model.n_terms(view) - len(found)
        sums = []
        for one, n in zip(model.histograms(view), model.documents, strict=True):
            none = log((n + a) / (n + n_levels * a))  # of a term the class has not
            of_all = (times * _absent(k, n, a) for k, times in one.documents.items())
            sums.append(n_absent * none + sum(of_all))
        for entries in found.values():
            for class_, counts in entries:
                n = model.documents[class_]
                sums[class_] -= _absent(counts[documents], n, a)
        return sums

    def view_scores(
        self, model: BatchModel, view: int, documents: FoundTerms, labels: Labels | None
    ) -> Scores:
        """Return what one view of many documents says, absent terms and all."""
        import numpy as np

        from nbtext.scoring.models.arrays import known_terms, spread_entries
        from nbtext.tokens.bags import sum_by_document

        a, n_levels = model.scoring.smoothing, self.levels(model.scoring)
        terms, places = documents.views[view], documents.places[view]
        table = model.terms[view]
        # sizes: (n_documents, n_classes), D_c; and the sums over all terms beside them
        sums = [_of_all_terms(model, view, *one) for one in enumerate(model.documents)]
        sizes = np.tile(model.documents, (documents.n_documents, 1))
        scores: Scores = np.tile(sums, (documents.n_documents, 1))
        # rows: one for each class that a term of a document is in
        rows = spread_entries(table, terms.starts, places)
        counts = table.columns[model.column(view, "documents")].take(rows.entries)
        of_level = self._of_level(model, view, terms.counts.take(rows.terms), rows)
        n_absent = table.n_terms - sum_by_document(
            places != table.n_terms, terms.starts
        )
        if labels is not None:
            own = np.stack(np.broadcast_arrays(labels, documents.times_counted))
            each = np.arange(len(labels))
            sizes[each, labels] -= own[1]
            (classes, copies), of_each = np.unique(own, axis=1, return_inverse=True)
            without = [
                _of_all_terms(model, view, class_, model.documents[class_] - n)
                for class_, n in zip(classes.tolist(), copies.tolist(), strict=True)
            ]
            scores[each, labels] = np.array(without)[of_each.reshape(-1)]
            is_own = rows.classes == labels.take(rows.documents)
            of_level = of_level - own[1].take(rows.documents) * is_own
        # what a class says of a term that it does not have: absent, and present
        whole = np.log(sizes + n_levels * a)
        scores += n_absent[:, None] * (np.log(sizes + a) - whole)
        is_known = known_terms(model, view, documents, labels)
        n_found = sum_by_document(is_known, terms.starts)
        scores += n_found[:, None] * (np.log(a) - whole)
        # what the others say: present, less absent, which is in the sums. The terms
        # of a document that is left out are in the sums with its own count, too
        n = sizes[rows.documents, rows.classes]
        present = np.log((np.maximum(of_level, 0) + a) / a)
        rows.add(scores, present - of_terms_absent(counts, n, a))
        return scores

    def _of_level(
        self, model: BatchModel, view: int, times: NDArray[Any], rows: Spread
    ) -> NDArray[np.int64]:
        """
        Return N_tck of each row: documents of its class where the term has its level.

        Args:
            model: the counts.
            view: which of the views.
            times: how often the term of each row occurs in its document.
            rows: the entries.
        """
        import numpy as np

        columns = model.terms[view].columns
        n_levels = self.levels(model.scoring)
        rest = columns[model.column(view, "documents")].take(rows.entries)
        rest = rest.astype(np.int64)
        found = np.zeros_like(rest)
        for level, name in enumerate(LEVELS[: n_levels - 2], 1):
            counts = columns[model.column(view, name)].take(rows.entries)
            found = np.where(times == level, counts, found)
            rest -= counts
        return np.where(times >= n_levels - 1, rest, found)


def _absent(number: int, n: int, a: float) -> float:
    """
    Return what a class says of a term that is absent, less that of one it has not.

    Args:
        number: how many of its documents have the term. Pruning, and documents whose
            counts were not known, may leave more of them than there are documents.
        n: how many documents it has.
        a: the smoothing.
    """
    return log((max(n - number, 0) + a) / (n + a))


def of_terms_absent(
    numbers: NDArray[np.integer], n: NDArray[np.integer] | int, a: float
) -> Floats:
    """Return `_absent` of many terms."""
    import numpy as np

    absent: Floats = np.log((np.maximum(n - numbers, 0) + a) / (n + a))
    return absent


def _of_all_terms(model: BatchModel, view: int, class_: int, n: int) -> float:
    """Return the sum of `_absent` over all terms, if a class has n documents."""
    documents, terms = model.once(_numbers)[view][class_]
    absent = of_terms_absent(documents, max(n, 0), model.scoring.smoothing)
    total: float = (terms * absent).sum()
    return total


def _numbers(model: BatchModel) -> list[list[tuple[Integers, Integers]]]:
    """Return for each view and class numbers of documents, and of terms in so many."""
    import numpy as np

    from nbtext.counts.count_histograms import of_terms

    return [
        [
            (
                np.array([*one.documents], np.int64),
                np.array([*one.documents.values()], np.int64),
            )
            for one in of_terms(settings, table, len(model.classes))
        ]
        for settings, table in zip(model.settings.views, model.terms, strict=True)
    ]
