"""
Records: what the text of one says, and what its attributes say.

A textbook's score is a joint log likelihood, and that of each attribute is added to it.
Any other score of text is fitted first, and enters as log P(class given text); the log
likelihoods of the attributes are added to that:

    ln P(class given record)
        = ln P(class given text) + sum of ln P(attribute given class)

up to what is the same for all classes. ln P(class) is in the first of them, once, as it
is in a textbook's sum. So event models know of text alone, and what is handed to them
here is cut down to that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nbtext.scoring.model import Model
    from nbtext.scoring.models.evidence import Evidence, Raw
    from nbtext.settings.scoring import Scoring
    from nbtext.tokens import Bag

from math import inf

from nbtext.scoring.models.evidence import score_of
from nbtext.scoring.models.registry import event_model


def attribute_evidence(model: Model, bag: Bag) -> list[Evidence]:
    """Return what the attributes of a record say, one part for each that it has."""
    from nbtext.scoring.attributes.categorical import category_evidence
    from nbtext.scoring.attributes.gaussian import number_evidence

    return [*category_evidence(model, bag), *number_evidence(model, bag)]


def with_attributes(
    log_posterior: Sequence[float], attributes: Sequence[Evidence]
) -> tuple[float, ...]:
    """
    Return the joint log likelihood of a record, up to what is the same for all classes.

    Args:
        log_posterior: ln P(class given text), shape (n_classes,).
        attributes: what the attributes say.
    """
    more = score_of(attributes, len(log_posterior))
    return tuple(map(float.__add__, log_posterior, more))


def is_possible(joint: Sequence[float]) -> bool:
    """Return whether a record is possible in any class."""
    return max(joint) > -inf


def joint_log_likelihood(model: Model, bag: Bag) -> Raw:
    """Return ln P(class, document) by a textbook's score, attributes included."""
    event, of_text = event_model(model.scoring.score), bag[: model.settings.n_texts]
    joint = event.joint_log_likelihood(model.of_text(), of_text)
    if not model.settings.has_attributes:
        return joint
    return with_attributes(joint, attribute_evidence(model, bag))


def scores_by(model: Model, scorings: Sequence[Scoring], bag: Bag) -> list[Raw]:
    """
    Return what is fitted of a record, by each scoring: of text, unless all is one sum.

    Args:
        model: the counts.
        scorings: how to score, all by the event model of the model's own scoring.
        bag: the record's terms in each view.
    """
    event = event_model(model.scoring.score)
    of_texts = [scoring._replace(attributes=()) for scoring in scorings]
    scores = event.scores(model.of_text(), of_texts, bag[: model.settings.n_texts])
    if not (event.is_textbook and model.settings.has_attributes):
        return scores
    attributes = attribute_evidence(model, bag)
    return [with_attributes(raw, attributes) for raw in scores]
