"""A report as the text of a file, whose name says of which kind it is."""

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import PurePath
from typing import Final

from nbtext.document import readable
from nbtext.errors import SettingsError
from nbtext.evaluation import Evaluation
from nbtext.report.page import TITLE, page_of, summary
from nbtext.report.svg import shown
from nbtext.report.tables import PAIRS, TEXTS, tables_of
from nbtext.scoring.top import TopTerm

DOCUMENTS: Final = ".jsonl"
"""The suffix of a report that has what was decided, and no figures."""

FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet takes for the beginning of a formula."""

Renderer = Callable[[Evaluation, Sequence[TopTerm]], Iterable[str]]


def report_pieces(
    result: Evaluation, path: str, top: Sequence[TopTerm] = ()
) -> Iterable[str]:
    """
    Return a report of an evaluation, in pieces: of many documents it may be long.

    Args:
        result: the evaluation.
        path: the file that it is for; its suffix is the kind: one of SUFFIXES.
        top: terms that most speak for the classes, if they are known.

    Raises:
        SettingsError: the suffix is another.
    """
    render = SUFFIXES.get(PurePath(path).suffix.lower())
    if render is None:
        known = ", ".join(SUFFIXES)
        message = f"{path}: a report is a file of one of the kinds {known}"
        raise SettingsError(message)
    return render(result, top)


def markdown_of(result: Evaluation, top: Sequence[TopTerm]) -> Iterator[str]:
    """Yield the figures as lines of Markdown tables."""
    yield f"# {_cell(TITLE)}\n\n{summary(result)}\n"
    for table in tables_of(result, top):
        yield f"\n## {_cell(table.title)}\n\n"
        yield f"| {' | '.join(map(_cell, table.heading))} |\n"
        yield f"|{'---|' * len(table.heading)}\n"
        for row in table.rows:
            yield f"| {' | '.join(map(_cell, row))} |\n"


def _cell(text: str) -> str:
    """Return a text as one cell of a Markdown table, without markup of its own."""
    safe = shown(text)
    for one in "\\`*_[]<>|#&~":
        safe = safe.replace(one, f"\\{one}")
    return safe


def csv_of(result: Evaluation, top: Sequence[TopTerm]) -> Iterator[str]:
    """
    Yield all tables as rows: table, row, column and value.

    A text that a spreadsheet would run as a formula has an apostrophe before it.
    """
    stream = io.StringIO()
    writer = csv.writer(stream)
    writer.writerow(("table", "row", "column", "value"))
    for table in tables_of(result, top):
        for row in table.rows:
            for column, cell in zip(table.heading[1:], row[1:], strict=True):
                if cell:
                    is_name = table.heading == PAIRS and column == PAIRS[1]
                    is_text = is_name or table.name in TEXTS
                    value = cell if is_text else cell.replace(",", "")
                    texts = map(_inert, (row[0], column, value))
                    writer.writerow((table.name, *texts))
    yield stream.getvalue()


def _inert(text: str) -> str:
    """Return a text as a cell that no program runs, without what is not shown."""
    safe = shown(text.encode("utf-8", "backslashreplace").decode())
    try:
        float(safe)
    except ValueError:
        return f"'{safe}" if text.startswith(FORMULA) else safe
    return safe


def documents_of(result: Evaluation, _top: Sequence[TopTerm]) -> Iterator[str]:
    r"""
    Yield a line of JSON for each document: what was decided about it.

    Its keys are those of `classify` in JSON, and bytes that are not UTF-8 are
    written \xHH, as there.
    """
    for document in result.judged():
        values = document.as_dict()
        for key in values.keys() & {"name", "id"}:
            values[key] = readable(values[key])
        yield f"{json.dumps(values)}\n"


SUFFIXES: Final[dict[str, Renderer]] = {
    ".html": page_of, ".md": markdown_of, ".csv": csv_of, DOCUMENTS: documents_of,
}  # fmt: skip
"""The kinds of reports, by the suffix of their file."""
