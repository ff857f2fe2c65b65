"""
From what the counts say to a decision: a label, or none.

A document without one token that the model knows is unsure, and so is one whose most
probable class does not reach the threshold (the reject option, Chow 1970).
"""

from collections.abc import Sequence
from math import exp, nextafter
from typing import Final, NamedTuple

from nbtext.scoring.score import Scored

CERTAIN: Final = nextafter(1.0, 0.0)
"""The largest probability that is short of certainty."""


class Decision(NamedTuple):
    """
    What was decided about a document.

    Attributes:
        name: the document's.
        label: its class, None if unsure.
        probability: of the most probable class, from 0 to 1, never 1.
        classes: the model's classes, sorted.
        log_posterior: shape (n_classes,), in nats.
        known: how many of its tokens the model knows.
        tokens: how many it has.
        truncated: whether the document was longer than what was read.
        expected: the label that the document carries, if any.
    """

    name: str
    label: str | None
    probability: float
    classes: tuple[str, ...]
    log_posterior: tuple[float, ...]
    known: int
    tokens: int
    truncated: bool
    expected: str | None

    @property
    def posterior(self) -> dict[str, float]:
        """Return each class's probability; they sum to 1."""
        return {
            name: exp(value)
            for name, value in zip(self.classes, self.log_posterior, strict=True)
        }


def decide(
    name: str,
    scored: Scored,
    classes: Sequence[str],
    *,
    threshold: float = 0.0,
    truncated: bool = False,
    expected: str | None = None,
) -> Decision:
    """
    Decide about a document.

    Args:
        name: the document's.
        scored: what the counts say of it.
        classes: the model's classes, sorted; of two equally probable ones the first
            wins.
        threshold: the least probability of a label, from 0 to 1.
        truncated: whether the document was longer than what was read.
        expected: the label that the document carries, if any.

    """
    best = max(range(len(classes)), key=scored.log_posterior.__getitem__)
    probability = min(exp(scored.log_posterior[best]), CERTAIN)
    is_sure = scored.known > 0 and probability >= min(threshold, CERTAIN)
    return Decision(
        name=name,
        label=classes[best] if is_sure else None,
        probability=probability,
        classes=tuple(classes),
        log_posterior=scored.log_posterior,
        known=scored.known,
        tokens=scored.tokens,
        truncated=truncated,
        expected=expected,
    )


def probability(value: float) -> str:
    """Return a probability to four places; short of certainty it is never 1."""
    if value >= 0.99995:
        return "0.9999"
    return f"{value:.4f}"
