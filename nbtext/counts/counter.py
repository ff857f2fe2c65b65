"""
The streaming counter: batches of documents in, one count table out.

Documents are tokenised in batches of about 256 Ki code points. Within a document the
keys are sorted, which tells its distinct terms and how often each occurs. What a class
has of them in a view waits in a pile. Piles are sorted into runs when they have as many
keys as the runs have rows, and runs become one when they have twice the rows of the
first, so that the cost stays near n log n and the memory near the vocabulary.
"""

from __future__ import annotations

from collections import Counter as Tally
from collections import defaultdict
from itertools import chain, islice
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from nbtext.counts.sorted_counts import Keys
    from nbtext.parallel import Map
    from nbtext.settings.reading import Settings
    from nbtext.tokens import Content, Terms

    SmallCounts: TypeAlias = NDArray[np.uint16]

from nbtext.classes import MOST_CLASSES
from nbtext.counts.room import SPILLED, bound
from nbtext.counts.sample import Block, Sample
from nbtext.counts.sorted_counts import (
    KeptCounts,
    SortedCounts,
    merged,
    narrow,
    put_aside,
    starts_of_runs,
    sums_alone,
    sums_of_runs,
)
from nbtext.counts.table import CountTable, LedgerRun, empty_ledger, ledger_of
from nbtext.document import Document
from nbtext.errors import TOO_MANY_CLASSES, TrainingError
from nbtext.exact import sums_of
from nbtext.settings.reading import KEY_BITS
from nbtext.tokens import fingerprints, read_terms
from nbtext.tokens.bags import further_columns
from nbtext.tokens.engine import engine

MANY_TERMS: Final = 1 << 19
BYTES_A_TERM: Final = 160
"""Maximum bytes that it takes to sort a term into the counts, and from how many terms
of a batch on they are made sure of."""

NOWHERE: Final = Document("", ())
"""The source of a document that has none."""

PILE: Final = 1 << 23
"""How many keys are piled up at least, if the bound lets them, before they are sorted
into runs: 64 MiB. With half of that, merging the runs of ten thousand mails takes twice
as long; with twice that, nothing, and a third more memory for newsgroups
(docs/experiments/026-alone.md)."""

PILED: Final = 128
"""The bound on memory has at least so many bytes for each key that is piled up."""

LEAST_PILE: Final = 1 << 12
"""How many keys are piled up at least, whatever the bound."""

COUNT_BITS: Final = 64 - KEY_BITS
"""The bits of a count that fit beside a key in 64 bits."""

MOST_SORTED: Final = 2
"""Maximum columns of which each is sorted beside the keys, as one number: two sorts of
numbers take a third of what one takes that moves other arrays after them
(docs/experiments/061-time-of-text.md)."""

BATCH: Final = 1 << 18
"""How many code points make a batch (docs/experiments/002-speed.md)."""


LEAST_SIZE: Final = 64
"""What an empty document counts for, so that not any number of them waits."""


class ReadDocument(NamedTuple):
    """
    A document as the counter takes it.

    Attributes:
        label: its class.
        views: its fields or keys in each view of the settings.
        digest: 16 bytes that name it.
        size: about how many code points its longest view has.
        source: what it was read from.
        is_mail: whether it is mail.
    """

    label: str
    views: tuple[Content, ...]
    digest: bytes
    size: int
    source: Document = NOWHERE
    is_mail: bool = False


class _Piles(NamedTuple):
    """
    The terms of one view and class that wait to be sorted, by batch.

    Attributes:
        keys: distinct within a document.
        counts: how often each of them occurs there.
        further: what each adds to each further column.
    """

    keys: list[Keys]
    counts: list[NDArray[np.integer]]
    further: list[list[NDArray[np.unsignedinteger]]]

    def size(self) -> int:
        """Return how many keys wait."""
        return sum(map(len, self.keys))


def _no_piles() -> _Piles:
    return _Piles([], [], [])


