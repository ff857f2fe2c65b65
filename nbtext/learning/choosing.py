"""
Choosing between two event models, or smoothings, by what held-out documents score.

For two classes of text there are two that do well: the default, which is for filters,
and its rival, which is for classes that many weak words tell apart, such as opinions.
Training decides, once, and makes a correction of either
(docs/experiments/041-easy-pairs.md).
"""

from typing import Final

from nbtext.learning.overrides import SettingsOverrides
from nbtext.scoring import event_model
from nbtext.scoring.models.registry import for_classes, rival_of
from nbtext.settings.reading import Settings
from nbtext.settings.scoring import Scoring

HARD: Final = 0.2
"""Held-out loss, in nats a document, up to which classes are easy to tell apart: no
rival is tried (docs/experiments/041-easy-pairs.md)."""

FEWEST: Final = 200
"""With fewer held-out documents neither the rival is tried nor another smoothing."""

WORTH: Final = 0.98
"""What another smoothing must leave of the loss; what it gains less, a correction makes
up for (docs/experiments/039-smoothing-chosen.md)."""


def rival_scoring(
    scoring: Scoring,
    settings: Settings,
    classes: tuple[str, ...],
    overrides: SettingsOverrides,
) -> Scoring | None:
    """
    Return the scoring to try beside that of the default event model.

    None if there is none, if it cannot score these classes, or if the user has named
    an event model.
    """
    name = rival_of(scoring.score)
    if not name or overrides.score is not None:
        return None
    rival = overrides._replace(score=name).scoring(scoring)
    rival = for_classes(rival, len(classes))
    missing = {
        column
        for view in settings.views[: settings.n_texts]
        for column in event_model(name).columns(view)
        if column not in view.columns
    }
    if missing or event_model(name).refusal(rival, settings, classes):
        return None
    return rival
