"""What `doctor` has found, as tables on a terminal."""

from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter

from rich.table import Table
from rich.text import Text

from nbtext.cli._findings import KINDS, finding_rows, summary, totals
from nbtext.cli._narrow import sentence
from nbtext.cli._tables import aligned
from nbtext.doctor import Findings


def finding_tables(found: Findings) -> Iterator[Table | Text]:
    """
    Yield a heading and a line for each finding, kind by kind, and a summary last.

    They are lines, and not the rows of a table, so that a long name can be copied.
    """
    n_found = totals(found)
    for kind, of_kind in groupby(finding_rows(found), key=itemgetter(0)):
        rows = [row[1:] for row in of_kind]
        yield sentence(KINDS[kind], "bold")
        yield from map(Text, aligned(rows))
        rest = n_found[kind] - len(rows)
        if rest > 0 and kind != "unreadable":
            yield Text(f"{rest:,} more; --most shows them", "dim")
        yield Text()
    yield sentence(summary(found), "bold")
