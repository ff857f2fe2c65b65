"""
TF-IDF weights of documents, at unit length, with an idf that is given.

With n_t how often term t occurs in a document, df_t how many of all D documents it is
in, a document is the vector (scikit-learn's `TfidfVectorizer`, by its defaults)

    idf_t = ln((1 + D) / (1 + df_t)) + 1
    x_t   = n_t idf_t / sqrt(sum of (n_t idf_t)^2)

over the known terms. What a document adds to a count is x_t in units of 2^-24, rounded,
so that counts are integers and can be taken away again: `nbtext.counts.idf` computes
the same for one document, bit for bit.
"""

from __future__ import annotations

from itertools import pairwise
from math import fsum
from typing import TYPE_CHECKING

import numpy as np

from nbtext.counts.idf import TFIDF_UNIT, inverse_frequency
from nbtext.tokens.bags import sum_by_document

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nbtext.tokens import Terms


def inverse_frequencies(
    n_documents: int, frequencies: NDArray[np.integer]
) -> NDArray[np.float64]:
    """
    Return the idf of terms.

    Args:
        n_documents: D, all documents.
        frequencies: df of each term.
    """
    distinct, places = np.unique(frequencies, return_inverse=True)
    idf = [inverse_frequency(n_documents, frequency) for frequency in distinct.tolist()]
    by_term: NDArray[np.float64] = np.array(idf, np.float64)[places]
    return by_term


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


def whole_weights(terms: Terms, idf: NDArray[np.float64]) -> NDArray[np.int64]:
    """
    Return what the terms of documents add to counts, shape (n_terms,).

    Args:
        terms: the terms of documents.
        idf: shape (n_terms,), the idf of each.
    """
    values = terms.counts * idf
    squares, starts = (values * values).tolist(), terms.starts.tolist()
    # a sum that no order of the terms changes
    sums = [fsum(squares[start:end]) for start, end in pairwise(starts)]
    lengths = np.sqrt(np.array(sums, np.float64))
    values /= np.repeat(np.where(lengths > 0, lengths, 1.0), terms.sizes)
    return np.rint(values * TFIDF_UNIT).astype(np.int64)
