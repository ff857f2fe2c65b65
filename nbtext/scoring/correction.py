"""
The correction of a score: what training has learnt beside the counts.

A correction is added to the scores of the event model that it was made for, as further
evidence. With x_t the weight of term t in the document's vector of unit length, in each
view, D_tc the value of the term in class c and b_c the class's bias, a class gets

    b_c + sum over the views of  sum of x_t D_tc        in nats

beside s z_c, with s the slope that the correction was made for. A score is multiplied
by s and the steepness afterwards (`nbtext.scoring.held_out.fit_of`), so that here
everything is divided by s. A score of one number is the second class's less the first
class's, and so is what is added to it. `nbtext.learning.correcting` makes corrections;
`nbtext.scoring.batch_correction` is this for many documents.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nbtext.scoring.model import Model
    from nbtext.tokens import Bag

from nbtext.counts.correction import AMOUNT_UNIT, BIAS, VALUE_UNIT
from nbtext.scoring.models.evidence import Evidence
from nbtext.scoring.models.registry import is_one_number
from nbtext.settings.columns import UNIT
from nbtext.tokens.bag import columns_of

SOURCE: Final = "correction"
"""The source of what is said without any term."""


def correction_evidence(model: Model, bag: Bag) -> Iterator[Evidence]:
    """Yield what the correction of a model says of a document; nothing without one."""
    correction = model.correction
    if correction is None:
        return
    slope = correction.info.slope
    biases = [BIAS * bias / AMOUNT_UNIT / slope for bias in correction.biases]
    is_one = is_one_number(model.scoring)
    if is_one:
        biases = [biases[1] - biases[0]]
    yield Evidence(SOURCE, rest=biases)
    for view, terms in enumerate(bag):
        settings = model.settings.views[view]
        if "weight" in settings.columns:
            weights = columns_of(terms, ("weight",))
            unit = UNIT * VALUE_UNIT
            rows = []
            for key, values in correction.found(view, terms).items():
                weight = weights[key][-1]
                rows += [
                    (key, class_, weight * value / unit) for class_, value in values
                ]
            if is_one:
                rows = [(key, 0, said if side else -said) for key, side, said in rows]
            yield Evidence(settings.name, rows, divisor=slope)
