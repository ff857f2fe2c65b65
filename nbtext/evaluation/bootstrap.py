"""
How far the figures of an evaluation may be from what more documents would show.

The percentile bootstrap (Efron and Tibshirani 1993, section 13.3): documents are drawn
from those that were evaluated, as many as there are, with replacement; each figure is
computed of the draw; and that a thousand times. Of these values the middle 95 % are the
interval. Documents are drawn in an order of their own, from a fixed seed, so the same
documents give the same intervals however they are sorted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

import numpy as np

from nbtext.evaluation.binary_metrics import NEGATIVES_PER_FALSE_POSITIVE
from nbtext.evaluation.metrics import N_BINS, Floats, Indices

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from nbtext.scoring.costs import Costs

SEED: Final = 20050714
"""Where the random numbers begin."""

REPLICATES: Final = 1000
"""How many draws there are, of few documents."""

FEWEST: Final = 200
"""Minimum draws: 5 of them are beyond each end of an interval."""

WORK: Final = 20_000_000
"""Documents that are drawn in all, about; FEWEST draws take more of many."""

ROOM: Final = 1 << 20
"""Documents that are drawn at a time, about."""

SHARE: Final = 0.95
"""The share of draws whose figure is in the interval."""

Path: TypeAlias = tuple[str, ...]
"""The keys under which a figure stands in `Evaluation.as_dict`."""

Counts: TypeAlias = Floats
"""How often documents are drawn, or classes met; whole numbers, one row a draw."""


class Interval(NamedTuple):
    """The middle 95 % of a figure's values: from here to there."""

    low: float
    high: float


Intervals: TypeAlias = Mapping[Path, Interval]
"""The interval of each figure; those of figures that have no value are missing."""


@dataclass(frozen=True, slots=True)
class Judged:
    """
    Documents as the figures see them; (n_documents,) each.

    Attributes:
        truth: places of classes, -1 for a label that the model does not know.
        decided: places of classes, -1 for unsure.
        loss: -ln p(true class), in nats; 0 without a known label, as in what follows.
        squared: the squared errors, summed over the classes.
        gap: the top probability less 1 if its class is the true one, else less 0.
        bin: the bin of the top probability, from 0 to N_BINS - 1.
        odds: log odds of the positive class; 0 if there are not two classes.
    """

    truth: Indices
    decided: Indices
    loss: Floats
    squared: Floats
    gap: Floats
    bin: Indices
    odds: Floats

    def __len__(self) -> int:
        return len(self.truth)

    def likelier(self, wanted: int | None) -> Indices:
        """Return which of two classes each is called, the first of equals."""
        if wanted is None:
            return np.zeros_like(self.truth)
        is_called = self.odds > 0 if wanted else self.odds >= 0
        return np.where(is_called, wanted, 1 - wanted)

    def in_order(self) -> Judged:
        """Return them by falling odds, in an order that is theirs however they came."""
        columns = [getattr(self, name) for name in self.__slots__]
        order = np.lexsort([*columns, -self.odds])
        return Judged(*(column.take(order) for column in columns))


def judged(
    truth: Indices,
    log_posterior: Floats,
    printed: Floats,
    decided: Indices,
    wanted: int | None,
) -> Judged:
    """
    Gather what the figures need of documents.

    Args:
        truth: shape (n_documents,), places of classes; -1 for an unknown label.
        log_posterior: shape (n_documents, n_classes), in nats; it ranks documents.
        printed: the same where probabilities are told.
        decided: shape (n_documents,), places of classes; -1 for unsure.
        wanted: the place of the positive class, None unless there are two classes.
    """
    rows, is_known = np.arange(len(truth)), truth >= 0
    posterior = np.exp(printed)
    top = posterior.max(axis=1, initial=0)
    is_right = printed.argmax(axis=1) == truth if len(truth) else is_known
    own = posterior[rows, truth]  # of an unknown label the last class's, not used
    squared = (posterior**2).sum(axis=1) - 2 * own + 1
    edges = np.arange(N_BINS + 1) / N_BINS
    odds = np.zeros(len(truth))
    if wanted is not None:
        odds = log_posterior[:, wanted] - log_posterior[:, 1 - wanted]
    return Judged(
        truth=truth,
        decided=decided,
        loss=np.where(is_known, -printed[rows, truth], 0.0),
        squared=np.where(is_known, squared, 0.0),
        gap=np.where(is_known, top - is_right, 0.0),
        bin=np.searchsorted(edges[1:-1], top, side="left"),
        odds=np.where(is_known, odds, 0.0),
    )


