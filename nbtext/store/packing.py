"""
Count tables to and from the arrays of a model file.

Most terms of mail occur once, in one document of one class; such a term takes its key
and its class, and the others have an entry for each class. Arrays get the smallest type
that holds them. Names and types are those of `nbtext.store.schema`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from nbtext.counts.correction_table import Amounts, Correction
    from nbtext.counts.sorted_counts import Keys
    from nbtext.counts.texts import TermTexts
    from nbtext.parallel import Map
    from nbtext.store.blocks import Buffer
    from nbtext.store.file import ModelFile
    from nbtext.store.schema import TermArrays
    from nbtext.store.table import StoredTable
    from nbtext.store.undo import UndoRecords
from nbtext.counts import CountTable, LedgerRun, TermTable
from nbtext.counts.adding import Adding
from nbtext.counts.room import Growing, Ranges, converted, empty, extremes
from nbtext.counts.sorted_counts import RANGE, no_counts, sums_alone
from nbtext.counts.table import empty_ledger, ledger_rows, rows_by_class
from nbtext.counts.term_table import arrange, arrange_runs
from nbtext.errors import NotAModelError, TrainingError
from nbtext.store.entries import LEAST, runs_of, sizes_of, whole_entries
from nbtext.store.schema import (
    AMOUNTS,
    LEDGER,
    STRIDE,
    array_types,
    correction_arrays,
    index_bits,
    key_types,
    smallest_type,
    stored_bits,
    term_arrays,
    text_array,
)
from nbtext.store.undo import record_arrays

NOTHING: Final = np.empty(0, np.int64)


def arranged(table: CountTable) -> tuple[TermTable, ...]:
    """Return the counts of a table by term, for each view."""
    return tuple(
        arrange_runs(runs or (no_counts(len(view.columns)),))
        for view, runs in zip(table.settings.views, table.runs, strict=True)
    )


def table_arrays(
    table: CountTable,
    terms: Sequence[TermTable],
    records: UndoRecords,
    n_bins: int,
    correction: Correction | None = None,
    texts: Sequence[TermTexts] | None = None,
    map_: Map = map,
) -> dict[str, tuple[str, Buffer]]:
    """
    Return the arrays of a table by name, each with its type, for a model file.

    Args:
        table: the counts.
        terms: the same by term, for each view.
        records: the documents that can be undone.
        n_bins: how many calibrations the table has.
        correction: of the classes of the table, if there is one.
        texts: those of terms of the table, for each view, if there are any.
        map_: deals with the views.
    """
    is_corrected = correction is not None
    types = array_types(
        table.settings,
        len(records),
        is_corrected=is_corrected,
        has_texts=texts is not None,
    )
    views = table.settings.views
    families = [*zip(map(term_arrays, views), terms, strict=True)]
    rest = _ledger_arrays(table.ledger) if table.settings.ledger else {}
    if len(records):
        rest |= record_arrays(records, table.settings, table.classes, n_bins)
    if correction is not None:
        names = map(correction_arrays, views)
        families += zip(names, correction.terms, strict=True)
        rest |= _amount_arrays(correction.amounts)
    if texts is not None:
        for view, kept in zip(views, texts, strict=True):
            rest[text_array(view)] = kept.texts

    def family(one: tuple[TermArrays, TermTable]) -> dict[str, tuple[str, Buffer]]:
        return _view_arrays(*one, len(table.classes), types)

    arrays = {name: _smallest(values, types[name]) for name, values in rest.items()}
    for of_family in map_(family, families):
        arrays |= of_family
    return arrays


def _view_arrays(
    names: TermArrays,
    terms: TermTable,
    n_classes: int,
    types: Mapping[str, tuple[str, ...]],
) -> dict[str, tuple[str, Buffer]]:
    keys = terms.keys[:-1]
    bits = index_bits(len(keys))
    arrays = {
        names.buckets: _smallest(_index_of(terms, bits), types[names.buckets]),
        names.keys: _smallest(_low_bits(keys, stored_bits(bits)), key_types(bits)),
    }
    stored = (names.codes, names.classes, *names.columns)
    growing = [Growing() for _ in stored]
    working = Ranges([terms.starts, terms.classes, *terms.columns])
    for start in range(0, max(len(keys), 1), RANGE):
        some = slice(start, start + RANGE)
        for whole, part in zip(
            growing, _codes_and_entries(terms, some, n_classes), strict=True
        ):
            whole.append(part)
            working.done(part.nbytes)
    working.let_go()
    for name in stored:
        values = growing.pop(0).whole()  # which goes with what has the smallest type
        arrays[name] = _smallest(values, types[name])
        if name == names.codes:
            starts = _starts(values, n_classes)
            arrays[names.starts] = _smallest(starts, types[names.starts])
    return arrays


def _low_bits(keys: Keys, bits: int) -> Keys:
    """Return the low bits of keys."""
    found = empty(len(keys), np.uint64)
    working = Ranges([keys, found])
    mask = np.uint64((1 << bits) - 1)
    for start in range(0, len(keys), RANGE):
        some = slice(start, start + RANGE)
        np.bitwise_and(keys[some], mask, out=found[some])
        working.done(2 * found[some].nbytes)
    working.let_go()
    return found


def _starts(codes: NDArray[np.integer], n_classes: int) -> NDArray[np.int64]:
    """Return where the entries of every STRIDE-th term begin, from the terms' codes."""
    found, before = [NOTHING], 0
    working = Ranges([codes])
    for start in range(0, len(codes), RANGE):  # a multiple of STRIDE
        sizes = sizes_of(codes[start : start + RANGE], n_classes)
        sums = np.add.reduceat(sizes, np.arange(0, len(sizes), STRIDE))
        ends = np.cumsum(sums)
        found.append(ends - sums + before)
        before += int(ends[-1])
        working.done(sizes.nbytes)
    return np.concatenate(found)


