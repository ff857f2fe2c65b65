"""
The counts of a family of terms in one table of a file, read in place, and their sums.

A key's top bits say where in the mapped file it would be; the blocks that are read are
verified first.
"""

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import pairwise
from operator import add
from typing import Final, TypeAlias, TypeVar

from nbtext.errors import NotAModelError
from nbtext.settings.reading import KEY_BITS
from nbtext.store import StoredTable
from nbtext.store.schema import STRIDE, TermArrays, index_bits_of, stored_bits

Entry: TypeAlias = tuple[int, tuple[int, ...]]
"""A class (its place in the model's classes) and a term's columns there."""

Value: TypeAlias = tuple[int, int]
"""A class, and the value of a term there in a correction."""

Row = TypeVar("Row")

Sums: TypeAlias = dict[int, dict[int, tuple[int, ...]]]
"""Key to class to columns."""

GONE: Final = -1
"""The place of a class that the tables together do not have."""

FULL_KEY: Final = (1 << KEY_BITS) - 1

LONG: Final = 8
"""Looking a key up takes about as long as passing so many."""


class Stored:
    """
    Counts of one view, in one table or elsewhere.

    Attributes:
        is_signed: whether some of them may be below zero.
    """

    __slots__ = ()

    is_signed: bool

    def found(self, keys: Collection[int]) -> dict[int, list[Entry]]:
        """Return the counts of those terms that are here, in the order of the keys."""
        raise NotImplementedError

    def values(self, keys: Collection[int]) -> dict[int, list[Value]]:
        """Return the same of terms that have one column: the bare values, but zeros."""
        return _but_zeros(
            {
                key: [(class_, value) for class_, (value,) in entries]
                for key, entries in self.found(keys).items()
            }
        )

    def log_odds(self, keys: Collection[int]) -> dict[int, float] | None:
        """Return what known terms say, in nats, by key; None if nobody says it."""
        del keys
        return None

    def add_to(self, sums: Sums, keys: Collection[int]) -> None:
        """Add the counts of some terms to what other tables have of them."""
        add_found(sums, self.found(keys))


def summed(views: Sequence[Stored], keys: Collection[int]) -> dict[int, list[Entry]]:
    """Return the counts of terms over several tables, of those that have any."""
    sums: Sums = {}
    for stored in views:
        stored.add_to(sums, keys)
    found = {}
    for key in keys:
        if key in sums:
            entries = [one for one in sums[key].items() if any(one[1])]
            if entries:
                found[key] = sorted(entries)
    return found


def add_found(sums: Sums, found: dict[int, list[Entry]]) -> None:
    """Add the counts of terms that were found in a table to those of other tables."""
    for key, entries in found.items():
        by_class = sums.setdefault(key, {})
        for class_, columns in entries:
            if class_ in by_class:
                by_class[class_] = (*map(add, by_class[class_], columns),)
            else:
                by_class[class_] = columns


