"""
From what the counts say to a decision: a label, or none.

A policy stands between the two, and holds all that a user may want of decisions. A
document without one token that the model knows is unsure, and so is one whose most
probable class does not reach the policy's threshold (the reject option, Chow 1970).
"""

from collections.abc import Sequence
from math import exp, nextafter
from typing import TYPE_CHECKING, Final, NamedTuple

from nbtext.scoring.score import Scored

if TYPE_CHECKING:
    from nbtext.mail import Heading
    from nbtext.scoring.explanation import Reason

CERTAIN: Final = nextafter(1.0, 0.0)
"""The largest probability that is short of certainty."""


class Policy(NamedTuple):
    """
    How decisions are made of posteriors.

    Attributes:
        threshold: the least probability of a label, from 0 to 1.
    """

    threshold: float = 0.0

    @property
    def least(self) -> float:
        """Return the threshold as probabilities can reach it."""
        return min(self.threshold, CERTAIN)

    def is_sure(self, probability: float) -> bool:
        """Return whether a class is probable enough to be the label."""
        return probability >= self.least

    def choose(self, printed: Sequence[float], known: int) -> int | None:
        """
        Return the place of the class that is decided for, None if unsure.

        Args:
            printed: shape (n_classes,), the log posterior that is told; of two equally
                probable classes the first wins.
            known: how many of the document's tokens the model knows.

        """
        best = most_probable(printed)
        is_decided = known > 0 and self.is_sure(probability_of(printed[best]))
        return best if is_decided else None


DEFAULT: Final = Policy()
"""The policy that decides for the most probable class, however probable it is."""


class Decision(NamedTuple):
    """
    What was decided about a document.

    Attributes:
        name: the document's.
        label: its class, None if unsure.
        probability: of the most probable class, from 0 to 1, never 1.
        classes: the model's classes, sorted.
        log_posterior: shape (n_classes,), in nats; it ranks documents.
        printed: shape (n_classes,), in nats: the same, no class above what its model
            can know (`nbtext.scoring.posterior.capped`); all probabilities are of it.
        known: how many of its tokens the model knows.
        tokens: how many it has.
        truncated: whether the document was longer than what was read.
        expected: the label that the document carries, if any.
        heading: From and Subject of a mail, if they were asked for.
        seen: whether the model had counted the document: "no", or nobody asked; "left
            out", and it is scored as if it had not; "yes", and that cannot be taken
            away exactly.
        identity: what names the document where its name does not: a row's id.
        reasons: the strongest of what it rests on, if they were asked for.
    """

    name: str
    label: str | None
    probability: float
    classes: tuple[str, ...]
    log_posterior: tuple[float, ...]
    printed: tuple[float, ...]
    known: int
    tokens: int
    truncated: bool
    expected: str | None
    heading: "Heading | None" = None
    seen: str = "no"
    identity: str | None = None
    reasons: "tuple[Reason, ...]" = ()

    def __repr__(self) -> str:
        """Say what is decided, and how probable it is."""
        return f"<Decision {self.name!r}: {self.label!r}, {self.probability:.4g}>"

    @property
    def posterior(self) -> dict[str, float]:
        """Return each class's probability; they sum to 1."""
        return {
            name: exp(value)
            for name, value in zip(self.classes, self.printed, strict=True)
        }

    def probability_of(self, label: str) -> float:
        """Return the probability of a class, from 0 to 1, never 1."""
        return probability_of(self.printed[self.classes.index(label)])


def decide(
    name: str,
    scored: Scored,
    classes: Sequence[str],
    *,
    policy: Policy = DEFAULT,
    truncated: bool = False,
    expected: str | None = None,
    heading: "Heading | None" = None,
) -> Decision:
    """
    Decide about a document.

    Args:
        name: the document's.
        scored: what the counts say of it.
        classes: the model's classes, sorted.
        policy: how decisions are made.
        truncated: whether the document was longer than what was read.
        expected: the label that the document carries, if any.
        heading: From and Subject of a mail, if they were asked for.

    """
    chosen = policy.choose(scored.printed, scored.known)
    best = scored.printed[most_probable(scored.printed)]
    return Decision(
        name=name,
        label=None if chosen is None else classes[chosen],
        probability=probability_of(best),
        classes=tuple(classes),
        log_posterior=scored.log_posterior,
        printed=scored.printed,
        known=scored.known,
        tokens=scored.tokens,
        truncated=truncated,
        expected=expected,
        heading=heading,
    )


def most_probable(log_posterior: Sequence[float]) -> int:
    """Return the place of the most probable class, the first of several."""
    return max(range(len(log_posterior)), key=log_posterior.__getitem__)


def probability_of(log_posterior: float) -> float:
    """Return a probability that is never 1."""
    return min(exp(log_posterior), CERTAIN)


def probability(value: float) -> str:
    """Return a probability to four places; short of certainty it is never 1."""
    if value >= 0.99995:
        return "0.9999"
    return f"{value:.4f}"
