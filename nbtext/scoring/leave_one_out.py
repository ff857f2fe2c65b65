"""
Scores of held-out documents: exact leave-one-out, and what it says for calibration.

A document of the training set is scored as if it had not been in it, its own counts
subtracted from the model's. The formulas are those of `nbtext.scoring.batch`.
"""

from __future__ import annotations

from collections import Counter as Tally
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from nbtext.counts.calibration import LOSS_UNIT, TEMPERATURES, Calibration, bin_of
from nbtext.counts.term_table import take_pairs
from nbtext.scoring.batch import (
    counted_column,
    log_of_strong,
    means,
    normalised,
    spread_entries,
    times_counted,
    unit_length,
)
from nbtext.settings import UNIT
from nbtext.tokens.bags import joined, sum_by_document, unit_weights

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from nbtext.parallel import Map
    from nbtext.scoring.batch import BulkModel, Scores
    from nbtext.tokens.bags import Terms

Labelled: TypeAlias = "tuple[Sequence[str], Sequence[Terms]]"
"""A batch of documents: their labels, and for each view their terms."""

PART: Final = 48
"""How many documents are scored at a time; each term has a row for each of its classes,
so more would take much room."""

ROOM: Final = 1 << 15
"""How many losses are computed at a time, about."""


def left_out(
    model: BulkModel, sample: Iterable[Labelled], map_: Map = map
) -> Calibration:
    """
    Score documents of the training set as if they had not been in it.

    Args:
        model: the counts, the documents' own among them.
        sample: batches of documents.
        map_: deals with parts of the sample.

    Returns:
        What their scores say for calibration; nothing for the sum score, which is
        not calibrated.

    """
    if model.scoring.score == "sum":
        return Calibration()
    calibrated = _histogram if model.scoring.score == "mean" else _temperatures
    return calibrated(model, _in_parts(sample), map_)


def _histogram(model: BulkModel, parts: Iterable[Labelled], map_: Map) -> Calibration:
    """Count the scores of documents in bins, for two classes."""
    column = counted_column(model.scoring)
    pairs = [table.pairs(column) for table in model.terms]

    def scores_of(part: Labelled) -> tuple[Sequence[str], Scores]:
        names, views = part
        return names, _mean_left_out(model, pairs, views, _numbers(model, names))

    counts: Tally[tuple[int, str]] = Tally()
    documents: Tally[str] = Tally()
    for names, scores in map_(scores_of, parts):
        counts.update(zip(map(bin_of, scores.tolist()), names, strict=True))
        documents.update(names)
    scoring = model.scoring.as_dict()
    return Calibration(scoring, counts=dict(counts), documents=dict(documents))


def _temperatures(
    model: BulkModel, parts: Iterable[Labelled], map_: Map
) -> Calibration:
    """Add up the losses of documents at each temperature."""

    def losses_of(part: Labelled) -> tuple[Sequence[str], NDArray[np.int64]]:
        names, views = part
        labels = _numbers(model, names)
        return names, observed_losses(
            _complement_left_out(model, views, labels), labels
        )

    sums = np.zeros(len(TEMPERATURES), np.int64)
    documents: Tally[str] = Tally()
    for names, losses in map_(losses_of, parts):
        sums += losses
        documents.update(names)
    return Calibration(
        scoring=model.scoring.as_dict(),
        losses=tuple(sums.tolist()),
        documents=dict(documents),
    )


def _numbers(model: BulkModel, names: Sequence[str]) -> NDArray[np.int64]:
    return np.array([model.classes.index(name) for name in names])


def _in_parts(sample: Iterable[Labelled]) -> Iterator[Labelled]:
    """Cut batches to PART documents, or put them together if they have less."""
    names: list[str] = []
    waiting: list[Sequence[Terms]] = []
    for labels, views in sample:
        for start in range(0, len(labels), PART):
            part = labels[start : start + PART]
            if len(names) + len(part) > PART:
                yield names, [joined(parts) for parts in zip(*waiting, strict=True)]
                names, waiting = [], []
            documents = slice(start, start + len(part))
            names += part
            waiting.append([terms.part(documents) for terms in views])
    if names:
        yield names, [joined(parts) for parts in zip(*waiting, strict=True)]


