"""
Leaks: terms that give a class away, as no mail or text of its own would.

A term in nearly all documents of one class and in none of any other is rarely language:
it is the name of the machine that collected them, a footer, a tag. Counts go in, keys
come out.
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nbtext.scoring.batch_model import BatchModel

if TYPE_CHECKING:
    from collections.abc import Sequence

LEAST_SHARE = 0.9
"""The share of a class's documents that have the term, from which it is a leak."""

FEWEST = 10
"""Documents of the class, and of the others, below which nothing is said."""


class LeakingTerm(NamedTuple):
    """A term in nearly all documents of a class and in none of the others."""

    view: int
    key: int
    class_: int
    documents: int


def leaking_terms(model: BatchModel) -> list[LeakingTerm]:
    """Return the leaks of counted documents, those of most documents first."""
    sizes = np.array(model.documents)
    is_asked = (sizes >= FEWEST) & (sizes.sum() - sizes >= FEWEST)
    found: list[LeakingTerm] = []
    for view, table in enumerate(model.terms):
        if model.settings.views[view].kind == "number":
            continue  # numbers are no terms
        counts = table.columns[model.column(view, "documents")]
        # a term of one class has one entry
        (single,) = np.nonzero(np.diff(table.starts) == 1)
        entries = table.starts.take(single)
        classes, documents = table.classes.take(entries), counts.take(entries)
        is_leak = documents >= LEAST_SHARE * sizes[classes]
        is_leak &= is_asked[classes]
        for place in np.flatnonzero(is_leak).tolist():
            key = int(table.keys[single[place]])
            found.append(
                LeakingTerm(view, key, int(classes[place]), int(documents[place]))
            )
    shares: Sequence[int] = sizes.tolist()
    found.sort(key=lambda one: (-one.documents / shares[one.class_], one.view, one.key))
    return found
