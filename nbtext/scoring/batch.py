"""
Scores of many documents: `nbtext.scoring.score` for a crowd.

The formulas are those of `nbtext.scoring.score`; here the terms of a batch are found at
once and every step is an operation on arrays.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import exp
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from nbtext.counts.table import CountTable
    from nbtext.parallel import Map
    from nbtext.scoring.fitting import Fit
    from nbtext.settings import Scoring, Settings

from nbtext.counts.term_table import TermTable, arrange_runs
from nbtext.scoring.score import check_scoring, log_shares
from nbtext.settings import UNIT
from nbtext.tokens.bags import Terms, sum_by_document

Scores: TypeAlias = "NDArray[np.float64]"
"""Shape (n_documents,) for the mean score: F in nats; else (n_documents, n_classes)."""


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
        column = counted_column(self.scoring)
        return [
            _evidence(table.pairs(column), self.totals[view, :, column], self.scoring)
            for view, table in enumerate(self.terms)
        ]

    @cached_property
    def weight_sums(self) -> list[NDArray[np.float64]]:
        """Return for each view the sum of each term's weights, shape (n_terms + 1,)."""
        column = self.settings.columns.index("weight")
        return [table.sums(column) / UNIT for table in self.terms]

    @cached_property
    def is_shared(self) -> list[NDArray[np.bool_]]:
        """Return for each view whether terms are in two documents or more."""
        column = self.settings.columns.index("documents")
        return [table.sums(column) > 1 for table in self.terms]

    def weights(self, view: int, entries: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the weights of some entries of a view."""
        column = self.settings.columns.index("weight")
        weights: Scores = self.terms[view].columns[column].take(entries) / UNIT
        return weights

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


def bulk_model_of(table: CountTable, scoring: Scoring, map_: Map = map) -> BulkModel:
    """Prepare a count table for scoring many documents; `map_` deals with ranges."""
    totals = [
        [[run.total(column) for column in range(len(run.columns))] for run in runs]
        for runs in table.runs
    ]
    terms = tuple(arrange_runs(runs, map_) for runs in table.runs)
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
    scores = FORMULAS[model.scoring.score](model, views, places)
    log_posterior = posteriors(scores, model.scoring, calibration)
    log_posterior[known == 0] = log_shares(model.documents)
    return Scored(log_posterior, known, tokens)


def raw_scores(model: BulkModel, views: Sequence[Terms]) -> Scores:
    """
    Return what the formula says of documents, not calibrated.

    Args:
        model: the counts, and how to score with them.
        views: for each view the terms of the documents.

    """
    places = [
        table.find(terms.keys) for table, terms in zip(model.terms, views, strict=True)
    ]
    return FORMULAS[model.scoring.score](model, views, places)


def posteriors(scores: Scores, scoring: Scoring, calibration: Fit) -> Scores:
    """Return the log posteriors, shape (n_documents, n_classes), of scores."""
    if scoring.score == "mean":
        log_odds = calibration.slope * scores + calibration.offset
        return np.stack([-_softplus(log_odds), -_softplus(-log_odds)], axis=1)
    slope = calibration.slope if scoring.score == "complement" else 1.0
    return normalised(slope * scores)


def counted_column(scoring: Scoring) -> int:
    """Return which column the score counts."""
    return 1 if scoring.counting == "once" else 0


def times_counted(scoring: Scoring, terms: Terms) -> NDArray[np.integer]:
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
    return log_of_strong(ratio, scoring)


def log_of_strong(ratio: NDArray[np.float64], scoring: Scoring) -> NDArray[np.float64]:
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
        scores += means(
            evidence.take(found), times_counted(model.scoring, terms), terms
        )
    return scores


def means(
    said: NDArray[np.float64], times: NDArray[np.integer], terms: Terms
) -> NDArray[np.float64]:
    """Return the mean of what each document's terms say, 0 if they say nothing."""
    kept = sum_by_document(times * (said != 0), terms.starts)
    sums: Scores = sum_by_document(said * times, terms.starts) / np.maximum(kept, 1)
    return sums


def _sum(
    model: BulkModel, views: Sequence[Terms], places: Sequence[NDArray[np.int64]]
) -> Scores:
    a = model.scoring.smoothing
    column = counted_column(model.scoring)
    scores = np.tile(log_shares(model.documents), (len(views[0].starts) - 1, 1))
    for view, (terms, found) in enumerate(zip(views, places, strict=True)):
        table = model.terms[view]
        times = times_counted(model.scoring, terms) * (found != table.n_terms)
        spread = spread_entries(table, terms.starts, found)
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
        x = unit_length(terms, found != table.n_terms)
        spread = spread_entries(table, terms.starts, found)
        whole = model.weight_sums[view].take(found).take(spread.terms)
        rest = whole - model.weights(view, spread.entries)
        spread.add(scores, x.take(spread.terms) * np.log((whole + a) / (rest + a)))
        sizes = model.sizes(view)
        divisors = np.log(sizes.sum() - sizes + a * table.n_terms)
        scores += np.outer(sum_by_document(x, terms.starts), divisors)
    return scores


Formula: TypeAlias = (
    "Callable[[BulkModel, Sequence[Terms], Sequence[NDArray[np.int64]]], Scores]"
)
FORMULAS: Final[dict[str, Formula]] = {
    "mean": _mean,
    "sum": _sum,
    "complement": _complement,
}
"""What makes scores of documents' terms and their places among the model's."""


def unit_length(terms: Terms, is_known: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the documents' vectors of known terms, scaled to unit length."""
    counts = terms.counts * is_known
    squares = sum_by_document(counts.astype(np.float64) ** 2, terms.starts)
    lengths = np.sqrt(np.maximum(squares, 1))
    unit: NDArray[np.float64] = counts / np.repeat(lengths, np.diff(terms.starts))
    return unit


@dataclass(frozen=True, slots=True)
class Spread:
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


def spread_entries(
    table: TermTable, starts: NDArray[np.int64], found: NDArray[np.int64]
) -> Spread:
    """Put the entries of all terms of documents one below the other."""
    first = table.starts.take(found)
    lengths = table.starts.take(found + 1) - first
    begin = np.cumsum(lengths) - lengths
    terms = np.repeat(np.arange(len(found)), lengths)
    entries = np.arange(len(terms)) + (first - begin).take(terms)
    documents = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    return Spread(terms, entries, table.classes.take(entries), documents.take(terms))


def _softplus(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.maximum(x, 0.0) + np.log1p(np.exp(-np.abs(x)))


def normalised(scores: Scores) -> Scores:
    """Return scores less the logarithm of the sum of their exponentials, by row."""
    # the best one's own term is 1; without it the sum does not round to certainty
    best = scores.argmax(axis=-1)[..., None]
    shifted = scores - np.take_along_axis(scores, best, axis=-1)
    terms = np.exp(shifted)
    np.put_along_axis(terms, best, 0.0, axis=-1)
    shifted -= np.log1p(terms.sum(axis=-1, keepdims=True))
    return shifted
