"""
Which documents a model has counted, and what the last of them left.

An open model file goes in. The ledger of each of its tables is searched in place, and
their rows are added up; the records of documents that were learnt one by one are found
from the newest to the oldest. docs/model-format.md says where they are.
"""

import sys
from bisect import bisect_left
from collections import Counter as Tally
from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from functools import partial
from itertools import accumulate, chain, compress
from typing import Any, Final, NamedTuple

from nbtext.counts.calibration import added_up
from nbtext.settings.reading import KEY_BITS, Settings
from nbtext.settings.views import View
from nbtext.store.blocks import Arrays
from nbtext.store.file import ModelFile
from nbtext.store.header import MOST
from nbtext.store.schema import (
    AMOUNTS,
    IMPLIED_BITS,
    LEDGER,
    LOW_BITS,
    RECORDS,
    TermArrays,
    bag_arrays,
    index_bits_of,
    stored_bits,
    term_arrays,
)
from nbtext.store.table import StoredTable
from nbtext.tokens import Bag, fingerprint

MOST_TERMS: Final = 1 << 17
"""Of a document with more distinct terms no record is kept."""

NO_BIN: Final = -(1 << 15)
"""Stands for the bin of a score that nobody knows."""

LOSSES: Final = 0
"""Stands for the bin of a score of which the losses were added up."""

FORGOTTEN: Final = 0
"""The fingerprint of counts that nobody knows any more, since the model was pruned."""


SHORT: Final = 16_384
"""So few rows are verified together; of more, each when it is looked at."""


class Row(NamedTuple):
    """
    A document in a class.

    Attributes:
        label: the class.
        fingerprint: what tells the counts that it left from others.
    """

    label: str
    fingerprint: int


class Record(NamedTuple):
    """
    What a document left when it was learnt.

    Attributes:
        bag: its terms in each view.
        bins: where its scores fell before it was learnt, one for each calibration of
            the file, NO_BIN where there is none; empty if nobody knows.
    """

    bag: Bag
    bins: tuple[int, ...]


def rows_of(file: ModelFile, digest: bytes) -> Tally[Row]:
    """Return in which classes a document was counted, and how often."""
    return rows_of_all(file, {digest})[digest]


def rows_of_all(file: ModelFile, digests: Collection[bytes]) -> dict[bytes, Tally[Row]]:
    """
    Return in which classes each of some documents was counted, and how often.

    Args:
        file: the model.
        digests: distinct, 16 bytes each, that name the documents.
    """
    found: dict[bytes, Tally[Row]] = {digest: Tally() for digest in digests}
    for table in file.tables:
        value = table.arrays.value
        for digest, place in _places(table, digests):
            label = _class_name(table, value(LEDGER.classes, place))
            if label is not None:
                row = Row(label, value(LEDGER.fingerprints, place))
                found[digest][row] += value(LEDGER.counts, place)
    return {digest: +rows for digest, rows in found.items()}


def amounts_of(file: ModelFile, digest: bytes, row: Row) -> dict[str, int]:
    """
    Return what a document has added to the correction of a model.

    Returns:
        Class to amount, in 1/256, for all copies of the document; no zeros.
    """
    amounts: Tally[str] = Tally()
    for table in file.tables:
        if table.header.correction is not None:
            amounts.update(_amounts(table, digest, row))
    return {label: amount for label, amount in sorted(amounts.items()) if amount}


def _amounts(table: StoredTable, digest: bytes, row: Row) -> Tally[str]:
    """Return what a table says that a document has added to a correction."""
    arrays = table.arrays
    found: Tally[str] = Tally()
    for place in _places_in(table, AMOUNTS.high, AMOUNTS.low, digest):
        is_it = arrays.value(AMOUNTS.fingerprints, place) == row.fingerprint
        label = _class_name(table, arrays.value(AMOUNTS.labels, place))
        if is_it and label == row.label:
            start, end = arrays.once(_record_starts)[AMOUNTS.sizes][place : place + 2]
            end = min(end, arrays.length(AMOUNTS.values))
            classes = arrays.part(AMOUNTS.classes, start, end)
            values = arrays.part(AMOUNTS.values, start, end)
            for class_, value in zip(classes, values, strict=True):
                found[_class_name(table, class_) or ""] += value
    return found


