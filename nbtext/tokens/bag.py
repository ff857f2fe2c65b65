"""
A document as a bag of terms: its distinct keys in each view, and how often each occurs.

A reading goes in, what the document adds to the counts comes out, and a fingerprint of
it. `nbtext.tokens.bags` does the same for many documents at once.

A document is also a vector of unit length: its term that occurs n times has the weight
floor(65535 l(n) / |l|), with l(n) = ln(1 + n) to the next 1/2048 and |l| the Euclidean
length of the document's l. Only integers are divided, so that a weight is the same on
every machine and can be taken away again.
"""

from collections import Counter as Tally
from collections.abc import Sequence
from math import isqrt, log1p
from typing import Final, TypeAlias

from nbtext.settings.columns import LOGS, NUMBERS, UNIT, levels_of
from nbtext.settings.reading import Settings
from nbtext.tokens.engine import Content, keys
from nbtext.tokens.key_reading import AnyReading
from nbtext.tokens.tokenizer import MASK, mix

TermCounts: TypeAlias = dict[int, int]
"""A document in one view: key to how often it occurs."""

Bag: TypeAlias = tuple[TermCounts, ...]
"""A document in all views."""

LOG_UNIT: Final = 2048
"""The units of a logarithm of counts: so many are one."""

MOST_COUNTED: Final = (1 << 24) - 1
"""Maximum occurrences of a term that its weight tells apart."""


def bag_of(reading: AnyReading, settings: Settings) -> Bag:
    """Return the terms of a document in each view."""
    contents: tuple[Content, ...] = reading.views
    return tuple(
        Tally(keys(view, content, settings.secret))
        for view, content in zip(settings.views, contents, strict=True)
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


def columns_of(terms: TermCounts, columns: Sequence[str]) -> dict[int, tuple[int, ...]]:
    """Return what a document adds to each column of its terms in one view."""
    if columns == NUMBERS:
        from nbtext.exact import sums_of  # only records of tables need it

        return {key: sums_of((key,), (count,)) for key, count in terms.items()}
    if "weight" in columns:
        added = _with_weights(terms)
    else:
        added = {key: (count, 1) for key, count in terms.items()}
    levels = levels_of(columns)
    if levels:
        added = {
            key: (*values, *[int(values[0] == level) for level in levels])
            for key, values in added.items()
        }
    if LOGS in columns:
        added = {key: (*row, log_count(row[0])) for key, row in added.items()}
    return added


def _with_weights(terms: TermCounts) -> dict[int, tuple[int, ...]]:
    logs = {key: log_count(count) for key, count in terms.items()}
    squared_length = sum(value * value for value in logs.values())
    return {
        key: (count, 1, unit_weight(logs[key], squared_length))
        for key, count in terms.items()
    }


def log_count(count: int) -> int:
    """
    Return ln(1 + n) of a number of occurrences, rounded to units of 1/2048.

    No logarithm up to MOST_COUNTED is within 1e-7 of where rounding turns, and no
    library's errs by as much, so that all machines have the same integers.
    """
    return round(LOG_UNIT * log1p(min(count, MOST_COUNTED)))


def unit_weight(log: int, squared_length: int) -> int:
    """Return the weight of one term: floor(65535 l / |l|)."""
    return isqrt(UNIT * UNIT * log * log // squared_length)