def _mean_left_out(
    model: BulkModel,
    pairs: Sequence[NDArray[np.signedinteger]],
    views: Sequence[Terms],
    labels: NDArray[np.int64],
) -> Scores:
    scoring = model.scoring
    scores = np.zeros(len(labels))
    documents = np.arange(len(labels))
    for view, terms in enumerate(views):
        times = times_counted(scoring, terms)
        sizes = np.empty((2, len(labels)))
        sizes[:] = model.totals[view, :, counted_column(scoring), None]
        sizes[labels, documents] -= sum_by_document(times, terms.starts)
        sizes = np.maximum(sizes, 1)
        h = 2 * scoring.smoothing / (sizes[0] + sizes[1])

        lengths = np.diff(terms.starts)
        found = model.terms[view].find(terms.keys)
        both = take_pairs(pairs[view], found)
        own = np.repeat(labels, lengths) + np.arange(0, both.size, 2)
        both.reshape(-1)[own] -= times
        first, second = both[:, 0], both[:, 1]
        is_unknown = (first | second) == 0
        # (n_1 / N_1 + h) / (n_0 / N_0 + h), its h divided out
        ratio = second * np.repeat(1 / (sizes[1] * h), lengths)
        ratio += 1
        divisor = first * np.repeat(1 / (sizes[0] * h), lengths)
        divisor += 1
        ratio /= divisor
        said = log_of_strong(ratio, scoring)
        said[is_unknown] = 0.0
        scores += means(said, times, terms)
    return scores


def _complement_left_out(
    model: BulkModel, views: Sequence[Terms], labels: NDArray[np.int64]
) -> Scores:
    a = model.scoring.smoothing
    scores = np.zeros((len(labels), len(model.classes)))
    documents = np.arange(len(labels))
    for view, terms in enumerate(views):
        table = model.terms[view]
        found = table.find(terms.keys)
        own = unit_weights(terms) / UNIT
        # what remains of a term without the document; a term that was its own is gone
        remains = np.maximum(model.weight_sums[view].take(found) - own, 0.0)
        is_known = model.is_shared[view].take(found)
        x = unit_length(terms, is_known)
        spread = spread_entries(table, terms.starts, found)
        whole = remains.take(spread.terms)
        weight = model.weights(view, spread.entries)
        of_own = (spread.classes == labels.take(spread.documents)).nonzero()[0]
        weight[of_own] -= own.take(spread.terms.take(of_own))
        rest = np.subtract(whole, weight, out=weight)
        np.maximum(rest, 0.0, out=rest)
        whole += a
        rest += a
        whole /= rest
        said = np.log(whole, out=whole)
        said *= x.take(spread.terms)
        spread.add(scores, said)
        n_terms = table.n_terms - sum_by_document(~is_known, terms.starts)
        sizes = np.tile(model.sizes(view), (len(labels), 1))
        sizes[documents, labels] -= sum_by_document(own, terms.starts)
        others = sizes.sum(axis=1, keepdims=True) - sizes + a * n_terms[:, None]
        scores += sum_by_document(x, terms.starts)[:, None] * np.log(others)
    return scores


def observed_losses(scores: Scores, labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """
    Return the sum of the log-losses at each temperature, in units of 2^-20 nats.

    Args:
        scores: shape (n_documents, n_classes).
        labels: shape (n_documents,), the classes' places.

    """
    sums = np.zeros(len(TEMPERATURES), np.int64)
    temperatures = np.array(TEMPERATURES)[:, None, None]
    step = max(ROOM // (len(TEMPERATURES) * scores.shape[1]), 1)
    for start in range(0, len(labels), step):
        some = slice(start, start + step)
        documents = np.arange(len(labels[some]))
        log_posterior = normalised(temperatures * scores[some])
        losses = -log_posterior[:, documents, labels[some]]
        sums += np.rint(losses * LOSS_UNIT).astype(np.int64).sum(axis=1)
    return sums
