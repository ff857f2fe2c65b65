"""
Counts: what a pile of labelled documents leaves behind, and how piles add up.

A `CountTable` holds, for each view and class, the terms that occur there (sorted 48-bit
keys) with their columns, and for each class the number of its documents and the ledger
of their digests. Tables of the same settings add; what was added can be subtracted, and
what is left is as if it had never been there, bit for bit. Everything large rests on
that: batches, processes, folds, learning and forgetting, merging.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from nbtext.counts.sorted_counts import Counts, Keys
    from nbtext.parallel import Map
    from nbtext.settings.reading import Settings

from nbtext.classes import quoted
from nbtext.counts.room import Ranges, empty, extremes, negative
from nbtext.counts.sorted_counts import (
    NO_KEYS,
    KeptCounts,
    SortedCounts,
    merged,
    narrow,
    no_counts,
    put_aside,
    ranges,
    shortened,
    starts_of_runs,
    sums_alone,
    sums_of_runs,
)
from nbtext.errors import SettingsError, TrainingError
from nbtext.exact import are_sums

LEDGER_RANGE: Final = 1 << 18
"""How many documents of a ledger are sorted at a time, about."""

FEW_CLASSES: Final = 8
"""Of so many classes the rows of each are looked for; those of more are sorted."""


class LedgerRun:
    """
    The documents of one class.

    Attributes:
        entries: shape (n_documents, 3), sorted: the two halves of a document's digest,
            and the fingerprint of the counts that it left (`nbtext.tokens.bags`).
        counts: shape (n_documents,), how often; never zero.
    """

    __slots__ = ("counts", "entries")

    def __init__(self, entries: Keys, counts: Counts) -> None:
        self.entries = entries
        self.counts = counts

    def __len__(self) -> int:
        return len(self.counts)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CountTable:
    """
    Counts that add up.

    Attributes:
        settings: how the documents were read; equal in tables that are added.
        classes: the names of the classes, sorted.
        documents: how many documents each class has.
        runs: the counts, by view and then by class.
        ledger: the documents, by class; empty where the settings keep none.
    """

    settings: Settings
    classes: tuple[str, ...] = ()
    documents: tuple[int, ...] = ()
    runs: tuple[tuple[SortedCounts, ...], ...] = ()
    ledger: tuple[LedgerRun, ...] = ()

    @property
    def n_rows(self) -> int:
        """Return how many (term, class) rows there are, and numbers."""
        runs = [run for runs in self.runs for run in runs]
        return sum(map(len, runs)) + sum(run.sums[0] for run in runs if run.sums)

    @property
    def in_memory(self) -> int:
        """How many bytes of the counts are in no temporary file."""
        return sum(run.in_memory for runs in self.runs for run in runs)

    def put_aside(self) -> CountTable:
        """
        Return the same counts, in a temporary file.

        Raises:
            NoRoomError: the temporary folder has no room for them.
        """
        aside = iter(put_aside([run for runs in self.runs for run in runs]))
        runs = (tuple(islice(aside, len(of_view))) for of_view in self.runs)
        return replace(self, runs=tuple(runs))

    def without_rows(self) -> CountTable:
        """Return the sums of the same counts; the rows are elsewhere, by term."""
        runs = tuple(
            tuple(sums_alone(run.totals()) for run in of_view) for of_view in self.runs
        )
        return replace(self, runs=runs)

    def __add__(self, other: CountTable) -> CountTable:
        return add([self, other])

    def __neg__(self) -> CountTable:
        return CountTable(
            settings=self.settings,
            classes=self.classes,
            documents=tuple(-count for count in self.documents),
            runs=tuple(tuple(_negative(run) for run in runs) for runs in self.runs),
            ledger=tuple(
                LedgerRun(run.entries, narrow(-run.counts.astype(np.int64)))
                for run in self.ledger
            ),
        )

    def __sub__(self, other: CountTable) -> CountTable:
        difference = add([self, -other])
        difference.check()
        return difference

    def check(self) -> None:
        """
        Refuse counts that no pile of documents leaves.

        Raises:
            TrainingError: a count is below zero, with the class that it is in.
        """
        for place, name in enumerate(self.classes):
            runs = [*self.ledger[place : place + 1]]
            low = [run.counts.min(initial=0) for run in runs]
            low += [
                extremes(column)[0]
                for view in self.runs
                for column in view[place].columns
            ]
            sums = [view[place].sums for view in self.runs if view[place].sums]
            low += [0 if are_sums(of_view) else -1 for of_view in sums]
            if self.documents[place] < 0 or min(low, default=0) < 0:
                message = (
                    f"the counts of class {quoted(name)} would fall below zero; what "
                    "is taken away was never counted there"
                )
                raise TrainingError(message)


def rows_by_class(
    classes: NDArray[np.integer], n_classes: int
) -> list[NDArray[np.int64]]:
    """Return for each class the rows that are of it, in order; classes are numbers."""
    if n_classes <= FEW_CLASSES:
        return [np.flatnonzero(classes == place) for place in range(n_classes)]
    order = np.argsort(classes, kind="stable")
    bounds = np.searchsorted(classes.take(order), np.arange(1, n_classes + 1))
    return np.split(order, bounds)[:n_classes]


def empty_ledger() -> LedgerRun:
    """Return the ledger of no document."""
    return LedgerRun(np.empty((0, 3), np.uint64), np.empty(0, np.int32))


def add(tables: Sequence[CountTable], map_: Map = map) -> CountTable:
    """
    Add tables up; a class without documents or counts is gone from the sum.

    Raises:
        SettingsError: they were not counted with the same settings.
    """
    settings = tables[0].settings
    for table in tables:
        if table.settings != settings:
            message = f"cannot add: {settings.difference(table.settings)}"
            raise SettingsError(message)
    parts_of: dict[str, list[tuple[CountTable, int]]] = {}
    for table in tables:
        for place, name in enumerate(table.classes):
            parts_of.setdefault(name, []).append((table, place))
    kept, documents, ledger = [], [], []
    runs = KeptCounts()
    for name, parts in sorted(parts_of.items(), key=lambda item: item[0]):
        count = sum(table.documents[place] for table, place in parts)
        by_view = [
            merged(
                [table.runs[number][place] for table, place in parts],
                len(view.columns),
                map_,
            )
            for number, view in enumerate(settings.views)
        ]
        entries = add_ledgers([table.ledger[place] for table, place in parts])
        has_counts = any(len(run) or run.sums for run in by_view)
        if count or len(entries) or has_counts:
            kept.append(name)
            documents.append(count)
            ledger.append(entries)
            for run in by_view:
                runs.add(run)
    n_views = len(settings.views)
    return CountTable(
        settings=settings,
        classes=tuple(kept),
        documents=tuple(documents),
        runs=tuple(tuple(runs.runs[view::n_views]) for view in range(n_views)),
        ledger=tuple(ledger),
    )


def with_classes(table: CountTable, names: Iterable[str]) -> CountTable:
    """Return the same counts with more classes, that no document is in."""
    classes = sorted({*table.classes, *names})
    place_of = {name: place for place, name in enumerate(table.classes)}
    places = [place_of.get(name) for name in classes]
    return CountTable(
        settings=table.settings,
        classes=tuple(classes),
        documents=tuple(0 if p is None else table.documents[p] for p in places),
        runs=tuple(
            tuple(
                no_counts(len(view.columns)) if p is None else by_class[p]
                for p in places
            )
            for view, by_class in zip(table.settings.views, table.runs, strict=True)
        ),
        ledger=tuple(empty_ledger() if p is None else table.ledger[p] for p in places),
    )


def add_ledgers(ledgers: Sequence[LedgerRun]) -> LedgerRun:
    """Add ledgers as the multisets they are; entries that cancel are gone."""
    ledgers = [run for run in ledgers if len(run)] or list(ledgers[:1])
    if len(ledgers) == 1:
        return ledgers[0]
    return ledger_of(
        np.concatenate([run.entries for run in ledgers]),
        np.concatenate([run.counts for run in ledgers]),
    )


def ledger_of(entries: Keys, counts: NDArray[np.signedinteger]) -> LedgerRun:
    """
    Make a ledger of entries in any order, with repeats.

    Digests are hashes, so of each range of their first words there are as many: one
    range after the other is sorted.

    Args:
        entries: shape (n, 3), in any byte order.
        counts: shape (n,).
    """
    n_ranges = -(-len(entries) // LEDGER_RANGE)
    if n_ranges < 2:
        return _sorted_ledger(entries.astype(np.uint64, copy=False), counts)
    sums = empty(len(entries), np.int64)
    found = empty(3 * len(entries), np.uint64)
    working, n_found = Ranges([entries, counts, sums, found]), 0
    for first, last in digest_ranges(n_ranges):
        rows = np.flatnonzero((entries[:, 0] >= first) & (entries[:, 0] <= last))
        some = entries.take(rows, axis=0).astype(np.uint64, copy=False)
        run = _sorted_ledger(some, counts.take(rows))
        found[3 * n_found : 3 * (n_found + len(run))] = run.entries.ravel()
        sums[n_found : n_found + len(run)] = run.counts
        n_found += len(run)
        working.done(some.nbytes)
    working.let_go()
    kept = shortened(found, 3 * n_found).reshape(-1, 3)
    return LedgerRun(kept, narrow(shortened(sums, n_found)))


def digest_ranges(n: int) -> Iterator[tuple[np.uint64, np.uint64]]:
    """Yield the first and the last first word of n ranges of digests."""
    bounds = [place * (1 << 64) // n for place in range(n + 1)]
    for first, end in pairwise(bounds):
        yield np.uint64(first), np.uint64(end - 1)


def ledger_rows(
    ledgers: Sequence[LedgerRun],
) -> Iterator[tuple[Keys, NDArray[np.int64], Counts]]:
    """
    Yield the rows of the ledgers of classes, as in a model file, some at a time.

    They are sorted by digest, class and fingerprint: their entries, the place of the
    class of each, and its count.
    """
    for runs in in_digest_ranges(ledgers) if ledgers else ():
        entries = np.concatenate([run.entries for run in runs])
        counts = np.concatenate([run.counts for run in runs])
        classes = np.repeat(np.arange(len(runs)), [len(run) for run in runs])
        order = np.lexsort((entries[:, 2], classes, entries[:, 1], entries[:, 0]))
        yield entries.take(order, axis=0), classes.take(order), counts.take(order)


def in_digest_ranges(ledgers: Sequence[LedgerRun]) -> Iterator[list[LedgerRun]]:
    """Yield of each range of digests what some ledgers have there."""
    n_ranges = max(1, -(-sum(map(len, ledgers)) // LEDGER_RANGE))
    starts = [0] * len(ledgers)
    for _, last in digest_ranges(n_ranges):
        ends = [bisect_right(run.entries[:, 0], last) for run in ledgers]
        yield [
            LedgerRun(run.entries[start:end], run.counts[start:end])
            for run, start, end in zip(ledgers, starts, ends, strict=True)
        ]
        starts = ends


def _sorted_ledger(entries: Keys, counts: NDArray[np.signedinteger]) -> LedgerRun:
    """Make a ledger of entries in any order, with repeats, all at once."""
    order = np.lexsort((entries[:, 2], entries[:, 1], entries[:, 0]))
    entries = entries.take(order, axis=0)
    first = starts_of_runs(*entries.T)
    sums = sums_of_runs(counts.take(order), first)
    kept = np.flatnonzero(sums)
    return LedgerRun(entries.take(first.take(kept), axis=0), narrow(sums.take(kept)))


def n_terms(runs: Sequence[SortedCounts]) -> int:
    """Return how many distinct terms the classes have together in one view."""
    found = 0
    working = Ranges([run.keys for run in runs])
    for slices in ranges([run.keys for run in runs]):
        parts = [run.keys[rows] for run, rows in zip(runs, slices, strict=True)]
        keys = np.concatenate([NO_KEYS, *parts])
        keys.sort(kind="stable")  # merges, since each is sorted
        found += int(np.count_nonzero(keys[1:] != keys[:-1])) + bool(len(keys))
        working.done(keys.nbytes)
    working.let_go()
    return found


def _negative(run: SortedCounts) -> SortedCounts:
    columns = tuple(narrow(negative(column)) for column in run.columns)
    return SortedCounts(run.keys, columns, tuple(-value for value in run.sums))
