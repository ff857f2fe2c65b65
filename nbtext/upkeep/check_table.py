"""
What is wrong with one table of a model file, if anything.

A table whose header was read and whose arrays lie where they should goes in; the first
thing that a reader could not rely on comes out, as a few words. What is looked at, and
why it should be so, is in docs/model-format.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from nbtext.store import StoredTable
    from nbtext.store.schema import TermArrays

    Arrays: TypeAlias = dict[str, NDArray[np.integer]]

from nbtext.counts import Calibration, stored_fit
from nbtext.counts.calibration import FARTHEST_BIN
from nbtext.counts.correction import MOST_AMOUNT
from nbtext.errors import DamagedError
from nbtext.exact import are_sums, is_key
from nbtext.store.entries import Family, Stored, are_keys_sound
from nbtext.store.ledger import FORGOTTEN, MOST_TERMS, NO_BIN, own_record
from nbtext.store.packing import unpack_table
from nbtext.store.plain_table import NIL, TRAILER_SIZE, round_up
from nbtext.store.schema import (
    AMOUNTS,
    LEDGER,
    RECORDS,
    bag_arrays,
    correction_arrays,
    term_arrays,
)
from nbtext.store.texts import stored_texts
from nbtext.tokens import Terms, fingerprints
from nbtext.tokens.bag import columns_of
from nbtext.tokens.bags import starts_of

MOST_COUNTED: Final = 1 << 53
"""No pile of documents leaves as large a count; sums of such still fit in 64 bits."""

LOW_HALF: Final = (1 << 32) - 1


def fault_of(table: StoredTable) -> str:
    """Return what is wrong with a table, empty if nothing is."""
    return next(_faults(table), "")


def is_padded(mapped: memoryview, end: int, table: StoredTable) -> bool:
    """
    Return whether nothing but nils stands between the arrays of a table.

    Args:
        mapped: the bytes of the file, from the table's beginning.
        end: where its header ends.
        table: the table.
    """
    gaps = []
    for contents in table.arrays.contents():
        start = round_up(end + 5)  # behind the head of the array
        gaps.append(mapped[end : start - 5])
        end = start + len(contents)
    gaps.append(mapped[end : table.length - TRAILER_SIZE])
    return not b"".join(gaps).strip(NIL)


def _faults(table: StoredTable) -> Iterator[str]:
    """Yield what is wrong; each check relies on those before it."""
    try:
        table.arrays.verify_all()
    except DamagedError as error:
        yield error.what
    arrays = {name: np.asarray(array) for name, array in table.arrays.items()}
    if table.offset == 0 and min(table.header.documents, default=0) < 0:
        yield "the first table takes documents away"
    for view in range(len(table.header.settings.views)):
        yield from _view_faults(table, view)
    if table.header.settings.ledger:
        yield from _ledger_faults(table, arrays)
    if table.header.correction is not None:
        yield from _correction_faults(table, arrays)
    if table.header.history.records:
        yield from _record_faults(table, arrays)
    else:
        yield from _own_record_faults(table)
    if table.header.texts is not None:
        yield from _text_faults(table)
    try:
        for calibration in table.header.calibrations:
            Calibration.from_dict(calibration)
            stored_fit(calibration)
    except ValueError as error:
        yield str(error)


def _view_faults(table: StoredTable, view: int) -> Iterator[str]:
    """Yield what is wrong with the counts of one view."""
    header = table.header
    settings = header.settings.views[view]
    names, n_terms = term_arrays(settings), header.terms[view]
    yield from _family_faults(table, names, f"the view {settings.name}")
    found = table.arrays.length(names.codes)
    if n_terms != found:
        yield (
            f"its header says that the view {settings.name} has {n_terms} terms, "
            f"there are {found}"
        )
    if settings.kind == "number":
        yield from _number_faults(table, view)
    else:
        yield from _column_faults(table, view)


def _number_faults(table: StoredTable, view: int) -> Iterator[str]:
    """Yield what is wrong with the sums of a view of numbers, which has no terms."""
    header = table.header
    name = header.settings.views[view].name
    if header.terms[view]:
        yield f"the view {name} is of numbers, and has terms"
    for documents, sums in zip(header.documents, header.totals[view], strict=True):
        if table.offset == 0 and not are_sums(sums):
            yield f"the view {name} has sums that no numbers have"
        if table.offset == 0 and sums[0] > documents:
            yield f"the view {name} has more numbers than there are documents"
        if abs(sums[0]) >= MOST_COUNTED:
            yield f"the view {name} has counts that no documents leave"


def _family_faults(table: StoredTable, names: TermArrays, name: str) -> Iterator[str]:
    """Yield what is wrong with the terms of a family, but for their numbers."""
    family = Family(table, names)
    if not are_keys_sound(table, names):
        yield f"the terms of {name} are not in order"
    end, are_in_place = 0, True
    for part in family.stored():
        end, are_in_place = part.end, are_in_place and part.is_in_place
    if end != table.arrays.length(names.classes) or not are_in_place:
        yield f"the terms of {name} have other entries than they say"
    if not all(
        _are_places(part.classes, table.header.classes) for part in family.stored()
    ):
        yield f"{name} has entries of classes that there are not"
    if not all(map(_has_ordered_classes, family.stored())):
        yield f"the classes of the terms of {name} are not in order"


def _has_ordered_classes(part: Stored) -> bool:
    is_ordered = np.diff(part.classes.astype(np.int64), prepend=-1) > 0
    is_ordered[part.starts[part.sizes > 0]] = True
    return bool(is_ordered.all())


def _column_faults(table: StoredTable, view: int) -> Iterator[str]:
    """Yield what is wrong with the numbers of one view."""
    header = table.header
    settings = header.settings.views[view]
    name, n_classes = settings.name, len(header.classes)
    family = Family(table, term_arrays(settings))
    n_columns = len(settings.columns)
    sums = np.zeros((n_columns, n_classes), object)  # of any size
    low = 0
    for part in family.stored():
        if not np.logical_or.reduce([column != 0 for column in part.columns]).all():
            yield f"the view {name} has terms without counts"
        if not all(map(_are_counts, part.columns)):
            yield f"the view {name} has counts that no documents leave"
        low = min(low, *(int(column.min(initial=0)) for column in part.columns))
        # a term whose code is its class counts 1 there in every column
        single = part.codes[part.codes < n_classes]
        sums += np.bincount(single, minlength=n_classes).astype(object)
        for of_column, values in zip(sums, part.columns, strict=True):
            of_column += np.array(_sums(values, part.classes, n_classes), object)
    if table.offset == 0 and low < 0:
        yield f"the first table takes counts away in the view {name}"
    for column, found in enumerate(sums.tolist()):
        if found != [by_class[column] for by_class in header.totals[view]]:
            yield (
                f"its header gives totals of {settings.columns[column]} in the view "
                f"{name} that its terms do not have"
            )
        if max(map(abs, found), default=0) >= MOST_COUNTED:
            yield f"the view {name} has counts that no documents leave"


def _ledger_faults(table: StoredTable, arrays: Arrays) -> Iterator[str]:
    """Yield what is wrong with the ledger."""
    header = table.header
    classes, counts = arrays[LEDGER.classes], arrays[LEDGER.counts]
    parts = [arrays[LEDGER.high], arrays[LEDGER.low], classes]
    if not _are_places(classes, header.classes):
        yield "its ledger has documents of classes that there are not"
    if not _rows_ascend([*parts, arrays[LEDGER.fingerprints]]):
        yield "its ledger is not in order"
    if not _are_counts(counts) or not counts.all():
        yield "its ledger has counts that no documents leave"
    if table.offset == 0 and int(counts.min(initial=0)) < 0:
        yield "the first table takes documents away in its ledger"
    if _sums(counts, classes, len(header.classes)) != list(header.documents):
        yield "its header says that there are other documents than in its ledger"


def _correction_faults(table: StoredTable, arrays: Arrays) -> Iterator[str]:
    """Yield what is wrong with a correction."""
    header = table.header
    if not header.settings.ledger:
        yield "it has a correction, and no ledger of the documents that made it"
    for view in header.settings.views:
        names, name = correction_arrays(view), f"the correction of the view {view.name}"
        yield from _family_faults(table, names, name)
        parts = (part.columns[0] for part in Family(table, names).stored())
        if not all(_are_counts(values) and values.all() for values in parts):
            yield f"{name} has values that no documents leave"
    labels, sizes = arrays[AMOUNTS.labels], arrays[AMOUNTS.sizes]
    classes, values = arrays[AMOUNTS.classes], arrays[AMOUNTS.values]
    if not _are_places(labels, header.classes) or not _are_places(
        classes, header.classes
    ):
        yield "its correction has amounts of classes that there are not"
    rows = [arrays[AMOUNTS.high], arrays[AMOUNTS.low], labels]
    if not _rows_ascend([*rows, arrays[AMOUNTS.fingerprints]]):
        yield "the documents of its correction are not in order"
    if not sizes.all() or sum(sizes.tolist()) != len(values):
        yield "the documents of its correction have other amounts than they say"
    document = np.repeat(np.arange(len(sizes)), sizes.astype(np.int64))
    if not _rows_ascend([document, classes]):
        yield "the amounts of its correction are not in order"
    if not _are_counts(values, MOST_AMOUNT) or not values.all():
        yield "its correction has amounts that no documents leave"


def _record_faults(table: StoredTable, arrays: Arrays) -> Iterator[str]:
    """Yield what is wrong with the records of documents that can be undone."""
    header = table.header
    classes, bins = arrays[RECORDS.classes], arrays[RECORDS.bins]
    if not _are_places(classes, header.classes):
        yield "it keeps records of documents of classes that there are not"
    if not (np.abs(bins[bins != NO_BIN].astype(np.int64)) <= FARTHEST_BIN).all():
        yield "it keeps records of scores that no document has"
    views = []
    for view in header.settings.views:
        sizes, keys, counts = (arrays[name] for name in bag_arrays(view))
        if not _are_counts(counts) or int(counts.min(initial=1)) < 1:
            yield f"its records of the view {view.name} have counts of no document"
        if view.kind == "number" and not all(map(is_key, keys.tolist())):
            yield f"its records of the view {view.name} have what is no number"
        document = np.repeat(np.arange(len(sizes)), sizes)
        if not _rows_ascend([document, keys]):
            yield f"the terms of its records of the view {view.name} are not in order"
        starts = starts_of(sizes.astype(np.int64))
        views.append(Terms(keys.astype(np.uint64), counts.astype(np.int64), starts))
    if not np.array_equal(fingerprints(views), arrays[RECORDS.fingerprints]):
        yield "its records are not those of the documents that they name"


def _text_faults(table: StoredTable) -> Iterator[str]:
    """Yield what is wrong with the texts of terms."""
    header = table.header
    try:
        found = stored_texts(table)
    except DamagedError as error:
        yield error.what
        return
    for view, texts in zip(header.settings.views, found, strict=True):
        n_known = 0
        for keys in Family(table, term_arrays(view)).sorted_keys():
            first, end = np.searchsorted(texts.keys, [keys[0], keys[-1] + np.uint64(1)])
            n_known += int(np.isin(texts.keys[first:end], keys).sum())
        if n_known < len(texts):
            yield f"the view {view.name} has texts of terms that it does not have"
    if tuple(map(len, found)) != header.texts:
        yield "its header says that there are other numbers of texts"


def _own_record_faults(table: StoredTable) -> Iterator[str]:
    """Yield what is wrong with the one document that a table adds."""
    found = own_record(table)
    if found is None:
        if _has_one_alone(table):
            yield "the counts of its one document are not those of its fingerprint"
        return
    _, row, record = found
    counts = unpack_table(table)
    for view, terms in enumerate(record.bag):
        if table.header.settings.views[view].kind == "number":
            continue  # its record is made of the sums
        run = counts.runs[view][counts.classes.index(row.label)]
        wanted = columns_of(terms, table.header.settings.views[view].columns)
        # TF-IDF weights rest on more than the document, and are the last columns
        n_columns = len(next(iter(wanted.values()), ()))
        columns = zip(
            *(column.tolist() for column in run.columns[:n_columns]), strict=True
        )
        stored = dict(zip(run.keys.tolist(), columns, strict=True))
        if stored != wanted:
            yield "the counts of its one document are not what a document leaves"


def _has_one_alone(table: StoredTable) -> bool:
    """
    Return whether a table adds one document, and no other of its class has a part.

    Then the counts of the class are those of that document, if they are not pruned.
    """
    if not table.header.settings.ledger or sum(table.header.terms) > MOST_TERMS:
        return False
    counts, classes = (
        np.asarray(table.arrays[name]) for name in (LEDGER.counts, LEDGER.classes)
    )
    places = np.flatnonzero(counts > 0)
    if len(places) != 1 or counts[places[0]] != 1:
        return False
    is_alone = np.count_nonzero(classes == classes[places[0]]) == 1
    is_whole = table.arrays[LEDGER.fingerprints][places[0]] != FORGOTTEN
    return is_alone and bool(is_whole)


def _are_places(places: NDArray[np.integer], classes: Sequence[str]) -> bool:
    """Return whether each is the place of a class."""
    return int(places.max(initial=0)) < len(classes) or not len(places)


def _are_counts(values: NDArray[np.integer], most: int = MOST_COUNTED) -> bool:
    """Return whether counts are small enough to be added up in 64 bits."""
    low, high = int(values.min(initial=0)), int(values.max(initial=0))
    return max(high, -low) < most


def _rows_ascend(columns: Sequence[NDArray[np.integer]]) -> bool:
    """Return whether rows are distinct and sorted, the first column counting most."""
    ascends = np.zeros(max(len(columns[0]) - 1, 0), np.bool_)
    for column in reversed(columns):
        before, after = column[:-1], column[1:]
        ascends = (before < after) | ((before == after) & ascends)
    return bool(ascends.all())


def _sums(
    values: NDArray[np.integer], classes: NDArray[np.integer], n_classes: int
) -> list[int]:
    """Return the sum of values by class, exactly: in two halves of 32 bits."""
    whole = values.astype(np.int64)
    sums = np.zeros((2, n_classes), np.int64)
    np.add.at(sums[0], classes, whole >> 32)
    np.add.at(sums[1], classes, whole & LOW_HALF)
    return [(high << 32) + low for high, low in zip(*sums.tolist(), strict=True)]
