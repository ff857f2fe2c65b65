"""
A delta as one table to append to the file.

A delta goes in, the bytes of a table come out, on the standard library and msgpack
alone; `nbtext.store.packing` writes the same bytes for the same counts, from arrays.
"""

import sys
from array import array
from bisect import bisect_left
from collections import Counter as Tally
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nbtext.counts.histograms import Histograms
    from nbtext.policy import Policy

from nbtext.counts import Calibration, Fit
from nbtext.counts.correction import CorrectionInfo
from nbtext.counts.fitting import with_fit
from nbtext.learning.delta import Columns, Delta, UndoRecord
from nbtext.settings.reading import KEY_BITS, Settings
from nbtext.settings.scoring import Scoring
from nbtext.store import Header, History, Row
from nbtext.store.blocks import Buffer
from nbtext.store.ledger import bin_rows, halves
from nbtext.store.schema import (
    AMOUNTS,
    LEDGER,
    RECORDS,
    STRIDE,
    TYPES,
    TermArrays,
    array_types,
    bag_arrays,
    correction_arrays,
    index_bits,
    key_types,
    smallest_type,
    stored_bits,
    term_arrays,
)
from nbtext.store.writing import pack


def pack_delta(
    delta: Delta,
    *,
    scoring: Scoring,
    calibrations: Sequence[Calibration],
    fit: Fit | None,
    correction: CorrectionInfo | None,
    policy: "Policy | None",
    history: History,
    histograms: "Histograms | None",
    written: str,
    writer: str,
) -> list[Buffer]:
    """
    Return the bytes of a delta as a table, in pieces, ready for a model file.

    Args:
        delta: what is added and taken away.
        scoring: how the model asks to be scored.
        calibrations: what the documents scored before they were learnt.
        fit: what is fitted to that of the scoring, of the model with the delta.
        correction: of the model, None if it has none.
        policy: of the model, None if it has none.
        history: how the table came to be; its records are those of the delta.
        histograms: how those of the model change, None if it keeps none.
        written: when, as ISO 8601 in UTC.
        writer: which program.
    """
    settings, classes = delta.settings, delta.classes
    arrays: dict[str, Sequence[int]] = {}
    key_kinds: dict[str, tuple[str, ...]] = {}
    n_terms = []
    for view, by_key in zip(settings.views, delta.views, strict=True):
        names = term_arrays(view)
        stored = {} if view.kind == "number" else by_key  # numbers are in the totals
        part, count = _family_arrays(names, classes, stored)
        arrays |= part
        key_kinds[names.keys] = key_types(index_bits(count))
        n_terms.append(count)
    arrays |= _ledger_arrays(delta, classes)
    # a table that adds one document is its record itself
    kept = delta.records if len(delta.records) > 1 or len(+delta.ledger) > 1 else []
    if kept:
        arrays |= _record_arrays(kept, settings, classes, len(calibrations))
    is_corrected = correction is not None and bool(delta.correction.classes)
    if is_corrected:
        for view, values in zip(settings.views, delta.correction.views, strict=True):
            names = correction_arrays(view)
            part, count = _family_arrays(names, classes, _as_columns(values))
            arrays |= part
            key_kinds[names.keys] = key_types(index_bits(count))
        arrays |= _amount_arrays(delta.correction.amounts, classes)
    types = array_types(settings, len(kept), is_corrected=is_corrected) | key_kinds
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
        calibrations=with_fit(calibrations, scoring, fit),
        written=written,
        writer=writer,
        history=history._replace(records=len(kept)),
        histograms=histograms,
        correction=correction.of_change() if correction and is_corrected else None,
        biases=tuple(delta.correction.biases[label] for label in classes),
        policy=policy,
    )
    packed = {name: _smallest(values, types[name]) for name, values in arrays.items()}
    return list(pack(header, packed))


def _as_columns(values: dict[int, Tally[str]]) -> dict[int, dict[str, Columns]]:
    """Return numbers by key and class as columns, of which there is one."""
    return {
        key: {label: (value,) for label, value in by_class.items()}
        for key, by_class in values.items()
    }


