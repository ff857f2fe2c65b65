"""
What the event models on weighted terms have in common: complement and own class.

A document is scaled to unit length (Rennie, Shih, Teevan and Karger 2003, section 4.3).
In each view, with l_t = ln(1 + n_t) for a known term t that occurs n_t times in the
document (their section 4.1), w_tc the sum of the weights x_t of the training documents
of class c, W_t its sum over the classes, W_c over the terms, W over both, and K
classes:

    x_t          = l_t / sqrt(sum of l_t^2)
    complement_c = -sum of x_t ln((W_t - w_tc + a) / (W - W_c + a V))
    own_c        =  sum of x_t ln(w_tc / W_c + h),   h = .01 K / W

What is the same for all classes cancels in the posterior, so sum of x_t ln(W_t + a) is
added to complement_c, and sum of x_t ln h taken from own_c: a class without a term
costs nothing. `nbtext.scoring.models.contrast_sums` has both sums for many documents.
"""

from __future__ import annotations

from math import log, sqrt
from typing import TYPE_CHECKING, Final, NamedTuple

from nbtext.scoring.models.event_model import EventModel
from nbtext.scoring.models.evidence import Evidence
from nbtext.settings.columns import UNIT, Column
from nbtext.settings.scoring import OCCURRENCES
from nbtext.tokens.bag import log_count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nbtext.scoring.model import Model
    from nbtext.scoring.models.evidence import Calibrated
    from nbtext.settings.reading import Settings
    from nbtext.settings.scoring import Scoring
    from nbtext.settings.views import View
    from nbtext.tokens.bag import TermCounts

WEIGHT: Final[Column] = "weight"
"""The column that is counted."""

SHARE: Final = 0.01
"""The weight, of all that there is, that a class is given of an unseen term."""

LEAST_SIZE: Final = 0.001
"""The least weight of a class, which divides."""


class ViewWeight(NamedTuple):
    """
    What a view's part of a score is multiplied by.

    Attributes:
        view: how much the view weighs.
        own: how much the class itself weighs beside its complement.
    """

    view: float = 1.0
    own: float = 0.0


class OnWeightedTerms(EventModel):
    """An event model on documents of unit length."""

    calibration: Calibrated = "temperature"
    not_linear = "documents are scaled to unit length"

    def columns(self, view: View) -> tuple[Column, ...]:
        """Return what must have been counted in a view."""
        del view
        return ("documents", WEIGHT)

    def weight_of(self, view: View, scoring: Scoring) -> ViewWeight:
        """Return what a view's part of a score is multiplied by."""
        del view, scoring
        return ViewWeight()

    def refusal(
        self, scoring: Scoring, settings: Settings, classes: Sequence[str]
    ) -> str:
        """Refuse to count otherwise: weights are of occurrences."""
        del settings, classes
        return "" if scoring.counting == OCCURRENCES else "counts repeats"

    def view_evidence(self, model: Model, view: int, terms: TermCounts) -> Evidence:
        """Return what the terms of a document say in one view."""
        a, settings = model.scoring.smoothing, model.settings.views[view]
        weight, own = self.weight_of(settings, model.scoring)
        column = settings.column(WEIGHT)
        found = model.found(view, terms)
        known = sum(terms[key] for key in found)
        if not found or not weight:
            return Evidence(settings.name, known=known)
        logs = {key: log_count(terms[key]) for key in found}
        length = sqrt(sum(value * value for value in logs.values()))
        sizes = [by_class[column] / UNIT for by_class in model.totals[view]]
        size_of_all = sum(sizes)
        # 1 / (W_c h) of each class
        rates = [
            size_of_all / (SHARE * len(sizes) * max(size, LEAST_SIZE)) for size in sizes
        ]
        rows = []
        for key, entries in found.items():
            x = weight * logs[key] / length
            whole = sum([columns[column] for _, columns in entries]) / UNIT
            of_all = log(whole + a)
            for class_, columns in entries:
                w = columns[column] / UNIT
                says = of_all - log(whole - w + a) + own * log(1 + w * rates[class_])
                rows.append((key, class_, x * says))
        n_terms = max(model.n_terms(view), 1)
        sum_of_x = weight * sum(logs.values()) / length
        rest = [sum_of_x * log(size_of_all - size + a * n_terms) for size in sizes]
        return Evidence(settings.name, rows, rest=rest, known=known)
