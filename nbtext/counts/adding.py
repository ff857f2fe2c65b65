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
    from collections.abc import Sequence

    from nbtext.parallel import Map

from nbtext.counts.room import SPILLED, bound
from nbtext.counts.table import CountTable, add


class Adding:
    """The sum of tables, as they come."""

    def __init__(self) -> None:
        self._fresh: list[CountTable] = []
        self._aside: list[CountTable] = []

    def add(self, table: CountTable) -> None:
        """
        Add one more.

        Raises:
            SettingsError: it was not counted with the same settings.
            NoRoomError: the temporary folder has no room for what memory is too short
                for.

        """
        fresh = [*self._fresh, table]
        n_rows = sum(one.n_rows for one in fresh)
        if len(fresh) > 1 and n_rows >= 2 * fresh[0].n_rows:
            fresh = [add(fresh)]
        if sum(one.in_memory for one in fresh) > bound() // SPILLED:
            self._aside.append(add(fresh).put_aside())
            fresh = []
        self._fresh = fresh

    def table(self, map_: Map = map) -> CountTable | None:
        """
        Return the sum, None if nothing was added; `map_` deals with the ranges.

        Raises:
            SettingsError: they were not counted with the same settings.

        """
        tables = [*self._aside, *self._fresh]
        return add(tables, map_) if tables else None


def put_aside_if_large(tables: Sequence[CountTable]) -> list[CountTable]:
    """
    Return the same tables, in temporary files if they take too much memory together.

    Raises:
        NoRoomError: the temporary folder has no room for them.

    """
    if sum(table.in_memory for table in tables) <= bound() // SPILLED:
        return [*tables]
    return [table.put_aside() for table in tables]
