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

from nbtext.counts.calibration import KEYS as CALIBRATION_KEYS
from nbtext.counts.correction import CorrectionInfo
from nbtext.settings.reading import Settings
from nbtext.settings.scoring import Scoring
from nbtext.settings.views import View

MOST: Final = 1 << 63
"""No number of documents or bytes is as large."""

MOST_RECORDS: Final = 1 << 20
"""So many documents may be kept to be undone."""

KEPT_RECORDS: Final = 1000
"""So many are kept, unless the user says otherwise."""


KEYS: Final = frozenset((
    "format", "version", "writer", "written", "settings", "scoring", "classes",
    "documents", "totals", "terms", "calibrations", "history", "histograms",
    "correction", "policy", "texts", "arrays", "header_checksum",
))  # fmt: skip
"""The keys of a header; others are refused, since they may change what it means."""


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
        plain = self._asdict() | {"learnt": dict(sorted(self.learnt.items()))}
        if self.run is None:
            del plain["run"]
        return plain

    @classmethod
    def from_dict(cls, plain: dict[str, Any], n_views: int) -> "History":
        """
        Rebuild a history, believing nothing.

        Raises:
            KeyError, TypeError, ValueError: it is not one.
        """
        history = cls(**plain)
        offset, new_terms, run = history.offset, history.new_terms, history.run
        if not isinstance(history.learnt, dict):
            message = "when classes were learnt is not a map"
            raise TypeError(message)
        counts = (history.taught, history.records, history.keep)
        times = [history.trained, *history.learnt, *history.learnt.values()]
        if (
            not all(type(count) is int and 0 <= count < MOST for count in counts)
            or not all(isinstance(time, str) for time in times)
            or not (offset is None or (type(offset) is int and 0 <= offset < MOST))
            or not (run is None or (type(run) is int and 0 <= run <= (offset or 0)))
        ):
            message = "the history is not one"
            raise ValueError(message)
        n_counts = 0 if offset is None else n_views
        return history._replace(new_terms=_integers(new_terms, n_counts))


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
        KeyError, TypeError, ValueError, SettingsError: it is not one.
    """
    _check_known(plain, KEYS)
    settings = settings or Settings.from_dict(plain["settings"])
    classes = tuple(plain["classes"])
    is_text = all(isinstance(name, str) for name in classes)
    if not is_text or list(classes) != sorted(set(classes)):
        message = "the classes are not sorted names"
        raise ValueError(message)
    totals = tuple(
        tuple(_totals_of(view, columns) for columns in by_class)
        for view, by_class in zip(settings.views, plain["totals"], strict=True)
    )
    if [len(by_class) for by_class in totals] != [len(classes)] * len(settings.views):
        message = "the totals are not one for each view and class"
        raise ValueError(message)
    calibrations = tuple(plain["calibrations"])
    for calibration in calibrations:
        if not isinstance(calibration, dict):
            message = "a calibration is not a map"
            raise TypeError(message)
        _check_known(calibration, CALIBRATION_KEYS)
    correction, biases = _correction_in(plain, len(classes))
    return Header(
        settings=settings,
        scoring=Scoring.from_dict(plain["scoring"]),
        classes=classes,
        documents=_integers(plain["documents"], len(classes)),
        totals=totals,
        terms=_integers(plain["terms"], len(settings.views)),
        calibrations=calibrations,
        written=_text(plain["written"]),
        writer=_text(plain["writer"]),
        history=History.from_dict(plain["history"], len(settings.views)),
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

    try:
        return from_plain(plain["histograms"], [view.name for view in settings.views])
    except AttributeError as error:
        message = "the histograms are not maps"
        raise TypeError(message) from error


def _texts_in(plain: dict[str, Any], settings: Settings) -> tuple[int, ...] | None:
    """Return how many texts a header says there are."""
    if "texts" not in plain:
        return None
    if settings.secret is not None:
        message = "a keyed model has texts of terms"
        raise ValueError(message)
    return _integers(plain["texts"], len(settings.views))


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
    facts = {**plain["correction"]}
    biases = _integers(facts.pop("biases"), n_classes)
    return CorrectionInfo.from_dict(facts), biases


def _text(value: Any) -> str:
    if not isinstance(value, str):
        message = f"a text was expected, and {type(value).__name__} found"
        raise TypeError(message)
    return value


def _check_known(plain: dict[str, Any], known: frozenset[str]) -> None:
    """Refuse a key of another nbtext, which may change what the others mean."""
    unknown = sorted(map(str, plain.keys() - known))
    if unknown:
        message = f"this nbtext does not know {unknown[0]!r} in it"
        raise ValueError(message)


def _totals_of(view: View, columns: Any) -> tuple[int, ...]:
    """Return the totals of a view in one class."""
    if view.kind == "number":
        from nbtext.exact import unpacked  # only records of tables need it

        return unpacked(columns)
    return _integers(columns, len(view.columns))


def _integers(values: Any, length: int) -> tuple[int, ...]:
    whole: tuple[int, ...] = tuple(values)
    if len(whole) != length or not all(type(value) is int for value in whole):
        message = f"{length} whole numbers were expected"
        raise ValueError(message)
    return whole
