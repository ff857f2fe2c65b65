"""
What a correction says of itself: for which scores it was made, and how.

A correction is a second, signed column of some terms, learnt in training, and on, from
the documents that the counts misjudge. Its numbers are in
`nbtext.counts.correction_table`; only the standard library is used here, for one
message.
"""

from collections.abc import Mapping, Sequence
from math import isfinite
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from nbtext.settings.columns import UNIT
from nbtext.settings.plain import any_map, map_of, unexpected

AMOUNT_UNIT: Final = 256
"""A document's amount of a class is an integer, in units of 1/256."""

VALUE_UNIT: Final = AMOUNT_UNIT * UNIT
"""A term's value in a class is the sum of amounts times weights of documents."""

BIAS: Final = 0.02
"""Weight of a class's bias in the scores of all documents, and so of the amounts that
training makes it of (docs/experiments/029-half-believed.md)."""

IDENTITY_SIZE: Final = 16
"""Number of bytes that tell a correction from others."""

MOST: Final = 1 << 53
"""No number of documents, bias or value is as large."""

MOST_AMOUNT: Final = 1 << 32
"""No amount is as large."""

LEAST_SLOPE: Final = 1e-6
LARGEST_SLOPE: Final = 1e6
MOST_FACTS: Final = 32

NOTHING: Final[Mapping[str, int | float]] = MappingProxyType({})


class CorrectionInfo(NamedTuple):
    """
    What a correction says of itself.

    Attributes:
        scoring: how the scores are computed that it corrects, as `Scoring.of_scores`.
        slope: what they are multiplied by before.
        steepness: what corrected scores are multiplied by to be probable.
        documents: how many rows of the ledger it was learnt from; 0 in a change.
        made_with: further numbers, by name, for people.
        identity: 16 bytes that tell it from others; none before it is written.
        is_whole: whether it is one, and not a change of one.
    """

    scoring: dict[str, Any]
    slope: float
    steepness: float = 1.0
    documents: int = 0
    made_with: Mapping[str, int | float] = NOTHING
    identity: bytes = b""
    is_whole: bool = True

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for msgpack."""
        return self._asdict() | {"made_with": dict(sorted(self.made_with.items()))}

    def of_change(self) -> "CorrectionInfo":
        """Return what a table says that changes this correction."""
        return self._replace(documents=0, is_whole=False)

    @classmethod
    def from_dict(cls, plain: Any) -> "CorrectionInfo":
        """
        Rebuild what `as_dict` gave, believing nothing.

        Raises:
            SettingsError: it is something else.
        """
        info = cls(**map_of(plain, "the correction", cls._fields))
        if type(info.slope) is int:  # as JSON may have it
            info = info._replace(slope=float(info.slope))
        if type(info.steepness) is int:
            info = info._replace(steepness=float(info.steepness))
        facts = any_map(info.made_with, "made_with of the correction")
        slopes = f"a number from {LEAST_SLOPE} to {LARGEST_SLOPE}"
        is_identity = type(info.identity) is bytes
        for name, expected, is_so in (
            ("scoring", "a scoring", _is_scoring(info.scoring)),
            ("slope", slopes, _is_slope(info.slope)),
            ("steepness", slopes, _is_slope(info.steepness)),
            (
                "documents",
                f"a whole number from 0 to {MOST - 1}",
                type(info.documents) is int and 0 <= info.documents < MOST,
            ),
            (
                "made_with",
                f"at most {MOST_FACTS} finite numbers",
                len(facts) <= MOST_FACTS and all(map(_is_number, facts.values())),
            ),
            (
                "identity",
                f"{IDENTITY_SIZE} bytes",
                is_identity and len(info.identity) == IDENTITY_SIZE,
            ),
            ("is_whole", "yes or no", type(info.is_whole) is bool),
        ):
            if not is_so:
                found = getattr(info, name)
                raise unexpected(f"{name} of the correction", expected, found)
        return info


def _is_scoring(scoring: Any) -> bool:
    what = "the scoring of the correction"
    scoring = any_map(scoring, what)
    parameters = any_map(scoring.get("parameters", {}), f"parameters of {what}")
    has_parts = all(
        type(part) in (str, int, float, bool)
        for name, part in scoring.items()
        if name != "parameters"
    )
    return has_parts and all(map(_is_number, parameters.values()))


def _is_slope(value: Any) -> bool:
    return type(value) is float and LEAST_SLOPE <= value <= LARGEST_SLOPE


def _is_number(value: Any) -> bool:
    if type(value) is int:
        return abs(value) < MOST
    return type(value) is float and isfinite(value)


def why_not_added(infos: Sequence[CorrectionInfo], *, are_changes: bool = False) -> str:
    """
    Say why what tables say of corrections does not add up; empty if it does.

    Args:
        infos: one of them is the correction, and the others change it.
        are_changes: whether the correction may be missing.
    """
    whole = sum(info.is_whole for info in infos)
    if whole > 1:
        return "there are two corrections in it, and they do not add up"
    if infos and not whole and not are_changes:
        return "the correction is missing that a table of it changes"
    cores = [info._replace(documents=0, is_whole=True) for info in infos]
    if any(core != cores[0] for core in cores):
        return "a table of it changes another correction than there is"
    return ""


def total_info(infos: Sequence[CorrectionInfo]) -> CorrectionInfo:
    """Return what the sum of some tables says of its correction."""
    return infos[0]._replace(
        documents=sum(info.documents for info in infos),
        is_whole=any(info.is_whole for info in infos),
    )
