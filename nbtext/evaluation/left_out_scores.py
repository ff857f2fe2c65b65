"""
The score of each document as if it alone had not been counted: exact leave-one-out.

Counts and the terms of the same documents go in; out come their scores by one event
model, and what becomes of them once they are calibrated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from nbtext.counts import TermCache
    from nbtext.scoring.batch_model import BatchModel, FoundTerms, Labels

from nbtext.counts import Fit, fit
from nbtext.counts.calibration import total
from nbtext.counts.fitting import fitted_loss
from nbtext.scoring import event_model
from nbtext.scoring.attributes.arrays import known_numbers
from nbtext.scoring.batch import log_posteriors
from nbtext.scoring.batch_mixed import scores_by, with_attributes
from nbtext.scoring.candidates import candidates
from nbtext.scoring.held_out import no_calibration, no_calibrations
from nbtext.scoring.leave_one_out import observed_scores, slices
from nbtext.scoring.models.arrays import known_terms
from nbtext.scoring.posterior import IMPOSSIBLE, log_shares
from nbtext.tokens.bags import sum_by_document


def left_out_posteriors(
    model: BatchModel, cache: TermCache, labels: Labels
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """
    Score all documents, each as if it alone had not been counted, and calibrate that.

    Args:
        model: their counts, and how to score with them.
        cache: their terms.
        labels: shape (n_documents,), the places of their classes.

    Returns:
        The log posterior, shape (n_documents, n_classes), in nats, and how many of the
        tokens and attributes of each are known without it, shape (n_documents,).
    """
    event, settings = event_model(model.scoring.score), model.settings
    shape = (len(labels), len(model.classes))
    scores = np.zeros(shape[:1] if event.calibration == "histogram" else shape)
    known = np.zeros(len(labels), np.int64)
    for some, found in _parts(model, cache):
        (scores[some],) = scores_by(model, [model.scoring], found, labels[some])
        known[some] = _n_known(model, found, labels[some])
    posterior = log_posteriors(scores, event.calibration, _fit(model, scores, labels))
    if not settings.has_attributes:
        return posterior, known
    for some, found in _parts(model, cache):
        known[some] += known_numbers(model, found)
        if not event.is_textbook:  # whose score has them in it
            of_text = posterior[some]
            posterior[some] = with_attributes(of_text, model, found, labels[some])
    return np.maximum(posterior, IMPOSSIBLE), known


def _n_known(
    model: BatchModel, documents: FoundTerms, labels: Labels
) -> NDArray[np.int64]:
    """Return how many tokens of each document are known without it."""
    known = np.zeros(len(labels), np.int64)
    for view, terms in enumerate(documents.views):
        times = terms.counts * known_terms(model, view, documents, labels)
        known += sum_by_document(times, terms.starts)
    return known


def _parts(
    model: BatchModel, cache: TermCache
) -> Iterator[tuple[NDArray[np.int64], FoundTerms]]:
    """Yield the places of some documents, and their terms, until all were yielded."""
    for places, views in cache.batches(np.ones(len(cache.labels), np.bool_)):
        for some in slices(views, len(model.classes)):
            yield places[some], model.find([terms.part(some) for terms in views])


def _fit(model: BatchModel, scores: NDArray[np.float64], labels: Labels) -> Fit:
    """Return what calibrates the scores of documents that were left out."""
    if not model.scoring.calibrated:
        return Fit()
    names = [model.classes[place] for place in labels.tolist()]
    nothing = no_calibration(model.scoring, len(model.classes))
    kept = observed_scores(model, [nothing], [scores], names)
    return fit(total(kept), model.classes)


def candidate_posteriors(
    model: BatchModel, cache: TermCache, labels: Labels
) -> NDArray[np.float64]:
    """
    Score all documents left out, by the candidate that training would choose.

    Returns:
        The log posterior, shape (n_documents, n_classes), in nats.
    """
    event = event_model(model.scoring.score)
    scorings = candidates(model.scoring)
    has_one = event.calibration == "histogram"
    shape = (len(labels),) if has_one else (len(labels), len(model.classes))
    scores = [np.zeros(shape) for _ in scorings]
    for some, documents in _parts(model, cache):
        found = scores_by(model, scorings, documents, labels[some])
        for of_all, values in zip(scores, found, strict=True):
            of_all[some] = values
    names = [model.classes[place] for place in labels.tolist()]
    kept = observed_scores(model, no_calibrations(model), scores, names)
    best = min(
        range(len(scorings)), key=lambda place: fitted_loss(kept[place], model.classes)
    )
    found_fit = fit(kept[best], model.classes)
    posterior = log_posteriors(scores[best], event.calibration, found_fit)
    if model.settings.has_attributes and not event.is_textbook:
        for some, documents in _parts(model, cache):
            of_text = posterior[some]
            _put_shares(of_text, model, documents, labels[some])
            posterior[some] = with_attributes(of_text, model, documents, labels[some])
    return np.maximum(posterior, IMPOSSIBLE)


def _put_shares(
    posterior: NDArray[np.float64],
    model: BatchModel,
    documents: FoundTerms,
    labels: Labels,
) -> None:
    """Put the classes' shares where no text is known, as the default engine does."""
    known = _n_known(model, documents.of_views(model.settings.n_texts), labels)
    for place in (known == 0).nonzero()[0].tolist():
        counts = [*model.documents]
        counts[labels[place]] -= 1
        posterior[place] = log_shares(counts)
