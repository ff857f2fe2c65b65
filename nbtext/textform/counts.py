"""
The terms and the ledger of a model's text form: lines in, counts by class out.

What is read is kept in arrays, so that memory is bounded by what the model takes. The
counts are checked to be what the text says they are: sorted, of known classes, not
below zero, adding up to the totals and the documents of the first line.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from nbtext.counts.texts import TermTexts
    from nbtext.store import Header

from nbtext.counts import LedgerRun, SortedCounts
from nbtext.counts.sorted_counts import CountsByClass, narrow, sums_alone
from nbtext.counts.table import rows_by_class
from nbtext.store.header import MOST
from nbtext.textform.lines import KEY_DIGITS, TextLines, keys_of, shown
from nbtext.textform.texts import TextsOfTerms

TERM: Final = keys_of("term", "view", "counts")
DOCUMENT: Final = keys_of("document", "class", "fingerprint", "count")
"""The keys of the two kinds of lines."""

GATHERED: Final = 1 << 16
"""Number of rows that are gathered before they are put to the others."""


class TermLines:
    """
    The terms, as they are read.

    Attributes:
        number: how many there are.
    """

    def __init__(self, lines: TextLines, header: Header) -> None:
        self.number = 0
        self._lines = lines
        self._header = header
        self._classes = places_of(header.classes)
        self._views = places_of([view.name for view in header.settings.views])
        self._last = (-1, -1)
        self._texts = TextsOfTerms(lines, header)
        self._counts = [
            CountsByClass(len(header.classes), len(view.columns))
            for view in header.settings.views
        ]
        self._totals = [
            [[0] * len(view.columns) for _ in header.classes]
            for view in header.settings.views
        ]
        self._begin(0)

    def _begin(self, view: int) -> None:
        """Begin to gather rows of a view: keys, places of classes and columns."""
        self._view = view
        self._keys, self._places = array("Q"), array("H")
        self._columns = [array("q") for _ in self._header.settings.views[view].columns]

    def _settle(self) -> None:
        """Put what was gathered to the counts of its view, class by class."""
        keys = np.array(self._keys, np.uint64)
        columns = [np.array(column, np.int64) for column in self._columns]
        places = np.array(self._places, np.uint16)
        for class_, rows in enumerate(rows_by_class(places, len(self._classes))):
            values = tuple(column.take(rows) for column in columns)
            part = SortedCounts(keys.take(rows), values)
            self._counts[self._view].add(class_, part)
            totals = self._totals[self._view][class_]
            totals[:] = map(int.__add__, totals, map(_exact_sum, values))

    def add(self, line: dict[str, Any]) -> None:
        """
        Add the term of a line.

        Raises:
            TextFormError: it is no term, or not in its place.
        """
        lines = self._lines
        text = line.pop("text", None)
        lines.check_keys(line, TERM, "a term")
        view = lines.place(line["view"], self._views, "a view")
        key = lines.digits(line["term"], KEY_DIGITS, "a term")
        if (view, key) <= self._last:
            expected = "terms by view, as in the first line, and sorted, each once"
            raise lines.error(expected, f"{key:012x} behind {self._last[1]:012x}")
        self._last = (view, key)
        if text is not None:
            self._texts.add(view, key, text)
        counts = line["counts"]
        if type(counts) is not dict or not counts:
            raise lines.error("an object of counts by class", shown(counts))
        if view != self._view or len(self._keys) >= GATHERED:
            self._settle()
            self._begin(view)
        columns = self._columns
        for name, row in sorted(counts.items()):  # which is the order of the classes
            place = lines.place(name, self._classes, "a class")
            if type(row) is not list or len(row) != len(columns) or not any(row):
                raise lines.error(self._row_expected(view), shown(row))
            for column, value in zip(columns, row, strict=True):
                if type(value) is not int or not 0 <= value < MOST:
                    lines.whole(value, 0, MOST - 1, "a count")
                column.append(value)
            self._keys.append(key)
            self._places.append(place)
        self.number += 1

    def _row_expected(self, view: int) -> str:
        columns = ", ".join(self._header.settings.views[view].columns)
        return f"counts of a class as [{columns}], not all zero"

    def texts(self) -> tuple[TermTexts, ...] | None:
        """
        Return the texts of terms, by view, None if the model keeps none.

        Raises:
            TextFormError: one is the text of another term.
        """
        return self._texts.texts()

    def runs(self) -> tuple[tuple[SortedCounts, ...], ...]:
        """
        Return the counts, by view and then by class.

        Raises:
            TextFormError: they do not add up to the totals of the first line.
        """
        self._settle()
        self._begin(self._view)
        return tuple(map(self._runs_of, range(len(self._views))))

    def _runs_of(self, view: int) -> tuple[SortedCounts, ...]:
        counted = self._counts[view].runs()
        if self._header.settings.views[view].kind == "number":
            if any(map(len, counted)):
                raise self._lines.error("no terms in a view of numbers", "some", 1)
            return tuple(map(sums_alone, self._header.totals[view]))
        runs = []
        for class_, run in enumerate(counted):
            self._check_totals(view, class_, self._totals[view][class_])
            runs.append(SortedCounts(run.keys, tuple(map(narrow, run.columns))))
        return tuple(runs)

    def _check_totals(self, view: int, class_: int, sums: list[int]) -> None:
        totals = list(self._header.totals[view][class_])
        if totals != sums:
            name = self._header.classes[class_]
            where = (
                f"class {shown(name)}, view {self._header.settings.views[view].name}"
            )
            expected = f"the totals {sums} ({where}), which the terms add up to"
            raise self._lines.error(expected, str(totals), 1)


class LedgerLines:
    """The rows of the ledger, as they are read."""

    def __init__(self, lines: TextLines, header: Header) -> None:
        self._lines = lines
        self._header = header
        self._classes = places_of(header.classes)
        self._last = (-1, -1, -1, -1)
        self._highs = array("Q")
        self._lows = array("Q")
        self._marks = array("Q")
        self._places = array("H")
        self._counts = array("q")

    def add(self, line: dict[str, Any]) -> None:
        """
        Add the row of a line.

        Raises:
            TextFormError: it is no document, or not in its place.
        """
        lines = self._lines
        if not self._header.settings.ledger:
            expected = 'no documents, since the first line says "ledger": false'
            raise lines.error(expected, "one")
        lines.check_keys(line, DOCUMENT, "a document")
        high, low = divmod(lines.digits(line["document"], 32, "a document"), 1 << 64)
        place = lines.place(line["class"], self._classes, "a class")
        mark = lines.digits(line["fingerprint"], 16, "a fingerprint")
        row = (high, low, place, mark)
        if row <= self._last:
            expected = "documents sorted, with their class and fingerprint, each once"
            raise lines.error(expected, f"{high:016x}{low:016x} where it cannot be")
        self._last = row
        self._counts.append(lines.whole(line["count"], 1, MOST - 1, "a count"))
        self._highs.append(high)
        self._lows.append(low)
        self._places.append(place)
        self._marks.append(mark)

    def has(self, document: int, place: int, mark: int) -> bool:
        """Return whether a document is in a class with a fingerprint."""
        wanted = (*divmod(document, 1 << 64), place, mark)
        row = bisect_left(range(len(self._highs)), wanted, key=self._row)
        return row < len(self._highs) and self._row(row) == wanted

    def _row(self, row: int) -> tuple[int, int, int, int]:
        return self._highs[row], self._lows[row], self._places[row], self._marks[row]

    def runs(self) -> tuple[LedgerRun, ...]:
        """
        Return the ledger, by class.

        Raises:
            TextFormError: a class has more or fewer documents in the first line.
        """
        columns = [np.array(part, np.uint64) for part in (self._highs, self._lows)]
        columns.append(np.array(self._marks, np.uint64))
        entries = np.stack(columns, axis=1)
        counts = np.array(self._counts, np.int64)
        runs = []
        places = np.array(self._places, np.uint16)
        rows_of = rows_by_class(places, len(self._classes))
        for class_, rows in enumerate(rows_of):
            of_class = counts.take(rows)
            self._check_documents(class_, _exact_sum(of_class))
            runs.append(LedgerRun(entries.take(rows, axis=0), narrow(of_class)))
        return tuple(runs)

    def _check_documents(self, class_: int, number: int) -> None:
        documents = self._header.documents[class_]
        if self._header.settings.ledger and documents != number:
            name = shown(self._header.classes[class_])
            expected = f"{number} documents of class {name}, as many as are listed"
            raise self._lines.error(expected, str(documents), 1)


def places_of(names: Sequence[str]) -> dict[str, int]:
    """Return the place of each name."""
    return {name: place for place, name in enumerate(names)}


def _exact_sum(values: NDArray[np.int64]) -> int:
    """Return the sum of counts, however large: 64 bits may not hold it."""
    high, low = values >> 32, values & 0xFFFF_FFFF
    return (int(high.sum()) << 32) + int(low.sum())
