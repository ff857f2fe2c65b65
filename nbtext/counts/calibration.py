"""
What held-out documents scored: the half of calibration that adds up.

For two classes the score F (in nats) of held-out documents is counted in a histogram by
bin and class; for more, what is kept is the sum of their log-losses on a fixed grid of
temperatures. Both add up from table to table, as counts do; `nbtext.counts.fitting`
makes probabilities of them.
"""

from collections import Counter as Tally
from collections.abc import Iterable, Mapping
from math import floor
from types import MappingProxyType
from typing import Any, Final, NamedTuple

BINS_A_NAT: Final = 16
"""How finely scores are counted."""

FARTHEST_BIN: Final = 4096
"""Scores beyond 256 nats fall into the last bins."""

TEMPERATURES: Final[tuple[float, ...]] = tuple(
    2.0 ** (step / 4) for step in range(-24, 41)
)
"""The grid of s: from 1/64 to 1024, four values an octave."""

UNFIT: Final = (KeyError, TypeError, ValueError, AttributeError, RecursionError)
"""What is raised when something turns out to be no calibration."""

NONE: Final[Mapping[Any, int]] = MappingProxyType({})
MOST: Final = 1 << 40
"""More documents, or nats of loss for each, than these no calibration rests on."""

LOSS_UNIT: Final = 1 << 20
"""Losses are kept as integers, in units of 2^-20 nats, so that they add exactly."""


KEYS: Final = frozenset(("scoring", "counts", "losses", "documents", "fit"))
"""The keys of a calibration; others are refused, as they may change what it means."""


class Calibration(NamedTuple):
    """
    What held-out documents scored.

    Attributes:
        scoring: how they were scored, as `Scoring.as_dict`; other scores than these
            are not what the calibration speaks of. None if nothing was scored.
        counts: for two classes, (bin, name of the class) to how many documents; below
            zero where a table takes back what an earlier one says.
        losses: for more, the sum of the log-loss at each of the TEMPERATURES.
        documents: for each class by name, how many documents.
    """

    scoring: dict[str, Any] | None = None
    counts: Mapping[tuple[int, str], int] = NONE
    losses: tuple[int, ...] = ()
    documents: Mapping[str, int] = NONE

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, sorted, for msgpack and JSON."""
        return {
            "scoring": self.scoring,
            "counts": [[*place, n] for place, n in sorted(self.counts.items())],
            "losses": list(self.losses),
            "documents": dict(sorted(self.documents.items())),
        }

    @classmethod
    def from_dict(cls, plain: dict[str, Any]) -> "Calibration":
        """
        Rebuild a calibration from what `as_dict` gave, believing nothing.

        Raises:
            ValueError: it is not one.

        """
        try:
            unknown = sorted(map(str, plain.keys() - KEYS))
            counts = {
                (_whole(bin_, -FARTHEST_BIN, FARTHEST_BIN), str(name)): _whole(
                    n, -MOST, MOST
                )
                for bin_, name, n in plain["counts"]
            }
            losses = tuple(
                _whole(loss, 0, MOST * LOSS_UNIT) for loss in plain["losses"]
            )
            documents = {
                str(name): _whole(n, -MOST, MOST)
                for name, n in plain["documents"].items()
            }
            scoring = None if plain["scoring"] is None else {**plain["scoring"]}
        except UNFIT as error:
            message = f"the calibration is not complete: {error}"
            raise ValueError(message) from error
        if unknown:
            message = f"this nbtext does not know {unknown[0]!r} in a calibration"
            raise ValueError(message)
        parts = () if scoring is None else scoring.values()
        if not all(isinstance(part, str | int | float) for part in parts):
            message = "the calibration does not say how documents were scored"
            raise ValueError(message)
        if len(losses) not in (0, len(TEMPERATURES)):
            message = f"the calibration has {len(losses)} losses"
            raise ValueError(message)
        return cls(scoring, counts, losses, documents)


def bin_of(score: float) -> int:
    """Return the bin that a score falls into."""
    return max(-FARTHEST_BIN, min(FARTHEST_BIN, floor(score * BINS_A_NAT)))


def total(calibrations: Iterable[Calibration]) -> Calibration:
    """Add calibrations up; those that speak of other scores than the last are left."""
    kept = [one for one in calibrations if one.scoring is not None]
    kept = [one for one in kept if one.scoring == kept[-1].scoring]
    if not kept:
        return Calibration()
    counts: Tally[tuple[int, str]] = Tally()
    documents: Tally[str] = Tally()
    for one in kept:
        counts.update(one.counts)
        documents.update(one.documents)
    losses = zip(*(one.losses for one in kept if one.losses), strict=True)
    return Calibration(
        kept[-1].scoring, dict(counts), tuple(map(sum, losses)), dict(documents)
    )


def _whole(value: Any, low: int, high: int) -> int:
    if type(value) is not int or not low <= value <= high:
        message = f"{value!r} is not a whole number from {low} to {high}"
        raise ValueError(message)
    return value
