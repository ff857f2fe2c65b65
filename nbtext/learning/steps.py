"""
How far documents move the classes of a correction: rates, units, and one step.

Training visits its documents three times, further each time than the next
(`nbtext.learning.passes`); a document that is learnt later is visited once
(`nbtext.learning.teaching`). Only the standard library is used, for one message.
"""

from collections.abc import Sequence
from math import exp
from typing import Final, NamedTuple

from nbtext.counts.correction import AMOUNT_UNIT, VALUE_UNIT
from nbtext.settings.columns import UNIT

PASSES: Final = 3
"""How often training visits each document."""

RATE: Final = 1.0
"""How far a class moves that is wrong altogether, in the first pass."""

DECAY: Final = 0.5
"""What share of a pass's rate the next one has."""

MANY_PASSES: Final = 6
"""How often it may do so, each time less far than it might: such corrections go further
than those of PASSES."""

DECAY_OF_MANY: Final = 0.7
"""What share of a pass's rate the next one of MANY_PASSES has."""

CUT: Final = 0.02
"""Steps below this share of a rate are none (docs/experiments/010-many-classes.md)."""

OF_TWO: Final = 0.5
"""What share of a rate two classes have: both move, so that the step between them is
double."""

OF_LESSON: Final = 0.5
"""How far a document moves a class that is wrong altogether if it is learnt after
training: as in the second pass (docs/experiments/037-learning-on.md)."""

OF_LESSON_OF_TWO: Final = 0.125
"""The same of two classes: as in the third pass."""

BASE_UNIT: Final = 4096
"""Base scores are integers, in units of 1/4096 nat."""

MOST_BASE: Final = 1 << 30
"""Base scores beyond this are taken for it."""

DOT_UNIT: Final = float(VALUE_UNIT) * UNIT
"""The product of a document's vector and a class's values, of a nat."""


class Rate(NamedTuple):
    """
    How documents move classes.

    Attributes:
        passes: how often each document is visited.
        rate: how far a class moves that is wrong altogether, in the first pass.
        cut: steps below this share of the rate are none.
        decay: what share of a pass's rate the next one has.
        doubt: by what power of what the scores say of a label its document moves
            classes; with 0 each label is believed.
    """

    passes: int
    rate: float
    cut: float
    decay: float = 1.0
    doubt: float = 0.0


class Manner(NamedTuple):
    """
    What is chosen of how training moves classes.

    Attributes:
        doubt: how far labels are doubted.
        pace: how many times as far as usual documents move classes.
        passes: how often each document is visited.
    """

    doubt: float = 0.0
    pace: float = 1.0
    passes: int = PASSES


def rate_of(n_classes: int, manner: Manner) -> Rate:
    """Return how training moves so many classes in a manner."""
    rate = RATE * manner.pace * (OF_TWO if n_classes == 2 else 1.0)
    decay = DECAY if manner.passes == PASSES else DECAY_OF_MANY
    return Rate(manner.passes, rate, CUT, decay, manner.doubt)


def rate_of_lesson(n_classes: int) -> Rate:
    """
    Return how a document moves so many classes that is learnt after training.

    It is visited once, and its label is believed.
    """
    return Rate(1, OF_LESSON_OF_TWO if n_classes == 2 else OF_LESSON, CUT)


def steps_of(logits: Sequence[float], label: int, rate: Rate) -> list[int]:
    """
    Return by how much each class moves on the first visit of a document, in 1/256.

    The plain twin of what `nbtext.learning.passes` does, which has the formula; labels
    are believed here.

    Args:
        logits: the document's corrected score in each class, in nats.
        label: the place of its class.
        rate: how documents move classes.
    """
    best = max(logits)
    shares = [exp(logit - best) for logit in logits]
    total = 0.0
    for share in shares:  # in order, as one loop sums
        total += share
    steps = []
    for place, share in enumerate(shares):
        step = rate.rate * ((1.0 if place == label else 0.0) - share / total)
        is_none = abs(step) < rate.cut * rate.rate
        steps.append(0 if is_none else round(step * AMOUNT_UNIT))
    return steps
