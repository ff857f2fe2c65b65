"""Documents that were misjudged, each with the reasons."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from nbtext.scoring import Decision
from nbtext.scoring.explanation import Reason


@dataclass(frozen=True, slots=True)
class Misjudged:
    """
    A document whose label is not the one that it carries, or that is unsure.

    Attributes:
        name: the document's.
        identity: what else names it: a row's id.
        truth: the label that it carries.
        label: what was decided, None if unsure.
        probability: of that class, or if unsure of the most probable one.
        reasons: what speaks most for it, or against it, strongest first.
    """

    name: str
    identity: str | None
    truth: str | None
    label: str | None
    probability: float
    reasons: tuple[Reason, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return what `json.dumps` takes; of reasons only what tells them."""
        wanted = ("text", "view", "field", "times", "contribution")
        values = asdict(self)
        values["reasons"] = [
            {name: getattr(reason, name) for name in wanted} for reason in self.reasons
        ]
        return values


def misjudged(decision: Decision) -> Misjudged:
    """Return a decision that is wrong, as what is told of it."""
    return Misjudged(
        name=decision.name,
        identity=decision.identity,
        truth=decision.expected,
        label=decision.label,
        probability=decision.probability,
        reasons=decision.reasons,
    )


def worst_first(errors: Iterable[Misjudged]) -> tuple[Misjudged, ...]:
    """Return errors, decided ones before unsure ones, and the surest first."""
    return tuple(
        sorted(errors, key=lambda error: (error.label is None, -error.probability))
    )
