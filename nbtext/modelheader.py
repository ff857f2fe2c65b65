"""
The header of a count table in a model file, and which arrays follow it.

Plain values, as msgpack gives them, go in; a checked `Header` comes out. Nothing that a
header says is believed before it is checked.
"""

from typing import Any, Final, Literal, NamedTuple, TypeAlias

from nbtext.settings import Scoring, Settings

MOST_CLASSES: Final = 65_535
Code: TypeAlias = Literal["B", "H", "I", "Q", "b", "h", "i", "q"]

TYPES: Final[dict[str, Code]] = {
    "u1": "B", "u2": "H", "u4": "I", "u8": "Q",
    "i1": "b", "i2": "h", "i4": "i", "i8": "q",
}  # fmt: skip
"""The types of arrays, little-endian, and what `memoryview.cast` calls them."""

KEYS: Final = ("u8",)
CLASSES: Final = ("u1", "u2")
PLACES: Final = ("u4", "u8")
COUNTS: Final = tuple(TYPES)

BLOCK: Final = 64
"""Where a term's entries begin is stored for every so manieth term."""


class Header(NamedTuple):
    """
    What a table says of itself; the names of the fields are those of the file.

    Attributes:
        settings: how its documents were read.
        scoring: how it asks to be scored.
        classes: the names of the classes, sorted.
        documents: for each class, how many documents.
        totals: for each view, for each class, the sum of each column.
        terms: for each view, how many distinct terms.
        calibration: what `nbtext.calibrate` keeps.
        written: when, as ISO 8601 in UTC.
        writer: which program.
    """

    settings: Settings
    scoring: Scoring
    classes: tuple[str, ...]
    documents: tuple[int, ...]
    totals: tuple[tuple[tuple[int, ...], ...], ...]
    terms: tuple[int, ...]
    calibration: dict[str, Any]
    written: str
    writer: str


def array_names(settings: Settings) -> dict[str, tuple[str, ...]]:
    """Return the arrays that a table has, in order, each with the types it may have."""
    names: dict[str, tuple[str, ...]] = {}
    for view in settings.views:
        names |= {
            f"{view.name}.once.keys": KEYS,
            f"{view.name}.once.classes": CLASSES,
        }
        if "weight" in settings.columns:
            names[f"{view.name}.once.weight"] = COUNTS
        names |= {
            f"{view.name}.keys": KEYS,
            f"{view.name}.sizes": CLASSES,
            f"{view.name}.starts": PLACES,
            f"{view.name}.classes": CLASSES,
        }
        names |= {f"{view.name}.{column}": COUNTS for column in settings.columns}
    if settings.ledger:
        names |= {
            "ledger.high": KEYS,
            "ledger.low": KEYS,
            "ledger.fingerprints": KEYS,
            "ledger.classes": CLASSES,
            "ledger.counts": COUNTS,
        }
    return names


def read_header(plain: dict[str, Any]) -> Header:
    """
    Rebuild a header, believing nothing.

    Raises:
        KeyError, TypeError, ValueError, SettingsError: it is not one.

    """
    settings = Settings.from_dict(plain["settings"])
    classes = tuple(plain["classes"])
    is_text = all(isinstance(name, str) for name in classes)
    if not is_text or list(classes) != sorted(set(classes)):
        message = "the classes are not sorted names"
        raise ValueError(message)
    totals = tuple(
        tuple(_integers(columns, len(settings.columns)) for columns in by_class)
        for by_class in plain["totals"]
    )
    if [len(by_class) for by_class in totals] != [len(classes)] * len(settings.views):
        message = "the totals are not one for each view and class"
        raise ValueError(message)
    calibration = plain["calibration"]
    if not isinstance(calibration, dict):
        message = "the calibration is not a map"
        raise TypeError(message)
    return Header(
        settings=settings,
        scoring=Scoring.from_dict(plain["scoring"]),
        classes=classes,
        documents=_integers(plain["documents"], len(classes)),
        totals=totals,
        terms=_integers(plain["terms"], len(settings.views)),
        calibration=calibration,
        written=str(plain["written"]),
        writer=str(plain["writer"]),
    )


def _integers(values: Any, length: int) -> tuple[int, ...]:
    whole: tuple[int, ...] = tuple(values)
    if len(whole) != length or not all(type(value) is int for value in whole):
        message = f"{length} whole numbers were expected"
        raise ValueError(message)
    return whole
