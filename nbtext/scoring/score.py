"""
Scores of one document, on the standard library alone.

An open model and a document's terms go in. Its event model (`nbtext.scoring.models`)
says what is evidence and how much; the score is the sum of the evidence; calibration
makes a log posterior of it. `nbtext.scoring.batch` does the same for many documents by
arrays, and a property test holds them together.
"""

from typing import NamedTuple

from nbtext.counts import Fit
from nbtext.scoring.correction import correction_evidence
from nbtext.scoring.mixed import attribute_evidence, is_possible, with_attributes
from nbtext.scoring.model import Model
from nbtext.scoring.models.evidence import n_numbers, score_of
from nbtext.scoring.models.registry import event_model
from nbtext.scoring.posterior import (
    IMPOSSIBLE,
    capped,
    log_posterior,
    log_shares,
    normalised,
)
from nbtext.tokens import Bag


class Scored(NamedTuple):
    """
    What the counts say of a document.

    Attributes:
        log_posterior: shape (n_classes,), in nats; it ranks documents.
        printed: the same where probabilities are told: capped, if it is calibrated.
        known: how many of its tokens (occurrences of terms) the model knows.
        tokens: how many it has.
    """

    log_posterior: tuple[float, ...]
    printed: tuple[float, ...]
    known: int
    tokens: int


def score(model: Model, bag: Bag, calibration: Fit) -> Scored:
    """
    Score a document.

    Without one token that the model knows, the posterior is the classes' shares; that
    of a textbook's score is its own. If a record's attributes exclude all classes, it
    is the shares, and nothing is known; a class that they exclude has IMPOSSIBLE.

    Args:
        model: the counts, and how to score with them.
        bag: the document's terms in each view.
        calibration: what `fitted` returned.
    """
    event = event_model(model.scoring.score)
    has_attributes = model.settings.has_attributes
    text, of_text = model.of_text(), bag[: model.settings.n_texts]
    attributes = attribute_evidence(model, bag) if has_attributes else []
    parts = event.evidence(text, of_text)
    if event.is_textbook:  # all is one sum
        parts += attributes
    known = sum(part.known for part in parts)
    posterior = shares = tuple(log_shares(model.documents))
    if is_by_evidence(model, known):
        parts += correction_evidence(text, of_text)
        raw = score_of(parts, n_numbers(event.calibration, len(model.classes)))
        if not is_possible(raw):
            return _scored(model, bag, shares, 0)
        posterior = log_posterior(raw, event.calibration, calibration)
    if has_attributes and not event.is_textbook:
        joint = with_attributes(posterior, attributes)
        if not is_possible(joint):
            return _scored(model, bag, shares, 0)
        posterior = tuple(normalised(joint))
        known += sum(part.known for part in attributes)
    if has_attributes:
        posterior = tuple(max(value, IMPOSSIBLE) for value in posterior)
    return _scored(model, bag, posterior, known)


def _scored(model: Model, bag: Bag, posterior: tuple[float, ...], known: int) -> Scored:
    tokens = sum(sum(terms.values()) for terms in bag)
    is_capped = model.scoring.calibrated
    printed = capped(posterior, model.documents) if is_capped else posterior
    return Scored(posterior, printed, known, tokens)


def is_by_evidence(model: Model, known: int) -> bool:
    """
    Return whether a document's posterior is what its evidence adds up to.

    Without a known token it is the classes' shares, but for the textbook's scores.
    """
    is_textbook = event_model(model.scoring.score).is_textbook
    return known > 0 or (is_textbook and not model.scoring.calibrated)
