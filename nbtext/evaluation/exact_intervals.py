"""
Intervals of proportions of 0 or 1, of which the bootstrap has nothing to tell.

Where all documents are right, all that can be drawn of them are right, and the
percentile bootstrap gives 1 to 1, whether they are twelve or a million. There the
interval is the exact one of Clopper and Pearson (1934): with n of n documents right it
ends at the share p of which n in a row are right with a probability of 2.5 %,

    low = 0.025^(1/n),   high = 1,

and with none of n it is 0 to 1 - low. docs/measures.md says which documents are the n
of each figure. What goes in are the intervals of the bootstrap; out come the same,
those of no width replaced.
"""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING, Final

from nbtext.evaluation.bootstrap import SHARE, Interval, Judged, Path
from nbtext.scoring.costs import ERROR

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from nbtext.scoring.costs import Costs

BEYOND: Final = (1 - SHARE) / 2
"""The probability that is left beyond each end of an interval."""


def exact_interval(value: float, n: int) -> Interval:
    """
    Return the interval of a proportion of 0 or 1, by Clopper and Pearson.

    Args:
        value: the proportion; any other than 0 and 1 is its own interval.
        n: how many documents it is of; of none it says nothing.
    """
    if n and value == 1:
        return Interval(BEYOND ** (1 / n), 1.0)
    if n and value == 0:
        return Interval(0.0, 1 - BEYOND ** (1 / n))
    return Interval(value, value)


def exact_difference(value: float, n: int) -> Interval:
    """
    Return the interval of a difference of two accuracies that is -1, 0 or 1.

    Args:
        value: the difference; where it is 0, both are right about the same documents.
        n: how many documents it is of.
    """
    share = 1 - BEYOND ** (1 / n)  # so many may be otherwise
    if value == 0:
        return Interval(-share, share)
    ends = sorted((value, value * (1 - 2 * share)))
    return Interval(*ends)


def widened(
    found: Mapping[Path, Interval],
    documents: Judged,
    classes: Sequence[str],
    wanted: int | None,
    costs: Costs | None = None,
) -> dict[Path, Interval]:
    """Replace intervals that have no width."""
    whole = dict(found)
    if not len(documents):
        return whole
    for path, n in _sizes(documents, classes, wanted):
        if path in whole and not _width(whole[path]):
            whole[path] = _of_figure(path, whole[path].low, n)
    for name in ("precision", "recall", "f1"):
        path = "macro", name
        if path in whole and not _width(whole[path]):
            occurring = _occurring(documents, classes)
            whole[path] = _mean([whole["per_class", one, name] for one in occurring])
    path = ("mean_cost",)
    if costs is not None and path in whole and not _width(whole[path]):
        whole[path] = _of_cost(whole[path].low, documents, costs)
    return whole


def _width(interval: Interval) -> float:
    return interval.high - interval.low


def _of_figure(path: Path, value: float, n: int) -> Interval:
    """Return the interval of a figure that is 0 or 1, or a percentage of it."""
    if path[-1] == "one_minus_auc_percent":
        low, high = exact_interval(value / 100, n)
        return Interval(100 * low, 100 * high)
    interval = exact_interval(value, n)
    if path[-1] == "f1":
        # of the documents that are of the class or called it, J are both
        return Interval(*(2 * share / (1 + share) for share in interval))
    return interval


def _sizes(
    documents: Judged, classes: Sequence[str], wanted: int | None
) -> Iterator[tuple[Path, int]]:
    """Yield the figures that are proportions, and of how many documents each is."""
    truth, decided = documents.truth, documents.decided
    n, n_decided = len(documents), int((decided >= 0).sum())
    yield ("accuracy",), n
    yield ("coverage",), n
    yield ("accuracy_decided",), n_decided
    yield ("error_decided",), n_decided
    n_known = int((truth >= 0).sum())
    n_hits = int(((truth == decided) & (truth >= 0)).sum())
    yield ("micro", "precision"), n_decided
    yield ("micro", "recall"), n_known
    yield ("micro", "f1"), n_decided + n_known - n_hits
    for place, label in enumerate(classes):
        is_class, is_called = truth == place, decided == place
        yield ("per_class", label, "precision"), int(is_called.sum())
        yield ("per_class", label, "recall"), int(is_class.sum())
        yield ("per_class", label, "f1"), int((is_called | is_class).sum())
    if wanted is None:
        return
    positives = int((truth == wanted).sum())
    negatives = int((truth == 1 - wanted).sum())
    yield ("two_class", "false_positive_rate"), negatives
    yield ("two_class", "false_negative_rate"), positives
    yield ("two_class", "miss_rate_at_fpr"), positives
    # so many pairs of a positive and a negative have no document in common
    yield ("two_class", "roc_auc"), min(positives, negatives)
    yield ("two_class", "one_minus_auc_percent"), min(positives, negatives)


def _occurring(documents: Judged, classes: Sequence[str]) -> list[str]:
    """Return the classes that documents are of, or were called."""
    places = {*documents.truth.tolist(), *documents.decided.tolist()}
    return [label for place, label in enumerate(classes) if place in places]


def _mean(intervals: Sequence[Interval]) -> Interval:
    """Return the interval from the mean of the low ends to that of the high ends."""
    lows, highs = zip(*intervals, strict=True) if intervals else ((0.0,), (0.0,))
    return Interval(fmean(lows), fmean(highs))


def _of_cost(cost: float, documents: Judged, costs: Costs) -> Interval:
    """Return the interval of a cost that all documents have alike."""
    changed = {(truth, decision) for truth, decision, _ in costs.changes}
    prices = [0.0, ERROR, *costs.unsure]
    prices += [costs.price(truth, decision) for truth, decision in changed]
    _, share = exact_interval(0.0, int((documents.truth >= 0).sum()))
    low, high = min(prices), max(prices)
    return Interval(cost - share * (cost - low), cost + share * max(high - cost, 0.0))