def _family_arrays(
    names: TermArrays, classes: tuple[str, ...], by_key: dict[int, dict[str, Columns]]
) -> tuple[dict[str, Sequence[int]], int]:
    """Return the arrays of a family of terms, and how many terms there are."""
    place_of = {label: place for place, label in enumerate(classes)}
    ones = (1,) * len(names.columns)
    keys: list[int] = []
    codes: list[int] = []
    starts: list[int] = []
    entries: list[list[int]] = [[], *([] for _ in names.columns)]
    for key in sorted(by_key):
        row = sorted(
            (place_of[label], columns)
            for label, columns in by_key[key].items()
            if any(columns)
        )
        if not row:
            continue
        if len(keys) % STRIDE == 0:
            starts.append(len(entries[0]))
        keys.append(key)
        if len(row) == 1 and row[0][1] == ones:
            codes.append(row[0][0])
            continue
        codes.append(len(classes) - 1 + len(row))
        for place, columns in row:
            for column, value in zip(entries, (place, *columns), strict=True):
                column.append(value)
    bits = index_bits(len(keys))
    mask = (1 << stored_bits(bits)) - 1
    arrays: dict[str, Sequence[int]] = {
        names.buckets: [
            bisect_left(keys, bucket << KEY_BITS - bits)
            for bucket in range((1 << bits) + 1)
        ],
        names.keys: [key & mask for key in keys],
        names.codes: codes,
        names.starts: starts,
    }
    arrays |= zip((names.classes, *names.columns), entries, strict=True)
    return arrays, len(keys)


def _ledger_arrays(delta: Delta, classes: tuple[str, ...]) -> dict[str, Sequence[int]]:
    rows = sorted(
        (*halves(digest), classes.index(row.label), row.fingerprint, count)
        for (digest, row), count in delta.ledger.items()
        if count
    )
    high, low, places, fingerprints, counts = _transposed(rows, 5)
    return {
        LEDGER.high: high,
        LEDGER.low: low,
        LEDGER.fingerprints: fingerprints,
        LEDGER.classes: places,
        LEDGER.counts: counts,
    }


def _amount_arrays(
    amounts: dict[tuple[bytes, Row], Tally[str]], classes: tuple[str, ...]
) -> dict[str, Sequence[int]]:
    documents = []
    for (digest, row), by_class in amounts.items():
        changes = [(classes.index(label), n) for label, n in by_class.items() if n]
        if changes:
            place = classes.index(row.label)
            key = (*halves(digest), place, row.fingerprint)
            documents.append((key, sorted(changes)))
    documents.sort()
    rows = [
        (high, low, mark, place, len(changes))
        for (high, low, place, mark), changes in documents
    ]
    pairs = [pair for _, changes in documents for pair in changes]
    columns = [*_transposed(rows, 5), *_transposed(pairs, 2)]
    return dict(zip(AMOUNTS, columns, strict=True))


def _record_arrays(
    kept: Sequence[UndoRecord],
    settings: Settings,
    classes: tuple[str, ...],
    n_bins: int,
) -> dict[str, Sequence[int]]:
    high, low = zip(*(halves(one.digest) for one in kept), strict=True)
    arrays: dict[str, Sequence[int]] = {
        RECORDS.high: high,
        RECORDS.low: low,
        RECORDS.fingerprints: [one.row.fingerprint for one in kept],
        RECORDS.classes: [classes.index(one.row.label) for one in kept],
        RECORDS.bins: bin_rows([one.bins for one in kept], n_bins),
    }
    for number, view in enumerate(settings.views):
        bags = [sorted(one.bag[number].items()) for one in kept]
        terms = [term for bag in bags for term in bag]
        parts = [list(map(len, bags)), *_transposed(terms, 2)]
        arrays |= zip(bag_arrays(view), parts, strict=True)
    return arrays


def _transposed(rows: Iterable[Sequence[int]], width: int) -> Sequence[Sequence[int]]:
    return list(zip(*rows, strict=True)) or [()] * width


def _smallest(values: Sequence[int], types: Iterable[str]) -> tuple[str, Buffer]:
    """Return the first type that holds all values, and their bytes in it."""
    kind = smallest_type(min(values, default=0), max(values, default=0), types)
    packed = array(TYPES[kind], values)
    if sys.byteorder == "big":  # the file is little-endian
        packed.byteswap()
    return kind, packed.tobytes()
