"""
The header of a count table in a model file.

Plain values, as msgpack gives them, go in; a checked `Header` comes out. Nothing that a
header says is believed before it is checked.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from nbtext.counts.histograms import Histograms
    from nbtext.policy import Policy

from nbtext.counts import calibration as of_calibration
from nbtext.counts.correction import CorrectionInfo
from nbtext.errors import SettingsError
from nbtext.settings.plain import any_map, list_of, map_of, unexpected
from nbtext.settings.reading import Settings
from nbtext.settings.scoring import Scoring
from nbtext.settings.views import View

MOST: Final = 1 << 63
"""No number of documents or bytes is as large."""

MOST_RECORDS: Final = 1 << 20
"""So many documents may be kept to be undone."""

KEPT_RECORDS: Final = 1000
"""So many are kept, unless the user says otherwise."""


KEYS: Final = (
    "format", "version", "writer", "written", "settings", "scoring", "classes",
    "documents", "totals", "terms", "calibrations", "history", "arrays",
    "header_checksum",
)  # fmt: skip
CALIBRATION_KEYS: Final = (*of_calibration.KEYS, *of_calibration.KEYS_OF_SOME)
KEYS_OF_SOME: Final = ("histograms", "correction", "policy", "texts")
"""The keys of a header, and those of some headers; others are refused, since they may
change what it means."""


class History(NamedTuple):
    """
    How a table came to be.

    Attributes:
        trained: when its counts were trained, as ISO 8601 in UTC; empty if that was
            when the table was written, or never.
        taught: how many documents were learnt, moved or forgotten since.
        learnt: class to when a document of it was last learnt.
        offset: where in its file the table was appended, in bytes; None for a table
            that stands for itself.
        new_terms: for each view, how many more terms the file has with it; empty where
            `offset` is None.
        records: how many documents its undo arrays hold.
        keep: how many such records the model shall keep.
        run: where the first table of the same command was appended, in bytes; None if
            that is not known, or if the table stands for itself.
    """

    trained: str = ""
    taught: int = 0
    learnt: Mapping[str, str] = MappingProxyType({})
    offset: int | None = None
    new_terms: tuple[int, ...] = ()
    records: int = 0
    keep: int = KEPT_RECORDS
    run: int | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for msgpack and JSON."""
        parts = {
            "learnt": dict(sorted(self.learnt.items())),
            "new_terms": list(self.new_terms),
        }
        plain = self._asdict() | parts
        if self.run is None:
            del plain["run"]
        return plain

    @classmethod
    def from_dict(cls, plain: Any, n_views: int) -> "History":
        """
        Rebuild a history, believing nothing.

        Raises:
            SettingsError: it is not one.
        """
        history = cls(**map_of(plain, "the history", cls._fields[:-1], ("run",)))
        _text(history.trained, "trained of the history")
        for time in any_map(history.learnt, "learnt of the history").values():
            _text(time, "a time in learnt of the history")
        for name in ("taught", "records", "keep"):
            _check_whole(getattr(history, name), f"{name} of the history", MOST - 1)
        offset, run = history.offset, history.run
        if offset is not None:
            _check_whole(offset, "offset of the history", MOST - 1)
        if run is not None:
            _check_whole(run, "run of the history", offset or 0)
        n_counts = 0 if offset is None else n_views
        what = "new_terms of the history"
        return history._replace(new_terms=_integers(history.new_terms, n_counts, what))


class Header(NamedTuple):
    """
    What a table says of itself; the names of the fields are those of the file.

    Attributes:
        settings: how its documents were read.
        scoring: how it asks to be scored.
        classes: the names of the classes, sorted.
        documents: for each class, how many documents.
        totals: for each view, for each class, the sum of each column; of numbers in the
            units of `nbtext.exact`.
        terms: for each view, how many distinct terms.
        calibrations: what `nbtext.counts.calibration` keeps, of one scoring each.
        written: when, as ISO 8601 in UTC.
        writer: which program.
        history: how it came to be.
        histograms: for each view how many terms are in how many documents of a class,
            or how that changes where the table was appended; None if it does not say.
        correction: what its correction says of itself, None if it has none.
        biases: for each class, what all documents get of the correction.
        policy: how decisions are to be made, None if nothing is said.
        texts: for each view how many texts of terms it has; None if it has none.
    """

    settings: Settings
    scoring: Scoring
    classes: tuple[str, ...]
    documents: tuple[int, ...]
    totals: tuple[tuple[tuple[int, ...], ...], ...]
    terms: tuple[int, ...]
    calibrations: tuple[dict[str, Any], ...]
    written: str
    writer: str
    history: History = History()
    histograms: "Histograms | None" = None
    correction: CorrectionInfo | None = None
    biases: tuple[int, ...] = ()
    policy: "Policy | None" = None
    texts: tuple[int, ...] | None = None


def joined_history(headers: Iterable[Header]) -> History:
    """Return the history of the sum of tables, in their order."""
    return join_histories(map(_own_history, headers))


