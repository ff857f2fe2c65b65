"""
Scores of many documents: `nbtext.scoring.score` by arrays.

The terms of a batch of documents are found at once, its event model scores them, and
every step is an operation on arrays.
"""

from __future__ import annotations

from itertools import starmap
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from nbtext.counts import Fit
    from nbtext.scoring.batch_model import BatchModel, FoundTerms, Labels, Scores
    from nbtext.scoring.models.evidence import Calibrated
    from nbtext.scoring.score import Scored
    from nbtext.tokens import AnyReading, Terms

from nbtext.scoring.batch_mixed import (
    is_possible,
    known_attributes,
    scores_by,
    with_attributes,
)
from nbtext.scoring.models.arrays import by_class, known_terms, normalised, softplus
from nbtext.scoring.models.registry import event_model
from nbtext.scoring.posterior import IMPOSSIBLE, log_shares
from nbtext.tokens import read_terms
from nbtext.tokens.bags import sum_by_document

KEPT: Final = 31 << 20
"""Size of what teaches the C library to keep memory, in bytes; it learns from no more
than 32 MiB."""


class ScoredBatch:
    """
    What the counts say of a batch of documents.

    Attributes:
        log_posterior: shape (n_documents, n_classes), in nats; it ranks documents.
        printed: the same where probabilities are told: capped, if it is calibrated.
        known: shape (n_documents,), how many tokens the model knows.
        tokens: shape (n_documents,), how many there are.
    """

    __slots__ = ("known", "log_posterior", "printed", "tokens")

    def __init__(
        self,
        log_posterior: NDArray[np.float64],
        printed: NDArray[np.float64],
        known: NDArray[np.int64],
        tokens: NDArray[np.int64],
    ) -> None:
        self.log_posterior = log_posterior
        self.printed = printed
        self.known = known
        self.tokens = tokens

    def __iter__(self) -> Iterator[Scored]:
        """Yield what the counts say of each document."""
        from nbtext.scoring.score import Scored  # not for training, which has arrays

        rows = zip(
            map(tuple, self.log_posterior.tolist()),
            map(tuple, self.printed.tolist()),
            self.known.tolist(),
            self.tokens.tolist(),
            strict=True,
        )
        yield from starmap(Scored, rows)


def score_batch(
    model: BatchModel, views: Sequence[Terms], fit: Fit, labels: Labels | None = None
) -> ScoredBatch:
    """
    Score a batch of documents.

    Args:
        model: the counts, and how to score with them; without a correction if documents
            are left out, because what one of them has brought to that cannot be told.
        views: for each view the terms of the documents.
        fit: what the scores were fitted to.
        labels: shape (n_documents,), the places of the classes that the documents are
            counted in, each of which is left out alone; None if none is.
    """
    documents = model.find(views)
    is_known = [
        known_terms(model, view, documents, labels) for view in range(len(views))
    ]
    event, n_texts = event_model(model.scoring.score), model.settings.n_texts
    is_sum = event.is_textbook  # of all that there is, attributes too
    (scores,) = scores_by(model, [model.scoring], documents, labels)
    if model.correction is not None:
        model.correction.add_to(scores, documents.views[:n_texts])
    # (n_classes,), or (n_documents, n_classes) where each is without its document
    rest = np.array(model.documents)
    if labels is not None:
        rest = np.tile(rest, (documents.n_documents, 1))
        rest[np.arange(len(labels)), labels] -= 1
    known, tokens = _n_tokens(documents, is_known[:n_texts])
    n_attributes = known_attributes(model, documents, is_known)  # none of text alone
    if is_sum:
        known += n_attributes
    has_scores = known > 0
    if is_sum and not model.scoring.calibrated:
        has_scores[:] = True
    if is_sum and model.settings.has_attributes:
        possible = is_possible(scores)
        has_scores &= possible
        known[~possible] = 0
        scores[~possible] = 0.0  # for the shares
    posterior = log_posteriors(scores, event.calibration, fit)
    _put_shares(posterior, ~has_scores, rest)
    if model.settings.has_attributes and not is_sum:
        posterior = with_attributes(posterior, model, documents, labels)
        impossible = ~is_possible(posterior)
        _put_shares(posterior, impossible, rest)
        known += n_attributes
        known[impossible] = 0
    if model.settings.has_attributes:
        posterior = np.maximum(posterior, IMPOSSIBLE)
    printed = capped_rows(posterior, rest) if model.scoring.calibrated else posterior
    return ScoredBatch(posterior, printed, known, tokens)


