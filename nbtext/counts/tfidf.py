"""
TF-IDF weights of documents, at unit length, with an idf that is given.

With n_t how often term t occurs in a document, df_t how many of all D documents it is
in, a document is the vector (scikit-learn's `TfidfVectorizer`, by its defaults)

    idf_t = ln((1 + D) / (1 + df_t)) + 1
    x_t   = n_t idf_t / sqrt(sum of (n_t idf_t)^2)

over the known terms. What a document adds to a count is x_t in units of 2^-24, rounded,
so that counts are integers and can be taken away again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from nbtext.tokens.bags import sum_by_document

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nbtext.tokens import Terms

TFIDF_UNIT: Final = 1 << 24
"""The weight of the only term of a document."""


def inverse_frequencies(
    n_documents: int, frequencies: NDArray[np.integer]
) -> NDArray[np.float64]:
    """
    Return the idf of terms.

    Args:
        n_documents: D, all documents.
        frequencies: df of each term.

    """
    idf: NDArray[np.float64] = np.log((1 + n_documents) / (1 + frequencies)) + 1
    return idf


def unit_vectors(terms: Terms, idf: NDArray[np.float64]) -> NDArray[np.float64]:
    """
    Return x of the terms of documents, shape (n_terms,).

    Args:
        terms: the terms of documents.
        idf: shape (n_terms,), the idf of each; 0 for those that are unknown.

    """
    values = terms.counts * idf
    lengths = np.sqrt(sum_by_document(values * values, terms.starts))
    divisors = np.repeat(np.where(lengths > 0, lengths, 1.0), terms.sizes)
    unit: NDArray[np.float64] = values / divisors
    return unit


def whole_weights(unit: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return what terms of unit vectors add to counts."""
    return np.rint(unit * TFIDF_UNIT).astype(np.int64)