def _index_of(terms: TermTable, bits: int) -> NDArray[np.int64]:
    """
    Return where the keys of each value of their first bits begin, and the end.

    The terms have an index of as many bits or more, whose buckets divide these.
    """
    found = empty((1 << bits) + 1, np.int64)
    working = Ranges([terms.buckets, found])
    step = len(terms.buckets) >> bits
    for start in range(0, 1 << bits, RANGE):
        some = slice(start * step, (start + RANGE) * step, step)
        part = terms.buckets[some]
        found[start : start + len(part)] = part
        working.done(part.nbytes * step)
    found[-1] = terms.n_terms
    working.let_go()
    return found


def _codes_and_entries(
    terms: TermTable, some: slice, n_classes: int
) -> list[NDArray[np.integer]]:
    """Return the codes of some terms, and of their stored entries class and columns."""
    starts = terms.starts[:-1][some.start : some.stop + 1]
    entries = slice(starts[0], starts[-1])
    classes = terms.classes[entries]
    columns = [column[entries] for column in terms.columns]
    starts = (starts - starts[0]).astype(np.intp)  # as take() would each time
    sizes, first = np.diff(starts), starts[:-1]
    # a term with one entry, in which every column is 1, is stored as its class alone
    are_one = np.ones(len(classes), np.bool_)
    for column in columns:
        are_one &= column == 1
    is_single = are_one.take(first)
    is_single &= sizes == 1
    # by sums, and in the type of the classes if it holds them: what nobody can foretell
    # takes np.where five times as long
    kind = np.result_type(classes, np.min_scalar_type(2 * n_classes))
    codes = (sizes + (n_classes - 1)).astype(kind)
    codes += (classes.take(first) - codes) * is_single
    stored = np.repeat(~is_single, sizes).nonzero()[0]
    return [codes, classes.take(stored), *(column.take(stored) for column in columns)]


def _ledger_arrays(ledger: Sequence[LedgerRun]) -> dict[str, NDArray[np.integer]]:
    types: dict[str, type[np.integer]] = {
        LEDGER.high: np.uint64,
        LEDGER.low: np.uint64,
        LEDGER.fingerprints: np.uint64,
        LEDGER.classes: np.int32,
        LEDGER.counts: np.int64,
    }
    n_rows = sum(map(len, ledger))
    arrays = {name: empty(n_rows, kind) for name, kind in types.items()}
    working, start = Ranges([*(run.entries for run in ledger), *arrays.values()]), 0
    for entries, classes, counts in ledger_rows(ledger):
        rows = slice(start, start + len(counts))
        parts = (*entries.T, classes, counts)
        for array, part in zip(arrays.values(), parts, strict=True):
            array[rows] = part
        start = rows.stop
        working.done(entries.nbytes)
    working.let_go()
    return arrays


def _amount_arrays(amounts: Amounts) -> dict[str, NDArray[np.integer]]:
    first = amounts.starts()
    high, low, fingerprints = amounts.entries.take(first, axis=0).T
    return {
        AMOUNTS.high: high,
        AMOUNTS.low: low,
        AMOUNTS.fingerprints: fingerprints,
        AMOUNTS.labels: amounts.labels.take(first),
        AMOUNTS.sizes: np.diff(first, append=len(amounts)),
        AMOUNTS.classes: amounts.classes,
        AMOUNTS.values: amounts.values,
    }


