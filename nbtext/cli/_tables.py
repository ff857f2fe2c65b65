"""Results as rich tables: what people read on a terminal."""

from collections.abc import Iterable, Iterator
from itertools import chain
from shutil import get_terminal_size
from typing import Any, Final

from rich.cells import cell_len, set_cell_size
from rich.table import Table
from rich.text import Text

from nbtext.cli._narrow import (
    GAP,
    Column,
    NarrowTable,
    label_column,
    number_column,
    sentence,
)
from nbtext.cli._replayed import curve_heading, curve_row, printed_points, replay_lines
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

MOST_ALIGNED: Final = 40
"""Columns that are padded at the most to have others aligned, however narrow it is."""

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
        width = min(width, MOST_ALIGNED)
        if is_first:
            yield Text(f"{'class':{width}}  probability  document", "bold")
        is_first = False
        for decision in batch:
            line = _label(decision)
            line.pad_right(max(width - line.cell_len, 0))
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
    if cell_len(text) > room:
        text = f"{set_cell_size(text, room - 1).rstrip()}\N{HORIZONTAL ELLIPSIS}"
    return f"  {text}"


def _width(label: str) -> int:
    return cell_len(class_name(label))


def _label(decision: Decision) -> Text:
    if decision.label is None:
        return Text().append(UNSURE, "dim")
    place = decision.classes.index(decision.label)
    return Text().append(class_name(decision.label), COLOURS[place % len(COLOURS)])


def info_tables(facts: dict[str, Any]) -> Iterator[NarrowTable | Table | Text]:
    """Yield what `info` says of a model."""
    yield from fact_lines(facts["lines"])
    yield Text()
    classes = NarrowTable(
        label_column("class"),
        number_column("documents"),
        number_column("tokens", 2),
        number_column("last learnt", 1),
    )
    for name, counts in facts["classes"].items():
        classes.add_row(
            Text(class_name(name)),
            f"{counts['documents']:,}",
            f"{counts['tokens']:,}",
            counts["learnt"] or "",
        )
    yield classes


def check_table(rows: Iterable[tuple[str, str, str, str]]) -> NarrowTable:
    """Return what `check` says of the tables of a model."""
    table = NarrowTable(
        number_column("offset", 2),
        number_column("bytes", 1),
        label_column("documents"),
        label_column("what"),
    )
    for offset, length, documents, what in rows:
        colour = "green" if what == "sound" else "red"
        table.add_row(
            f"{int(offset):,}", f"{int(length):,}", Text(documents), Text(what, colour)
        )
    return table


def evaluation_tables(
    result: Evaluation, lines: list[tuple[str, str, str]], against: str | None = None
) -> Iterator[NarrowTable | Table | Text]:
    """Yield what `eval` says; last, where it stays on the screen, how good that is."""
    yield _with_intervals(lines)
    tables = [_per_class(result), _confusion(result), _reliability(result)]
    if result.replay is not None:
        yield Text()
        yield from fact_lines(replay_lines(result.replay))
        tables.append(_curve(result, result.replay))
    for table in tables:
        if table.rows:
            yield Text()
            yield table
    yield Text()
    yield sentence(verdict(result), "bold")
    if result.against is not None:
        yield sentence(comparison_verdict(result.against, against or ""), "bold")


def _curve(result: Evaluation, replay: Replay) -> NarrowTable:
    documents, learnt, error, recent, last = curve_heading(result)
    table = NarrowTable(
        number_column(documents),
        number_column(learnt, 3),
        number_column(error),
        number_column(recent, 2),
        number_column(last, 1),
    )
    for point in printed_points(replay):
        table.add_row(*curve_row(result, point))
    return table


def _with_intervals(lines: list[tuple[str, str, str]]) -> NarrowTable:
    table = NarrowTable(
        Column(Text("figure")),
        label_column("value"),
        number_column("95 %", 1),
        has_heading=False,
    )
    for name, value, interval in lines:
        table.add_row(Text(name, "dim"), value, interval)
    return table


