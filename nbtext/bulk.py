"""
Scores of many documents: `nbtext.score` for a crowd, and for held-out documents.

The formulas are those of `nbtext.score`; here the terms of a batch are found at once
and every step is an operation on arrays. A document of the training set can be scored
as if it had not been in it, its own counts subtracted: exact leave-one-out.
"""

from __future__ import annotations

from collections import Counter as Tally
from dataclasses import dataclass
from functools import cached_property
from math import exp
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from nbtext.counts import CountTable
    from nbtext.settings import Scoring, Settings

from nbtext.bags import Terms, sum_by_document, unit_weights
from nbtext.calibrate import (
    LOSS_UNIT,
    TEMPERATURES,
    Calibration,
    Fit,
    bin_of,
)
from nbtext.score import check_scoring, log_shares
from nbtext.settings import UNIT
from nbtext.terms import TermTable, arrange_runs, take_pairs

Scores: TypeAlias = "NDArray[np.float64]"
"""Shape (n_documents,) for the mean score: F in nats; else (n_documents, n_classes)."""

NOTHING: Final[NDArray[np.signedinteger]] = np.empty(0, np.int32)


@dataclass(frozen=True, slots=True)
class Scored:
    """
    What the counts say of a batch of documents.

    Attributes:
        log_posterior: shape (n_documents, n_classes), in nats.
        known: shape (n_documents,), how many tokens the model knows.
        tokens: shape (n_documents,), how many there are.
    """

    log_posterior: NDArray[np.float64]
    known: NDArray[np.int64]
    tokens: NDArray[np.int64]