def _own_history(header: Header) -> History:
    """Return the history of a table, which was trained when it was written."""
    history = header.history
    # a table that was compacted or loaded is written later than it was trained
    is_fresh = history.offset is None and not history.taught and not history.trained
    return history._replace(trained=header.written) if is_fresh else history


def join_histories(histories: Iterable[History]) -> History:
    """Return the history of the sum of models, in their order."""
    trained, taught, keep = "", 0, KEPT_RECORDS
    learnt: dict[str, str] = {}
    for history in histories:
        trained = max(trained, history.trained)
        taught = min(taught + history.taught, MOST - 1)
        keep = history.keep
        for name, time in history.learnt.items():
            learnt[name] = max(time, learnt.get(name, ""))
    return History(trained=trained, taught=taught, learnt=learnt, keep=keep)


def read_header(plain: dict[str, Any], settings: Settings | None = None) -> Header:
    """
    Rebuild a header, believing nothing.

    Args:
        plain: what msgpack gave.
        settings: what its settings are, if that is known already.

    Raises:
        UnknownKeyError: it has a key of another nbtext.
        TypeError, ValueError, SettingsError: it is not one.
    """
    map_of(plain, "the header", KEYS, KEYS_OF_SOME)
    settings = settings or Settings.from_dict(plain["settings"])
    classes = list_of(plain["classes"], "the classes")
    for name in classes:
        _text(name, "the name of a class")
    if classes != sorted(set(classes)):
        message = "the classes are not sorted names"
        raise SettingsError(message)
    n_classes, n_views = len(classes), len(settings.views)
    totals = tuple(
        tuple(
            _totals_of(view, columns)
            for columns in list_of(by_class, f"totals of {view.name}", n_classes)
        )
        for view, by_class in zip(
            settings.views, list_of(plain["totals"], "totals", n_views), strict=True
        )
    )
    calibrations = tuple(list_of(plain["calibrations"], "the calibrations"))
    for calibration in calibrations:
        map_of(calibration, "a calibration", (), CALIBRATION_KEYS)
    correction, biases = _correction_in(plain, n_classes)
    return Header(
        settings=settings,
        scoring=Scoring.from_dict(plain["scoring"]),
        classes=tuple(classes),
        documents=_integers(plain["documents"], n_classes, "documents"),
        totals=totals,
        terms=_integers(plain["terms"], n_views, "terms"),
        calibrations=calibrations,
        written=_text(plain["written"], "written"),
        writer=_text(plain["writer"], "writer"),
        history=History.from_dict(plain["history"], n_views),
        histograms=_histograms_in(plain, settings),
        correction=correction,
        biases=biases,
        policy=_policy_in(plain),
        texts=_texts_in(plain, settings),
    )


def _histograms_in(plain: dict[str, Any], settings: Settings) -> "Histograms | None":
    """Return the histograms that a header has, None if it has none."""
    if "histograms" not in plain:
        return None
    from nbtext.counts.histograms import from_plain  # few models have them

    return from_plain(plain["histograms"], [view.name for view in settings.views])


def _texts_in(plain: dict[str, Any], settings: Settings) -> tuple[int, ...] | None:
    """Return how many texts a header says there are."""
    if "texts" not in plain:
        return None
    if settings.secret is not None:
        message = "a keyed model has texts of terms"
        raise SettingsError(message)
    return _integers(plain["texts"], len(settings.views), "texts")


def _policy_in(plain: dict[str, Any]) -> "Policy | None":
    """Return the policy in a header."""
    if "policy" not in plain:
        return None
    from nbtext.policy import Policy  # most models have none

    return Policy.from_dict(plain["policy"])


def _correction_in(
    plain: dict[str, Any], n_classes: int
) -> tuple[CorrectionInfo | None, tuple[int, ...]]:
    """Return what a header says of a correction, and its biases."""
    if "correction" not in plain:
        return None, ()
    what = "the correction"
    facts = {**map_of(plain["correction"], what, (*CorrectionInfo._fields, "biases"))}
    biases = _integers(facts.pop("biases"), n_classes, "biases of the correction")
    return CorrectionInfo.from_dict(facts), biases


def _text(value: Any, what: str) -> str:
    if type(value) is not str:
        raise unexpected(what, "a text", value)
    return value


def _check_whole(value: Any, what: str, most: int) -> None:
    if not (type(value) is int and 0 <= value <= most):
        raise unexpected(what, f"a whole number from 0 to {most}", value)


def _totals_of(view: View, columns: Any) -> tuple[int, ...]:
    """Return the totals of a view in one class."""
    if view.kind == "number":
        from nbtext.exact import unpacked  # only records of tables need it

        return unpacked(columns)
    return _integers(columns, len(view.columns), f"totals of {view.name}")


def _integers(values: Any, length: int, what: str) -> tuple[int, ...]:
    for value in list_of(values, what, length):
        if type(value) is not int:
            raise unexpected(what, "whole numbers", value)
    return tuple(values)