def record_of(file: ModelFile, digest: bytes, row: Row) -> Record | None:
    """Return what a document left when it was learnt, None if that is not kept."""
    for table in reversed(file.tables):
        for record in _records(table, digest, row):
            is_bag = _is_bag(record.bag, table.header.settings)
            if is_bag and fingerprint(record.bag) == row.fingerprint:
                bins = summed_bins(table, last_scored_by(file.tables), [record.bins])
                return record._replace(bins=bins[0])
    return None


def last_scored_by(tables: Sequence[StoredTable]) -> list[Any]:
    """Return the scorings that the calibrations of tables are added up for."""
    return added_up([*map(_scored_by, tables)])


def summed_bins(
    table: StoredTable, scorings: Sequence[Any], bins: Sequence[tuple[int, ...]]
) -> list[tuple[int, ...]]:
    """
    Return the bins of records by scorings that calibrations are added up for.

    Args:
        table: that has the records.
        scorings: as `last_scored_by` returns them.
        bins: of each record by the calibrations of the table, or none.

    Returns:
        For each record its bins; none if its table has calibrations of others.
    """
    found = _scored_by(table)
    if found == scorings:
        return [*bins]
    if found and found == scorings[:-1]:  # there were more classes than are corrected
        return [(*of_row, NO_BIN) if of_row else () for of_row in bins]
    return [()] * len(bins)


def _scored_by(table: StoredTable) -> list[Any]:
    """Return the scorings that a table has calibrations of."""
    return [plain.get("scoring") for plain in table.header.calibrations]


def _places(
    table: StoredTable, digests: Collection[bytes]
) -> Iterator[tuple[bytes, int]]:
    """Yield the rows of documents in a table's ledger, each with the digest."""
    if not table.header.settings.ledger:
        return
    arrays = table.arrays
    if arrays.length(LEDGER.high) <= len(digests):
        both = zip(arrays[LEDGER.high], arrays[LEDGER.low], strict=True)
        for place, (high, low) in enumerate(both):
            if (digest := digest_of(high, low)) in digests:
                yield digest, place
        return
    for digest in digests:
        for place in _places_in(table, LEDGER.high, LEDGER.low, digest):
            yield digest, place


def _places_in(
    table: StoredTable, high_name: str, low_name: str, digest: bytes
) -> Iterator[int]:
    """Yield where two arrays, sorted together, have the halves of a digest."""
    arrays = table.arrays
    n_rows = arrays.length(high_name)

    def values_of(name: str) -> Callable[[int], int]:
        """Return what returns a value of an array by its place."""
        if n_rows <= SHORT:
            return arrays[name].__getitem__
        return partial(arrays.value, name)

    high_at, low_at = values_of(high_name), values_of(low_name)
    high, _ = wanted = halves(digest)

    def halves_at(row: int) -> tuple[int, int]:
        """Return those of a row, of which the second is read only where it counts."""
        first = high_at(row)
        return first, low_at(row) if first == high else 0

    place = bisect_left(range(n_rows), wanted, key=halves_at)
    while place < n_rows and halves_at(place) == wanted:
        yield place
        place += 1


def _is_bag(bag: Bag, settings: Settings) -> bool:
    """Return whether terms are keys, each of which occurs once or more often."""
    counts = [count for terms in bag for count in terms.values()]
    if min(counts, default=1) <= 0 or max(counts, default=1) >= MOST:
        return False
    if settings.has_attributes:
        from nbtext.exact import is_key

        kinds = [view.kind for view in settings.views]
        numbers = [kind == "number" for kind in kinds]
        if not all(map(is_key, chain.from_iterable(compress(bag, numbers)))):
            return False
        bag = tuple(compress(bag, [not is_number for is_number in numbers]))
    return max((key for terms in bag for key in terms), default=0) < 1 << KEY_BITS


