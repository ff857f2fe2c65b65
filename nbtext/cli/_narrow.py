"""Tables that leave out their least columns where the terminal is narrow."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions

GAP: Final = 2
"""Columns of the terminal between two of a table."""

LEAST_LABEL: Final = 12
"""Columns to which the labels of classes may be folded."""

LEAST_TERM: Final = 14
"""Columns to which terms may be cut."""


class Column(NamedTuple):
    """
    A column of a table.

    Attributes:
        heading: what stands above it.
        rank: 0 if it always stays; of the others the highest goes first.
        is_number: whether it is flush right.
        least: columns of the terminal to which it may shrink; None if it may not.
        is_cut: whether what is longer then is cut, and not folded.
    """

    heading: Text
    rank: int = 0
    is_number: bool = False
    least: int | None = None
    is_cut: bool = False


def label_column(heading: str) -> Column:
    """Return a column of labels, or other names, which always stays."""
    return Column(Text(heading), least=LEAST_LABEL)


def number_column(heading: str | Text, rank: int = 0) -> Column:
    """Return a column of numbers."""
    return Column(Text(heading) if isinstance(heading, str) else heading, rank, True)


def sentence(text: str, style: str = "") -> Table:
    """Return what breaks a sentence between words, which terminals do not."""
    words = Table.grid()
    words.add_row(Text(text, style))
    return words


TERM: Final = Column(Text("term"), least=LEAST_TERM, is_cut=True)
"""The column of terms, which always stays."""


class NarrowTable:
    """A table that is made for the terminal when it is drawn."""

    def __init__(
        self,
        *columns: Column,
        narrower: "NarrowTable | None" = None,
        has_heading: bool = True,
    ) -> None:
        """
        Make a table without rows.

        Args:
            columns: its columns.
            narrower: what is drawn in its place if it does not fit.
            has_heading: whether headings are drawn.
        """
        self.columns = columns
        self.rows: list[tuple[tuple[Text, ...], str]] = []
        self._narrower = narrower
        self._has_heading = has_heading

    def add_row(self, *cells: str | Text, style: str = "") -> None:
        """Add a row; no markup is read in strings."""
        row = (Text(cell) if isinstance(cell, str) else cell for cell in cells)
        self.rows.append((tuple(row), style))

    def __rich_console__(
        self, _console: "Console", options: "ConsoleOptions"
    ) -> Iterator["Table | Text | NarrowTable"]:
        """Yield what is drawn in so many columns of the terminal."""
        natural = [
            max(cell_len(line) for text in texts for line in text.plain.split("\n"))
            for texts in self._texts()
        ]
        kept = self._kept(natural, options.max_width)
        least = self._least(natural, kept)
        if self._narrower is not None and least > options.max_width:
            no_room = Text(f"no room for {len(natural)} columns", "dim")
            yield self._narrower if self._narrower.rows else no_room
            return
        yield self._drawn(kept, self._widths(natural, kept, options.max_width))
        left = {*range(len(self.columns))} - {*kept}
        named = [self.columns[place].heading.plain for place in sorted(left)]
        if any(named):
            yield Text(f"no room for: {', '.join(filter(None, named))}", "dim")

    def _texts(self) -> Iterator[list[Text]]:
        """Yield heading and cells of each column."""
        for place, column in enumerate(self.columns):
            heading = column.heading if self._has_heading else Text()
            yield [heading, *(cells[place] for cells, _ in self.rows)]

    def _kept(self, natural: Sequence[int], room: int) -> list[int]:
        """Return the places of the columns there is room for."""
        kept = [*range(len(self.columns))]
        while self._least(natural, kept) > room:
            last = max(kept, key=lambda place: self.columns[place].rank)
            if not self.columns[last].rank:
                break
            kept.remove(last)
        return kept

    def _least(self, natural: Sequence[int], kept: Sequence[int]) -> int:
        """Return how narrow some columns can be."""
        widths = sum(self._least_of(natural, place) for place in kept)
        return widths + GAP * (len(kept) - 1)

    def _least_of(self, natural: Sequence[int], place: int) -> int:
        least = self.columns[place].least
        return natural[place] if least is None else min(natural[place], least)

    def _widths(
        self, natural: Sequence[int], kept: Sequence[int], room: int
    ) -> dict[int, int]:
        """Return the width of each column; the widest shrink first."""
        widths = {place: natural[place] for place in kept}
        room -= GAP * (len(kept) - 1)
        while sum(widths.values()) > room:
            able = [
                place
                for place, width in widths.items()
                if width > self._least_of(natural, place)
            ] or [place for place in kept if self.columns[place].least is not None]
            widest = max(able, key=widths.__getitem__, default=None)
            if widest is None or widths[widest] <= 1:
                break
            widths[widest] -= 1
        return widths

    def _drawn(self, kept: Sequence[int], widths: dict[int, int]) -> Table:
        table = Table(box=None, pad_edge=False, show_header=self._has_heading)
        for place in kept:
            column = self.columns[place]
            table.add_column(
                column.heading,
                justify="right" if column.is_number else "left",
                width=widths[place],
                no_wrap=column.is_cut or column.least is None,
                overflow="ellipsis" if column.is_cut else "fold",
            )
        for cells, style in self.rows:
            table.add_row(*(cells[place] for place in kept), style=style)
        return table
