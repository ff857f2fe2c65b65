"""
Adding up tables that come one after the other, each gone once it is added.

Two tables become one when there are enough rows beside those that are there already, so
that no row is written more often than a logarithm says. What takes too much memory goes
to temporary files (`nbtext.counts.room`), and those are added up once, at the end. The
sum does not depend on any of that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nbtext.parallel import Map

from nbtext.counts.room import SPILLED, bound
from nbtext.counts.table import CountTable, add


class Adding:
    """The sum of tables, as they come."""

    def __init__(self) -> None:
        self._fresh: list[CountTable] = []
        self._n_rows = self._size = 0  # of these, and their bytes in memory
        self._aside: list[CountTable] = []

    def add(self, table: CountTable) -> None:
        """
        Add one more.

        Raises:
            SettingsError: it was not counted with the same settings.
            NoRoomError: the temporary folder has no room for what memory is too short
                for.
        """
        self._take(table)
        if len(self._fresh) > 1 and self._n_rows >= 2 * self._fresh[0].n_rows:
            self._take(self._sum())
        if self._size > bound() // SPILLED:
            self._aside.append(self._sum().put_aside())

    def _take(self, table: CountTable) -> None:
        self._fresh.append(table)
        self._n_rows += table.n_rows
        self._size += table.in_memory

    def _sum(self) -> CountTable:
        """Return the sum of the fresh ones, of which there are none then."""
        fresh, self._fresh = self._fresh, []
        self._n_rows = self._size = 0
        return add(fresh)

    def table(self, map_: Map = map) -> CountTable | None:
        """
        Return the sum, None if nothing was added; `map_` deals with the ranges.

        Raises:
            SettingsError: they were not counted with the same settings.
        """
        tables = [*self._aside, *self._fresh]
        return add(tables, map_) if tables else None


class KeptTables:
    """
    Tables that are kept apart, in temporary files where they are large together.

    Attributes:
        tables: all of them, in the order in which they were added.
    """

    def __init__(self) -> None:
        self.tables: list[CountTable] = []
        self._n_aside = 0
        self._size = 0  # of the others, in bytes

    def add(self, table: CountTable) -> None:
        """
        Add one more.

        Raises:
            NoRoomError: the temporary folder has no room for what memory is too short
                for.
        """
        self.tables.append(table)
        self._size += table.in_memory
        if self._size > bound() // SPILLED:
            some = self.tables[self._n_aside :]
            self.tables[self._n_aside :] = [one.put_aside() for one in some]
            self._n_aside, self._size = len(self.tables), 0
