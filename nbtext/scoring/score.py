"""
Scores of one document, on the standard library alone.

An open model and a document's terms go in. Its event model (`nbtext.scoring.models`)
says what is evidence and how much; the score is the sum of the evidence; calibration
makes a log posterior of it. `nbtext.scoring.batch` does the same for many documents by
arrays, and a property test holds them together.
"""

from typing import TYPE_CHECKING, NamedTuple

from nbtext.counts import Fit
from nbtext.scoring.correction import correction_evidence
from nbtext.scoring.model import Model
from nbtext.scoring.models.evidence import Evidence, n_numbers, score_of
from nbtext.scoring.models.registry import event_model
from nbtext.scoring.posterior import (
    IMPOSSIBLE,
    capped,
    log_posterior,
    log_shares,
    normalised,
)
from nbtext.tokens import Bag

if TYPE_CHECKING:
    from nbtext.scoring.models.protocol import EventModel


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
    if model.settings.has_attributes:
        return _score_record(event, model, bag, calibration)
    parts = event.evidence(model, bag)
    known = sum(part.known for part in parts)
    if is_by_evidence(model, known):
        parts += correction_evidence(model, bag)
        raw = score_of(parts, n_numbers(event.calibration, len(model.classes)))
        posterior = log_posterior(raw, event.calibration, calibration)
    else:
        posterior = tuple(log_shares(model.documents))
    return _scored(model, bag, posterior, known)


def _score_record(event: "EventModel", model: Model, bag: Bag, fit: Fit) -> Scored:
    """Score a document that has attributes, and perhaps text."""
    from nbtext.scoring.mixed import attribute_evidence, is_possible, with_attributes

    text, of_text = model.of_text(), bag[: model.settings.n_texts]
    parts = [*event.evidence(text, of_text), *correction_evidence(text, of_text)]
    attributes = attribute_evidence(model, bag)
    n_attributes = sum(part.known for part in attributes)
    if event.is_textbook:  # all is one sum
        parts += attributes
    known = sum(part.known for part in parts)
    raw = score_of(parts, n_numbers(event.calibration, len(model.classes)))
    shares = tuple(log_shares(model.documents))
    if not is_possible(raw):
        return _scored(model, bag, shares, 0)
    is_scored = is_by_evidence(model, known)
    posterior = log_posterior(raw, event.calibration, fit) if is_scored else shares
    if not event.is_textbook:
        joint = with_attributes(posterior, attributes)
        if not is_possible(joint):
            return _scored(model, bag, shares, 0)
        posterior, known = tuple(normalised(joint)), known + n_attributes
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

    Args:
        model: the counts, and how to score with them.
        known: how many of the document's tokens the model knows.

    """
    is_textbook = event_model(model.scoring.score).is_textbook
    return known > 0 or (is_textbook and not model.scoring.calibrated)


def evidence(model: Model, bag: Bag) -> list[Evidence]:
    """
    Return what a document's score is the sum of.

    What attributes say is added to a score that is fitted, unless all is one sum
    (`nbtext.scoring.mixed`).
    """
    event = event_model(model.scoring.score)
    if not model.settings.has_attributes:
        return [*event.evidence(model, bag), *correction_evidence(model, bag)]
    from nbtext.scoring.mixed import attribute_evidence

    text, of_text = model.of_text(), bag[: model.settings.n_texts]
    return [
        *event.evidence(text, of_text),
        *correction_evidence(text, of_text),
        *attribute_evidence(model, bag),
    ]
