"""
What a document adds to the counts of a model, by its frozen idf if it has one.

A model and a document's terms go in, what they add to each column comes out. Only the
TF-IDF weights rest on more than the document: on the idf that training has frozen, so
that what is learnt can be taken away again.
"""

from nbtext.counts.idf import weights_of
from nbtext.scoring.model import Model
from nbtext.settings.columns import FROZEN, TFIDF
from nbtext.tokens.bag import TermCounts, columns_of


def counted_columns(
    model: Model, view: int, terms: TermCounts
) -> dict[int, tuple[int, ...]]:
    """Return what a document adds to each column of its terms in one view."""
    settings = model.settings.views[view]
    added = columns_of(terms, settings.columns)
    if TFIDF not in settings.columns:
        return added
    frozen = settings.column(FROZEN)
    frequencies = {
        key: sum(columns[frozen] for _, columns in entries)
        for key, entries in model.found(view, terms).items()
    }
    weights = weights_of(terms, frequencies, model.settings.idf_documents or 0)
    # of the frozen documents it is none
    return {key: (*row, weights[key], 0) for key, row in added.items()}
