"""
Categories: the values of a column, each with its own probability in each class.

With n_ij the documents of class j that have value i, n_j those that have any value, m
the distinct values of the column over all classes, and l `category_smoothing`:

    P(i given j) = (n_ij + l) / (n_j + l m)

It is scikit-learn's CategoricalNB; l = 1 is Laplace's rule. For a value that no class
has, n_ij is 0 and m is one more, for all of the values. With l = 0 a value that a class
does not have is impossible there, and so is any value where a class has none.
"""

from __future__ import annotations

from math import inf, log
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from nbtext.scoring.model import Model
    from nbtext.tokens import Bag

from nbtext.scoring.models.evidence import Evidence
from nbtext.scoring.models.parameters import BY_KIND

SMOOTHING: Final = BY_KIND["value"].name
"""The parameter: what is added to the count of every value."""


def category_evidence(model: Model, bag: Bag) -> list[Evidence]:
    """Return what each value of a record says: of a column without one, nothing."""
    return [
        _view_evidence(model, number, bag)
        for number, view in model.settings.attributes
        if view.kind == "value"
    ]


def _view_evidence(model: Model, number: int, bag: Bag) -> Evidence:
    smoothing = model.scoring.attribute(SMOOTHING)
    view = model.settings.views[number]
    column = view.column("documents")
    sizes = [by_class[column] for by_class in model.totals[number]]
    found = model.found(number, bag[number])
    n_values = model.n_terms(number)
    rows = []
    for key, times in bag[number].items():
        counts = {class_: columns[column] for class_, columns in found.get(key, ())}
        distinct = n_values + (key not in found)
        divisors = [size + smoothing * distinct for size in sizes]
        rows += [
            (
                key,
                class_,
                times * _log_share(counts.get(class_, 0) + smoothing, divisor),
            )
            for class_, divisor in enumerate(divisors)
        ]
    known = sum(times for key, times in bag[number].items() if key in found)
    return Evidence(view.name, rows, known=known)


def _log_share(count: float, divisor: float) -> float:
    """Return the logarithm of a value's probability in a class."""
    return log(count / divisor) if count else -inf
