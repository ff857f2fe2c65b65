"""Results as rich tables: what people read on a terminal."""

from collections.abc import Iterable, Iterator
from itertools import chain
from shutil import get_terminal_size
from typing import Any, Final

from rich.cells import cell_len, set_cell_size
from rich.table import Table
from rich.text import Text

from nbtext.cli._replayed import (
    curve_heading,
    curve_row,
    printed_points,
    replay_lines,
)
from nbtext.cli._report import (
    UNSURE,
    class_name,
    comparison_verdict,
    escaped,
    share,
    verdict,
)
from nbtext.evaluation import Evaluation
from nbtext.evaluation.learning_curve import Replay
from nbtext.scoring import Decision
from nbtext.scoring.decide import probability

COLOURS: Final = ("green", "red", "cyan", "magenta", "yellow", "blue")

LEAST_ROOM: Final = 12
"""Minimum columns in which From and Subject are shown."""

MATRIX: Final = 8
"""Of more classes than these the commonest errors are listed: no terminal is so wide
that it holds the whole confusion matrix."""

ERRORS: Final = 20
"""How many of them are."""


def decision_lines(batches: Iterable[list[Decision]]) -> Iterator[Text]:
    """
    Yield a heading and a line for each decision.

    They are lines, and not the rows of a table, so that a long name is wrapped by the
    terminal alone and can be copied whole.
    """
    is_first = True
    for batch in batches:
        if not batch:
            continue
        width = max(len("class"), *map(_width, batch[0].classes))
        if is_first:
            yield Text(f"{'class':{width}}  probability  document", "bold")
        is_first = False
        for decision in batch:
            line = _label(decision)
            line.pad_right(width - line.cell_len)
            line.append(f"  {probability(decision.probability):>11}  ", "none")
            line.append(escaped(decision.name), "none")
            yield line.append(_heading(decision, line.cell_len), "dim")


def _heading(decision: Decision, width: int) -> str:
    """Return who a mail is from and what it is about, as far as there is room."""
    found = decision.heading
    room = get_terminal_size().columns - width - 2
    if found is None or room < LEAST_ROOM:
        return ""
    text = escaped(": ".join(filter(None, found)))
    return f"  {set_cell_size(text, min(room, cell_len(text)))}".rstrip()


def _width(label: str) -> int:
    return cell_len(class_name(label))


def _label(decision: Decision) -> Text:
    if decision.label is None:
        return Text().append(UNSURE, "dim")
    place = decision.classes.index(decision.label)
    return Text().append(class_name(decision.label), COLOURS[place % len(COLOURS)])


def info_tables(facts: dict[str, Any]) -> Iterator[Table | Text]:
    """Yield what `info` says of a model."""
    yield from fact_lines(facts["lines"])
    yield Text()
    classes = _headed("class", "documents", "tokens", "last learnt")
    for name, counts in facts["classes"].items():
        classes.add_row(
            Text(class_name(name)),
            f"{counts['documents']:,}",
            f"{counts['tokens']:,}",
            counts["learnt"] or "",
        )
    yield classes


def check_table(rows: Iterable[tuple[str, str, str, str]]) -> Table:
    """Return what `check` says of the tables of a model."""
    table = Table(box=None, pad_edge=False)
    for heading in ("offset", "bytes"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("documents")
    table.add_column("what")
    for offset, length, documents, what in rows:
        colour = "green" if what == "sound" else "red"
        table.add_row(
            f"{int(offset):,}",
            f"{int(length):,}",
            Text(documents),
            Text(what, colour),
        )
    return table


def evaluation_tables(
    result: Evaluation, lines: list[tuple[str, str, str]], against: str | None = None
) -> Iterator[Table | Text]:
    """
    Yield what `eval` says; last, where it stays on the screen, how good that is.

    Args:
        result: the evaluation.
        lines: its figures: name, value and interval.
        against: the file of the model that it was compared with, if with any.

    """
    yield from _with_intervals(lines)
    tables = [_reliability(result), _per_class(result), _confusion(result)]
    if result.replay is not None:
        yield Text()
        yield from fact_lines(replay_lines(result.replay))
        tables.append(_curve(result, result.replay))
    for table in tables:
        if table.row_count:
            yield Text()
            yield table
    yield Text()
    yield Text(verdict(result), "bold")
    if result.against is not None:
        yield Text(comparison_verdict(result.against, against or ""), "bold")


def _curve(result: Evaluation, replay: Replay) -> Table:
    first, *others = curve_heading(result)
    table = _headed(first, *others)
    for point in printed_points(replay):
        table.add_row(*curve_row(result, point))
    return table


def _with_intervals(lines: list[tuple[str, str, str]]) -> Iterator[Text]:
    width = max((len(value) for _, value, least in lines if least), default=0)
    yield from fact_lines(
        [
            (name, f"{value:{width}}  {interval}" if interval else value)
            for name, value, interval in lines
        ]
    )


def _per_class(result: Evaluation) -> Table:
    table = _headed("class", "precision", "recall", "F1", "support")
    rows = zip(result.classes, result.per_class, strict=True)
    averages = (("macro average", result.macro), ("micro average", result.micro))
    for name, figures in chain(rows, averages):
        table.add_row(
            Text(class_name(name)),
            *(
                share(value)
                for value in (figures.precision, figures.recall, figures.f1)
            ),
            f"{figures.support:,}",
        )
    return table


def _confusion(result: Evaluation) -> Table:
    if len(result.classes) > MATRIX:
        return _commonest_errors(result)
    table = _headed("truth")
    width = max(len(f"{int(count):,}") for row in result.confusion for count in row)
    for name in (*result.classes, UNSURE):
        table.add_column(Text(class_name(name)), justify="right", min_width=width)
    for name, row in zip(result.classes, result.confusion, strict=True):
        table.add_row(Text(class_name(name)), *(f"{int(count):,}" for count in row))
    return table


def _commonest_errors(result: Evaluation) -> Table:
    decided = (*result.classes, UNSURE)
    errors = [
        (int(count), truth, label)
        for truth, row in zip(result.classes, result.confusion, strict=True)
        for label, count in zip(decided, row, strict=True)
        if count and truth != label
    ]
    errors.sort(key=lambda error: (-error[0], *error[1:]))
    table = Table(box=None, pad_edge=False)
    table.add_column("truth")
    table.add_column("decided")
    table.add_column("documents", justify="right", no_wrap=True)
    for count, truth, label in errors[:ERRORS]:
        table.add_row(Text(class_name(truth)), Text(class_name(label)), f"{count:,}")
    return table


def _reliability(result: Evaluation) -> Table:
    table = _headed("probability", "documents", "mean", "right")
    for bin_ in result.reliability:
        table.add_row(
            f"{bin_.low:.2f} to {bin_.high:.2f}",
            f"{bin_.documents:,}",
            f"{bin_.mean_probability:.4f}",
            f"{bin_.share_right:.4f}",
        )
    return table


def fact_lines(lines: list[tuple[str, str]]) -> Iterator[Text]:
    """Yield figures or facts, each behind its name."""
    width = max(len(name) for name, _ in lines)
    for name, value in lines:
        yield Text.assemble((f"{name:{width}}  ", "dim"), value)


def _headed(first: str, *numbers: str) -> Table:
    """Return a table of numbers, whose first column gives way to the others."""
    table = Table(box=None, pad_edge=False)
    table.add_column(first)
    for heading in numbers:
        table.add_column(heading, justify="right", no_wrap=True)
    return table
