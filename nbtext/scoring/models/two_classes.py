"""
What the event models of two classes have in common: the log-odds of terms.

In each view, with n_tc the count of term t in class c and N_c their sum over the terms,
the odds of a term are

    (n_t1 / N_1 + h) / (n_t0 / N_0 + h),   h = 2 a / (N_0 + N_1)

with N_c as 1 at least. `nbtext.scoring.models.arrays` has them for many documents.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nbtext.scoring.models.event_model import EventModel
from nbtext.scoring.models.evidence import counted_column

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nbtext.scoring.model import Model
    from nbtext.scoring.models.evidence import Calibrated, Raw
    from nbtext.settings.reading import Settings
    from nbtext.settings.scoring import Scoring
    from nbtext.tokens import Bag
    from nbtext.tokens.bag import TermCounts


class TwoClasses(EventModel):
    """An event model that compares the second class with the first."""

    calibration: Calibrated = "histogram"
    reads_own_terms = True
    not_linear = "it is a mean over the terms, and no sum"

    def refusal(
        self, scoring: Scoring, settings: Settings, classes: Sequence[str]
    ) -> str:
        """Refuse more classes than two, too."""
        if len(classes) > 2:
            return f"is for two classes, the model has {len(classes)}"
        return super().refusal(scoring, settings, classes)

    def joint_log_likelihood(self, model: Model, bag: Bag) -> Raw:
        """Return for the first class 0, and for the second its log-odds, unfitted."""
        ((log_odds,),) = self.scores(model, [model.scoring], bag)
        return 0.0, log_odds


def log_odds_of_terms(
    model: Model, view: int, terms: TermCounts, log_of: Callable[[float], float]
) -> dict[int, float]:
    """
    Return what each term that the model knows says, in nats, by key.

    Args:
        model: the counts.
        view: which of the views.
        terms: the document's terms in this view.
        log_of: the logarithm of odds, as the event model takes it.
    """
    scoring = model.scoring
    column = model.settings.views[view].column(counted_column(scoring))
    sizes = [float(max(by_class[column], 1)) for by_class in model.totals[view]]
    h = 2 * scoring.smoothing / (sizes[0] + sizes[1])
    by_counts: dict[tuple[int, int], float] = {}
    log_odds: dict[int, float] = {}
    for key, entries in model.found(view, terms).items():
        counts = [0, 0]
        for class_, columns in entries:
            counts[class_] = columns[column]
        pair = counts[0], counts[1]
        if pair not in by_counts:
            odds = (pair[1] / sizes[1] + h) / (pair[0] / sizes[0] + h)
            by_counts[pair] = log_of(odds)
        log_odds[key] = by_counts[pair]
    return log_odds