@dataclass(frozen=True)
class BulkModel:
    """
    What scoring many documents needs of a model.

    Attributes:
        settings: how documents are read.
        scoring: how counts become a score.
        classes: the names of the classes, sorted.
        documents: for each class, how many documents.
        totals: shape (n_views, n_classes, n_columns), the sum of each column.
        terms: for each view its terms.
    """

    settings: Settings
    scoring: Scoring
    classes: tuple[str, ...]
    documents: tuple[int, ...]
    totals: NDArray[np.float64]
    terms: tuple[TermTable, ...]

    @cached_property
    def evidence(self) -> list[NDArray[np.float64]]:
        """
        Return for each view what each term says, in nats; for the mean score.

        Shape (n_terms + 1,); zero for weak terms and the unknown one.
        """
        column = _column(self.scoring)
        return [
            _evidence(table.pairs(column), self.totals[view, :, column], self.scoring)
            for view, table in enumerate(self.terms)
        ]

    @cached_property
    def weight_sums(self) -> list[NDArray[np.float64]]:
        """Return for each view the sum of each term's weights, shape (n_terms + 1,)."""
        column = self.settings.columns.index("weight")
        return [
            sum_by_document(table.columns[column], table.starts) / UNIT
            for table in self.terms
        ]

    def weights(self, view: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return a view's weights by entry, and their sums by term."""
        column = self.settings.columns.index("weight")
        return self.terms[view].columns[column] / UNIT, self.weight_sums[view]

    def sizes(self, view: int) -> NDArray[np.float64]:
        """Return the sums of a view's weights by class."""
        column = self.settings.columns.index("weight")
        sums: NDArray[np.float64] = self.totals[view, :, column] / UNIT
        return sums


def bulk_model(
    settings: Settings,
    scoring: Scoring,
    classes: tuple[str, ...],
    documents: tuple[int, ...],
    totals: Sequence[Sequence[Sequence[int]]],
    terms: tuple[TermTable, ...],
) -> BulkModel:
    """
    Prepare counts for scoring many documents.

    Raises:
        SettingsError: the counts do not support the score.

    """
    check_scoring(scoring, settings, classes)
    shape = (len(settings.views), len(classes), len(settings.columns))
    sums = np.array(totals, np.float64).reshape(shape)
    return BulkModel(
        settings=settings,
        scoring=scoring,
        classes=classes,
        documents=documents,
        totals=sums,
        terms=terms,
    )


def bulk_model_of(table: CountTable, scoring: Scoring) -> BulkModel:
    """Prepare a count table for scoring many documents."""
    totals = [
        [[run.total(column) for column in range(len(run.columns))] for run in runs]
        for runs in table.runs
    ]
    terms = tuple(arrange_runs(runs) for runs in table.runs)
    return bulk_model(
        table.settings, scoring, table.classes, table.documents, totals, terms
    )


def score_batch(model: BulkModel, views: Sequence[Terms], calibration: Fit) -> Scored:
    """
    Score a batch of documents.

    Args:
        model: the counts, and how to score with them.
        views: for each view the terms of the documents.
        calibration: what the scores were fitted to.

    """
    n_documents = len(views[0].starts) - 1
    places = [
        table.find(terms.keys) for table, terms in zip(model.terms, views, strict=True)
    ]
    tokens = np.zeros(n_documents, np.int64)
    known = np.zeros(n_documents, np.int64)
    for table, terms, found in zip(model.terms, views, places, strict=True):
        tokens += sum_by_document(terms.counts, terms.starts)
        is_known = found != table.n_terms
        known += sum_by_document(terms.counts * is_known, terms.starts)
    formula = {"mean": _mean, "sum": _sum, "complement": _complement}
    scores = formula[model.scoring.score](model, views, places)
    log_posterior = posteriors(scores, model.scoring, calibration)
    log_posterior[known == 0] = log_shares(model.documents)
    return Scored(log_posterior, known, tokens)


def posteriors(scores: Scores, scoring: Scoring, calibration: Fit) -> Scores:
    """Return the log posteriors, shape (n_documents, n_classes), of scores."""
    if scoring.score == "mean":
        log_odds = calibration.slope * scores + calibration.offset
        return np.stack([-_softplus(log_odds), -_softplus(-log_odds)], axis=1)
    slope = calibration.slope if scoring.score == "complement" else 1.0
    return _normalised(slope * scores)


def left_out(
    model: BulkModel, sample: Iterable[tuple[Sequence[str], Sequence[Terms]]]
) -> Calibration:
    """
    Score documents of the training set as if they had not been in it.

    Args:
        model: the counts, the documents' own among them.
        sample: batches of documents: their labels, and for each view their terms.

    Returns:
        What their scores say for calibration; nothing for the sum score, which is
        not calibrated.

    """
    scoring = model.scoring
    if scoring.score == "sum":
        return Calibration()
    losses = np.zeros(len(TEMPERATURES), np.int64)
    counts: Tally[tuple[int, str]] = Tally()
    documents: Tally[str] = Tally()
    pairs = [
        table.pairs(_column(scoring)) if scoring.score == "mean" else NOTHING
        for table in model.terms
    ]
    for names, views in sample:
        labels = np.array([model.classes.index(name) for name in names])
        documents.update(names)
        if scoring.score == "mean":
            scores = _mean_left_out(model, pairs, views, labels)
            counts.update(
                (bin_of(value), name)
                for value, name in zip(scores.tolist(), names, strict=True)
            )
        else:
            losses += _losses(_complement_left_out(model, views, labels), labels)
    return Calibration(
        scoring=scoring.as_dict(),
        counts=dict(counts),
        losses=tuple(losses.tolist()) if scoring.score == "complement" else (),
        documents=dict(documents),
    )


def _column(scoring: Scoring) -> int:
    return 1 if scoring.counting == "once" else 0


def _times(scoring: Scoring, terms: Terms) -> NDArray[np.integer]:
    """Return how often each term counts."""
    return np.ones_like(terms.counts) if scoring.counting == "once" else terms.counts


def _evidence(
    counts: NDArray[np.integer], sizes: NDArray[np.float64], scoring: Scoring
) -> NDArray[np.float64]:
    """
    Return what terms say for the second class, in nats; zero for weak terms.

    Args:
        counts: shape (n_terms, 2), each term's count in the two classes.
        sizes: shape (2,), the sum of the counts in each class.
        scoring: the smoothing, and which terms are weak.

    """
    sizes = np.maximum(sizes, 1)
    h = 2 * scoring.smoothing / (sizes[0] + sizes[1])
    ratio = counts[:, 1] / sizes[1] + h
    ratio /= counts[:, 0] / sizes[0] + h
    return _log_of_strong(ratio, scoring)


def _log_of_strong(ratio: NDArray[np.float64], scoring: Scoring) -> NDArray[np.float64]:
    """Return the logarithms, in place, of ratios that are not weak; zero for others."""
    least = exp(scoring.weak)
    # compared before the logarithm, so that both engines keep the same
    ratio[(ratio < least) & (ratio * least > 1.0)] = 1.0
    return np.log(ratio, out=ratio)


def _mean(
    model: BulkModel, views: Sequence[Terms], places: Sequence[NDArray[np.int64]]
) -> Scores:
    scores = np.zeros(len(views[0].starts) - 1)
    for evidence, terms, found in zip(model.evidence, views, places, strict=True):
        scores += _means(evidence.take(found), _times(model.scoring, terms), terms)
    return scores


def _means(
    said: NDArray[np.float64], times: NDArray[np.integer], terms: Terms
) -> NDArray[np.float64]:
    """Return the mean of what each document's terms say, 0 if they say nothing."""
    kept = sum_by_document(times * (said != 0), terms.starts)
    sums: Scores = sum_by_document(said * times, terms.starts) / np.maximum(kept, 1)
    return sums


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
        times = _times(scoring, terms)
        sizes = np.empty((2, len(labels)))
        sizes[:] = model.totals[view, :, _column(scoring), None]
        sizes[labels, documents] -= sum_by_document(times, terms.starts)
        sizes = np.maximum(sizes, 1)
        h = 2 * scoring.smoothing / (sizes[0] + sizes[1])

        lengths = np.diff(terms.starts)
        found = model.terms[view].find(terms.keys)
        in_second = np.repeat(labels, lengths)
        both = take_pairs(pairs[view], found)
        first = both[:, 0] - times * (1 - in_second)
        second = both[:, 1] - times * in_second
        is_unknown = (first | second) == 0
        # (n_1 / N_1 + h) / (n_0 / N_0 + h), its h divided out
        ratio = second * np.repeat(1 / (sizes[1] * h), lengths)
        ratio += 1
        divisor = first * np.repeat(1 / (sizes[0] * h), lengths)
        divisor += 1
        ratio /= divisor
        said = _log_of_strong(ratio, scoring)
        said[is_unknown] = 0.0
        scores += _means(said, times, terms)
    return scores


def _sum(
    model: BulkModel, views: Sequence[Terms], places: Sequence[NDArray[np.int64]]
) -> Scores:
    a = model.scoring.smoothing
    column = _column(model.scoring)
    scores = np.tile(log_shares(model.documents), (len(views[0].starts) - 1, 1))
    for view, (terms, found) in enumerate(zip(views, places, strict=True)):
        table = model.terms[view]
        times = _times(model.scoring, terms) * (found != table.n_terms)
        spread = _spread(table, terms.starts, found)
        logs = np.log((table.columns[column].take(spread.entries) + a) / a)
        spread.add(scores, times.take(spread.terms) * logs)
        sizes = model.totals[view, :, column] + a * max(table.n_terms, 1)
        scores += np.outer(sum_by_document(times, terms.starts), np.log(a / sizes))
    return scores


def _complement(
    model: BulkModel, views: Sequence[Terms], places: Sequence[NDArray[np.int64]]
) -> Scores:
    a = model.scoring.smoothing
    scores = np.zeros((len(views[0].starts) - 1, len(model.classes)))
    for view, (terms, found) in enumerate(zip(views, places, strict=True)):
        table = model.terms[view]
        weights, of_term = model.weights(view)
        x = _unit_length(terms, found != table.n_terms)
        spread = _spread(table, terms.starts, found)
        whole = of_term.take(found).take(spread.terms)
        rest = whole - weights.take(spread.entries)
        spread.add(scores, x.take(spread.terms) * np.log((whole + a) / (rest + a)))
        sizes = model.sizes(view)
        divisors = np.log(sizes.sum() - sizes + a * table.n_terms)
        scores += np.outer(sum_by_document(x, terms.starts), divisors)
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
        weights, of_term = model.weights(view)
        own = unit_weights(terms) / UNIT
        # what remains of a term without the document; a term that was its own is gone
        remains = np.maximum(of_term.take(found) - own, 0.0)
        remains[remains < LEAST_WEIGHT] = 0.0
        is_known = remains > 0
        x = _unit_length(terms, is_known)
        spread = _spread(table, terms.starts, found)
        whole = remains.take(spread.terms)
        weight = weights.take(spread.entries)
        is_own = spread.classes == labels.take(spread.documents)
        weight = weight - own.take(spread.terms) * is_own
        rest = np.maximum(whole - weight, 0.0)
        spread.add(scores, x.take(spread.terms) * np.log((whole + a) / (rest + a)))
        n_terms = table.n_terms - sum_by_document(~is_known, terms.starts)
        sizes = np.tile(model.sizes(view), (len(labels), 1))
        sizes[documents, labels] -= sum_by_document(own, terms.starts)
        others = sizes.sum(axis=1, keepdims=True) - sizes + a * n_terms[:, None]
        scores += sum_by_document(x, terms.starts)[:, None] * np.log(others)
    return scores


LEAST_WEIGHT: Final = 0.5 / UNIT
"""Less than any weight that a document leaves: rounding, not a weight."""


def _losses(scores: Scores, labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the sum of the log-losses at each temperature, in units of 2^-20 nats."""
    documents = np.arange(len(labels))
    losses = [
        -_normalised(temperature * scores)[documents, labels]
        for temperature in TEMPERATURES
    ]
    units: NDArray[np.int64] = np.rint(np.array(losses) * LOSS_UNIT).astype(np.int64)
    sums: NDArray[np.int64] = units.sum(axis=1)
    return sums


def _unit_length(terms: Terms, is_known: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the documents' vectors of known terms, scaled to unit length."""
    counts = terms.counts * is_known
    squares = sum_by_document(counts.astype(np.float64) ** 2, terms.starts)
    lengths = np.sqrt(np.maximum(squares, 1))
    unit: NDArray[np.float64] = counts / np.repeat(lengths, np.diff(terms.starts))
    return unit


@dataclass(frozen=True, slots=True)
class _Spread:
    """
    The entries of the terms of documents, one row for each (term, entry).

    Attributes:
        terms: shape (n_rows,), which term of the batch.
        entries: shape (n_rows,), which entry of the table.
        classes: shape (n_rows,), the entry's class.
        documents: shape (n_rows,), the term's document.
    """

    terms: NDArray[np.int64]
    entries: NDArray[np.int64]
    classes: NDArray[np.integer]
    documents: NDArray[np.int64]

    def add(self, scores: Scores, values: NDArray[np.float64]) -> None:
        """Add a value for each row to its document's score of its class."""
        n_documents, n_classes = scores.shape
        cells = self.documents * n_classes + self.classes
        sums = np.bincount(cells, values, minlength=n_documents * n_classes)
        scores += sums.reshape(n_documents, n_classes)


def _spread(
    table: TermTable, starts: NDArray[np.int64], found: NDArray[np.int64]
) -> _Spread:
    first = table.starts.take(found)
    lengths = table.starts.take(found + 1) - first
    begin = np.cumsum(lengths) - lengths
    terms = np.repeat(np.arange(len(found)), lengths)
    entries = np.arange(len(terms)) + (first - begin).take(terms)
    documents = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    return _Spread(terms, entries, table.classes.take(entries), documents.take(terms))


def _softplus(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.maximum(x, 0.0) + np.log1p(np.exp(-np.abs(x)))


def _normalised(scores: Scores) -> Scores:
    highest = scores.max(axis=1, keepdims=True)
    whole = highest + np.log(np.exp(scores - highest).sum(axis=1, keepdims=True))
    normalised: Scores = scores - whole
    return normalised
