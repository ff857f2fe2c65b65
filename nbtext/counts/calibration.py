"""
What held-out documents scored: the half of calibration that adds up.

For two classes the score F (in nats) of held-out documents is counted in a histogram by
bin and class; for more, what is kept is the sum of their log-losses on a fixed grid of
temperatures. Both add up from table to table, as counts do; `nbtext.counts.fitting`
makes probabilities of them.
"""

from collections import Counter as Tally
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from itertools import chain, pairwise
from math import floor
from operator import neg
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from nbtext.errors import SettingsError
from nbtext.settings.plain import any_map, list_of, map_of, unexpected
from nbtext.settings.scoring import Scoring

BINS_A_NAT: Final = 16
"""How finely scores are counted."""

FARTHEST_BIN: Final = 4096
"""Scores beyond 256 nats fall into the last bins."""

ROUNDED: Final = 9
"""Decimals of a score, in bins, that decide its bin."""

MOST_LOSS: Final = 1e6
"""The loss of what a model says is impossible, in nats."""

OCTAVE: Final = 4
"""So many steps of TEMPERATURES double them."""

TEMPERATURES: Final[tuple[float, ...]] = tuple(
    2.0 ** (step / OCTAVE) for step in range(-24, 41)
)
"""The grid of s: from 1/64 to 1024, four values an octave."""

NONE: Final[Mapping[Any, int]] = MappingProxyType({})
MOST: Final = 1 << 40
"""More documents, or nats of loss for each, than these no calibration rests on."""

LOSS_UNIT: Final = 1 << 20
"""Losses are kept as integers, in units of 2^-20 nats, so that they add exactly."""


KEYS: Final = ("scoring", "prior", "counts", "losses", "documents")
KEYS_OF_SOME: Final = ("fit",)
"""The keys of a calibration, and those of some; others are refused, as they may change
what it means."""

PARAMETERS: Final = "parameters"
"""What a scoring calls the event model's own numbers, which are a map."""

CORRECTED: Final = "corrected"
"""What a scoring has besides whose scores are those with the model's correction."""

WEAKEST: Final = 1e-6
STRONGEST: Final = 1e6
"""The range of the numbers of a prior."""


class Prior(NamedTuple):
    """
    What is expected of a fit before any document was scored.

    Two classes: slope ~ N(`slope`, 1 / `precision`), offset ~ N(0, 1 / `offset` + r^2),
    r the logarithm of the ratio of the numbers of held-out documents, each plus one.
    More: ln s ~ N(ln `slope`, 1 / `precision`).

    Attributes:
        slope: the slope, or the temperature's s, that is most likely.
        precision: of the slope, or of ln s.
        offset: the precision of the offset where the classes are of equal size.
    """

    slope: float = 1.0
    precision: float = 1.0
    offset: float = 1.0


