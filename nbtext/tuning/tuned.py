"""What was tried, and what is chosen of it: the simplest of the best."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nbtext.evaluation.metrics import Floats, Indices
    from nbtext.learning import SettingsOverrides

import numpy as np

from nbtext.evaluation.binary_metrics import positive_class
from nbtext.learning.overrides import DEFAULTS
from nbtext.policy import MOST_EXPENSIVE, Cost, FalsePositives, Policy
from nbtext.tuning.measures import MEASURES, standard_error

RATE: Final = 0.001
"""The share of other documents that may be taken for a class, unless one is given."""

WITHIN: Final = 1.959964
"""Standard errors to either side of a figure, of which 95 % are that near."""


class SafeThreshold(NamedTuple):
    """
    From which probability of a class on few enough others are taken for it.

    Attributes:
        positive: the class.
        probability: from 0 to 1.
        caught: the share of its held-out documents that reach it.
        lost: the share of the others that do, `rate` at the most.
        rate: how many of them may.
        other: the other class.
        is_followed: whether the model keeps what held-out documents score, so that it
            can keep to the rate itself, whatever it learns later.
    """

    positive: str
    probability: float
    caught: float
    lost: float
    rate: float
    other: str
    is_followed: bool

    @property
    def policy(self) -> Policy:
        """Return the policy by which a model keeps to it."""
        if self.is_followed:
            return Policy(max_false_positives=FalsePositives(self.positive, self.rate))
        return Policy(costs=(Cost(self.other, self.positive, self.cost),))

    @property
    def options(self) -> list[str]:
        """Return the options of `nbtext policy` that ask for it."""
        if self.is_followed:
            share = f"{100 * self.rate:.10g}%"
            return ["--max-false-positives", f"{self.positive}={share}"]
        return ["--cost", f"{self.other}:{self.positive}={self.cost!r}"]

    @property
    def cost(self) -> float:
        """
        Return what a false positive costs where the threshold is best.

        One of the other class, missed, costs 1 (Elkan 2001, equation 2).
        """
        left = 1 - self.probability
        if left <= 0:
            return MOST_EXPENSIVE
        return min(self.probability / left, MOST_EXPENSIVE)


OF_SOURCES: Final = ("fields", "guessed", "secret")
"""Overrides that follow from the options by which sources are read."""


@dataclass(frozen=True, slots=True)
class Row:
    """
    A setting that was tried.

    Attributes:
        overrides: what differs from what `train` does by itself.
        how: how it was held out: "leave-one-out" or "5 folds".
        value: the measure; less is better.
        low, high: its interval of 95 %.
        behind: how much more than the best, in standard errors of the difference;
            infinite if it is as much more for every document.
        is_best: whether it has the least value; in `Tuned` of those by folds.
        is_chosen: whether it is the simplest of those within one standard error of it,
            likewise.
    """

    overrides: SettingsOverrides
    how: str
    value: float
    low: float
    high: float
    behind: float
    is_best: bool
    is_chosen: bool

    @property
    def options(self) -> list[str]:
        """Return the options of `train` that ask for it."""
        return options_of(self.overrides)


@dataclass(frozen=True, slots=True)
class Tuned:
    """
    What was tried.

    Attributes:
        measure: its name.
        documents: how many were scored.
        rows: what was tried, the best first.
        overrides: of the row that is chosen.
        threshold: from which probability of the positive class on few enough others
            are taken for it; None unless there are two classes.
    """

    measure: str
    documents: int
    rows: tuple[Row, ...]
    overrides: SettingsOverrides
    threshold: SafeThreshold | None = None

    def __repr__(self) -> str:
        """Say how much was tried, and what is chosen."""
        chosen = " ".join(self.options) or "the defaults"
        return f"<Tuned: {len(self.rows)} on {self.documents:,} documents; {chosen}>"

    @property
    def options(self) -> list[str]:
        """Return the options of `train` that ask for what is chosen."""
        return options_of(self.overrides)

    def as_dict(self) -> dict[str, Any]:
        """Return what `json.dumps` takes; null stands for infinity."""
        return {
            "measure": self.measure,
            "documents": self.documents,
            "options": self.options,
            "threshold": self.threshold and self.threshold._asdict(),
            "rows": [
                {
                    "options": row.options,
                    "how": row.how,
                    "value": row.value,
                    "interval": [row.low, row.high],
                    "behind": row.behind if isfinite(row.behind) else None,
                    "is_best": row.is_best,
                    "is_chosen": row.is_chosen,
                }
                for row in self.rows
            ],
        }


@dataclass(frozen=True, slots=True, eq=False)
class Tried:
    """
    A setting, and what it made of each document.

    Attributes:
        overrides: what differs from what `train` does by itself.
        how: how documents were held out.
        log_posterior: shape (n_documents, n_classes), in nats; it ranks documents.
        printed: the same as it is told; None where documents were not held out by
            folds.
    """

    overrides: SettingsOverrides
    how: str
    log_posterior: Floats = field(repr=False)
    printed: Floats | None = field(default=None, repr=False)

    def is_same_model(self, other: Tried) -> bool:
        """Return whether another setting made just the same of all documents."""
        return np.array_equal(self.log_posterior, other.log_posterior)


def options_of(overrides: SettingsOverrides) -> list[str]:
    """Return the options of `train` that ask for what differs from the defaults."""
    options = []
    names = {"counting": "count"}
    for name in overrides._fields:
        value = getattr(overrides, name)
        if name in OF_SOURCES or value == getattr(DEFAULTS, name):
            continue
        option = f"--{names.get(name, name).replace('_', '-')}"
        if name == "views":
            options += [option, ",".join(value)]
        elif name == "parameters":
            for key, number in value:
                options += ["--parameter", f"{key}={number:g}"]
        elif value is True:
            options.append(option)
        elif value is False:
            options.append(option.replace("--", "--no-", 1))
        else:
            options += [
                option,
                f"{value:g}" if isinstance(value, float) else str(value),
            ]
    return options


def safe_threshold(
    truth: Indices,
    log_posterior: Floats,
    classes: Sequence[str],
    limit: FalsePositives | None = None,
    *,
    is_followed: bool = True,
) -> SafeThreshold | None:
    """
    Return the lowest threshold that few enough held-out documents of one class reach.

    It is one half at the least: below, a document would be taken for the class that is
    less probable.

    Args:
        truth: shape (n_documents,), the places of the true classes.
        log_posterior: shape (n_documents, n_classes), in nats, of what the policy looks
            at: before the cap if `is_followed`, else as it is told.
        classes: the names; None is returned unless they are two.
        limit: the class, and how many of the other may be taken for it; if None, RATE
            for `spam`, or else for the rarer class.
        is_followed: as in `SafeThreshold`.

    Raises:
        SettingsError: the class is not one of two.
    """
    support = np.bincount(truth, minlength=len(classes)).tolist()
    positive = positive_class(tuple(classes), limit and limit.label, support)
    if positive is None:
        return None
    rate = RATE if limit is None else limit.rate
    place = classes.index(positive)
    own = np.exp(log_posterior[truth == place, place])
    others = np.sort(np.exp(log_posterior[truth != place, place]))
    allowed = int(rate * len(others) + 1e-9)  # 0.3 of 10 are 3
    probability = max(float(np.nextafter(others[-1 - allowed], 2.0)), 0.5)
    return SafeThreshold(
        positive=positive,
        probability=probability,
        caught=float((own >= probability).mean()),
        lost=float((others >= probability).mean()),
        rate=rate,
        other=classes[1 - place],
        is_followed=is_followed,
    )


def choose(measure: str, tried: Sequence[Tried], truth: Indices) -> tuple[Row, ...]:
    """
    Compare settings, and choose the simplest of those that are as good as the best.

    As good is what is within one standard error of the difference to it (Breiman,
    Friedman, Olshen and Stone 1984, section 3.4.3, whose error is the best one's own).
    The simplest has the fewest options, then is the one tried first.

    Returns:
        A row for each, the best first.
    """
    parts = [MEASURES[measure](truth, one.log_posterior) for one in tried]
    values = [float(part.mean()) for part in parts]
    best = min(range(len(tried)), key=values.__getitem__)
    behind = []
    for part, value in zip(parts, values, strict=True):
        error = standard_error(measure, part - parts[best], truth)
        gap = value - values[best]
        behind.append(gap / error if error else (0.0 if gap <= 0 else float("inf")))
    simplest = min(
        (place for place in range(len(tried)) if behind[place] <= 1),
        key=lambda place: (len(options_of(tried[place].overrides)), place),
    )
    rows = []
    for place, one in enumerate(tried):
        error = WITHIN * standard_error(measure, parts[place], truth)
        rows.append(
            Row(
                overrides=one.overrides,
                how=one.how,
                value=values[place],
                low=max(values[place] - error, 0.0),
                high=values[place] + error,
                behind=behind[place],
                is_best=place == best,
                is_chosen=place == simplest,
            )
        )
    order = sorted(range(len(rows)), key=lambda place: (values[place], place))
    return tuple(rows[place] for place in order)
