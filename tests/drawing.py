"""What the terminal shows of results, as lines."""

import io
from collections.abc import Iterable

from rich.console import Console
from rich.table import Table
from rich.text import Text

from nbtext.cli._narrow import NarrowTable


def drawn(results: Iterable[NarrowTable | Table | Text], width: int = 80) -> list[str]:
    """Return lines as `nbtext.cli._terminal.show` draws them."""
    console = Console(file=io.StringIO(), width=width)
    for result in results:
        console.print(result, soft_wrap=isinstance(result, Text))
    assert isinstance(console.file, io.StringIO)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]
