"""
A document as a bag of terms: its distinct keys in each view, and how often each occurs.

A reading goes in, what the document adds to the counts comes out, and a fingerprint of
it. `nbtext.tokens.bags` does the same for many documents at once.

The weight of a term that occurs n times in a document whose counts have the Euclidean
length |d| is floor(65535 n / |d|), in integer arithmetic, so that it is the same on
every machine and can be taken away again.
"""

from collections import Counter as Tally
from collections.abc import Sequence
from math import isqrt
from typing import TypeAlias

from nbtext.settings import UNIT, Settings
from nbtext.tokens.engine import keys
from nbtext.tokens.reading import Reading
from nbtext.tokens.tokenizer import MASK, mix

Terms: TypeAlias = dict[int, int]
"""A document in one view: key to how often it occurs."""

Bag: TypeAlias = tuple[Terms, ...]
"""A document in all views."""


def bag_of(reading: Reading, settings: Settings) -> Bag:
    """Return the terms of a document in each view."""
    return tuple(
        Tally(keys(view, fields))
        for view, fields in zip(settings.views, reading.views, strict=True)
    )


def fingerprint(bag: Bag) -> int:
    """
    Return what tells the counts of one document from those of another.

    One, so that it is not 0 where there are no terms, and the sum, modulo 2^64, over
    the views v = 1, 2, ... and their terms, of mix(mix(key * (2 v + 1) + count)); no
    order matters. Mixed once, a count that is one more would often be balanced by
    another that is one less.
    """
    total = 1
    for number, terms in enumerate(bag, 1):
        for key, count in terms.items():
            total += mix(mix((key * (2 * number + 1) + count) & MASK))
    return total & MASK


def columns_of(terms: Terms, columns: Sequence[str]) -> dict[int, tuple[int, ...]]:
    """Return what a document adds to each column of its terms in one view."""
    if "weight" not in columns:
        return {key: (count, 1) for key, count in terms.items()}
    squared_length = sum(count * count for count in terms.values())
    return {
        key: (count, 1, unit_weight(count, squared_length))
        for key, count in terms.items()
    }


def unit_weight(count: int, squared_length: int) -> int:
    """Return the weight of one term: floor(65535 n / |d|)."""
    return isqrt(UNIT * UNIT * count * count // squared_length)