def _put_shares(
    posterior: Scores, chosen: NDArray[np.bool_], documents: NDArray[np.int64]
) -> None:
    """Put the classes' shares of the documents in the place of some rows."""
    if documents.ndim == 1:
        posterior[chosen] = log_shares(documents.tolist())
        return
    for place in chosen.nonzero()[0].tolist():
        posterior[place] = log_shares(documents[place].tolist())


def _n_tokens(
    documents: FoundTerms, known: Sequence[NDArray[np.bool_]]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return how many tokens of text are of known terms, and how many there are."""
    n_known = np.zeros(documents.n_documents, np.int64)
    n_tokens = np.zeros(documents.n_documents, np.int64)
    for view, terms in enumerate(documents.views):
        n_tokens += sum_by_document(terms.counts, terms.starts)
        if view < len(known):
            n_known += sum_by_document(terms.counts * known[view], terms.starts)
    return n_known, n_tokens


def joint_log_likelihoods(model: BatchModel, views: Sequence[Terms]) -> Scores:
    """
    Return `EventModel.joint_log_likelihood` of documents, (n_documents, n_classes).

    Args:
        model: the counts.
        views: for each view the terms of the documents.
    """
    (scores,) = scores_by(model, [model.scoring], model.find(views))
    if scores.ndim == 1:
        return by_class(scores)
    return scores


def log_posteriors(scores: Scores, calibration: Calibrated, fit: Fit) -> Scores:
    """
    Return the log posteriors, shape (n_documents, n_classes), of scores.

    Args:
        scores: those of documents.
        calibration: how the event model's scores become probabilities.
        fit: what they were fitted to.
    """
    if calibration == "histogram":
        log_odds = fit.slope * scores + fit.offset
        return np.stack([-softplus(log_odds), -softplus(-log_odds)], axis=1)
    return normalised(fit.slope * scores)


def capped_rows(
    log_posterior: Scores, documents: Sequence[int] | NDArray[np.int64]
) -> NDArray[np.float64]:
    """
    Return log posteriors as `nbtext.scoring.posterior.capped` does, row by row.

    Args:
        log_posterior: shape (n_documents, n_classes), in nats.
        documents: how many documents each class has, shape (n_classes,), or those that
            it has for each row, shape (n_documents, n_classes).
    """
    counts = np.broadcast_to(np.array(documents), log_posterior.shape)
    best = log_posterior.argmax(axis=1)
    rows = np.arange(len(best))
    others = counts.sum(axis=1) - counts[rows, best]
    most = np.log((others + 1) / (others + 2))
    capped = log_posterior.copy()
    (above,) = np.nonzero(log_posterior[rows, best] > most)
    if len(above):
        shares = log_posterior[above]
        # without the best class the others' shares sum to one
        shares[np.arange(len(above)), best[above]] = -np.inf
        shares = normalised(shares) - np.log(others[above] + 2)[:, None]
        shares[np.arange(len(above)), best[above]] = most[above]
        capped[above] = shares
    return capped


def score_readings(
    model: BatchModel, readings: Sequence[AnyReading], calibration: Fit
) -> Iterator[Scored]:
    """Yield what the counts say of each document, in their order."""
    views = [reading.views for reading in readings]
    yield from score_batch(model, read_terms(model.settings, views), calibration)


def keep_memory() -> None:
    """
    Have the C library keep what is freed, rather than give it back again and again.

    Batches need arrays of a megabyte or so, thousands of times. glibc gives such memory
    back to the system as soon as it is freed, and fetching it anew costs a quarter of
    the time (docs/experiments/002-speed.md, 067-counting-by-parts.md); but it learns
    from what is freed (mallopt(3), M_MMAP_THRESHOLD), and something larger, of which
    nothing is ever written, teaches it.
    """
    try:
        from ctypes import CDLL, c_size_t, c_void_p  # which numpy has loaded

        library = CDLL(None)
    except (ImportError, OSError, TypeError):
        return  # a Python without ctypes, or that is linked statically, or of Windows
    library.malloc.restype = c_void_p
    library.free(c_void_p(library.malloc(c_size_t(KEPT))))
