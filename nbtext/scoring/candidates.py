"""
Candidates: the scorings among which held-out scores choose.

An event model may declare choices for some of its parameters. Then held-out documents
are scored by every combination, the scores of each are kept and add up, and the one
whose fit has the least loss is how the model asks to be scored
(`nbtext.counts.fitting.chosen`). So the choice can be made again after learning and
merging. Only the standard library is used.
"""

from itertools import product

from nbtext.scoring.models.registry import event_model
from nbtext.settings.scoring import Scoring


def candidates(scoring: Scoring) -> tuple[Scoring, ...]:
    """
    Return the scorings among which to choose, in order of preference among equals.

    They differ from the given one in parameters only; it alone is returned where it has
    a value that is not among the choices of its event model.

    Raises:
        SettingsError: there is no such score.
    """
    declared = [one for one in event_model(scoring.score).parameters if one.choices]
    own = dict(scoring.parameters)
    if not declared or any(own[one.name] not in one.choices for one in declared):
        return (scoring,)
    names = [one.name for one in declared]
    return tuple(
        scoring.with_parameters(**dict(zip(names, values, strict=True)))
        for values in product(*(one.choices for one in declared))
    )