class Counter:
    """
    Counts documents as they come, and keeps a sample of them if one is wanted.

    Attributes:
        sample: the documents of smallest digest, with their terms.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        sample: Sample | None = None,
        on_no_memory: Callable[[ReadDocument], None] | None = None,
        map_: Map = map,
    ) -> None:
        """
        Have counted nothing yet.

        Args:
            settings: how documents are read.
            sample: takes a sample of them, none if None.
            on_no_memory: told of each document that is left out because there is not
                enough memory to tokenise it; None to raise the MemoryError.
            map_: adds up the terms of views and classes.
        """
        self.sample = Sample(documents=0) if sample is None else sample
        self._on_no_memory = on_no_memory
        self._map = map_
        self._settings = settings
        self._waiting: list[ReadDocument] = []
        self._size = 0  # of these
        self._piled = 0
        self._enough = _enough(0)
        self._piles: defaultdict[tuple[int, str], _Piles] = defaultdict(_no_piles)
        self._runs: defaultdict[tuple[int, str], list[SortedCounts]] = defaultdict(list)
        self._documents: Tally[str] = Tally()
        self._digests: defaultdict[str, bytearray] = defaultdict(bytearray)

    def add(self, document: ReadDocument) -> None:
        """Count one document."""
        self._waiting.append(document)
        self._size += max(document.size, LEAST_SIZE)
        if self._size >= BATCH:
            self.count_waiting()

    def table(self) -> CountTable:
        """Return the counts of all documents so far."""
        self.count_waiting()
        self._sort_piles()
        classes = tuple(sorted(self._documents))
        runs = KeptCounts()
        for number, view in enumerate(self._settings.views):
            for label in classes:
                of_place = self._runs[number, label]
                runs.add(merged(of_place, len(view.columns), self._map))
        whole = iter(runs.runs)
        return CountTable(
            settings=self._settings,
            classes=classes,
            documents=tuple(self._documents[label] for label in classes),
            runs=tuple(
                tuple(islice(whole, len(classes))) for _ in self._settings.views
            ),
            ledger=tuple(self._ledger(label) for label in classes),
        )

    def count_waiting(self) -> None:
        """Count what waits, so that `sample` has seen all documents so far."""
        # a class's documents side by side, so that its terms are one slice
        batch = sorted(self._waiting, key=lambda document: document.label)
        self._waiting, self._size = [], 0
        if batch:
            self._count(batch)

    def _count(self, batch: list[ReadDocument]) -> None:
        """Count documents, or one at a time if memory is short for all of them."""
        try:
            views = read_terms(self._settings, [document.views for document in batch])
            make_sure_of_memory(views)
        except MemoryError:
            if self._on_no_memory is None:
                raise
            if len(batch) == 1:
                self._on_no_memory(batch[0])
                return
            views = None
        if views is None:  # by now what was made of all of them is released
            for document in batch:
                self._count([document])
            return
        labels = [document.label for document in batch]
        self.add_terms(labels, [document.digest for document in batch], views)

    def add_terms(
        self,
        labels: Sequence[str],
        digests: Sequence[bytes],
        views: Sequence[Terms],
        marks: list[int] | None = None,
    ) -> None:
        """
        Count documents whose terms are known.

        Args:
            labels: their classes; documents of a class stand side by side.
            digests: what names them.
            views: for each view their terms.
            marks: their fingerprints, if they are known.

        Raises:
            TrainingError: no model has so many classes, which would take ever more
                memory.
        """
        n_documents = Tally(labels)
        for view, terms in enumerate(views):
            self._pile(view, n_documents, terms)
        self._documents.update(n_documents)
        if len(self._documents) > MOST_CLASSES:
            raise TrainingError(TOO_MANY_CLASSES)
        if marks is None:
            marks = fingerprints(views).tolist()
        if self._settings.ledger:
            for label, digest, mark in zip(labels, digests, marks, strict=True):
                self._digests[label] += digest + mark.to_bytes(8, "big")
        kept = [terms.compact() for terms in views]
        self.sample.add(Block(list(labels), list(digests), marks, kept))
        if self._piled >= self._enough:
            self._sort_piles()

    def _pile(self, view: int, n_documents: Tally[str], terms: Terms) -> None:
        further = further_columns(terms, self._settings.views[view].columns)
        document = 0
        for label, count in n_documents.items():
            part = slice(*terms.starts[[document, document + count]].tolist())
            pile = self._piles[view, label]
            pile.keys.append(terms.keys[part])
            pile.counts.append(terms.counts[part])
            pile.further.append([values[part] for values in further])
            self._piled += part.stop - part.start
            document += count

    def _sort_piles(self) -> None:
        # the largest first, so that no thread is at one when the others are done
        places = sorted(self._piles, key=lambda place: -self._piles[place].size())
        for _ in self._map(self._sort_pile, places):
            pass
        self._piled = 0
        self._put_aside()
        # a key in a pile takes half the memory of a row, and less time
        n_rows = sum(len(run) for run in chain(*self._runs.values()) if run.in_memory)
        self._enough = _enough(n_rows)

    def _sort_pile(self, place: tuple[int, str]) -> None:
        """Add up the pile of one view and class, and its runs if they are large."""
        runs, pile = self._runs[place], self._piles.pop(place)  # whose memory goes
        is_number = self._settings.views[place[0]].kind == "number"
        runs.append(_summed_run(pile) if is_number else _sorted_run(pile))
        # those in a file are added up once, at the end
        fresh = [run for run in runs if run.in_memory]
        if fresh and sum(map(len, fresh)) >= 2 * len(fresh[0]):
            aside = [run for run in runs if not run.in_memory]
            runs[:] = [*aside, merged(fresh, len(fresh[0].columns))]

    def _put_aside(self) -> None:
        """Put the runs into a temporary file if they take too much memory."""
        runs = [*chain(*self._runs.values())]
        if sum(run.in_memory for run in runs) <= bound() // SPILLED:
            return
        aside = iter(put_aside(runs))
        for of_place in self._runs.values():
            of_place[:] = islice(aside, len(of_place))

    def _ledger(self, label: str) -> LedgerRun:
        entries = np.frombuffer(self._digests[label], ">u8").reshape(-1, 3)
        if not len(entries):
            return empty_ledger()
        return ledger_of(entries, np.broadcast_to(np.int32(1), len(entries)))


def _enough(n_rows: int) -> int:
    """Return how many keys are piled up where the runs in memory have so many rows."""
    return min(max(PILE, n_rows), max(bound() // PILED, LEAST_PILE))


def make_sure_of_memory(views: Sequence[Terms]) -> None:
    """
    Want for memory while nothing of some documents is counted, if it is wanted.

    Raises:
        MemoryError: there is not enough to count them.
    """
    n_terms = sum(len(terms.keys) for terms in views)
    if n_terms > MANY_TERMS:
        np.empty(n_terms * BYTES_A_TERM, np.uint8)


def _summed_run(piles: _Piles) -> SortedCounts:
    """Turn piles of numbers into their sums."""
    keys, counts = np.concatenate(piles.keys), np.concatenate(piles.counts)
    keys, counts = np.unique(np.repeat(keys, counts), return_counts=True)
    return sums_alone(sums_of(keys.tolist(), counts.tolist()))


def _sorted_run(piles: _Piles) -> SortedCounts:
    """Turn piles into counts: how many of the same key there are, and what they sum."""
    columns = [piles.counts, *zip(*piles.further, strict=True)]
    if len(columns) <= MOST_SORTED:
        small = [[*map(_in_count_bits, parts)] for parts in columns]
        fitting = [[one for one in parts if one is not None] for parts in small]
        if all(len(parts) == len(piles.keys) for parts in fitting):
            first, *others = (_sums_of_terms(piles.keys, parts) for parts in fitting)
            sums = (*first.columns, *(other.columns[0] for other in others))
            return SortedCounts(first.keys, sums)
    keys, counts = np.concatenate(piles.keys), np.concatenate(piles.counts)
    further = [np.concatenate(parts) for parts in zip(*piles.further, strict=True)]
    order = np.argsort(keys)
    further = [values.take(order) for values in further]
    return _sum_equal(keys.take(order), [counts.take(order), *further])


def _in_count_bits(counts: NDArray[np.integer]) -> SmallCounts | None:
    """Return counts, 0 or more, in as many bits as are beside a key, if they fit."""
    if counts.dtype.itemsize == 2:
        return counts.view(np.uint16)
    return None if counts.max(initial=0) >> COUNT_BITS else counts.astype(np.uint16)


def _sums_of_terms(keys: Sequence[Keys], counts: Sequence[SmallCounts]) -> SortedCounts:
    """Add up the counts of equal keys, those of each pile beside them."""
    if not engine().is_compiled:
        return sum_by_arrays(keys, counts)
    from nbtext import _compiled

    sums = _compiled.sum_terms(tuple(zip(keys, counts, strict=True)))
    if sums is None:
        return sum_by_arrays(keys, counts)
    found = np.frombuffer(sums[0], np.uint64)
    occurrences, documents = (np.frombuffer(column, np.int32) for column in sums[1:])
    return SortedCounts(found, (occurrences, documents))


def sum_by_arrays(keys: Sequence[Keys], counts: Sequence[SmallCounts]) -> SortedCounts:
    """
    Add up the terms of documents: how often each occurs, and in how many documents.

    Args:
        keys: of some piles, each of shape (n_terms,).
        counts: how often each of them occurs in its document.
    """
    # of all ways to sort both, one number for them is the quickest
    values = np.concatenate(keys)
    values <<= np.uint64(COUNT_BITS)
    values |= np.concatenate(counts)
    values.sort()
    of_each = values.astype(np.uint16).astype(np.int64)
    return _sum_equal(values >> np.uint64(COUNT_BITS), [of_each])


def _sum_equal(keys: Keys, columns: list[NDArray[np.integer]]) -> SortedCounts:
    """Add up the values of equal keys, which are sorted; count them, too."""
    first = starts_of_runs(keys)
    sums = [sums_of_runs(values, first) for values in columns]
    sums.insert(1, np.diff(first, append=len(keys)))
    return SortedCounts(keys.take(first), tuple(map(narrow, sums)))