def _per_class(result: Evaluation) -> NarrowTable:
    table = NarrowTable(
        label_column("class"),
        number_column("precision", 2),
        number_column("recall", 1),
        number_column("F1"),
        number_column("support", 3),
    )
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


def _confusion(result: Evaluation) -> NarrowTable:
    errors = _commonest_errors(result)
    if len(result.classes) > MATRIX:
        return errors
    decided = (*result.classes, UNSURE)
    columns = [number_column(class_name(name)) for name in decided]
    table = NarrowTable(label_column("truth"), *columns, narrower=errors)
    for name, row in zip(result.classes, result.confusion, strict=True):
        table.add_row(Text(class_name(name)), *(f"{int(count):,}" for count in row))
    return table


def _commonest_errors(result: Evaluation) -> NarrowTable:
    decided = (*result.classes, UNSURE)
    errors = [
        (int(count), truth, label)
        for truth, row in zip(result.classes, result.confusion, strict=True)
        for label, count in zip(decided, row, strict=True)
        if count and truth != label
    ]
    errors.sort(key=lambda error: (-error[0], *error[1:]))
    table = NarrowTable(
        label_column("truth"), label_column("decided"), number_column("documents")
    )
    for count, truth, label in errors[:ERRORS]:
        table.add_row(Text(class_name(truth)), Text(class_name(label)), f"{count:,}")
    return table


def _reliability(result: Evaluation) -> NarrowTable:
    table = NarrowTable(
        label_column("probability"),
        number_column("documents", 1),
        number_column("mean", 2),
        number_column("right"),
    )
    for bin_ in result.reliability:
        table.add_row(
            f"{bin_.low:.2f} to {bin_.high:.2f}",
            f"{bin_.documents:,}",
            f"{bin_.mean_probability:.4f}",
            f"{bin_.share_right:.4f}",
        )
    return table


def aligned(rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    """
    Yield rows as lines whose columns stand below one another.

    They are lines, and not the rows of a table, so that a long name is wrapped by the
    terminal alone and can be copied whole. The last column of a row is never padded,
    and none beyond half of the terminal: what is longer pushes the others aside.
    """
    most = max(get_terminal_size().columns // 2, MOST_ALIGNED)
    rows = [*rows]
    widths: dict[int, int] = {}
    for row in rows:
        for place, cell in enumerate(row[:-1]):
            widths[place] = max(widths.get(place, 0), min(cell_len(cell), most))
    for row in rows:
        padded = (
            cell + " " * (widths[place] - cell_len(cell))
            for place, cell in enumerate(row[:-1])
        )
        yield "  ".join([*padded, *row[-1:]])


def policy_lines(lines: list[tuple[str, ...]]) -> Iterator[Table | Text]:
    """Yield a policy: what each line is about, and its parts in columns."""
    parts = aligned([line[1:] for line in lines])
    yield from fact_lines([*zip((line[0] for line in lines), parts, strict=True)])


def term_lines(rows: Iterable[tuple[str, str, str, str]]) -> Iterator[Text]:
    """Yield a heading and the terms of a document: view, field, times and term."""
    heading = ("view", "field", "times", "term")
    first, *others = aligned([heading, *rows])
    yield Text(first, "bold")
    yield from map(Text, others)


def fact_lines(lines: list[tuple[str, str]]) -> Iterator[Table | Text]:
    """
    Yield figures or facts, each behind its name; the words of a long one below another.

    One that has a word for which there is no room, such as a path, is a line that can
    be copied whole.
    """
    width = max(len(name) for name, _ in lines)
    room = get_terminal_size().columns - width - GAP
    for name, value in lines:
        if cell_len(value) <= room or max(map(cell_len, value.split(" "))) > room:
            yield Text.assemble((f"{name:{width}}{' ' * GAP}", "dim"), value)
            continue
        fact = Table.grid(padding=(0, GAP, 0, 0))
        fact.add_column(width=width, style="dim")
        fact.add_column(width=room)
        fact.add_row(name, Text(value))
        yield fact
