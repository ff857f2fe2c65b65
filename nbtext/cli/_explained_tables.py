"""Explanations as rich tables: what `why` shows people on a terminal."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from rich.cells import cell_len, set_cell_size
from rich.table import Table
from rich.text import Text

from nbtext.cli._explained import (
    TOP_HEADINGS,
    decision_line,
    error_row,
    nats,
    reason_text,
    sums_compared,
    sums_of,
    term_rows,
    term_text,
    top_row,
    words_of,
)
from nbtext.cli._narrow import (
    TERM,
    Column,
    NarrowTable,
    label_column,
    number_column,
    sentence,
)
from nbtext.cli._report import UNSURE, class_name, escaped
from nbtext.cli._tables import COLOURS, aligned
from nbtext.scoring.comparing import Difference
from nbtext.scoring.explanation import Explanation

if TYPE_CHECKING:  # which loads numpy
    from nbtext.evaluation.misjudged import Misjudged
    from nbtext.scoring.top import TopTerm

BAR: Final = 10
"""Columns of the longest bar."""

REMARK: Final = 20
"""Columns to which a remark may be folded."""

FIELD: Final = 14
"""Maximum columns of a field's name."""


WHY_TERM: Final = 24
"""Columns to which terms are cut at the least, where bars can go."""

WHY_LEGEND: Final = (
    "nats: +0.69 doubles the odds, before calibration; -0.69 halves them"
)
"""What people are told of the numbers of `why`."""


def why_tables(
    explanation: Explanation, top: int, *, is_first: bool = True
) -> Iterator[NarrowTable | Table | Text]:
    """Yield what `why` says of a document."""
    if not is_first:
        yield Text()
    yield Text(decision_line(explanation).replace("\t", "  "), "bold")
    yield sentence(words_of(explanation))
    if explanation.reasons and top:
        yield Text()
        yield _terms(explanation, top)
        if is_first:
            yield sentence(WHY_LEGEND, "dim")
    yield Text()
    yield _sums(explanation)


def _terms(explanation: Explanation, top: int) -> NarrowTable:
    sides = (explanation.label, explanation.rival)
    of_sides = [Text(class_name(one), _colour(explanation, one)) for one in sides]
    table = NarrowTable(
        number_column("nats"),
        Column(Text(), 5),
        Column(Text("where"), 1),
        number_column("times", 4),
        *map(number_column, of_sides, (2, 3)),
        TERM._replace(least=WHY_TERM),
    )
    most = max(abs(reason.contribution) for reason in explanation.reasons[:top])
    for row in term_rows(explanation, top):
        value, view, field, times, *counts, term = row
        contribution = float(value)
        is_rest = view == "-"
        where = "" if is_rest else _where(view, field)
        bar = "" if is_rest else _bar(abs(contribution) / most)
        side = explanation.label if contribution > 0 else explanation.rival
        colour = _colour(explanation, side)
        cells = ["" if cell == "-" else cell for cell in (times, *counts)]
        style = "dim" if is_rest else ""
        table.add_row(
            Text(value, style or colour),
            Text(bar, colour),
            Text(where, "dim"),
            *(Text(cell, style) for cell in cells),
            Text(term, style),
        )
    return table


def _where(view: str, field: str) -> str:
    """Return the field, and the view where the field does not tell it."""
    name = view if field in (view, "body") else field
    return set_cell_size(name, FIELD) if cell_len(name) > FIELD else name


def _bar(share: float) -> str:
    """Return a bar of some share of the longest, at least one column."""
    encoding = getattr(sys.stdout, "encoding", None) or "ascii"
    full = "█" if encoding.lower().replace("-", "") == "utf8" else "#"
    return full * max(round(BAR * min(share, 1.0)), 1)


def _colour(explanation: Explanation, name: str) -> str:
    place = [*explanation.classes].index(name)
    return COLOURS[place % len(COLOURS)]


def _sums(explanation: Explanation) -> NarrowTable:
    table = NarrowTable(
        label_column("part"),
        number_column("nats"),
        Column(Text("remark"), 1, least=REMARK),
        has_heading=False,
    )
    for name, line in sums_of(explanation):
        value, _, remark = line.partition("\t")
        is_total = name == "score" or name.startswith(("log-odds", "probability"))
        style = "bold" if is_total else ""
        table.add_row(Text(name, style), Text(value, style), Text(remark, "dim"))
    return table


def against_tables(
    first: Explanation, second: Explanation, rows: Sequence[Difference], top: int
) -> Iterator[NarrowTable | Text]:
    """Yield how two documents differ."""
    decisions = [tuple(decision_line(one).split("\t")) for one in (first, second)]
    yield from (Text(line, "bold") for line in aligned(decisions))
    yield Text()
    table = NarrowTable(
        number_column("difference"),
        number_column("first", 2),
        number_column("second", 3),
        Column(Text("where"), 1),
        TERM,
    )
    for row in rows[:top]:
        side = first.label if row.difference > 0 else first.rival
        table.add_row(
            Text(nats(row.difference), _colour(first, side)),
            *(Text(nats(value)) for value in (row.first, row.second)),
            Text(_where(row.reason.view, escaped(row.reason.field)), "dim"),
            Text(term_text(row.reason)),
        )
    for name, one, other in sums_compared(first, second):
        values = (one - other, one, other)
        table.add_row(*(Text(nats(value)) for value in values), Text(), Text(name))
    yield table


def error_tables(errors: "Iterable[Misjudged]") -> Iterator[Table | Text]:
    """Yield misjudged documents: a line, so that its name can be copied, and why."""
    for error in errors:
        truth, label, probability, name = error_row(error)
        yield Text.assemble(
            (truth, "green"), " taken for " if label != UNSURE else " is unsure ",
            ("" if label == UNSURE else label, "red"), f"  {probability}  {name}",
        )  # fmt: skip
        reasons = Table.grid()  # which breaks lines between words
        reasons.add_row(
            " " * 4, Text("  ".join(map(reason_text, error.reasons)), "dim")
        )
        yield reasons
    if errors:
        yield Text()


TOP_LEGEND: Final = (
    "nats: +0.69 is twice, +2.3 ten times the odds of a document of the class having "
    "the term; the rank is by G2. (+5): so many others say the same."
)
"""What people are told of the numbers of `top`."""


def top_table(
    terms: "Sequence[TopTerm]", others: Sequence[int] | None = None
) -> NarrowTable:
    """Return the terms that speak for classes, a row each; how many others join it."""
    label, *numbers = TOP_HEADINGS[:5]
    table = NarrowTable(
        label_column(label),
        *map(number_column, numbers, (5, 1, 3, 4)),
        Column(Text("where"), 2),
        TERM,
    )
    classes = sorted({term.label for term in terms})
    for term, more in zip(terms, others or [0] * len(terms), strict=True):
        label, *cells, text = _top_cells(term)
        colour = COLOURS[classes.index(term.label) % len(COLOURS)]
        style = "dim" if term.text is None else ""
        shown = Text(text, style)
        if more:
            shown.append(f" (+{more:,})", "dim")
        table.add_row(Text(label, colour), *cells, shown)
    return table


def _top_cells(term: "TopTerm") -> list[str]:
    """Return the columns of a term; its place is in one, as in those of `why`."""
    *cells, view, field, text = top_row(term)
    return [*cells, view if field == "-" else _where(view, field), text]
