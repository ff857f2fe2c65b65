"""
A delta as one table to append to the file.

A delta goes in, the bytes of a table come out, on the standard library and msgpack
alone; `nbtext.store.packing` writes the same bytes for the same counts, from arrays.
"""

import sys
from array import array
from collections.abc import Iterable, Sequence
from typing import Final

from nbtext.counts.calibration import Calibration
from nbtext.learning.delta import Columns, Delta, UndoRecord
from nbtext.settings import Scoring, Settings, View
from nbtext.store import Header, History
from nbtext.store.header import BLOCK, TYPES
from nbtext.store.ledger import halves
from nbtext.store.table import Buffer
from nbtext.store.writing import pack

LIMITS: Final = {
    kind: (0, 256 ** int(kind[1]) - 1)
    if kind[0] == "u"
    else (-(256 ** int(kind[1])) // 2, 256 ** int(kind[1]) // 2 - 1)
    for kind in TYPES
}
"""The least and the greatest value of each type of array, in the order of trying."""


def pack_delta(
    delta: Delta,
    *,
    scoring: Scoring,
    calibration: Calibration,
    history: History,
    written: str,
    writer: str,
) -> list[Buffer]:
    """
    Return the bytes of a delta as a table, in pieces, ready for a model file.

    Args:
        delta: what is added and taken away.
        scoring: how the model asks to be scored.
        calibration: what the documents scored before they were learnt.
        history: how the table came to be; its records are those of the delta.
        written: when, as ISO 8601 in UTC.
        writer: which program.

    """
    settings, classes = delta.settings, delta.classes
    arrays: dict[str, tuple[str, Buffer]] = {}
    n_terms = []
    for view, by_key in zip(settings.views, delta.views, strict=True):
        part, count = _view_arrays(view, classes, by_key)
        arrays |= part
        n_terms.append(count)
    arrays |= _ledger_arrays(delta, classes)
    # a table that adds one document is its record itself
    kept = delta.records if len(delta.records) > 1 or len(+delta.ledger) > 1 else []
    if kept:
        arrays |= _record_arrays(kept, settings, classes)
    header = Header(
        settings=settings,
        scoring=scoring,
        classes=classes,
        documents=tuple(delta.documents[label] for label in classes),
        totals=tuple(
            tuple(delta.total(view, label) for label in classes)
            for view in range(len(settings.views))
        ),
        terms=tuple(n_terms),
        calibration=calibration.as_dict(),
        written=written,
        writer=writer,
        history=history._replace(records=len(kept)),
    )
    return list(pack(header, arrays))


def _view_arrays(
    view: View,
    classes: tuple[str, ...],
    by_key: dict[int, dict[str, Columns]],
) -> tuple[dict[str, tuple[str, Buffer]], int]:
    """Return the arrays of a view, and how many terms there are."""
    name = view.name
    place_of = {label: place for place, label in enumerate(classes)}
    once: list[list[int]] = [[], [], []]
    keys: list[int] = []
    sizes: list[int] = []
    starts: list[int] = []
    entries: list[list[int]] = [[], *([] for _ in view.columns)]
    for key in sorted(by_key):
        row = sorted(
            (place_of[label], columns)
            for label, columns in by_key[key].items()
            if any(columns)
        )
        if len(row) == 1 and row[0][1][:2] == (1, 1):
            place, columns = row[0]
            for column, value in zip(once, (key, place, columns[-1]), strict=True):
                column.append(value)
        elif row:
            if len(keys) % BLOCK == 0:
                starts.append(len(entries[0]))
            keys.append(key)
            sizes.append(len(row))
            for place, columns in row:
                for column, value in zip(entries, (place, *columns), strict=True):
                    column.append(value)
    arrays = {
        f"{name}.once.keys": _smallest(once[0], "u8"),
        f"{name}.once.classes": _smallest(once[1], "u1", "u2"),
    }
    if "weight" in view.columns:
        arrays[f"{name}.once.weight"] = _smallest(once[2])
    arrays |= {
        f"{name}.keys": _smallest(keys, "u8"),
        f"{name}.sizes": _smallest(sizes, "u1", "u2"),
        f"{name}.starts": _smallest(starts, "u4", "u8"),
        f"{name}.classes": _smallest(entries[0], "u1", "u2"),
    }
    for column_name, values in zip(view.columns, entries[1:], strict=True):
        arrays[f"{name}.{column_name}"] = _smallest(values)
    return arrays, len(once[0]) + len(keys)


def _ledger_arrays(
    delta: Delta, classes: tuple[str, ...]
) -> dict[str, tuple[str, Buffer]]:
    rows = sorted(
        (*halves(digest), classes.index(row.label), row.fingerprint, count)
        for (digest, row), count in delta.ledger.items()
        if count
    )
    high, low, places, fingerprints, counts = _transposed(rows, 5)
    return {
        "ledger.high": _smallest(high, "u8"),
        "ledger.low": _smallest(low, "u8"),
        "ledger.fingerprints": _smallest(fingerprints, "u8"),
        "ledger.classes": _smallest(places, "u1", "u2"),
        "ledger.counts": _smallest(counts),
    }


def _record_arrays(
    kept: Sequence[UndoRecord], settings: Settings, classes: tuple[str, ...]
) -> dict[str, tuple[str, Buffer]]:
    rows = [
        (
            *halves(one.digest),
            one.row.fingerprint,
            classes.index(one.row.label),
            one.bin,
        )
        for one in kept
    ]
    high, low, fingerprints, places, bins = _transposed(rows, 5)
    arrays = {
        "undo.high": _smallest(high, "u8"),
        "undo.low": _smallest(low, "u8"),
        "undo.fingerprints": _smallest(fingerprints, "u8"),
        "undo.classes": _smallest(places, "u1", "u2"),
        "undo.bins": _smallest(bins, "i2"),
    }
    for number, view in enumerate(settings.views):
        bags = [sorted(one.bag[number].items()) for one in kept]
        terms = [term for bag in bags for term in bag]
        keys, counts = _transposed(terms, 2)
        name = f"undo.{view.name}"
        arrays |= {
            f"{name}.sizes": _smallest(list(map(len, bags)), "u4", "u8"),
            f"{name}.keys": _smallest(keys, "u8"),
            f"{name}.counts": _smallest(counts),
        }
    return arrays


def _transposed(rows: Iterable[Sequence[int]], width: int) -> Sequence[Sequence[int]]:
    return list(zip(*rows, strict=True)) or [()] * width


def _smallest(values: Sequence[int], *kinds: str) -> tuple[str, Buffer]:
    """Return the first type that holds all values, and their bytes in it."""
    low, high = min(values, default=0), max(values, default=0)
    for kind in kinds or LIMITS:
        if LIMITS[kind][0] <= low and high <= LIMITS[kind][1]:
            packed = array(TYPES[kind], values)
            if sys.byteorder == "big":  # the file is little-endian
                packed.byteswap()
            return kind, packed.tobytes()
    message = f"values from {low} to {high} do not fit into {kinds}"
    raise ValueError(message)
