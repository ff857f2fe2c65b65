"""
Count tables to and from the arrays of a model file.

Most terms of mail occur once, in one document of one class; such a term takes its key
and its class, and stands apart from the others, which have a place among the entries
and a row of columns for each class. Arrays get the smallest type that holds them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from nbtext.settings import View
    from nbtext.store.file import ModelFile
    from nbtext.store.table import Buffer, StoredTable
    from nbtext.store.undo import UndoRecords

from nbtext.counts.sorted_counts import RANGE, Run, empty_run, merged, narrow
from nbtext.counts.table import CountTable, LedgerRun, add, empty_ledger, rows_by_class
from nbtext.counts.term_table import Entries, TermTable, arrange, arrange_runs
from nbtext.errors import NotAModelError, TrainingError
from nbtext.store.header import BLOCK
from nbtext.store.undo import record_arrays

KINDS: Final[dict[str, tuple[str, ...]]] = {
    "once.keys": ("u8",),
    "once.classes": ("u1", "u2"),
    "keys": ("u8",),
    "sizes": ("u1", "u2"),
    "classes": ("u1", "u2"),
}
"""The types that some arrays may have; the others have the smallest there is."""


def arranged(table: CountTable) -> tuple[TermTable, ...]:
    """Return the counts of a table by term, for each view."""
    return tuple(
        arrange_runs(runs or (empty_run(len(view.columns)),))
        for view, runs in zip(table.settings.views, table.runs, strict=True)
    )


def table_arrays(
    table: CountTable, terms: Sequence[TermTable], records: UndoRecords
) -> dict[str, tuple[str, Buffer]]:
    """
    Return the arrays of a table by name, each with its type, for a model file.

    Args:
        table: the counts.
        terms: the same by term, for each view.
        records: the documents that can be undone.

    """
    arrays: dict[str, tuple[str, Buffer]] = {}
    for view, of_view in zip(table.settings.views, terms, strict=True):
        arrays |= _view_arrays(view, of_view)
    if table.settings.ledger:
        arrays |= _ledger_arrays(table.ledger)
    if len(records):
        kept = record_arrays(records, table.settings, table.classes)
        for name, (values, kinds) in kept.items():
            arrays[name] = _smallest(values, *kinds)
    return arrays


def _view_arrays(view: View, terms: TermTable) -> dict[str, tuple[str, Buffer]]:
    parts = [
        _once_and_rest(view, terms, slice(start, start + RANGE))
        for start in range(0, max(terms.n_terms, 1), RANGE)
    ]
    arrays = {}
    for name in list(parts[0]):
        # a part is let go of once it is in its place, because all is as long as a model
        whole = np.concatenate([part.pop(name) for part in parts])
        arrays[f"{view.name}.{name}"] = _smallest(whole, *KINDS.get(name, ()))
        if name == "sizes":
            starts = np.cumsum(whole, dtype=np.int64) - whole
            arrays[f"{view.name}.starts"] = _smallest(starts[::BLOCK], "u4", "u8")
    return arrays


def _once_and_rest(
    view: View, terms: TermTable, some: slice
) -> dict[str, NDArray[np.integer]]:
    """Return what is stored of some terms: those that occur once, then the others."""
    keys, starts = terms.keys[:-1][some], terms.starts[:-1][some.start : some.stop + 1]
    entries = slice(starts[0], starts[-1])
    classes = terms.classes[entries]
    columns = dict(zip(view.columns, (c[entries] for c in terms.columns), strict=True))
    starts = starts - starts[0]
    sizes, first = np.diff(starts), starts[:-1]
    is_once = sizes == 1
    for name in ("occurrences", "documents"):
        is_once &= columns[name].take(first) == 1
    once, rest = is_once.nonzero()[0], (~is_once).nonzero()[0]
    once_entries = first.take(once)
    is_rest = np.ones(len(classes), np.bool_)
    is_rest[once_entries] = False
    entries_of_rest = is_rest.nonzero()[0]
    stored = {"once.keys": keys.take(once), "once.classes": classes.take(once_entries)}
    if "weight" in columns:
        stored["once.weight"] = columns["weight"].take(once_entries)
    stored["keys"] = keys.take(rest)
    stored["sizes"] = sizes.take(rest)
    stored["classes"] = classes.take(entries_of_rest)
    for name, column in columns.items():
        stored[name] = column.take(entries_of_rest)
    return stored


def _ledger_arrays(ledger: Sequence[LedgerRun]) -> dict[str, tuple[str, Buffer]]:
    entries = np.concatenate(
        [np.empty((0, 3), np.uint64), *(r.entries for r in ledger)]
    )
    counts = np.concatenate([np.empty(0, np.int64), *(run.counts for run in ledger)])
    classes = np.repeat(np.arange(len(ledger)), [len(run) for run in ledger])
    order = np.lexsort((entries[:, 2], classes, entries[:, 1], entries[:, 0]))
    high, low, fingerprints = (entries[order, part] for part in range(3))
    return {
        "ledger.high": _smallest(high, "u8"),
        "ledger.low": _smallest(low, "u8"),
        "ledger.fingerprints": _smallest(fingerprints, "u8"),
        "ledger.classes": _smallest(classes.take(order), "u1", "u2"),
        "ledger.counts": _smallest(counts.take(order)),
    }


def _smallest(values: NDArray[np.integer], *kinds: str) -> tuple[str, Buffer]:
    """Return the first type that holds all values, and their bytes in it."""
    low, high = (int(values.min()), int(values.max())) if len(values) else (0, 0)
    for kind in kinds or ("u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8"):
        limits = np.iinfo(kind)
        if limits.min <= low and high <= limits.max:
            return kind, np.ascontiguousarray(values, f"<{kind}").data.cast("B")
    message = f"values from {low} to {high} do not fit into {kinds}"
    raise ValueError(message)


def stored_terms(path: str, table: StoredTable, view: int) -> TermTable:
    """
    Arrange the terms of one view of a table in a file.

    Raises:
        NotAModelError: its arrays contradict one another.

    """
    return arrange(_entries(path, table, table.header.settings.views[view]))


def unpack(file: ModelFile) -> CountTable:
    """
    Return the sum of a file's tables as a count table.

    Raises:
        NotAModelError: its arrays contradict one another.

    """
    table = add([unpack_table(file.path, table) for table in file.tables])
    try:
        table.check()
    except TrainingError as error:
        message = f"{file.path}: damaged: {error}; restore a copy or train again"
        raise NotAModelError(message) from error
    return table


def unpack_table(path: str, table: StoredTable) -> CountTable:
    """
    Return one table of a file as a count table.

    Raises:
        NotAModelError: its arrays contradict one another.

    """
    header = table.header
    n_classes = len(header.classes)
    views = []
    for view in header.settings.views:
        parts = _entries(path, table, view)
        rows_of = [rows_by_class(part.classes, n_classes) for part in parts]
        views.append(
            tuple(
                merged(map(_taken, parts, chosen), len(view.columns))
                for chosen in zip(*rows_of, strict=True)
            )
        )
    return CountTable(
        settings=header.settings,
        classes=header.classes,
        documents=header.documents,
        runs=tuple(views),
        ledger=_ledger(table),
    )


def _taken(entries: Entries, rows: NDArray[np.int64]) -> Run:
    columns = (narrow(column.take(rows).astype(np.int64)) for column in entries.columns)
    return Run(entries.keys.take(rows), tuple(columns))


def _ledger(table: StoredTable) -> tuple[LedgerRun, ...]:
    n_classes = len(table.header.classes)
    if not table.header.settings.ledger:
        return tuple(empty_ledger() for _ in range(n_classes))
    entries = np.stack(
        [
            np.asarray(table.arrays[f"ledger.{name}"])
            for name in ("high", "low", "fingerprints")
        ],
        axis=1,
    )
    classes = np.asarray(table.arrays["ledger.classes"])
    counts = np.asarray(table.arrays["ledger.counts"]).astype(np.int64)
    return tuple(
        LedgerRun(entries.take(rows, axis=0), counts.take(rows))
        for rows in rows_by_class(classes, n_classes)
    )


def _entries(path: str, table: StoredTable, view: View) -> list[Entries]:
    """Return the terms that occur once, and then the others, one row an entry."""
    name = view.name
    arrays = {
        part.removeprefix(f"{name}."): np.asarray(array)
        for part, array in table.arrays.items()
        if part.startswith(f"{name}.")
    }
    once_keys = arrays["once.keys"]
    one = np.ones(len(once_keys), np.int32)
    once_columns = [one, one]
    if "weight" in view.columns:
        once_columns.append(arrays["once.weight"])
    lengths = arrays["sizes"].astype(np.int64)
    starts = np.cumsum(lengths) - lengths
    sound = bool((arrays["starts"] == starts[::BLOCK]).all())
    sound = sound and int(lengths.sum()) == len(arrays["classes"])
    for keys in (once_keys, arrays["keys"]):
        sound = sound and bool((keys[1:] > keys[:-1]).all())
    for classes in (arrays["once.classes"], arrays["classes"]):
        sound = sound and classes.max(initial=0) < max(len(table.header.classes), 1)
    counted = [name for name in ("once.weight", *view.columns) if name in arrays]
    low = [int(arrays[name].min(initial=0)) for name in counted]
    sound = sound and (table.offset > 0 or min(low) >= 0)
    if not sound:
        message = (
            f"{path}: damaged: the arrays of the view {name!r} of the table at byte "
            f"{table.offset} contradict one another; restore a copy or train again"
        )
        raise NotAModelError(message)
    return [
        Entries(once_keys, arrays["once.classes"], tuple(once_columns)),
        Entries(
            np.repeat(arrays["keys"], lengths),
            arrays["classes"],
            tuple(arrays[column] for column in view.columns),
        ),
    ]
