"""
Tables that add up, of those that are left of a model.

A table may take away what an earlier one has added. Where that one is lost, nothing is
there to be taken from, and the later one is of no use either: counts below zero are
those of no document.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from nbtext.counts.table import CountTable

from nbtext.counts.table import add

Debt: TypeAlias = tuple[str, int, tuple[int, ...]]
"""A class, a view and a term of it; or LEDGER and a row of it; or DOCUMENTS alone."""

DOCUMENTS, LEDGER = -2, -1


def balanced(tables: dict[int, CountTable]) -> tuple[list[int], CountTable]:
    """
    Leave tables out, the latest first, until no sum of the others is below zero.

    A table is left out only if it takes something away that the others do not have.

    Args:
        tables: one or more, of equal settings, by their place in the file.

    Returns:
        The places of those that are left out, and the sum of the others.

    """
    kept = dict(tables)
    total = add(list(kept.values()))
    left_out: list[int] = []
    while kept and (debts := _below_zero(total)):
        owing = (place for place in reversed(kept) if debts & _below_zero(kept[place]))
        # where nobody owes it the sum was too large: then the latest goes
        place = next(owing, next(reversed(kept)))
        total = add([total, -kept.pop(place)])
        left_out.append(place)
    return left_out, total


def _below_zero(table: CountTable) -> set[Debt]:
    """Return where the counts of a table are below zero."""
    debts: set[Debt] = set()
    for place, name in enumerate(table.classes):
        if table.documents[place] < 0:
            debts.add((name, DOCUMENTS, ()))
        ledger = table.ledger[place]
        rows = ledger.entries[ledger.counts < 0].tolist()
        debts.update((name, LEDGER, tuple(row)) for row in rows)
        for view, runs in enumerate(table.runs):
            run = runs[place]
            is_below = np.logical_or.reduce([column < 0 for column in run.columns])
            debts.update((name, view, (key,)) for key in run.keys[is_below].tolist())
    return debts
