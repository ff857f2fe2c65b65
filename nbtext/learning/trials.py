"""
How a correction is made, and what came of one for documents held out.

`nbtext.learning.correcting` tries each of the shares, and keeps the better one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

from nbtext.counts.calibration import Prior
from nbtext.counts.fitting import best_temperature
from nbtext.learning.steps import MANY_PASSES, Manner, rate_of
from nbtext.scoring.leave_one_out import observed_losses

SHARES: Final = (1.0, 0.5)
"""How far the scores of the counts are believed beside a correction: as without one, or
by half. Short texts are better off with the latter, long ones with the former
(docs/experiments/029-half-believed.md). Of equals the first is taken."""

DOUBTS: Final = (0.25, 0.5)
"""How far labels are doubted, if documents held out lose less by it: each is tried if
the one before was better than less doubt. Where labels are right, none is
(docs/experiments/035-doubted-labels.md)."""

FURTHER: Final = (Manner(pace=2.0), Manner(pace=2.0, passes=MANY_PASSES))
"""How documents move classes, if documents held out lose less by it: twice as far, and
in twice as many passes, too, if the former was better. Tried with three classes and
more where the counts are believed by half: short texts of many classes are better off
(docs/experiments/053-short-requests.md, docs/experiments/079-longer-learning.md)."""

STEEPNESS: Final = Prior(precision=10.0)
"""What is expected of the steepness of corrected scores: its logarithm has been up to
.56 from 0, and mostly a third (docs/experiments/030-balance.md)."""

ADJUSTMENTS: Final = (0.1, 0.2, 0.3, 0.4)
"""What the logarithms of the classes' shares may be multiplied by, to be taken from
corrected scores of three classes and more: each is tried if the one before was better.
Below zero, which would have rare classes told still more seldom, less is gained than
lost (docs/experiments/045-rare-classes.md). What else is chosen is judged with what is
taken so (docs/experiments/072-shares-and-rare-classes.md)."""

PRECISION: Final = 10.0
"""Of what is expected of it, which is 0."""

BY_CHANCE: Final = 2.0
"""So many nats a correction may lose in all that are held out at a time, and be worth
it for other documents; with 200 documents of a class and fewer it was for nearly all
that were tried (docs/experiments/028-few-documents.md)."""

BY_MORE: Final = 0.1
"""So large a share of what documents lose without a correction, divided by how many the
mean class has, they may lose more by one that is tried: it is learnt from three
quarters of them, and what is made of all loses less by about as much
(docs/experiments/062-trials-of-few.md)."""

HELD_OUT: Final = 4
"""Of every so many documents, one is held out of the correction that is tried."""


class Adjustment(NamedTuple):
    """
    How much of the classes' shares is to be taken from corrected scores.

    Attributes:
        t: what the logarithms of the shares are multiplied by, to be taken.
        loss: the mean log-loss without it, and what a steepness and t take, in nats.
    """

    t: float
    loss: float


@dataclass(frozen=True)
class Trial:
    """
    What a correction did for documents that had no part in it.

    Attributes:
        share: how far the scores of the counts are believed beside it.
        manner: how it was learnt.
        parts: how often it was made, of other documents each time.
        loss_without: their mean log-loss without the correction, in nats.
        logits: shape (held_out, n_classes), their corrected scores.
        labels: shape (held_out,), the places of their classes.
        documents: how many of each class are counted.
    """

    share: float
    manner: Manner
    parts: int
    loss_without: float
    logits: NDArray[np.float64]
    labels: NDArray[np.int64]
    documents: tuple[int, ...]

    @property
    def held_out(self) -> int:
        """Return how many documents had no part in it."""
        return len(self.labels)

    @cached_property
    def _best(self) -> tuple[float, float]:
        """The steepness, and the sum of their log-losses with it, in nats."""
        losses = observed_losses(self.logits, self.labels)
        return best_temperature(losses.tolist(), STEEPNESS)

    @property
    def steepness(self) -> float:
        """Return what corrected scores are multiplied by to be probable."""
        return self._best[0]

    @property
    def loss_with(self) -> float:
        """Return their mean log-loss with it, and what a steepness takes, in nats."""
        return self._best[1] / self.held_out

    @property
    def is_won(self) -> bool:
        """
        Return whether the correction is worth keeping.

        Few documents say little. Most corrections are worth it, so that one is kept
        which in each part has lost no more than chance may take, and more documents
        bring.
        """
        lost = (self.loss_with - self.loss_without) * self.held_out
        n_classes: int = self.logits.shape[1]
        by_more = BY_MORE * self.loss_without * n_classes / HELD_OUT
        return lost < (BY_CHANCE + by_more) * self.parts

    @cached_property
    def adjustment(self) -> Adjustment:
        """
        Which multiple of the logarithms of the classes' shares is to be taken.

        A steepness makes the share that corrected scores hold steeper, too; or rare
        classes are told more seldom than they are there. (Menon et al. 2021, section
        4.1: logits less t ln p; here t is what documents held out lose least by.) Of
        two classes, whose calibration has an offset, nothing is taken.
        """
        best = Adjustment(0.0, self.loss_with)
        for t in ADJUSTMENTS if len(self.documents) > 2 else ():
            # the scores are not kept: they are as many as documents times classes
            loss = self.without(t).loss_with + 0.5 * PRECISION * t * t / self.held_out
            if loss >= best.loss:
                break
            best = Adjustment(t, loss)
        return best

    @property
    def shares(self) -> NDArray[np.float64]:
        """The logarithms of the classes' shares of what is counted, (n_classes,)."""
        documents = np.maximum(self.documents, 1) / max(sum(self.documents), 1)
        return np.log(documents)

    def without(self, t: float) -> Trial:
        """Return the trial of scores from which so much of the shares is taken."""
        return replace(self, logits=self.logits - t * self.shares) if t else self

    def facts(self, n_classes: int) -> dict[str, int | float]:
        """Return what is told of a correction of so many classes, made likewise."""
        rate = rate_of(n_classes, self.manner)._asdict()
        return {
            "parts": self.parts,
            "held_out": self.held_out,
            "loss_without": self.loss_without,
            "loss_with": self.loss_with,
            "share": self.share,
            **rate,
        }


def together(first: Trial, other: Trial) -> Trial:
    """Put together what was tried in the same way on different documents."""
    losses, more = (one.loss_without * one.held_out for one in (first, other))
    return replace(
        first,
        parts=first.parts + other.parts,
        loss_without=(losses + more) / (first.held_out + other.held_out),
        logits=np.concatenate([first.logits, other.logits]),
        labels=np.concatenate([first.labels, other.labels]),
    )
