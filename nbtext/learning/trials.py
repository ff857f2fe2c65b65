"""
Ways to make a correction, and what came of one for documents held out.

`nbtext.learning.correcting` makes corrections in each way, and keeps the better one.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Final, NamedTuple

from nbtext.learning.passes import Rate

PASSES: Final = 3
"""How often each document is visited."""

CUT: Final = 0.02
"""Steps below this share of a rate are none (docs/experiments/010-many-classes.md)."""

OF_TWO: Final = 0.5
"""What share of a rate two classes have: both move, so that the step between them is
double."""


class Way(NamedTuple):
    """
    A way to make a correction.

    Attributes:
        share: how far the scores of the counts are believed beside it.
        rate: how far a class moves that is wrong altogether, in the first pass.
        decay: what share of a pass's rate the next one has.
    """

    share: float
    rate: float
    decay: float

    def rate_of(self, n_classes: int) -> Rate:
        """Return how documents move so many classes."""
        rate = self.rate * OF_TWO if n_classes == 2 else self.rate
        return Rate(PASSES, rate, CUT, self.decay)


WAYS: Final = (Way(1.0, 0.5, 1.0), Way(0.5, 1.0, 0.5))
"""The counts are believed as far as they are without a correction, or by half: short
texts are better off with the latter, long ones with the former
(docs/experiments/029-half-believed.md). Of equals the first is taken."""

BY_CHANCE: Final = 2.0
"""So many nats a correction may lose in all that are held out at a time, and be worth
it for other documents; with 200 documents of a class and fewer it was for nearly all
that were tried (docs/experiments/028-few-documents.md)."""


class Trial(NamedTuple):
    """
    What a correction did for documents that had no part in it.

    Attributes:
        way: how it was made.
        parts: how often it was made, of other documents each time.
        held_out: how many they are.
        loss_without: their mean log-loss without the correction, in nats.
        loss_with: the same with it.
    """

    way: Way
    parts: int
    held_out: int
    loss_without: float
    loss_with: float

    @property
    def is_won(self) -> bool:
        """
        Return whether the correction is worth keeping.

        Few documents say little. Most corrections are worth it, so that one is kept
        which in each part has lost no more than chance may.
        """
        lost = (self.loss_with - self.loss_without) * self.held_out
        return lost < BY_CHANCE * self.parts

    def facts(self, n_classes: int) -> dict[str, int | float]:
        """Return what is told of a correction of so many classes, made likewise."""
        rate = asdict(self.way.rate_of(n_classes))
        facts = self._asdict() | rate | {"share": self.way.share}
        del facts["way"]
        return facts


def together(first: Trial, other: Trial) -> Trial:
    """Put together what was tried in the same way on different documents."""
    held_out = first.held_out + other.held_out

    def mean(of_first: float, of_other: float) -> float:
        return (of_first * first.held_out + of_other * other.held_out) / held_out

    return Trial(
        first.way,
        first.parts + other.parts,
        held_out,
        mean(first.loss_without, other.loss_without),
        mean(first.loss_with, other.loss_with),
    )
