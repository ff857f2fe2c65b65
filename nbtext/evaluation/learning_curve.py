"""
How figures come about along a stream of documents.

In: truth, log posteriors and decisions in the order of the stream. Out: points, each
with the figures of all documents so far and the error of those since the last one.
"""

from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np

from nbtext.evaluation.binary_metrics import two_class
from nbtext.evaluation.metrics import Floats, Indices, macro_average, precision_recall

MOST_POINTS: Final = 100
"""Maximum points of a curve."""


@dataclass(frozen=True, slots=True)
class Point:
    """
    The figures after some documents.

    Attributes:
        documents: how many were judged so far.
        learnt: how many were learnt so far.
        error: the share of them that was not decided rightly; unsure ones are not.
        recent_error: the same of those since the last point.
        macro_f1: the mean F1 of the classes that occur, so far.
        one_minus_auc_percent: of two classes, 100 (1 - AUC) so far; else None.
    """

    documents: int
    learnt: int
    error: float
    recent_error: float
    macro_f1: float
    one_minus_auc_percent: float | None


@dataclass(frozen=True, slots=True)
class Replay:
    """
    What became of the documents of a replay, beside the figures.

    Attributes:
        order: one of ORDERS.
        feedback: as it was asked for.
        regime: one of REGIMES.
        margin: of near errors, in nats; None for another regime.
        known_before: how many documents the model had learnt before.
        learnt: how many were learnt.
        left_out: how many were not, because of the regime.
        copies: how many were not, because the same one had been learnt.
        not_told: how many labels were never told.
        unscored: how many came while fewer than two classes were known, and are
            unsure.
        curve: the figures along the stream.
    """

    order: str
    feedback: str
    regime: str
    margin: float | None
    known_before: int
    learnt: int
    left_out: int
    copies: int
    not_told: int
    unscored: int
    curve: tuple[Point, ...]

    def __repr__(self) -> str:
        """Say by which regime documents were learnt, and how many."""
        found = f"{self.learnt:,} documents learnt, {self.left_out:,} left out"
        return f"<Replay, {self.regime}: {found}>"

    def as_dict(self) -> dict[str, Any]:
        """Return what `json.dumps` takes."""
        return asdict(self) | {"curve": [*map(asdict, self.curve)]}


def learning_curve(
    truth: Indices,
    log_posterior: Floats,
    decided: Indices,
    learnt: Indices,
    classes: tuple[str, ...],
    positive: str | None,
) -> tuple[Point, ...]:
    """
    Return the points of a stream, evenly spaced, the last at its end.

    Args:
        truth: shape (n_documents,), places of classes; -1 for an unknown label.
        log_posterior: shape (n_documents, n_classes), in nats.
        decided: shape (n_documents,), places of classes; -1 for unsure.
        learnt: shape (n_documents,), how many were learnt once each was judged.
        classes: their names.
        positive: the class that is looked for; None unless there are two.
    """
    n = len(truth)
    n_points = min(n, MOST_POINTS)
    ends = [n * number // n_points for number in range(1, n_points + 1)]
    wrong = np.concatenate([[0], np.cumsum((truth != decided) | (truth < 0))]).tolist()
    points = []
    for start, end in zip([0, *ends], ends, strict=False):
        auc = None
        if positive is not None:
            known = truth[:end] >= 0
            auc = two_class(
                truth[:end][known], log_posterior[:end][known], decided[:end][known],
                classes, positive,
            ).one_minus_auc_percent  # fmt: skip
        points.append(
            Point(
                documents=end,
                learnt=int(learnt[end - 1]),
                error=wrong[end] / end,
                recent_error=(wrong[end] - wrong[start]) / (end - start),
                macro_f1=_macro_f1(truth[:end], decided[:end], len(classes)),
                one_minus_auc_percent=auc,
            )
        )
    return tuple(points)


def _macro_f1(truth: Indices, decided: Indices, n_classes: int) -> float:
    """Return the mean F1 of the classes that occur."""
    hits = np.bincount(truth[(truth == decided) & (truth >= 0)], minlength=n_classes)
    called = np.bincount(decided[decided >= 0], minlength=n_classes)
    support = np.bincount(truth[truth >= 0], minlength=n_classes)
    rows = zip(hits.tolist(), called.tolist(), support.tolist(), strict=True)
    return macro_average([precision_recall(*row) for row in rows if any(row)]).f1
