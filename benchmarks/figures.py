"""The lines that benchmarks print: markdown tables, a figure a row."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

Row: TypeAlias = "Figure | Accuracy | FirstMessages"


@dataclass(frozen=True, slots=True)
class Figure:
    """
    A measured figure and what it has to be.

    Attributes:
        name: what was measured.
        measured: the figure, with its unit.
        target: the bound on it; empty if there is none.
        is_met: whether the figure keeps to it, None without a target.
        details: what it is made of.
    """

    name: str
    measured: str
    target: str
    is_met: bool | None
    details: str

    HEADING = ("figure", "measured", "target", "met", "made of")

    def cells(self) -> tuple[str, ...]:
        """Return the cells of the row."""
        return self.name, self.measured, self.target, met(self.is_met), self.details


@dataclass(frozen=True, slots=True)
class Accuracy:
    """
    How right a classifier is on a corpus; measures in percent, None where undefined.

    Attributes:
        corpus: the corpus, and its split.
        classifier: which, and how it decides.
        one_minus_auc: 1 - AUC.
        lam: logistic average misclassification.
        missed: spam that is missed where one ham in a thousand may be called spam.
        accuracy: the share that is right; unsure is not.
        macro_f1: the mean F1 of the classes.
        log_loss: in nats a document.
        calibration_error: the expected one.
        floor: what nbtext has to reach; empty for others.
        is_met: whether it does.
    """

    corpus: str
    classifier: str
    one_minus_auc: float | None = None
    lam: float | None = None
    missed: float | None = None
    accuracy: float | None = None
    macro_f1: float | None = None
    log_loss: float | None = None
    calibration_error: float | None = None
    floor: str = ""
    is_met: bool | None = None

    HEADING = (
        "corpus", "classifier", "1-AUC %", "lam %", "missed at .1 %", "accuracy %",
        "macro-F1 %", "log-loss", "calibration error %", "floor", "met",
    )  # fmt: skip

    def cells(self) -> tuple[str, ...]:
        """Return the cells of the row."""
        return (
            self.corpus,
            self.classifier,
            _or_dash(self.one_minus_auc, 4),
            _or_dash(self.lam, 3),
            _or_dash(self.missed, 2),
            _or_dash(self.accuracy, 2),
            _or_dash(self.macro_f1, 2),
            _or_dash(self.log_loss, 3),
            _or_dash(self.calibration_error, 2),
            self.floor,
            met(self.is_met),
        )


@dataclass(frozen=True, slots=True)
class FirstMessages:
    """
    What a classifier makes of a few messages; what is undefined is None.

    Attributes:
        corpus: the corpus that they are drawn from.
        classifier: which, and how it decides.
        messages: how many of each class it was trained on.
        log_loss: in nats a document.
        one_minus_auc: 1 - AUC, in percent.
        accuracy: the share that is right, in percent.
    """

    corpus: str
    classifier: str
    messages: int
    log_loss: float | None
    one_minus_auc: float | None
    accuracy: float | None

    HEADING = (
        "corpus", "messages of each class", "classifier", "log-loss", "1-AUC %",
        "accuracy %",
    )  # fmt: skip

    def cells(self) -> tuple[str, ...]:
        """Return the cells of the row."""
        return (
            self.corpus,
            str(self.messages),
            self.classifier,
            _or_dash(self.log_loss, 3),
            _or_dash(self.one_minus_auc, 2),
            _or_dash(self.accuracy, 1),
        )


class Skipped(Exception):  # noqa: N818  nothing went wrong
    """A figure cannot be measured here; the message says what to install."""


def at_most(name: str, value: float, bound: float, details: str) -> Figure:
    """Return a figure that has an upper bound."""
    return Figure(name, f"{value:.2f}", f"≤ {bound:g}", value <= bound, details)


def skipped(name: str, why: Skipped) -> Figure:
    """Return the row that stands in a figure's place."""
    return Figure(name, "skipped", "", None, str(why))


def table(rows: Iterable[Row]) -> Iterator[str]:
    """Yield a markdown table's lines; a heading wherever the kind of row changes."""
    heading: Sequence[str] = ()
    for row in rows:
        if heading != row.HEADING:
            if heading:
                yield ""
            heading = row.HEADING
            yield _line(heading)
            yield _line(["---"] * len(heading))
        yield _line(row.cells())


def met(is_met: bool | None) -> str:
    """Return a word for whether a target is met."""
    return "" if is_met is None else "yes" if is_met else "**no**"


def seconds(value: float) -> str:
    """Return a time that is easy to read."""
    return f"{value * 1e3:.1f} ms" if value < 0.5 else f"{value:.2f} s"


def megabytes(value: float) -> str:
    """Return a size in millions of bytes."""
    return f"{value / 1e6:,.1f} MB"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _or_dash(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"
