"""
The idf of a term, and the TF-IDF weights of one document, on the standard library.

What a document adds to counts must be the same on every machine, and whether it is
counted alone or among others, or it could not be taken away again. So the logarithm is
the correctly rounded one of the decimal module, the sum of squares is exact before it
is rounded, and all other operations are those that IEEE 754 defines to the last bit.
"""

from collections.abc import Mapping
from functools import lru_cache
from math import fsum, sqrt
from typing import Final

TFIDF_UNIT: Final = 1 << 24
"""The weight of the only term of a document."""

DIGITS: Final = 30
"""Decimal digits of an idf before it is rounded."""


@lru_cache(maxsize=1 << 16)
def inverse_frequency(n_documents: int, frequency: int) -> float:
    """
    Return ln((1 + D) / (1 + df)) + 1.

    Args:
        n_documents: D, all documents.
        frequency: df, those that have the term.
    """
    from decimal import Context, Decimal  # which the other scores do not wait for

    digits = Context(prec=DIGITS)
    ratio = digits.divide(Decimal(1 + n_documents), Decimal(1 + frequency))
    return float(digits.add(digits.ln(ratio), Decimal(1)))


def weights_of(
    terms: Mapping[int, int], frequencies: Mapping[int, int], n_documents: int
) -> dict[int, int]:
    """
    Return what each term of a document adds to counts.

    Args:
        terms: key to how often it occurs.
        frequencies: key to df, of those terms that any document has.
        n_documents: D, all documents.
    """
    values = {
        key: count * inverse_frequency(n_documents, frequencies.get(key, 0))
        for key, count in terms.items()
    }
    length = sqrt(fsum(value * value for value in values.values()))
    return {key: round(value / length * TFIDF_UNIT) for key, value in values.items()}
