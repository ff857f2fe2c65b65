"""
The figures of an evaluation as tables: headings and rows of text.

One place says which figures a report has; the page, Markdown and CSV show the same.
"""

from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import Final, NamedTuple

from nbtext.evaluation import Evaluation
from nbtext.evaluation.bootstrap import Interval
from nbtext.evaluation.learning_curve import Replay
from nbtext.evaluation.misjudged import Misjudged
from nbtext.report.operating import operating_points, split_of
from nbtext.scoring.figures import signed
from nbtext.scoring.top import TopTerm

UNSURE: Final = "unsure"

TEXTS: Final = ("errors", "terms")
"""Tables whose columns are texts; in others commas separate thousands."""

FIGURES: Final = {
    "accuracy": "accuracy",
    "coverage": "coverage",
    "error of decided": "error_decided",
    "mean cost": "mean_cost",
    "macro F1": "macro.f1",
    "log-loss": "log_loss",
    "Brier score": "brier",
    "calibration error": "calibration_error",
}
OF_TWO: Final = {
    "false positive rate": "two_class.false_positive_rate",
    "false negative rate": "two_class.false_negative_rate",
    "ROC AUC": "two_class.roc_auc",
    "1-AUC %": "two_class.one_minus_auc_percent",
    "lam %": "two_class.lam_percent",
    "missed at 0.1 % fpr": "two_class.miss_rate_at_fpr",
}
"""Figures of an evaluation, and of two classes: what they are called, and where."""

MOST_ERRORS: Final = 50
"""Maximum number of misjudged documents that a report lists."""

MOST_CLASSES: Final = 50
"""Maximum number of classes whose confusion is shown whole."""

MOST_PAIRS: Final = 50
"""Maximum number of confused pairs that are listed where there are more classes."""


PAIRS: Final = ("truth", "decided", "documents")
"""The heading of these; no matrix has it, whose last column is that of unsure."""


class Table(NamedTuple):
    """
    A table of a report.

    Attributes:
        name: what it is called in a program, such as `figures`.
        title: what it is called for people.
        heading: the names of its columns.
        rows: its cells.
    """

    name: str
    title: str
    heading: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


def tables_of(result: Evaluation, top: Sequence[TopTerm] = ()) -> Iterator[Table]:
    """Yield the tables of a report, in their order."""
    heading: tuple[str, ...]
    rows: list[tuple[str, ...]]
    heading = ("figure", "value", "95 % from", "95 % to")
    yield Table("figures", "Figures", heading, [*_figures(result)])
    heading = ("class", "precision", "recall", "F1", "documents")
    yield Table("classes", "Classes", heading, [*_classes(result)])
    yield confusion_of(result)
    heading = ("from", "to", "documents", "mean probability", "right")
    rows = [
        (share(one.low), share(one.high), f"{one.documents:,}",
         share(one.mean_probability), share(one.share_right))
        for one in result.reliability
    ]  # fmt: skip
    yield Table("reliability", "Reliability", heading, rows)
    split = split_of(result)
    if split is not None:
        heading = (
            f"probability of {split.two.positive} from", "false positives",
            "of negatives", "false negatives", "of positives", "cost a document",
        )  # fmt: skip
        rows = [
            (f"{one.threshold:g}", f"{one.false_positives:,}",
             share(one.false_positive_rate), f"{one.false_negatives:,}",
             share(one.false_negative_rate), f"{one.cost:.4g}")
            for one in operating_points(result, split)
        ]  # fmt: skip
        yield Table("thresholds", "Thresholds", heading, rows)
    if result.replay is not None:
        yield _replayed(result.replay)
        yield _curve(result.replay)
    if result.errors:
        heading = ("document", "truth", "decided", "probability", "reasons")
        rows = [_error(error) for error in result.errors[:MOST_ERRORS]]
        yield Table("errors", "Worst errors", heading, rows)
    if top:
        heading = ("class", "term", "view", "documents of it", "of others", "log-odds")
        rows = [_term(term) for term in top]
        yield Table("terms", "Terms that most speak for a class", heading, rows)