def intervals(
    documents: Judged,
    classes: Sequence[str],
    wanted: int | None,
    costs: Costs | None = None,
) -> dict[Path, Interval]:
    """
    Return the intervals of all figures.

    Args:
        documents: at least one, or nothing is returned.
        classes: the names of the model's.
        wanted: the place of the positive class, None unless there are two classes.
        costs: what decisions cost, if they have prices.
    """
    if not len(documents):
        return {}
    documents = documents.in_order()
    n_draws = max(FEWEST, min(REPLICATES, WORK // len(documents)))
    random = np.random.default_rng(SEED)
    parts: dict[Path, list[Floats]] = {}
    with np.errstate(divide="ignore", invalid="ignore"):
        for path, values in of_decisions(
            documents, classes, wanted, costs, random, n_draws
        ):
            parts[path] = [values]
        figures = _Posteriors(documents, wanted)
        for drawn in draws(len(documents), n_draws, random):
            for path, values in figures.of(drawn):
                parts.setdefault(path, []).append(values)
    found = {path: _interval(np.concatenate(of)) for path, of in parts.items()}
    return {path: one for path, one in found.items() if one is not None}


def draws(
    n_documents: int, n_draws: int, random: np.random.Generator
) -> Iterator[Counts]:
    """
    Draw documents with replacement, as many as there are.

    Yields:
        How often each is drawn, shape (some of the draws, n_documents).
    """
    while n_draws:
        some = min(n_draws, max(ROOM // n_documents, 1))
        drawn = random.integers(0, n_documents, (some, n_documents))
        # each draw has its own stretch of numbers, so that all are counted at once
        drawn += np.arange(0, some * n_documents, n_documents)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=some * n_documents)
        yield _as_floats(counts.reshape(some, n_documents))
        n_draws -= some


def _interval(values: Floats) -> Interval | None:
    """Return the middle of some values; those that are no number do not count."""
    values = values[np.isfinite(values)]
    if not len(values):
        return None
    beyond = (1 - SHARE) / 2
    low, high = quantiles(values, (beyond, 1 - beyond))
    return Interval(low, high)


def quantiles(values: Floats, shares: Sequence[float]) -> list[float]:
    """
    Return how large the values are of which a share is smaller, for some shares.

    Between two values it lies as far as the share says. `np.quantile` does the same,
    but loads numpy's masked arrays for that, which takes 12 ms.

    Args:
        values: shape (n,), finite, one or more, in any order.
        shares: from 0 to 1.
    """
    ordered = np.sort(values)
    found = []
    for share in shares:
        place = (len(ordered) - 1) * share
        before, part = int(place), place % 1
        low, high = ordered[[before, min(before + 1, len(ordered) - 1)]].tolist()
        # from the nearer of the two, so that it is not beyond the other
        if part < 0.5:
            found.append(low + (high - low) * part)
        else:
            found.append(high - (high - low) * (1 - part))
    return found


def of_decisions(
    documents: Judged,
    classes: Sequence[str],
    wanted: int | None,
    costs: Costs | None,
    random: np.random.Generator,
    n_draws: int,
) -> Iterator[tuple[Path, Floats]]:
    """
    Yield the figures of decisions, each with its path and its value of each draw.

    They depend on how many documents there are of each true class that were decided and
    called the same. So only these numbers are drawn, whose distribution is multinomial.
    """
    likelier = documents.likelier(wanted)
    kinds, n_of_kind = np.unique(
        np.stack([documents.truth, documents.decided, likelier]),
        axis=1,
        return_counts=True,
    )
    truth, decided, likelier = kinds
    n_documents = len(documents)
    # one row a draw, one column a kind
    shares = n_of_kind / n_documents
    drawn = _as_floats(random.multinomial(n_documents, shares, n_draws))
    yield from _of_classes(drawn, truth, decided, classes)
    if costs is not None:
        is_known = truth >= 0
        prices = [
            costs.price(t, None if d < 0 else d) if t >= 0 else 0.0
            for t, d in zip(truth.tolist(), decided.tolist(), strict=True)
        ]
        yield ("mean_cost",), (drawn @ np.array(prices)) / _of(drawn, is_known)
    if wanted is None:
        return
    is_positive, is_negative = truth == wanted, truth == 1 - wanted
    positives, negatives = _of(drawn, is_positive), _of(drawn, is_negative)
    wrong = _of(drawn, is_negative & (decided == wanted))
    yield ("two_class", "false_positive_rate"), wrong / negatives
    wrong = _of(drawn, is_positive & (decided == 1 - wanted))
    yield ("two_class", "false_negative_rate"), wrong / positives
    errors = (
        _of(drawn, is_negative & (likelier == wanted)),
        _of(drawn, is_positive & (likelier == 1 - wanted)),
    )
    yield ("two_class", "lam_percent"), _lam_percent(*errors, positives, negatives)


def _of_classes(
    drawn: Counts, truth: Indices, decided: Indices, classes: Sequence[str]
) -> Iterator[tuple[Path, Floats]]:
    """Yield accuracy, and precision, recall and F1 of each class and on average."""
    by_truth, by_decision = _Groups(truth, len(classes)), _Groups(decided, len(classes))
    # (n_draws, n_classes) each
    hits = by_truth.sums(drawn * ((truth == decided) & (truth >= 0)))
    called, support = by_decision.sums(drawn), by_truth.sums(drawn)
    n_hits, n_called = hits.sum(axis=1), called.sum(axis=1)
    yield ("accuracy",), n_hits / drawn.sum(axis=1)
    yield ("accuracy_decided",), n_hits / n_called
    yield ("coverage",), n_called / drawn.sum(axis=1)
    yield ("error_decided",), (n_called - n_hits) / n_called

    occurs = (called + support) > 0
    n_occurring = np.maximum(occurs.sum(axis=1), 1)
    for name, parts, wholes in (
        ("precision", hits, called),
        ("recall", hits, support),
        ("f1", 2 * hits, called + support),
    ):
        values = _ratio_or_zero(parts, wholes)
        yield ("macro", name), (values * occurs).sum(axis=1) / n_occurring
        micro = _ratio_or_zero(parts.sum(axis=1), wholes.sum(axis=1))
        yield ("micro", name), micro
        for place, label in enumerate(classes):
            yield ("per_class", label, name), values[:, place]


class _Posteriors:
    """The figures of posteriors, of draws from some documents."""

    def __init__(self, documents: Judged, wanted: int | None) -> None:
        """
        Prepare what is the same for all draws.

        Args:
            documents: in order.
            wanted: the place of the positive class, None unless there are two classes.
        """
        is_known = documents.truth >= 0
        # one column for each sum over documents: how many, losses, gaps by bin
        self._columns = np.zeros((len(documents), 3 + N_BINS))
        self._columns[:, 0] = is_known
        self._columns[:, 1] = documents.loss
        self._columns[:, 2] = documents.squared
        self._columns[np.arange(len(documents)), 3 + documents.bin] = documents.gap
        self._is_of_two = wanted is not None
        self._is_positive = _ones(documents.truth == wanted)
        self._is_negative = _ones(is_known) - self._is_positive
        # documents of equal odds are of one level; they are in order of it
        levels = np.cumsum(np.diff(documents.odds, prepend=documents.odds[:1]) != 0)
        self._levels = _Groups(levels, int(levels[-1]) + 1)

    def of(self, drawn: Counts) -> Iterator[tuple[Path, Floats]]:
        """
        Yield each figure's path, and its values.

        Args:
            drawn: shape (n_draws, n_documents).

        Yields:
            Values of shape (n_draws,); not finite where a draw has none.
        """
        sums = drawn @ self._columns
        n_known, losses, squares = sums[:, :3].T
        yield ("log_loss",), losses / n_known
        yield ("brier",), squares / n_known
        yield ("calibration_error",), np.abs(sums[:, 3:]).sum(axis=1) / n_known
        if self._is_of_two:
            for name, values in self._of_ranks(drawn):
                yield ("two_class", name), values

    def _of_ranks(self, drawn: Counts) -> Iterator[tuple[str, Floats]]:
        """Yield the figures of how documents of two classes are ranked."""
        # (n_draws, n_levels), by falling odds
        found = self._levels.sums(drawn * self._is_positive)
        passed = self._levels.sums(drawn * self._is_negative)
        above = np.cumsum(passed, axis=1)
        positives, negatives = found.sum(axis=1), above[:, -1]
        inverted = np.einsum("ij,ij->i", found, above)
        inverted -= np.einsum("ij,ij->i", found, passed) / 2
        share = inverted / (positives * negatives)
        yield "roc_auc", 1 - share
        yield "one_minus_auc_percent", 100 * share

        # above never falls, so the first of too many is where it is searched for
        missed = np.empty(len(drawn))
        for place, allowed in enumerate(negatives // NEGATIVES_PER_FALSE_POSITIVE):
            first_too_many = np.searchsorted(above[place], allowed, side="right")
            missed[place] = found[place, first_too_many:].sum()
        yield "miss_rate_at_fpr", np.where(negatives > 0, missed / positives, np.nan)


def _lam_percent(
    false_positives: Counts,
    false_negatives: Counts,
    positives: Counts,
    negatives: Counts,
) -> Floats:
    """Return lam % as `nbtext.evaluation.binary_metrics` does, one a draw."""
    odds = np.sqrt(
        (false_positives + 0.5)
        / (negatives - false_positives + 0.5)
        * (false_negatives + 0.5)
        / (positives - false_negatives + 0.5)
    )
    is_both = (positives > 0) & (negatives > 0)
    return np.where(is_both, 100 * odds / (1 + odds), np.nan)


def _ratio_or_zero(parts: NDArray[Any], wholes: NDArray[Any]) -> Floats:
    return np.where(wholes > 0, parts / np.maximum(wholes, 1), 0.0)


def _of(drawn: Counts, chosen: NDArray[np.bool_]) -> Counts:
    """Return how many of some kinds of documents are drawn, shape (n_draws,)."""
    return drawn @ _ones(chosen)


def _as_floats(counts: NDArray[np.int64]) -> Counts:
    """Return whole numbers as floats, which products of matrices are faster with."""
    return counts.astype(np.float64)


def _ones(chosen: NDArray[np.bool_]) -> Floats:
    return chosen.astype(np.float64)


class _Groups:
    """Columns in groups, whose values are summed for many rows."""

    def __init__(self, groups: Indices, n_groups: int) -> None:
        """
        Sort columns by their groups.

        Args:
            groups: shape (n_columns,), from -1, which is no group, to n_groups - 1.
            n_groups: how many there are.
        """
        is_sorted = bool((groups[1:] >= groups[:-1]).all())
        self._order = None if is_sorted else np.argsort(groups, kind="stable")
        ordered = groups if self._order is None else groups.take(self._order)
        self._first = np.flatnonzero(np.diff(ordered, prepend=-2))
        self._groups = ordered.take(self._first)
        self._n_groups = n_groups

    def sums(self, values: Floats) -> Floats:
        """
        Sum values by group.

        Args:
            values: shape (n_rows, n_columns).

        Returns:
            Shape (n_rows, n_groups).
        """
        if self._order is not None:
            values = values.take(self._order, axis=1)
        is_whole = bool((self._groups >= 0).all())
        if is_whole and len(self._first) == self._n_groups == values.shape[1]:
            return values
        sums = np.zeros((len(values), self._n_groups))
        by_group = np.add.reduceat(values, self._first, axis=1)
        is_one = self._groups >= 0
        sums[:, self._groups[is_one]] = by_group[:, is_one]
        return sums
