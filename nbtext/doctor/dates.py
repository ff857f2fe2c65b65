"""
Whether dates part the classes: mail of a class that is older than that of the others.

Then a model may tell the classes by what was written of in those years, and its figures
on such mail promise too much.
"""

from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from nbtext.doctor.findings import Apart
from nbtext.evaluation.binary_metrics import inversions

FEWEST = 20
"""Dates that each side must have."""

LEAST = 0.9
"""The share of pairs in the same order from which dates are said to part a class."""

MIDDLE = (0.05, 0.95)
"""Which of the dates are told, the others may be wrong."""


def apart(
    times: NDArray[np.float64], labels: NDArray[np.int64], classes: Sequence[str]
) -> list[Apart]:
    """
    Return the classes whose documents are of another time than all others.

    Args:
        times: shape (n_documents,), in seconds since 1970; NaN where it is not known.
        labels: shape (n_documents,), the places of their classes.
        classes: their names.
    """
    is_known = np.isfinite(times)
    found = []
    for place, name in enumerate(classes):
        own, others = (
            times[is_known & (labels == place)],
            times[is_known & (labels != place)],
        )
        if min(len(own), len(others)) < FEWEST:
            continue
        later = 1 - inversions(own, others) / (2 * len(own) * len(others))
        if max(later, 1 - later) >= LEAST:
            found.append(_apart(name, own, others, later))
        if len(classes) == 2:  # the other class says the same
            break
    return sorted(found, key=lambda one: (-one.ordered, one.label))


def _apart(
    name: str, own: NDArray[np.float64], others: NDArray[np.float64], later: float
) -> Apart:
    first, last, others_first, others_last = (
        datetime.fromtimestamp(time, UTC).date().isoformat()
        for of_side in (own, others)
        for time in np.quantile(of_side, MIDDLE).tolist()
    )
    return Apart(
        label=name,
        first=first,
        last=last,
        others_first=others_first,
        others_last=others_last,
        ordered=max(later, 1 - later),
        is_later=later > 0.5,
    )