def halves(digest: bytes) -> tuple[int, int]:
    """Return a digest as the two numbers that stand for it in a file."""
    return int.from_bytes(digest[:8], "big"), int.from_bytes(digest[8:], "big")


def digest_of(high: int, low: int) -> bytes:
    """Return the digest that two numbers of a file stand for."""
    return high.to_bytes(8, "big") + low.to_bytes(8, "big")


def _class_name(table: StoredTable, place: int) -> str | None:
    classes = table.header.classes
    return classes[place] if place < len(classes) else None


def _records(table: StoredTable, digest: bytes, row: Row) -> Iterator[Record]:
    """Yield the records of a document in a table: few, and rarely more than one."""
    if not table.header.history.records:
        own = own_record(table) if any(_places(table, {digest})) else None
        if own is not None and own[:2] == (digest, row):
            yield own[2]
        return
    arrays = table.arrays
    high, low = halves(digest)
    for place in _places_of(arrays.once(_record_digests), high):
        is_it = arrays[RECORDS.low][place] == low
        is_it = is_it and arrays[RECORDS.fingerprints][place] == row.fingerprint
        if is_it and _class_name(table, arrays[RECORDS.classes][place]) == row.label:
            yield Record(_kept_bag(table, place), _kept_bins(table, place))


def _kept_bins(table: StoredTable, place: int) -> tuple[int, ...]:
    """Return the bins of the document at a place of the undo arrays."""
    bins = table.arrays[RECORDS.bins]
    width = len(bins) // table.header.history.records
    return tuple(bins[place * width : (place + 1) * width])


def _record_digests(arrays: Arrays) -> bytes:
    """Return the first halves of the digests of undo records, one after the other."""
    return arrays[RECORDS.high].tobytes()


def _places_of(values: bytes, wanted: int) -> Iterator[int]:
    """Yield where a number stands among others of eight bytes each."""
    packed = wanted.to_bytes(8, sys.byteorder)
    place = values.find(packed)
    while place >= 0:
        if place % 8 == 0:
            yield place // 8
        place = values.find(packed, place + 1)


def _record_starts(arrays: Arrays) -> dict[str, list[int]]:
    """Return for each view where the terms of each undo record begin, by the sizes."""
    names = [name for name in arrays if name.endswith(".sizes")]
    return {name: [0, *accumulate(arrays[name])] for name in names}


def _kept_bag(table: StoredTable, place: int) -> Bag:
    """Return the terms of the document at a place of the undo arrays."""
    bag = []
    for view in table.header.settings.views:
        names = bag_arrays(view)
        start, end = table.arrays.once(_record_starts)[names.sizes][place : place + 2]
        keys, counts = (
            table.arrays.part(name, start, end) for name in (names.keys, names.counts)
        )
        bag.append(dict(zip(keys, counts, strict=True)))
    return tuple(bag)


def own_record(table: StoredTable) -> tuple[bytes, Row, Record] | None:
    """
    Return what a table holds, if it adds one document: then it is its record.

    Returns:
        The document's digest, its row and its record; None if it is no such table, or
        if the document has more than MOST_TERMS terms.
    """
    found = record_held(table)
    if found is None or fingerprint(found[2].bag) != found[1].fingerprint:
        return None  # other documents' counts are in it
    return found


def n_records(file: ModelFile, keep: int) -> int:
    """Return of how many documents that are still counted there are records."""
    found = {one for table in file.tables for one in _rows_of_records(table)}
    counted = rows_of_all(file, {digest for digest, _ in found})
    return min(sum(row in counted[digest] for digest, row in found), keep)


def _rows_of_records(table: StoredTable) -> Iterator[tuple[bytes, Row]]:
    """Yield the digests and rows of the documents of which a table has records."""
    if not table.header.history.records:
        own = own_record(table)
        if own is not None:
            yield own[:2]
        return
    names = (RECORDS.high, RECORDS.low, RECORDS.classes, RECORDS.fingerprints)
    arrays = (table.arrays[name] for name in names)
    for high, low, place, mark in zip(*arrays, strict=True):
        yield digest_of(high, low), Row(_class_name(table, place) or "", mark)


