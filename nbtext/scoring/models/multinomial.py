"""
The multinomial model with Lidstone smoothing: the score `sum`, as in the textbooks.

With n_tc the count of term t in class c, N_c their sum over the terms of the view, V
the view's distinct terms, D_c the documents of class c and D all of them:

    z_c = ln(D_c / D) + sum over views and known terms of
          n_t ln((n_tc + a) / (N_c + a V))

(McCallum and Nigam 1998; Manning, Raghavan and Schütze 2008, section 13.2; a = 1 is
Laplace's rule). The posterior is exp(z) over its sum. Counting once, it is the
multinomial model with Boolean attributes (Metsis, Androutsopoulos and Paliouras 2006);
with any damping, n_t and n_tc are both damped (`nbtext.scoring.models.damping`).

Each logarithm is taken apart, so that a class that does not have a term costs nothing:
ln((n_tc + a) / a), which the term says, and ln(a / (N_c + a V)), the same for all.
Terms that no class knows are left out, or are one term more
(`nbtext.scoring.models.unknown`).
"""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING, Final

from nbtext.scoring.models.damping import damping
from nbtext.scoring.models.evidence import UNKNOWN, Evidence
from nbtext.scoring.models.joint import JointLikelihood
from nbtext.scoring.models.unknown import counts_unknown, singletons
from nbtext.settings.scoring import COUNTINGS

if TYPE_CHECKING:
    from nbtext.scoring.batch_model import (
        BatchModel,
        Floats,
        FoundTerms,
        Labels,
        Scores,
    )
    from nbtext.scoring.model import Model
    from nbtext.tokens import Bag
    from nbtext.tokens.bag import TermCounts


class Multinomial(JointLikelihood):
    """The multinomial model."""

    name = "sum"
    about = "the textbook's sum (multinomial, not calibrated)"
    countings = COUNTINGS
    not_linear = ""
    has_unknown = True

    def evidence(self, model: Model, bag: Bag) -> list[Evidence]:
        """Return the prior, what each view's terms say, and the unknown ones."""
        if not counts_unknown(model.scoring):
            return super().evidence(model, bag)
        model = model.remembering()
        a = model.scoring.smoothing
        damped = damping(model.scoring.counting)
        sums = [0.0] * len(model.classes)
        for view, terms in enumerate(bag):
            known = model.found(view, terms)
            times = sum(damped.times(n) for key, n in terms.items() if key not in known)
            of_class = zip(singletons(model, view), _sizes(model, view), strict=True)
            for class_, (number, size) in enumerate(of_class):
                sums[class_] += times * log((damped.times(1) * number + a) / size)
        return [*super().evidence(model, bag), Evidence(UNKNOWN, rest=sums)]

    def view_evidence(self, model: Model, view: int, terms: TermCounts) -> Evidence:
        """Return what one view of a document says."""
        a = model.scoring.smoothing
        damped = damping(model.scoring.counting)
        places = damped.places(model.settings.views[view])
        rows = []
        known, found = 0, 0.0
        for key, entries in model.found(view, terms).items():
            n = terms[key]
            known += n
            times = damped.times(n)
            found += times
            for class_, columns in entries:
                count = damped.count_of(columns, places)
                rows.append((key, class_, times * log((count + a) / a)))
        rest = [found * log(a / size) for size in _sizes(model, view)]
        return Evidence(model.settings.views[view].name, rows, rest=rest, known=known)

    def view_scores(
        self, model: BatchModel, view: int, documents: FoundTerms, labels: Labels | None
    ) -> Scores:
        """Return what one view of many documents says."""
        import numpy as np

        from nbtext.scoring.models.arrays import (
            damped_counts,
            damped_times,
            damped_total,
            known_terms,
            spread_entries,
        )
        from nbtext.scoring.models.unknown import singletons_by_document
        from nbtext.tokens.bags import sum_by_document

        a = model.scoring.smoothing
        terms, places = documents.views[view], documents.places[view]
        table = model.terms[view]
        times = damped_times(model.scoring, terms)
        # rows: one for each class that a term of a document is in
        rows = spread_entries(table, terms.starts, places)
        counts = model.once(damped_counts)[view].take(rows.entries)
        # sizes: (n_documents or 1, n_classes), N_c + a V
        sizes = damped_total(model, view)[None, :]
        is_unk = counts_unknown(model.scoring)
        if is_unk:
            unk = singletons_by_document(model, view, documents, labels, rows)
            unk *= damping(model.scoring.counting).times(1)
            sizes = sizes + unk
        is_known = known_terms(model, view, documents, labels)
        if labels is None:
            sizes = sizes + a * max(table.n_terms + is_unk, 1)
        else:
            is_own = rows.classes == labels.take(rows.documents)
            own = times * documents.copies_of(terms)
            counts = counts - own.take(rows.terms) * is_own
            shape = len(labels), len(model.classes)
            sizes = np.broadcast_to(sizes, shape).copy()
            lengths = sum_by_document(own, terms.starts)
            sizes[np.arange(len(labels)), labels] -= lengths
            n_terms = table.n_terms - sum_by_document(~is_known, terms.starts)
            sizes += a * np.maximum(n_terms + is_unk, 1)[:, None]
        n_unknown = sum_by_document(times * ~is_known, terms.starts)
        times = times * is_known
        found = sum_by_document(times, terms.starts)
        scores: Scores = found[:, None] * np.log(a / sizes)
        logs: Floats = np.log((counts + a) / a)
        rows.add(scores, times.take(rows.terms) * logs)
        if is_unk:
            scores += n_unknown[:, None] * np.log((unk + a) / sizes)
        return scores


def _sizes(model: Model, view: int) -> list[float]:
    """Return N_c + a V of one view, `unk` among the terms if unknown ones count."""
    damped = damping(model.scoring.counting)
    places = damped.places(model.settings.views[view])
    n_terms = max(model.n_terms(view) + counts_unknown(model.scoring), 1)
    return [
        damped.count_of(by_class, places)
        + damped.times(1) * number
        + model.scoring.smoothing * n_terms
        for by_class, number in zip(
            model.totals[view], singletons(model, view), strict=True
        )
    ]


MODEL: Final = Multinomial()
