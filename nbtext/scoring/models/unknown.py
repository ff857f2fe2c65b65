"""
Words that no class knows, as one term: `unknown="unk"`.

A document's terms that a model does not know are left out, or stand for one more term,
`unk`, of each view. What is known of it is what terms are like that were seen once in
all of training (singletons): each of them was unknown before its document was counted.
With S_c how many of them are in documents of class c, and f(1) what one occurrence
counts, the term's count is

    n_unk,c = f(1) S_c

and it counts as others do: the view has V + 1 terms, the class f(1) S_c occurrences
more, and in a document `unk` occurs as often as all unknown terms together count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nbtext.settings.scoring import UNK

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from nbtext.scoring.batch_model import BatchModel, Floats, FoundTerms, Labels
    from nbtext.scoring.model import Model
    from nbtext.scoring.models.arrays import Spread
    from nbtext.settings.scoring import Scoring


def counts_unknown(scoring: Scoring) -> bool:
    """Return whether unknown terms are one term."""
    return scoring.unknown == UNK


def singletons(model: Model, view: int) -> list[int]:
    """Return S_c of each class in one view; 0 where unknown terms are left out."""
    if not counts_unknown(model.scoring):
        return [0] * len(model.classes)
    return [one.singletons for one in model.histograms(view)]


def singletons_by_document(
    model: BatchModel,
    view: int,
    documents: FoundTerms,
    labels: Labels | None,
    rows: Spread,
) -> Floats:
    """
    Return S_c in one view as each document meets it, shape (n_documents, n_classes).

    Args:
        model: the counts.
        view: which of the views.
        documents: their terms.
        labels: the classes that the documents are counted in, each of which is left
            out alone; None if none is.
        rows: the entries of the documents' terms.
    """
    import numpy as np

    from nbtext.tokens.bags import sum_by_document

    shape = documents.n_documents, len(model.classes)
    if not counts_unknown(model.scoring):
        return np.zeros(shape)
    found: Floats = np.tile(model.once(_singletons)[view], (shape[0], 1))
    if labels is None:
        return found
    terms, places = documents.views[view], documents.places[view]
    # how often each term occurs elsewhere: never, and it was a singleton if it occurs
    # once here; or once, and then it is one as soon as this document is left out
    own = terms.counts * documents.copies_of(terms)
    elsewhere = model.once(_occurrences)[view].take(places) - own
    was_single = (elsewhere == 0) & (own == 1)
    each = np.arange(len(labels))
    found[each, labels] -= sum_by_document(was_single.astype(np.int64), terms.starts)
    column = model.column(view, "occurrences")
    counts = model.terms[view].columns[column].take(rows.entries)
    is_own = rows.classes == labels.take(rows.documents)
    counts = counts - own.take(rows.terms) * is_own
    rows.add(found, ((elsewhere.take(rows.terms) == 1) & (counts == 1)).astype(float))
    return found


def _singletons(model: BatchModel) -> list[NDArray[np.float64]]:
    """Return S_c for each view, shape (n_classes,)."""
    import numpy as np

    from nbtext.counts.count_histograms import of_terms

    return [
        np.array(
            [one.singletons for one in of_terms(settings, table, len(model.classes))],
            np.float64,
        )
        for settings, table in zip(model.settings.views, model.terms, strict=True)
    ]


def _occurrences(model: BatchModel) -> list[NDArray[np.int64]]:
    """Return how often each term occurs in all, for each view, (n_terms + 1,)."""
    return [
        table.sums(model.column(view, "occurrences"))
        for view, table in enumerate(model.terms)
    ]
