"""
The correction of a model's text form: lines in, signed values by class out.

Two kinds of lines have a part of it: the values of a term, and the amounts of a
document. They are checked to be what the text says they are: sorted, of known classes
and of documents in the ledger.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nbtext.counts.correction_table import Correction
    from nbtext.store import Header
    from nbtext.textform.counts import LedgerLines

from nbtext.counts.correction import MOST, MOST_AMOUNT
from nbtext.counts.correction_table import correction_of
from nbtext.textform.counts import places_of
from nbtext.textform.lines import KEY_DIGITS, TextLines, keys_of, shown

CORRECTED: Final = keys_of("corrected", "view", "values")
AMOUNTS: Final = keys_of("amounts", "class", "fingerprint", "values")
"""The keys of the two kinds of lines."""


class CorrectionLines:
    """A correction, as it is read."""

    def __init__(self, lines: TextLines, header: Header, ledger: LedgerLines) -> None:
        self._lines = lines
        self._header = header
        self._ledger = ledger
        self._classes = places_of(header.classes)
        self._views = places_of([view.name for view in header.settings.views])
        self._last_term = (-1, -1)
        self._last_row = (-1, -1, -1)
        self._cells = [(array("Q"), array("H"), array("q")) for _ in self._views]
        self._rows = array("Q")
        self._amounts = (array("H"), array("H"), array("q"))

    def add_values(self, line: dict[str, Any]) -> None:
        """
        Add the values of a term.

        Raises:
            TextFormError: there are none, or they are not in their place.
        """
        lines = self._lines
        self._check_wanted()
        lines.check_keys(line, CORRECTED, "the values of a term")
        view = lines.place(line["view"], self._views, "a view")
        key = lines.digits(line["corrected"], KEY_DIGITS, "a term")
        if (view, key) <= self._last_term:
            expected = "corrected terms by view and sorted, each once"
            raise lines.error(expected, f"{key:012x} behind {self._last_term[1]:012x}")
        self._last_term = (view, key)
        keys, places, values = self._cells[view]
        for place, value in self._numbers(line["values"]):
            keys.append(key)
            places.append(place)
            values.append(value)

    def add_amounts(self, line: dict[str, Any]) -> None:
        """
        Add the amounts of a document.

        Raises:
            TextFormError: there are none, or of a document that the ledger lacks.
        """
        lines = self._lines
        self._check_wanted()
        lines.check_keys(line, AMOUNTS, "the amounts of a document")
        document = lines.digits(line["amounts"], 32, "a document")
        label = lines.place(line["class"], self._classes, "a class")
        mark = lines.digits(line["fingerprint"], 16, "a fingerprint")
        row = (document, label, mark)
        if row <= self._last_row or not self._ledger.has(*row):
            expected = "one of the documents above, sorted, each once"
            raise lines.error(expected, shown(line["amounts"]))
        self._last_row = row
        labels, places, values = self._amounts
        for place, value in self._numbers(line["values"], MOST_AMOUNT):
            self._rows.extend((*divmod(document, 1 << 64), mark))
            labels.append(label)
            places.append(place)
            values.append(value)

    def _check_wanted(self) -> None:
        if self._header.correction is None:
            expected = 'no correction, since the first line says "correction": null'
            raise self._lines.error(expected, "a part of one")

    def _numbers(self, plain: Any, most: int = MOST) -> Iterator[tuple[int, int]]:
        """Yield the place of each class that has a number, and that, in order."""
        lines = self._lines
        if type(plain) is not dict or not plain:
            raise lines.error("an object of numbers by class", shown(plain))
        for name, value in sorted(plain.items()):  # which is the order of the classes
            place = lines.place(name, self._classes, "a class")
            number = lines.whole(value, 1 - most, most - 1, "a number")
            if not number:
                raise lines.error("a number that is not 0", "0")
            yield place, number

    def correction(self) -> Correction | None:
        """Return all of it, None if there is none."""
        info = self._header.correction
        if info is None:
            return None
        views = [
            (
                np.array(keys, np.uint64),
                np.array(places, np.uint16),
                np.array(values, np.int64),
            )
            for keys, places, values in self._cells
        ]
        labels, places, values = (np.array(part, np.int64) for part in self._amounts)
        rows = np.array(self._rows, np.uint64).reshape(-1, 3)
        amounts = (rows, labels, places, values)
        header = self._header
        return correction_of(info, header.classes, views, amounts, header.biases)
