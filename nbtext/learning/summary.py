"""What training made, in numbers: what is left of it when its counts are elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from nbtext.counts import ReadReport
    from nbtext.settings.scoring import Scoring


class TrainingSummary(NamedTuple):
    """
    What became of the documents, and what the model of them is.

    Attributes:
        format: what the documents were read as, mail or text.
        classes: how many documents were learnt, by class.
        n_tokens: how many tokens were counted, over all views.
        n_terms: how many of them are distinct.
        scoring: how the model asks to be scored.
        report: what was read; it and what follows are as in
            `nbtext.learning.training.Trained`.
    """

    format: str
    classes: dict[str, int]
    n_tokens: int
    n_terms: int
    scoring: Scoring
    report: ReadReport
    repeats: int
    conflicts: int
    losses: dict[str, float]
    notes: tuple[str, ...]
    left_out: int
