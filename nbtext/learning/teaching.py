"""
What a document that is learnt teaches a model that has a correction.

In: the model as it is without the document, and its terms. Out: the amounts by which it
moves the classes: one visit, as training visits documents (`nbtext.learning.steps`).
The model has not counted it, so that its score is as honest as that of a document left
out. The mean document keeps its score, as it does when one is forgotten. Documents that
are learnt together are visited one after the other: each is scored with what those
before it have taught.
`nbtext.learning.teaching_in_bulk` does so by arrays, with documents that are counted
first, each of which is left out: what they teach differs by a little.
"""

from collections.abc import Mapping, Sequence

from nbtext.counts.correction import AMOUNT_UNIT, BIAS, CorrectionInfo
from nbtext.learning.correction_change import (
    CorrectionChange,
    usual_product,
    weights_of,
)
from nbtext.learning.steps import (
    BASE_UNIT,
    DOT_UNIT,
    MOST_BASE,
    rate_of_lesson,
    steps_of,
)
from nbtext.scoring import Model, event_model
from nbtext.scoring.correction import correction_evidence
from nbtext.scoring.models.evidence import n_numbers, score_of
from nbtext.store import Row
from nbtext.tokens import Bag


def teach(
    model: Model, digest: bytes, row: Row, bag: Bag, taught: CorrectionChange
) -> None:
    """
    Visit a document.

    It teaches nothing if the model has no correction, or cannot tell its class from
    another.

    Args:
        model: as it is without the document.
        digest: 16 bytes that name it.
        row: the class that it is learnt as, and what its counts are known by.
        bag: its terms in each view.
        taught: what others have added to the correction since, and what it adds.
    """
    correction, classes = model.correction, model.classes
    if correction is None or row.label not in classes:
        return
    if len(classes) < 2 or not all(model.documents):
        return
    logits = _logits(model, correction.info, bag, taught)
    steps = steps_of(logits, classes.index(row.label), rate_of_lesson(len(classes)))
    amounts = {name: step for name, step in zip(classes, steps, strict=True) if step}
    if amounts:
        usual = usual_product(model, bag, is_counted=False)
        taught.add(digest, row, bag, amounts, usual)


def _logits(
    model: Model, info: CorrectionInfo, bag: Bag, taught: CorrectionChange
) -> Sequence[float]:
    """Return the corrected score of a document in each class, in nats."""
    text, of_text = model.of_text(), bag[: model.settings.n_texts]
    event = event_model(model.scoring.score)
    parts = [*event.evidence(text, of_text), *correction_evidence(text, of_text)]
    raw = score_of(parts, n_numbers(event.calibration, len(model.classes)))
    scores = (0.0, *raw) if len(raw) == 1 else raw
    units = info.slope * BASE_UNIT
    dots = _dots(weights_of(bag, model.settings), taught)
    return [
        round(min(max(value * units, -MOST_BASE), MOST_BASE)) / BASE_UNIT
        + BIAS * taught.biases[name] / AMOUNT_UNIT
        + dots.get(name, 0) / DOT_UNIT
        for name, value in zip(model.classes, scores, strict=True)
    ]


def _dots(
    weights: Sequence[Mapping[int, int]], taught: CorrectionChange
) -> dict[str, int]:
    """Return the products of a document's vector with the values of each class."""
    dots: dict[str, int] = {}
    for of_view, values in zip(weights, taught.views, strict=True):
        for key, weight in of_view.items():
            for name, value in values.get(key, {}).items():
                dots[name] = dots.get(name, 0) + weight * value
    return dots
