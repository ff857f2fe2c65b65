"""
The score of each document as if it alone had not been counted: exact leave-one-out.

Counts and the terms of the same documents go in; out come their scores by one event
model, and what becomes of them once they are calibrated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nbtext.counts import TermCache
    from nbtext.scoring.batch_model import BatchModel, Labels

from nbtext.counts import Fit, fit
from nbtext.counts.calibration import total
from nbtext.counts.fitting import fitted_loss
from nbtext.scoring import event_model
from nbtext.scoring.batch import log_posteriors
from nbtext.scoring.batch_mixed import scores_by
from nbtext.scoring.candidates import candidates
from nbtext.scoring.leave_one_out import PART, observed_scores
from nbtext.scoring.models.arrays import is_shared
from nbtext.tokens.bags import sum_by_document


def left_out_scores(
    model: BatchModel, cache: TermCache, labels: Labels
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """
    Score all documents, each as if it alone had not been counted.

    The attributes of records are in a textbook's score alone; other scores are of text.

    Args:
        model: their counts, and how to score with them.
        cache: their terms.
        labels: shape (n_documents,), the places of their classes.

    Returns:
        The scores, one number or one a class for each document, and how many of its
        tokens are known without it, shape (n_documents,).

    """
    event = event_model(model.scoring.score)
    has_one = event.calibration == "histogram"
    shape = (len(labels),) if has_one else (len(labels), len(model.classes))
    scores, known = np.zeros(shape), np.zeros(len(labels), np.int64)
    shared = model.once(is_shared)
    for places, views in cache.batches(np.ones(len(labels), np.bool_)):
        for start in range(0, len(places), PART):
            some = places[start : start + PART]
            part = [terms.part(slice(start, start + len(some))) for terms in views]
            found = model.find(part)
            (scores[some],) = scores_by(
                event, model, [model.scoring], found, labels[some]
            )
            for number, (terms, at) in enumerate(found):
                times = terms.counts * shared[number].take(at)
                known[some] += sum_by_document(times, terms.starts)
    return scores, known


def fitted(
    model: BatchModel, scores: NDArray[np.float64], labels: Labels
) -> tuple[Fit, NDArray[np.float64]]:
    """
    Calibrate scores of documents that were left out.

    Args:
        model: what scored them.
        scores: what `left_out_scores` returned.
        labels: shape (n_documents,), the places of their classes.

    Returns:
        What was fitted, and the log posterior, shape (n_documents, n_classes).

    """
    event = event_model(model.scoring.score)
    found = Fit()
    if model.scoring.calibrated:
        names = [model.classes[place] for place in labels.tolist()]
        kept = observed_scores(model, [model.scoring], [scores], names)
        found = fit(total(kept), model.classes)
    return found, log_posteriors(scores, event.calibration, found)


def candidate_posteriors(
    model: BatchModel, cache: TermCache, labels: Labels
) -> NDArray[np.float64]:
    """
    Score all documents left out, by the candidate that training would choose.

    Args:
        model: their counts, and how to score with them.
        cache: their terms.
        labels: shape (n_documents,), the places of their classes.

    Returns:
        The log posterior, shape (n_documents, n_classes), in nats.

    """
    event = event_model(model.scoring.score)
    scorings = candidates(model.scoring)
    has_one = event.calibration == "histogram"
    shape = (len(labels),) if has_one else (len(labels), len(model.classes))
    scores = [np.zeros(shape) for _ in scorings]
    for places, views in cache.batches(np.ones(len(labels), np.bool_)):
        for start in range(0, len(places), PART):
            some = places[start : start + PART]
            part = [terms.part(slice(start, start + len(some))) for terms in views]
            found = scores_by(event, model, scorings, model.find(part), labels[some])
            for of_all, values in zip(scores, found, strict=True):
                of_all[some] = values
    names = [model.classes[place] for place in labels.tolist()]
    kept = observed_scores(model, scorings, scores, names)
    best = min(
        range(len(scorings)), key=lambda place: fitted_loss(kept[place], model.classes)
    )
    found_fit = fit(kept[best], model.classes)
    return log_posteriors(scores[best], event.calibration, found_fit)