class StoredView(Stored):
    """The entries of a family of terms in one table, where they lie in the file."""

    __slots__ = (
        "_arrays", "_columns", "_index", "_keys", "_mask", "_names", "_ones", "_path",
        "_places", "_shift", "is_signed",
    )  # fmt: skip

    def __init__(
        self, path: str, table: StoredTable, names: TermArrays, places: tuple[int, ...]
    ) -> None:
        arrays = table.arrays
        self._path = path
        self._places = places
        self._arrays = arrays
        self._names = names
        self._index = arrays.unverified(names.buckets)
        self._keys = arrays.unverified(names.keys)
        bits = index_bits_of(len(self._index))
        self._shift = KEY_BITS - bits
        self._mask = (1 << stored_bits(bits)) - 1
        self._columns = [arrays.unverified(name) for name in names.columns]
        self._ones = (1,) * len(names.columns)
        self.is_signed = any(column.format in "bhiq" for column in self._columns)

    def add_to(self, sums: Sums, keys: Collection[int]) -> None:
        """Add the counts of some terms to what other tables have of them."""
        is_whole = self._mask == FULL_KEY
        if is_whole and len(self._keys) <= LONG * len(keys):
            # a table hardly longer than the document is read from end to end
            codes = self._arrays[self._names.codes]
            terms = enumerate(self._arrays[self._names.keys])
            places = {key: (codes[at], at) for at, key in terms if key in keys}
            add_found(sums, self._entries_of(places))
        else:
            super().add_to(sums, keys)

    def found(self, keys: Collection[int]) -> dict[int, list[Entry]]:
        """Return the counts of those terms that are here, in the order of the keys."""
        return self._entries_of(self._terms(keys))

    def values(self, keys: Collection[int]) -> dict[int, list[Value]]:
        """Return the same of terms that have one column: the bare values, but zeros."""
        column = self._columns[0]

        def rows_of(start: int, end: int) -> Iterable[int]:
            return column[start:end]

        return _but_zeros(self._entries_by(self._terms(keys), rows_of, 1))

    def _terms(self, keys: Collection[int]) -> dict[int, tuple[int, int]]:
        """Return the code and the place of those terms that are here, by key."""
        places = self.find_keys(keys)
        self._arrays.verify(self._names.codes, places.values())
        codes = self._arrays.unverified(self._names.codes)
        return {key: (codes[place], place) for key, place in places.items()}

    def find_keys(self, keys: Collection[int]) -> dict[int, int]:
        """
        Return the places of those keys that are among the stored ones.

        Raises:
            DamagedError: the arrays are not as they were written.
        """
        arrays, index, stored = self._arrays, self._index, self._keys
        shift, mask = self._shift, self._mask
        buckets = {key: key >> shift for key in keys}
        wanted = {*buckets.values()}
        arrays.verify(self._names.buckets, wanted | {bucket + 1 for bucket in wanted})
        spans = {bucket: (index[bucket], index[bucket + 1]) for bucket in wanted}
        self._check_spans(spans.values(), len(stored))
        arrays.verify_spans(self._names.keys, spans.values())
        found = {}
        for key, bucket in buckets.items():
            low, high = spans[bucket]
            part = key & mask
            place = bisect_left(stored, part, low, high)
            if place < high and stored[place] == part:
                found[key] = place
        return found

    def everything(self) -> dict[int, list[Entry]]:
        """
        Return the counts of all terms.

        Raises:
            NotAModelError: they are not as they were written, or contradict another.
        """
        index, keys = self._arrays[self._names.buckets], self._arrays[self._names.keys]
        codes = self._arrays[self._names.codes]
        if self._mask == FULL_KEY:
            whole = keys.tolist()
        else:
            self._check_spans(pairwise(index), len(keys))
            whole = [
                bucket << self._shift | keys[place]
                for bucket, (start, end) in enumerate(pairwise(index))
                for place in range(start, end)
            ]
        places = range(len(whole))
        terms = zip(codes, places, strict=False)
        return self._entries_of(dict(zip(whole, terms, strict=False)))

    def _entries_of(self, terms: dict[int, tuple[int, int]]) -> dict[int, list[Entry]]:
        """
        Return the counts of terms by key.

        Args:
            terms: key to the term's code and place.
        """
        columns = self._columns

        def rows_of(start: int, end: int) -> Iterable[tuple[int, ...]]:
            return zip(*[column[start:end] for column in columns], strict=True)

        return self._entries_by(terms, rows_of, self._ones)

    def _entries_by(
        self,
        terms: dict[int, tuple[int, int]],
        rows_of: Callable[[int, int], Iterable[Row]],
        one: Row,
    ) -> dict[int, list[tuple[int, Row]]]:
        """
        Return what is counted of terms, class by class, by key.

        Args:
            terms: key to the term's code and place.
            rows_of: returns what is counted in entries, from which to which.
            one: the same where nothing is stored.
        """
        n_classes = len(self._places)
        spans = self._spans(
            {place: code for code, place in terms.values() if code >= n_classes}
        )
        classes = self._arrays.unverified(self._names.classes)
        places = self._places
        has_gone = GONE in places
        found: dict[int, list[tuple[int, Row]]] = {}
        for key, (code, place) in terms.items():
            if code < n_classes:
                entries = [(places[code], one)]
            else:
                start, end = spans[place]
                numbers = classes[start:end]
                rows = rows_of(start, end)
                try:
                    entries = [*zip(map(places.__getitem__, numbers), rows)]  # noqa: B905  both are of the span
                except IndexError:
                    what = f"a term is in class {max(numbers)} of {n_classes}"
                    raise damaged(self._path, what) from None
            if has_gone:
                entries = [entry for entry in entries if entry[0] != GONE]
            if entries:
                found[key] = entries
        return found

    def _spans(self, codes: dict[int, int]) -> dict[int, tuple[int, int]]:
        """
        Return where the entries of terms are, verified, by the terms' places.

        Args:
            codes: the code of each term, which has entries, by its place.
        """
        arrays, names, n_classes = self._arrays, self._names, len(self._places)
        arrays.verify(names.starts, {place // STRIDE for place in codes})
        starts = arrays.unverified(names.starts)
        # the codes of a stride lie in one block, which was verified for the term's own
        stored = arrays.unverified(names.codes)
        spans: dict[int, tuple[int, int]] = {}
        for place, code in codes.items():
            stride = place // STRIDE
            start = starts[stride]
            for before in stored[stride * STRIDE : place]:
                if before >= n_classes:
                    start += before - n_classes + 1
            spans[place] = start, start + code - n_classes + 1
        self._check_spans(spans.values(), arrays.length(names.classes))
        for name in (names.classes, *names.columns):
            arrays.verify_spans(name, spans.values())
        return spans

    def _check_spans(self, spans: Iterable[tuple[int, int]], length: int) -> None:
        for start, end in spans:
            if not start <= end <= length:
                what = f"a term's values are those from {start} to {end} of {length}"
                raise damaged(self._path, what)


def _but_zeros(found: dict[int, list[Value]]) -> dict[int, list[Value]]:
    """Return the values of terms that are not zero."""
    return {
        key: kept
        for key, entries in found.items()
        if (kept := [entry for entry in entries if entry[1]])
    }


def damaged(path: str, what: str) -> NotAModelError:
    """Return the error that says what is wrong with a model."""
    return NotAModelError(f"{path}: damaged: {what}; restore a copy or train again")
