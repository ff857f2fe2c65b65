"""
The undo records of a model's text form: lines in, what the last documents left out.

A record says which document of the ledger it is of, and its terms must have the
fingerprint that the ledger knows: wrong counts are never taken away.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from nbtext.store import Header
    from nbtext.textform.counts import LedgerLines

from nbtext.counts.calibration import FARTHEST_BIN
from nbtext.exact import is_key
from nbtext.store import Row, UndoRecords
from nbtext.store.header import MOST, MOST_RECORDS
from nbtext.store.ledger import NO_BIN
from nbtext.textform.counts import places_of
from nbtext.textform.lines import KEY_DIGITS, NUMBER_DIGITS, TextLines, keys_of, shown
from nbtext.tokens import Bag, Terms, fingerprint
from nbtext.tokens.bags import starts_of

UNDO: Final = keys_of("undo", "class", "fingerprint", "bins", "terms")
MORE: Final = keys_of("more")
"""The keys of a record's first line, and of the others if its terms take several."""


class RecordLines:
    """What the last documents left, as it is read; the terms of one may take lines."""

    def __init__(self, lines: TextLines, header: Header, ledger: LedgerLines) -> None:
        self._lines = lines
        self._header = header
        self._ledger = ledger
        self._classes = places_of(header.classes)
        self._views = places_of([view.name for view in header.settings.views])
        self._are_numbers = [view.kind == "number" for view in header.settings.views]
        self._known: set[tuple[int, int, int]] = set()
        self._bins: list[tuple[int, ...]] = []
        self._records: list[tuple[int, int, int]] = []
        self._bag: Bag = ()
        self._start = 0
        self._sizes = [array("q") for _ in self._views]
        self._keys = [array("Q") for _ in self._views]
        self._counts = [array("q") for _ in self._views]

    def add(self, line: dict[str, Any]) -> None:
        """
        Add a record, or more of the last one.

        Raises:
            TextFormError: it is neither, or not of a document in the ledger.
        """
        lines = self._lines
        if "more" in line:
            lines.check_keys(line, MORE, "more of a record")
            if not self._bag:
                raise lines.error("an undo record", "more of none")
            self._add_terms(line["more"])
            return
        self.close()
        lines.check_keys(line, UNDO, "an undo record")
        document = lines.digits(line["undo"], 32, "a document")
        place = lines.place(line["class"], self._classes, "a class")
        mark = lines.digits(line["fingerprint"], 16, "a fingerprint")
        record = (document, place, mark)
        if not self._ledger.has(document, place, mark) or record in self._known:
            expected = "one of the documents above, each once"
            raise lines.error(expected, shown(line["undo"]))
        most = min(self._header.history.keep, MOST_RECORDS)
        if len(self._records) == most:
            raise lines.error(f"{most} undo records, which is to keep", "one more")
        self._known.add(record)
        self._records.append(record)
        self._bins.append(self._bins_of(line["bins"]))
        self._bag = tuple({} for _ in self._views)
        self._start = lines.number
        self._add_terms(line["terms"])

    def _bins_of(self, plain: Any) -> tuple[int, ...]:
        n_bins = len(self._header.calibrations)
        if type(plain) is not list or len(plain) not in (0, n_bins):
            expected = f"{n_bins} bins, one for each calibration, or none"
            raise self._lines.error(expected, shown(plain))
        return tuple(map(self._bin_of, plain))

    def _bin_of(self, value: Any) -> int:
        if value is None:
            return NO_BIN
        return self._lines.whole(value, -FARTHEST_BIN, FARTHEST_BIN, "a bin, or null,")

    def _add_terms(self, plain: Any) -> None:
        lines = self._lines
        if type(plain) is not dict:
            raise lines.error("an object of terms by view", shown(plain))
        for name, terms in plain.items():
            view = lines.place(name, self._views, "a view")
            bag, are_numbers = self._bag[view], self._are_numbers[view]
            width = NUMBER_DIGITS if are_numbers else KEY_DIGITS
            if type(terms) is not dict:
                raise lines.error("an object of counts by term", shown(terms))
            for digits, count in terms.items():
                key = lines.digits(digits, width, "a term")
                if are_numbers and not is_key(key):
                    raise lines.error("the bits of a finite number", shown(digits))
                if key in bag:
                    raise lines.error("each term of a record once", shown(digits))
                bag[key] = lines.whole(count, 1, MOST - 1, "a count")

    def close(self) -> None:
        """
        Put away the record that was read last.

        Raises:
            TextFormError: its terms are not those that its fingerprint stands for.
        """
        if not self._bag:
            return
        mark, found = self._records[-1][2], fingerprint(self._bag)
        if mark != found:
            expected = f"the fingerprint {found:016x}, which is that of its terms"
            raise self._lines.error(expected, f"{mark:016x}", self._start)
        for view, bag in enumerate(self._bag):
            self._sizes[view].append(len(bag))
            for key, count in sorted(bag.items()):
                self._keys[view].append(key)
                self._counts[view].append(count)
        self._bag = ()

    def records(self) -> UndoRecords:
        """Return all of them."""
        names = self._header.classes
        return UndoRecords(
            [document.to_bytes(16, "big") for document, _, _ in self._records],
            [Row(names[place], mark) for _, place, mark in self._records],
            self._bins,
            [
                Terms(
                    np.array(keys, np.uint64),
                    np.array(counts, np.int64),
                    starts_of(np.array(sizes, np.int64)),
                )
                for sizes, keys, counts in zip(
                    self._sizes, self._keys, self._counts, strict=True
                )
            ],
        )
