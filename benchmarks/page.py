"""
The tables of docs/benchmarks.md, a part for each benchmark, and where they come from.

A part is replaced as a whole, with the machine, the versions, the commit and the day of
its run, so that no row stands beside another that was measured elsewhere.
"""

import inspect
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from benchmarks.bench import REPOSITORY
from benchmarks.command import Figures
from benchmarks.figures import Row, table
from benchmarks.machine import facts

PAGE: Final = REPOSITORY / "docs" / "benchmarks.md"


def name_of(figures: Figures) -> str:
    """Return the name of a benchmark's module, also of one that is run by itself."""
    return Path(inspect.getfile(figures)).stem


def part(figures: Figures, rows: Iterable[Row]) -> str:
    """Return what the page says of a benchmark."""
    title = (inspect.getdoc(inspect.getmodule(figures)) or "").partition("\n")[0]
    lines = [f"### {title.removesuffix('.')}", "", *table(rows), "", facts()]
    return "\n".join(lines) + "\n"


def written(page: str, name: str, text: str) -> str:
    """
    Return a page in which the part of a benchmark is replaced.

    Raises:
        LookupError: the page has no such part.
    """
    begin, end = markers(name)
    before, found, rest = page.partition(begin)
    _, also, after = rest.partition(end)
    if not (found and also):
        message = f"{PAGE}: expected the lines {begin!r} and {end!r}, found none"
        raise LookupError(message)
    return f"{before}{begin}\n{text}\n{end}{after}"


def markers(name: str) -> tuple[str, str]:
    """Return the lines between which the part of a benchmark stands."""
    return f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->\n"


def parts(page: str) -> list[str]:
    """Return the names of the parts that a page has, in order."""
    return re.findall(r"^<!-- (\w+): begin -->$", page, re.MULTILINE)


def write(figures: Figures, rows: Iterable[Row]) -> None:
    """Replace the part of a benchmark in the page."""
    page = PAGE.read_text(encoding="utf-8")
    text = written(page, name_of(figures), part(figures, rows))
    PAGE.write_text(text, encoding="utf-8")
