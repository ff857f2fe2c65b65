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


class Account(NamedTuple):
    """
    What a document scores, and what that is made of.

    Attributes:
        scored: the score.
        evidence: what its text says by the counts.
        correction: what is learnt beside them; empty if its tokens are not known.
        attributes: what its attributes say.
    """

    scored: Scored
    evidence: list[Evidence]
    correction: list[Evidence]
    attributes: list[Evidence]


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
    return account_of(model, bag, calibration).scored


def account_of(model: Model, bag: Bag, calibration: Fit) -> Account:
    """Score a document as `score` does, and tell what that is made of."""
    event = event_model(model.scoring.score)
    has_attributes = model.settings.has_attributes
    text, of_text = model.of_text(), bag[: model.settings.n_texts]
    attributes = attribute_evidence(model, bag) if has_attributes else []
    evidence, correction = event.evidence(text, of_text), list[Evidence]()
    # of a textbook's score all is one sum
    parts = [*evidence, *attributes] if event.is_textbook else evidence
    known = sum(part.known for part in parts)
    posterior = shares = tuple(log_shares(model.documents))
    is_excluded = False
    if is_by_evidence(model, known):
        correction = [*correction_evidence(text, of_text)]
        n = n_numbers(event.calibration, len(model.classes))
        raw = score_of([*parts, *correction], n)
        is_excluded = not is_possible(raw)
        if not is_excluded:
            posterior = log_posterior(raw, event.calibration, calibration)
    if has_attributes and not event.is_textbook:
        joint = with_attributes(posterior, attributes)
        is_excluded = is_excluded or not is_possible(joint)
        if not is_excluded:
            posterior = tuple(normalised(joint))
            known += sum(part.known for part in attributes)
    if is_excluded:
        posterior, known = shares, 0
    elif has_attributes:
        posterior = tuple(max(value, IMPOSSIBLE) for value in posterior)
    scored = _scored(model, bag, posterior, known)
    return Account(scored, evidence, correction, attributes)


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
