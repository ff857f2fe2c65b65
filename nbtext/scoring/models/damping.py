"""
Damping: what a term that occurs n times in a document counts.

It counts n (`occurrences`), 1 (`once`; Metsis, Androutsopoulos and Paliouras 2006),
min(n, K) (`min:K`), or ln(1 + n) (`log`; Rennie, Shih, Teevan and Karger 2003, section
4.1), and the same in the documents of training as in the one that is scored. So each of
them is a sum over the documents of a class, of columns that were counted:

    n           occurrences
    1           documents
    min(n, K)   K documents - sum over k < K of (K - k) level_k
    ln(1 + n)   logs / 2048

where `level_k` has the documents in which the term occurs exactly k times. So columns
of levels up to K - 1 serve every smaller K, too.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from nbtext.settings.columns import LEVELS, Column
from nbtext.settings.scoring import LOG, MIN, OCCURRENCES, ONCE
from nbtext.tokens.bag import LOG_UNIT, log_count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nbtext.settings.views import View


class Damping(NamedTuple):
    """
    How occurrences count.

    Attributes:
        columns: what must have been counted.
        factors: what each of them is multiplied by in the sum.
        unit: what the sum is divided by.
        most: what min(n, K) stops at; 0 for none.
    """

    columns: tuple[Column, ...]
    factors: tuple[int, ...] = (1,)
    unit: int = 1
    most: int = 0

    def times(self, n: int) -> float:
        """Return what n occurrences in a document count."""
        if self.unit == LOG_UNIT:
            return log_count(n) / LOG_UNIT
        return min(n, self.most) if self.most else n

    def places(self, view: View) -> list[int]:
        """Return the places of the columns among those of a view."""
        return [view.column(column) for column in self.columns]

    def count_of(self, columns: Sequence[int], places: Sequence[int]) -> float:
        """
        Return the sum over documents, from the columns of a term or of a class.

        Args:
            columns: the sums of all columns of a view.
            places: which of them are meant.
        """
        if len(places) == 1:
            total = columns[places[0]]
        else:
            rows = zip(self.factors, places, strict=True)
            # a damaged model may have more documents by level than documents
            total = max(sum(factor * columns[place] for factor, place in rows), 0)
        return total if self.unit == 1 else total / self.unit


@lru_cache(maxsize=32)
def damping(counting: str) -> Damping:
    """Return the damping of a scoring's `counting`, which has been checked."""
    if counting == OCCURRENCES:
        return Damping(("occurrences",))
    if counting == ONCE:
        return Damping(("documents",), most=1)
    if counting == LOG:
        return Damping(("logs",), unit=LOG_UNIT)
    most = int(counting.removeprefix(MIN))
    less = range(1, most)
    return Damping(
        columns=("documents", *LEVELS[: most - 1]),
        factors=(most, *(k - most for k in less)),
        most=most,
    )