def _smallest(
    values: NDArray[np.integer], types: tuple[str, ...]
) -> tuple[str, Buffer]:
    """Return the first type that holds all values, and their bytes in it."""
    low, high = extremes(values)
    kind = smallest_type(low, high, types)
    dtype = np.dtype(f"<{kind}")
    found = np.ascontiguousarray(values)
    if found.dtype != dtype:
        found = converted(found, dtype)
    return kind, found.data.cast("B")


def stored_terms(table: StoredTable, view: int) -> TermTable:
    """
    Arrange the terms of one view of a table in a file.

    Raises:
        NotAModelError: its arrays contradict one another.
    """
    names = term_arrays(table.header.settings.views[view])
    return arrange([whole_entries(table, names, least=_least_of(table))])


def unpack(file: ModelFile) -> CountTable:
    """
    Return the sum of a file's tables as a count table.

    Raises:
        NotAModelError: its arrays contradict one another.
    """
    adding = Adding()
    for stored in file.tables:
        adding.add(unpack_table(stored))
    table = adding.table() or CountTable(file.settings)
    try:
        table.check()
    except TrainingError as error:
        message = f"{file.path}: damaged: {error}; restore a copy or train again"
        raise NotAModelError(message) from error
    return table


def unpack_table(table: StoredTable) -> CountTable:
    """
    Return one table of a file as a count table.

    Raises:
        NotAModelError: its arrays contradict one another.
    """
    header, least = table.header, _least_of(table)
    views = []
    for view, settings in enumerate(header.settings.views):
        if settings.kind == "number":
            views.append(tuple(map(sums_alone, header.totals[view])))
            continue
        views.append(runs_of(table, term_arrays(settings), least=least))
    return CountTable(
        settings=header.settings,
        classes=header.classes,
        documents=header.documents,
        runs=tuple(views),
        ledger=_ledger(table),
    )


def _ledger(table: StoredTable) -> tuple[LedgerRun, ...]:
    n_classes = len(table.header.classes)
    if not table.header.settings.ledger:
        return tuple(empty_ledger() for _ in range(n_classes))
    entries = np.stack(
        [
            np.asarray(table.arrays[name])
            for name in (LEDGER.high, LEDGER.low, LEDGER.fingerprints)
        ],
        axis=1,
    )
    classes = np.asarray(table.arrays[LEDGER.classes])
    counts = np.asarray(table.arrays[LEDGER.counts]).astype(np.int64)
    return tuple(
        LedgerRun(entries.take(rows, axis=0), counts.take(rows))
        for rows in rows_by_class(classes, n_classes)
    )


def unpack_correction(table: StoredTable) -> Correction | None:
    """
    Return the correction in one table of a file, or the change of one, if it has any.

    Raises:
        NotAModelError: its arrays contradict one another.
    """
    header = table.header
    if header.correction is None:
        return None
    from nbtext.counts.correction_table import Correction  # few models have one

    return Correction(
        info=header.correction,
        classes=header.classes,
        biases=header.biases,
        terms=tuple(
            arrange([whole_entries(table, correction_arrays(view), least=LEAST)])
            for view in header.settings.views
        ),
        amounts=_amounts_in(table),
    )


def _amounts_in(table: StoredTable) -> Amounts:
    from nbtext.counts.correction_table import Amounts

    arrays = {name: np.asarray(table.arrays[name]) for name in AMOUNTS}
    sizes = arrays[AMOUNTS.sizes].astype(np.int64)
    n_classes = len(table.header.classes)
    places = (arrays[AMOUNTS.labels], arrays[AMOUNTS.classes])
    is_sound = int(sizes.min(initial=0)) >= 0
    is_sound = is_sound and int(sizes.max(initial=0)) <= len(arrays[AMOUNTS.values])
    is_sound = is_sound and int(sizes.sum()) == len(arrays[AMOUNTS.values])
    if not is_sound or any(
        len(place) and int(place.max()) >= n_classes for place in places
    ):
        raise table.damaged("the amounts of its correction contradict one another")
    rows = np.repeat(np.arange(len(sizes)), sizes)
    names = (AMOUNTS.high, AMOUNTS.low, AMOUNTS.fingerprints)
    return Amounts(
        entries=np.stack([arrays[name].take(rows) for name in names], axis=1),
        labels=arrays[AMOUNTS.labels].take(rows).astype(np.uint16),
        classes=arrays[AMOUNTS.classes].astype(np.uint16),
        values=arrays[AMOUNTS.values].astype(np.int64),
    )


def _least_of(table: StoredTable) -> int:
    """Return the least count there may be; the first table has none below zero."""
    return LEAST if table.offset else 0