def record_held(table: StoredTable) -> tuple[bytes, Row, Record] | None:
    """Return what `own_record` does, whether or not other counts are in it, too."""
    header, arrays = table.header, table.arrays
    if sum(header.terms) > MOST_TERMS:
        return None
    if [count for count in header.documents if count > 0] != [1]:
        return None
    often = arrays.get(LEDGER.counts, ())
    places = [place for place, count in enumerate(often) if count > 0]
    if len(places) != 1 or often[places[0]] != 1:
        return None
    place, class_ = places[0], arrays[LEDGER.classes][places[0]]
    label = _class_name(table, class_)
    if label is None:
        return None
    high, low = arrays[LEDGER.high][place], arrays[LEDGER.low][place]
    bag = tuple(
        _number_of_class(table, number, class_)
        if view.kind == "number"
        else _terms_of_class(table, view, class_)
        for number, view in enumerate(header.settings.views)
    )
    if not _is_bag(bag, header.settings):
        return None
    row = Row(label, arrays[LEDGER.fingerprints][place])
    bins = tuple(_only_bin(plain, label) for plain in header.calibrations)
    return digest_of(high, low), row, Record(bag, bins)


def _number_of_class(table: StoredTable, view: int, class_: int) -> dict[int, int]:
    """Return the one number that a table adds to a class, if it adds one."""
    from nbtext.exact import only_number  # only records of tables need it

    return only_number(table.header.totals[view][class_])


def _terms_of_class(table: StoredTable, view: View, class_: int) -> dict[int, int]:
    """Return the occurrences of a view's terms in one class."""
    names, n_classes = term_arrays(view), len(table.header.classes)
    classes = table.arrays[names.classes]
    occurrences = table.arrays[names.columns[view.column("occurrences")]]
    terms: dict[int, int] = {}
    entry = 0
    keys = _keys(table, names)
    for key, code in zip(keys, table.arrays[names.codes], strict=True):
        if code < n_classes:
            if code == class_:
                terms[key] = 1
            continue
        size = code - n_classes + 1
        for place in range(entry, min(entry + size, len(classes))):
            if classes[place] == class_:
                terms[key] = occurrences[place]
        entry += size
    return terms


def _keys(table: StoredTable, names: TermArrays) -> list[int]:
    """Return the keys of a view, with the bits that the index stands for."""
    index, keys = table.arrays[names.buckets], table.arrays[names.keys].tolist()
    bits = index_bits_of(len(index))
    if stored_bits(bits) == KEY_BITS:
        return keys
    for bucket in range(len(index) - 1):
        top = bucket >> bits - IMPLIED_BITS << LOW_BITS
        for place in range(index[bucket], min(index[bucket + 1], len(keys))):
            keys[place] |= top
    return keys


def _only_bin(calibration: Mapping[str, Any], label: str) -> int:
    """Return where the score of a calibration's one document of a class fell."""
    try:
        if calibration["losses"]:
            return LOSSES if calibration["documents"][label] == 1 else NO_BIN
        bins = [
            bin_
            for bin_, name, count in calibration["counts"]
            if name == label and count > 0 and type(bin_) is int
        ]
    except (KeyError, TypeError, ValueError):
        return NO_BIN
    return bins[0] if len(bins) == 1 else NO_BIN


def bin_rows(records: Iterable[tuple[int, ...]], n_bins: int) -> list[int]:
    """
    Return the bins of records one after the other, as a file keeps them.

    Args:
        records: for each its bins, as many as there are calibrations, or none.
        n_bins: how many calibrations there are.

    Returns:
        Nothing if no bin is known.
    """
    unknown = (NO_BIN,) * n_bins
    rows = [bins if len(bins) == n_bins else unknown for bins in records]
    is_known = any(bins != unknown for bins in rows)
    return [bin_ for bins in rows for bin_ in bins] if is_known else []
