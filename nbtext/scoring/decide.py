"""
From what the counts say to a decision: a label, or none.

A rule stands between the two, and holds all that a user may want of decisions. A
document without one token that the model knows is unsure, and so is one whose most
probable class does not reach the rule's threshold (the reject option, Chow 1970).
Where decisions have costs, the one that is expected to cost least is taken.
"""

from collections.abc import Sequence
from math import exp, log, log1p
from operator import add
from typing import TYPE_CHECKING, Final, NamedTuple

from nbtext.constants import CERTAIN as CERTAIN
from nbtext.document import Document
from nbtext.scoring.figures import probability as probability
from nbtext.scoring.posterior import capped, normalised
from nbtext.scoring.score import Scored

if TYPE_CHECKING:
    from nbtext.mail import Heading
    from nbtext.scoring.costs import Costs
    from nbtext.scoring.explanation import Reason


class DecisionRule(NamedTuple):
    """
    How a model decides: its policy, for its classes (`nbtext.scoring.policy_rule`).

    Attributes:
        threshold: the least probability of a label, from 0 to 1.
        shift: shape (n_classes,), what a prior adds to the log posterior, in nats;
            empty if it adds nothing.
        documents: for each class, how many documents; empty if probabilities are not
            capped. Of use with a shift only.
        costs: what decisions cost; None if the most probable class is decided for.
        least: a class, and the least log-odds that it needs, prior and cap apart; None
            if no class needs any.
    """

    threshold: float = 0.0
    shift: tuple[float, ...] = ()
    documents: tuple[int, ...] = ()
    costs: "Costs | None" = None
    least: tuple[int, float] | None = None

    def printed(self, log_posterior: Sequence[float]) -> tuple[float, ...]:
        """
        Return the log posterior that is told, with the prior, and capped after it.

        Args:
            log_posterior: shape (n_classes,), in nats, before both.
        """
        posterior = self.with_prior(log_posterior)
        return capped(posterior, self.documents) if self.documents else posterior

    def with_prior(self, log_posterior: Sequence[float]) -> tuple[float, ...]:
        """Return a log posterior for the prior of the policy, if it has one."""
        if not self.shift:
            return tuple(log_posterior)
        return tuple(normalised([*map(add, log_posterior, self.shift)]))

    def choose(
        self, printed: Sequence[float], log_posterior: Sequence[float], known: int
    ) -> int | None:
        """
        Return the place of the class that is decided for, None if unsure.

        Args:
            printed: shape (n_classes,), the log posterior that is told; of two equally
                probable, or equally cheap, classes the first wins.
            log_posterior: the same before prior and cap.
            known: how many of the document's tokens the model knows.
        """
        if not known:
            return None
        if self.costs is not None:
            return self.costs.cheapest(printed)
        best = most_probable(printed)
        is_sure = probability_of(printed[best]) >= min(self.threshold, CERTAIN)
        if self.least is not None and self.least[0] == best:
            is_sure = is_sure and log_odds(log_posterior, best) >= self.least[1]
        return best if is_sure else None

    def margin(
        self, printed: Sequence[float], log_posterior: Sequence[float], place: int
    ) -> float:
        """
        Return by how many nats a class is decided for: below zero, it is not.

        It is how much its log-odds exceed what is needed; where costs decide, how much
        the logarithm of the expected cost of any other decision exceeds that of this.

        Args:
            printed: shape (n_classes,), the log posterior that is told.
            log_posterior: the same before prior and cap.
            place: the class.
        """
        if self.costs is not None:
            return self.costs.margin(printed, place)
        others = [*printed[:place], *printed[place + 1 :]]
        margin = printed[place] - max(others)
        least = min(self.threshold, CERTAIN)
        if least > 0:
            margin = min(margin, log_odds(printed, place) - log(least) + log1p(-least))
        if self.least is not None and self.least[0] == place:
            margin = min(margin, log_odds(log_posterior, place) - self.least[1])
        return margin


DEFAULT: Final = DecisionRule()
"""The rule that decides for the most probable class, however probable it is."""


class Decision(NamedTuple):
    """
    What was decided about a document.

    Attributes:
        name: the document's.
        label: its class, None if unsure.
        probability: of the label, or if unsure of the most probable class, from 0 to
            1, never 1.
        classes: the model's classes, sorted.
        log_posterior: shape (n_classes,), in nats; it ranks documents.
        printed: shape (n_classes,), in nats: the same with the prior of the policy, and
            no class above what its model can know (`nbtext.scoring.posterior.capped`);
            all probabilities are of it.
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
        parts: what each of several models that decide together finds alone.
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
    parts: "tuple[Part, ...]" = ()

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


class Part(NamedTuple):
    """
    What one of several models finds (`nbtext.scoring.combining`).

    Attributes:
        model: its file.
        decision: what it would decide alone, without any policy.
    """

    model: str
    decision: Decision


def decide(
    document: Document,
    scored: Scored,
    classes: Sequence[str],
    *,
    rule: DecisionRule = DEFAULT,
    heading: "Heading | None" = None,
) -> Decision:
    """Decide about a document."""
    printed = rule.printed(scored.log_posterior) if rule.shift else scored.printed
    chosen = rule.choose(printed, scored.log_posterior, scored.known)
    told = most_probable(printed) if chosen is None else chosen
    return Decision(
        name=document.name,
        label=None if chosen is None else classes[chosen],
        probability=probability_of(printed[told]),
        classes=tuple(classes),
        log_posterior=scored.log_posterior,
        printed=printed,
        known=scored.known,
        tokens=scored.tokens,
        truncated=document.truncated,
        expected=document.label,
        heading=heading,
        identity=document.identity,
    )


def decided_anew(decision: Decision, rule: DecisionRule) -> Decision:
    """Return what another rule makes of a document that was decided about."""
    printed = rule.printed(decision.log_posterior) if rule.shift else decision.printed
    chosen = rule.choose(printed, decision.log_posterior, decision.known)
    told = most_probable(printed) if chosen is None else chosen
    return decision._replace(
        label=None if chosen is None else decision.classes[chosen],
        probability=probability_of(printed[told]),
        printed=printed,
    )


def log_odds(log_posterior: Sequence[float], place: int) -> float:
    """Return the log-odds of a class against all others, in nats."""
    others = [*log_posterior[:place], *log_posterior[place + 1 :]]
    best = max(others)
    rest = best + log1p(sum(exp(other - best) for other in others) - 1)
    return log_posterior[place] - rest


def most_probable(log_posterior: Sequence[float]) -> int:
    """Return the place of the most probable class, the first of several."""
    return max(range(len(log_posterior)), key=log_posterior.__getitem__)


def probability_of(log_posterior: float) -> float:
    """Return a probability that is never 1."""
    return min(exp(log_posterior), CERTAIN)