class Calibration(NamedTuple):
    """
    What held-out documents scored, by one scoring.

    Attributes:
        scoring: how they were scored, as `Scoring.of_scores`, and CORRECTED if with the
            correction; other scores than these are not what the calibration speaks of.
        prior: what is expected of the fit.
        counts: for two classes, (bin, name of the class) to how many documents; below
            zero where a table takes back what an earlier one says.
        losses: for more, the sum of the log-loss at each of the TEMPERATURES; below
            zero likewise.
        documents: for each class by name, how many documents.
    """

    scoring: dict[str, Any]
    prior: Prior = Prior()
    counts: Mapping[tuple[int, str], int] = NONE
    losses: tuple[int, ...] = ()
    documents: Mapping[str, int] = NONE

    @property
    def of_what(self) -> Hashable:
        """The scoring, as a key of a dict: two are equal where the scorings are."""
        parameters = self.scoring.get(PARAMETERS)
        return (
            frozenset((self.scoring | {PARAMETERS: None}).items()),
            None if parameters is None else frozenset(parameters.items()),
        )

    @property
    def is_corrected(self) -> bool:
        """Whether it is of scores with the model's correction; such a one is last."""
        return CORRECTED in self.scoring

    def of_classes(self, classes: Collection[str]) -> "Calibration":
        """Return what scores of some classes say; losses are of all together."""
        if self.losses:
            return self
        counts = {place: n for place, n in self.counts.items() if place[1] in classes}
        documents = {name: n for name, n in self.documents.items() if name in classes}
        return self._replace(counts=counts, documents=documents)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, sorted, for msgpack and JSON."""
        return {
            "scoring": self.scoring,
            "prior": [*self.prior],
            "counts": [[*place, n] for place, n in sorted(self.counts.items())],
            "losses": list(self.losses),
            "documents": dict(sorted(self.documents.items())),
        }

    @classmethod
    def from_dict(cls, plain: Any) -> "Calibration":
        """
        Rebuild a calibration from what `as_dict` gave, believing nothing.

        Raises:
            ValueError: it is not one.
        """
        what = "the calibration"
        try:
            found = map_of(plain, what, KEYS, KEYS_OF_SOME)
            rows = [
                ((_whole(bin_, -FARTHEST_BIN, FARTHEST_BIN), _name(name)), n)
                for bin_, name, n in (
                    list_of(row, f"a row of counts of {what}", 3)
                    for row in list_of(found["counts"], f"counts of {what}")
                )
            ]
            counts = {place: _whole(n, -MOST, MOST) for place, n in rows}
            losses = tuple(
                _whole(loss, -MOST * LOSS_UNIT, MOST * LOSS_UNIT)
                for loss in list_of(found["losses"], f"losses of {what}")
            )
            by_class = any_map(found["documents"], f"documents of {what}")
            documents = {name: _whole(n, -MOST, MOST) for name, n in by_class.items()}
            n_numbers = len(Prior._fields)
            prior = Prior._make(
                map(_strength, list_of(found["prior"], f"prior of {what}", n_numbers))
            )
            scoring = {**any_map(found["scoring"], f"scoring of {what}")}
            parameters = any_map(scoring.get(PARAMETERS, {}), f"parameters of {what}")
        except SettingsError as error:
            raise ValueError(str(error)) from error
        parts = {**scoring, PARAMETERS: 0}.values()
        if not all(isinstance(part, str | int | float) for part in parts) or not all(
            isinstance(value, int | float) for value in parameters.values()
        ):
            message = "the calibration does not say how documents were scored"
            raise ValueError(message)
        if any(low >= high for (low, _), (high, _) in pairwise(rows)):
            message = "the counts of the calibration do not ascend"
            raise ValueError(message)
        if len(losses) not in (0, len(TEMPERATURES)):
            message = f"the calibration has {len(losses)} losses"
            raise ValueError(message)
        return cls(scoring, prior, counts, losses, documents)


def bin_of(score: float) -> int:
    """
    Return the bin that a score falls into.

    The score is rounded first, to 2e-10 nats, so that sums of the same numbers in
    another order fall into the same bin.
    """
    bin_ = floor(round(score * BINS_A_NAT, ROUNDED))
    return max(-FARTHEST_BIN, min(FARTHEST_BIN, bin_))


def calibration_for(
    scoring: Scoring, calibrations: Iterable[Calibration]
) -> Calibration | None:
    """Return the calibration of a scoring, None if there is none."""
    wanted = scoring.of_scores()
    return next((one for one in calibrations if one.scoring == wanted), None)


def totals(tables: Iterable[Sequence[Calibration]]) -> tuple[Calibration, ...]:
    """
    Add up what tables keep for calibration, for each scoring apart.

    Args:
        tables: for each table its calibrations, of distinct scorings.

    Returns:
        The sums of the scorings that are `added_up`; the others are left out.
    """
    kept = [*tables]
    by_scoring: dict[Hashable, list[Calibration]] = {}
    for one in chain.from_iterable(kept):
        by_scoring.setdefault(one.of_what, []).append(one)
    scorings = added_up([[one.scoring for one in table] for table in kept])
    wanted = [Calibration(scoring).of_what for scoring in scorings]
    # made once each: a damaged table may have many of one scoring
    sums = {of_what: total(by_scoring[of_what]) for of_what in {*wanted}}
    return tuple(map(sums.__getitem__, wanted))


def added_up(tables: Sequence[Sequence[Any]]) -> list[Any]:
    """
    Return the scorings that the calibrations of tables are added up for.

    They are those of the last table that has any, in its order. If it has none of
    corrected scores, as there were more than two classes, those from before are last.

    Args:
        tables: for each table the scorings that it has calibrations of.
    """
    last = [*next(filter(None, reversed(tables)), ())]
    ends = chain.from_iterable(table[-1:] for table in reversed(tables))
    are_corrected = (one for one in ends if type(one) is dict and CORRECTED in one)
    one = next(are_corrected, {})
    uncorrected = {name: one[name] for name in one if name != CORRECTED}
    return [*last, one] if one not in last and uncorrected in last else last


def total(calibrations: Iterable[Calibration]) -> Calibration:
    """
    Add up calibrations, one or more, of the same scoring; the last prior stands.

    What is beyond MOST stays there, so that the sum is a calibration that can be read.
    """
    kept = [*calibrations]
    counts: Tally[tuple[int, str]] = Tally()
    documents: Tally[str] = Tally()
    for one in kept:
        counts.update(one.counts)
        documents.update(one.documents)
    losses = zip(*(one.losses for one in kept if one.losses), strict=True)
    return kept[-1]._replace(
        counts={place: _held(n, MOST) for place, n in counts.items()},
        losses=tuple(_held(sum(parts), MOST * LOSS_UNIT) for parts in losses),
        documents={name: _held(n, MOST) for name, n in documents.items()},
    )


def not_below_zero(
    more: Iterable[Calibration], known: Iterable[Calibration]
) -> tuple[Calibration, ...]:
    """
    Return what is added to calibrations, taking away no more losses than there are.

    Args:
        more: what is added, of distinct scorings.
        known: what it is added to, likewise.
    """
    losses_of = {one.of_what: one.losses for one in known}
    return tuple(
        one._replace(losses=tuple(map(max, one.losses, map(neg, before))))
        if (before := losses_of.get(one.of_what, ()))
        else one
        for one in more
    )


def _held(value: int, most: int) -> int:
    return max(-most, min(most, value))


def _whole(value: Any, low: int, high: int) -> int:
    if type(value) is not int or not low <= value <= high:
        expected = f"a whole number from {low} to {high}"
        raise unexpected("a number of the calibration", expected, value)
    return value


def _name(value: Any) -> str:
    if type(value) is not str:
        raise unexpected("a class of the calibration", "a name", value)
    return value


def _strength(value: Any) -> float:
    # JSON has one kind of numbers: what writes 100 for 100.0 means the same
    if type(value) not in (float, int) or not WEAKEST <= value <= STRONGEST:
        expected = f"a number from {WEAKEST} to {STRONGEST}"
        raise unexpected("the prior of the calibration", expected, value)
    return float(value)
