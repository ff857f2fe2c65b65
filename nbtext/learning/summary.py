"""What training made, in numbers: what is left of it when its counts are elsewhere."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nbtext.counts import ReadReport
    from nbtext.settings.scoring import Scoring


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """
    What became of the documents.

    Attributes:
        report: what was read.
        repeats: how many documents had been counted before, under the same label.
        conflicts: how many documents were counted under two labels or more.
        losses: the event models that were tried, and their held-out losses in nats a
            document; empty if nothing was held out.
        notes: what became of the policy of the model that was replaced.
        left_out: how many documents were not learnt, because of the regime.
    """

    report: ReadReport
    repeats: int = 0
    conflicts: int = 0
    losses: dict[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    left_out: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingSummary(Outcome):
    """
    What became of the documents, and what the model of them is.

    Attributes:
        format: what the documents were read as, mail or text.
        classes: how many documents were learnt, by class.
        n_tokens: how many tokens were counted, over all views.
        n_terms: how many of them are distinct.
        scoring: how the model asks to be scored.
    """

    format: str
    classes: dict[str, int]
    n_tokens: int
    n_terms: int
    scoring: Scoring
