"""
The first line of a model's text form: everything but its terms, ledger and records.

Plain values, as JSON gives them, go in; a checked `Header` comes out, and the other way
round. docs/text-form.md is the specification.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

from nbtext.classes import MOST_CLASSES
from nbtext.counts import Calibration
from nbtext.counts.calibration import CORRECTED
from nbtext.counts.correction import IDENTITY_SIZE, CorrectionInfo
from nbtext.counts.correction import MOST as LARGEST
from nbtext.errors import SettingsError, UnknownKeyError
from nbtext.exact import MOST_MANTISSA, are_sums, packed, unpacked
from nbtext.policy import Policy
from nbtext.settings.reading import Settings, check_code_points
from nbtext.settings.scoring import Scoring
from nbtext.settings.views import View
from nbtext.store import Header, History
from nbtext.store.header import MOST
from nbtext.textform.lines import FORMAT, VERSION, TextLines, keys_of, shown

Rebuilt = TypeVar("Rebuilt")

HEADER: Final = keys_of(
    "format", "version", "settings", "scoring", "classes", "calibrations", "history",
    "correction", "policy", "texts",
)  # fmt: skip
CLASS: Final = keys_of("documents", "totals")
HISTORY: Final = keys_of("trained", "taught", "learnt", "keep")
CORRECTION: Final = keys_of(
    "scoring", "slope", "steepness", "documents", "made_with", "identity", "biases"
)

DEEPEST: Final = 8
"""Maximum depth of nested objects and lists; at some hundreds, comparing or printing
values would fail."""

MOST_VIEWS: Final = 64
"""Maximum number of views of text."""

MOST_COLUMNS: Final = 4096
"""Maximum number of views, with those of values and of numbers."""

DIGITS: Final = re.compile(f"-?[1-9a-f][0-9a-f]{{0,{2 * MOST_MANTISSA}}}")
"""An integer in hexadecimal digits."""

MOST_TEXT: Final = 1 << 20
"""Maximum bytes of a string in the header of a model file."""


def first_line(header: Header) -> dict[str, Any]:
    """Return a header as the object of the first line: plain values, for JSON."""
    settings, history = header.settings, header.history.as_dict()
    totals_by_class = zip(*header.totals, strict=True)
    classes = {
        name: {
            "documents": documents,
            "totals": {
                view.name: plain_totals(view, columns)
                for view, columns in zip(settings.views, totals, strict=True)
            },
        }
        for name, documents, totals in zip(
            header.classes, header.documents, totals_by_class, strict=True
        )
    }
    return {
        "format": FORMAT,
        "version": VERSION,
        "settings": settings.as_dict(),
        "scoring": header.scoring.as_dict(),
        "classes": classes,
        "calibrations": [
            Calibration.from_dict(plain).as_dict() for plain in header.calibrations
        ],
        "history": {name: history[name] for name in HISTORY},
        "correction": _plain_correction(header),
        "policy": None if header.policy is None else header.policy.as_dict(),
        "texts": header.texts is not None,
    }


def plain_totals(view: View, columns: Sequence[int]) -> list[Any]:
    """
    Return the totals of a view in a class as plain values, for JSON.

    A sum of numbers that is no integer of 64 bits is [exponent, digits]: two to the
    exponent, times an odd integer in hexadecimal digits, perhaps with a minus sign.
    """
    if view.kind != "number":
        return list(columns)
    return [
        value
        if isinstance(value, int)
        else [value[0], f"{int.from_bytes(value[1], 'big', signed=True):x}"]
        for value in packed(columns)
    ]


def _plain_correction(header: Header) -> dict[str, Any] | None:
    info = header.correction
    if info is None:
        return None
    return {
        "scoring": info.scoring,
        "slope": info.slope,
        "steepness": info.steepness,
        "documents": info.documents,
        "made_with": dict(sorted(info.made_with.items())),
        "identity": info.identity.hex(),
        "biases": dict(zip(header.classes, header.biases, strict=True)),
    }


def read_text_header(lines: TextLines) -> Header:
    """
    Read the first line of a text form.

    It does not say how many terms follow, and when and by whom a model was written.

    Raises:
        TextFormError: it is none.
        ModelVersionError: it has the tokens of another nbtext.
    """
    plain = lines.take("the first line of a model as text")
    if plain.get("format") != FORMAT:
        raise lines.error(f'"format": "{FORMAT}"', shown(plain.get("format")))
    version = plain.get("version")
    if type(version) is not int or version != VERSION:
        expected = f'"version": {VERSION}, which is what this nbtext reads'
        raise lines.error(expected, shown(version))
    lines.check_keys(plain, HEADER, "the first line", may_be_other=True)
    _check_sizes(lines, plain)
    settings = _settings(lines, plain["settings"])
    classes = plain["classes"]
    if type(classes) is not dict:
        raise lines.error("an object as classes", shown(classes))
    names = tuple(sorted(classes))
    for name in names:
        lines.check_keys(classes[name], CLASS, f"the class {shown(name)}")
    correction, biases = _correction(lines, plain["correction"], names)
    header = Header(
        settings=settings,
        scoring=_scoring(lines, plain["scoring"]),
        classes=names,
        documents=tuple(
            lines.whole(classes[name]["documents"], 0, MOST - 1, "documents")
            for name in names
        ),
        totals=_totals(lines, settings, [classes[name]["totals"] for name in names]),
        terms=(),
        calibrations=_calibrations(lines, plain["calibrations"]),
        written="",
        writer="",
        history=_history(lines, plain["history"], len(settings.views)),
        correction=correction,
        biases=biases,
        policy=_policy(lines, plain["policy"]),
        texts=_texts(lines, plain["texts"], settings),
    )
    _check_classes(lines, header)
    return header


def _check_sizes(lines: TextLines, plain: dict[str, Any]) -> None:
    """Refuse what the header of a model file cannot hold, wherever it stands."""
    rest: list[tuple[Any, int]] = [(plain, 1)]
    while rest:
        value, depth = rest.pop()
        if isinstance(value, dict | list):
            if len(value) > MOST_CLASSES:
                expected = f"at most {MOST_CLASSES:,} members of an object or list"
                raise lines.error(expected, f"{len(value):,}")
            if depth > DEEPEST:
                raise lines.error(f"at most {DEEPEST} levels", "a deeper one")
            rest += [(part, depth + 1) for part in value]
            if isinstance(value, dict):
                rest += [(part, depth + 1) for part in value.values()]
        elif isinstance(value, str):
            _check_text(lines, value)
        elif isinstance(value, int) and not -MOST <= value < MOST:
            raise lines.error("numbers of 64 bits", shown(value))


def _check_text(lines: TextLines, text: str) -> None:
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:  # half of a surrogate pair
        raise lines.error("names of Unicode characters", shown(text)) from error
    if size > MOST_TEXT:
        raise lines.error(f"a text of at most {MOST_TEXT:,} bytes", f"{size:,}")


def _rebuilt(
    lines: TextLines, rebuild: Callable[[Any], Rebuilt], plain: Any, what: str
) -> Rebuilt:
    """Return what plain values stand for, or refuse them."""
    try:
        return rebuild(plain)
    except (SettingsError, KeyError, TypeError, ValueError) as error:
        is_other = isinstance(error.__cause__ or error, UnknownKeyError)
        refused = lines.error_of_other if is_other else lines.error
        raise refused(f"the {what} of a model", str(error)) from error


def _settings(lines: TextLines, plain: Any) -> Settings:
    check_code_points(lines.name, plain)
    settings = _rebuilt(lines, Settings.from_dict, plain, "settings")
    if settings.as_dict() != plain:
        raise lines.error("all settings of a model", "some")
    most = MOST_COLUMNS if settings.has_attributes else MOST_VIEWS
    if len(settings.views) > most:
        found = f"{len(settings.views):,}"
        raise lines.error(f"at most {most} views", found)
    return settings


def _scoring(lines: TextLines, plain: Any) -> Scoring:
    scoring = _rebuilt(lines, Scoring.from_dict, plain, "scoring")
    if scoring.as_dict() != plain:
        raise lines.error("all of the scoring of a model", "a part")
    return scoring


def _policy(lines: TextLines, plain: Any) -> Policy | None:
    if plain is None:
        return None
    policy = _rebuilt(lines, Policy.from_dict, plain, "policy")
    if policy.as_dict() != plain:
        raise lines.error("a policy, its costs sorted", "another order")
    return policy


def _texts(lines: TextLines, plain: Any, settings: Settings) -> tuple[int, ...] | None:
    """Return that there are texts, though not how many; None if there are none."""
    if type(plain) is not bool or (plain and settings.secret is not None):
        expected = "whether there are texts of terms, which a keyed model has not,"
        raise lines.error(expected, shown(plain))
    return (0,) * len(settings.views) if plain else None


def _totals(
    lines: TextLines, settings: Settings, plain: list[Any]
) -> tuple[tuple[tuple[int, ...], ...], ...]:
    views = keys_of(*(view.name for view in settings.views))
    for by_view in plain:
        lines.check_keys(by_view, views, "totals")
    return tuple(
        tuple(
            _sums(lines, by_view[view.name])
            if view.kind == "number"
            else _columns(lines, by_view[view.name], len(view.columns))
            for by_view in plain
        )
        for view in settings.views
    )


def _check_classes(lines: TextLines, header: Header) -> None:
    """Refuse a class of which nothing was counted: a sum of tables has none."""
    for place, name in enumerate(header.classes):
        sums = [sum(by_class[place]) for by_class in header.totals]
        if not any([header.documents[place], *sums]):
            expected = "classes that have documents or counts"
            raise lines.error(expected, f"{shown(name)}, which has none")


def _columns(lines: TextLines, plain: Any, width: int) -> tuple[int, ...]:
    if type(plain) is not list or len(plain) != width:
        raise lines.error(f"totals as a list of {width} numbers", shown(plain))
    return tuple(lines.whole(value, 0, MOST - 1, "a total") for value in plain)


def _sums(lines: TextLines, plain: Any) -> tuple[int, ...]:
    """Return the sums of numbers, as `plain_totals` has them."""
    try:
        sums = unpacked([_as_packed(value) for value in plain])
        if not are_sums(sums):
            message = "no numbers have these sums"
            raise ValueError(message)
    except (TypeError, ValueError, OverflowError) as error:
        raise lines.error(f"sums of numbers ({error})", shown(plain)) from error
    return sums


def _as_packed(value: Any) -> Any:
    """Return a sum as a model file has it."""
    if type(value) is int:
        return value
    exponent, digits = value
    if type(digits) is not str or not DIGITS.fullmatch(digits):
        message = "digits are missing"
        raise ValueError(message)
    mantissa = int(digits, 16)
    size = (mantissa if mantissa >= 0 else ~mantissa).bit_length() // 8 + 1
    return [exponent, mantissa.to_bytes(size, "big", signed=True)]


def _calibrations(lines: TextLines, plain: Any) -> tuple[dict[str, Any], ...]:
    if type(plain) is not list:
        raise lines.error("a list of calibrations", shown(plain))
    found = [_calibration(lines, one) for one in plain]
    if len({of_what for of_what, _ in found}) < len(found):
        raise lines.error("one calibration a scoring", "two")
    return tuple(calibration for _, calibration in found)


def _calibration(
    lines: TextLines, plain: Any
) -> tuple[tuple[Scoring, bool], dict[str, Any]]:
    """Return a calibration; first which scoring it is of, and whether corrected."""
    calibration = _rebuilt(lines, Calibration.from_dict, plain, "calibration")
    if calibration.as_dict() != plain:
        raise lines.error("a calibration and no more", "more")
    of_scores = dict(calibration.scoring)
    if of_scores.pop(CORRECTED, True) is not True:
        raise lines.error('"corrected": true, or no such key', "another value")
    scoring = _scoring(lines, of_scores | {"calibrated": True})
    return (scoring, calibration.is_corrected), calibration.as_dict()


def _history(lines: TextLines, plain: Any, n_views: int) -> History:
    lines.check_keys(plain, HISTORY, "the history", may_be_other=True)
    whole = plain | {"offset": None, "new_terms": [], "records": 0}
    return _rebuilt(
        lines, lambda one: History.from_dict(one, n_views), whole, "history"
    )


def _correction(
    lines: TextLines, plain: Any, names: tuple[str, ...]
) -> tuple[CorrectionInfo | None, tuple[int, ...]]:
    """Return what a correction says of itself, and its biases."""
    if plain is None:
        return None, ()
    lines.check_keys(plain, CORRECTION, "the correction", may_be_other=True)
    lines.check_keys(plain["biases"], keys_of(*names), "the biases")
    biases = tuple(
        lines.whole(plain["biases"][name], 1 - LARGEST, LARGEST - 1, "a bias")
        for name in names
    )
    identity = lines.digits(plain["identity"], 2 * IDENTITY_SIZE, "an identity")
    facts = {name: plain[name] for name in CORRECTION if name != "biases"}
    facts |= {"identity": identity.to_bytes(IDENTITY_SIZE, "big"), "is_whole": True}
    info = _rebuilt(lines, CorrectionInfo.from_dict, facts, "correction")
    return info, biases