def _figures(result: Evaluation) -> Iterator[tuple[str, ...]]:
    yield "documents", f"{result.documents:,}", "", ""
    yield "unsure", f"{result.unsure:,}", "", ""
    for label, part in (result.prior or {}).items():
        yield f"prior of {label}", share(part), "", ""
    figures = FIGURES if result.two_class is None else FIGURES | OF_TWO
    for name, place in figures.items():
        value = attrgetter(place)(result)
        if value is not None:
            yield name, share(value), *_ends(result.interval(*place.split(".")))


def _ends(interval: Interval | None) -> tuple[str, str]:
    return ("", "") if interval is None else (share(interval.low), share(interval.high))


def _classes(result: Evaluation) -> Iterator[tuple[str, ...]]:
    rows = zip(result.classes, result.per_class, strict=True)
    averages = (("macro average", result.macro), ("micro average", result.micro))
    for name, one in (*rows, *averages):
        figures = map(share, (one.precision, one.recall, one.f1))
        yield name, *figures, f"{one.support:,}"


def confusion_of(result: Evaluation) -> Table:
    """Return the confusion matrix, or of very many classes the commonest errors."""
    title = "Confusion: rows are true classes, columns decisions"
    decided = (*result.classes, UNSURE)
    rows: list[tuple[str, ...]]
    if len(result.classes) <= MOST_CLASSES:
        rows = [
            (name, *(f"{count:,}" for count in row))
            for name, row in zip(result.classes, result.confusion, strict=True)
        ]
        return Table("confusion", title, ("truth", *decided), rows)
    pairs = [
        (-count, truth, label)
        for truth, row in zip(result.classes, result.confusion, strict=True)
        for label, count in zip(decided, row, strict=True)
        if count and truth != label
    ]
    rows = [(t, d, f"{-n:,}") for n, t, d in sorted(pairs)[:MOST_PAIRS]]
    return Table("confusion", "The commonest errors", PAIRS, rows)


def _replayed(replay: Replay) -> Table:
    """Return how documents were replayed."""
    rows = [
        (name.replace("_", " "), f"{value:,}" if isinstance(value, int) else str(value))
        for name, value in replay.as_dict().items()
        if name != "curve" and value is not None
    ]
    return Table("replay", "Replay", ("replay", "value"), rows)


def _curve(replay: Replay) -> Table:
    """Return the figures along the stream."""
    heading = (
        "documents", "learnt", "error so far", "error since the last row",
        "macro F1 so far", "1-AUC % so far",
    )  # fmt: skip
    rows = [
        (
            f"{one.documents:,}", f"{one.learnt:,}", share(one.error),
            share(one.recent_error), share(one.macro_f1),
            "" if one.one_minus_auc_percent is None
            else share(one.one_minus_auc_percent),
        )
        for one in replay.curve
    ]  # fmt: skip
    return Table("curve", "Figures along the stream", heading, rows)


def _error(error: Misjudged) -> tuple[str, ...]:
    name = error.name if error.identity is None else f"{error.name} {error.identity}"
    reasons = [
        f"{signed(reason.contribution, 2)} {reason.text} ({reason.view})"
        for reason in error.reasons
    ]
    return (
        name, error.truth or "", error.label or UNSURE, share(error.probability),
        "; ".join(reasons),
    )  # fmt: skip


def _term(term: TopTerm) -> tuple[str, ...]:
    text = f"{term.key:012x}" if term.text is None else term.text
    return (
        term.label, text, term.view, f"{term.documents:,} of {term.of:,}",
        f"{term.elsewhere:,} of {term.of_elsewhere:,}", signed(term.log_odds, 2),
    )  # fmt: skip


def share(value: float) -> str:
    """Return a figure to four places; short of certainty none is 1."""
    return f"{value:.6f}" if 0.99995 <= value < 1 else f"{value:.4f}"
