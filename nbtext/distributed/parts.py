"""
What workers make of sources: counts of chunks, in ranges of keys, which add up.

Everything here is a value that no task changes, and a task's result depends on nothing
but its arguments. So Dask may compute any of it again, when a worker has died with it:
what comes out replaces what was lost. That nothing is counted twice, and nothing is
missing, is not left to that alone: counts carry the marks of the chunks they were made
of, and no two may be of the same chunk.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from nbtext.counts import ReadReport
    from nbtext.counts.counting import Counted, Limits
    from nbtext.counts.sample import Block, Place
    from nbtext.counts.text_sample import TextSample

from nbtext.counts import CountTable, LedgerRun, Sample, SortedCounts
from nbtext.counts.room import is_in_file
from nbtext.counts.table import add
from nbtext.errors import TrainingError
from nbtext.settings.reading import KEY_BITS

DIGEST_BITS: Final = 64
"""Bits of the first half of a document's digest, by which ledgers are cut."""

Marks = dict[int, bytes]
"""By the number of a chunk, a digest of what was counted of it."""

CHANGED: Final = (
    "the documents changed while they were counted: a worker has died, and what it "
    "had counted was counted again, with another outcome; train again"
)


@dataclass(frozen=True, slots=True)
class CountedRange:
    """
    What chunks have in one range of keys, and the ledger in one range of digests.

    Attributes:
        table: the counts; the first range has how many documents there are, too.
        marks: which chunks they are of.
    """

    table: CountTable
    marks: Marks


@dataclass(frozen=True, slots=True)
class SamplePart:
    """
    The sample of the documents of some chunks.

    Attributes:
        blocks: the documents.
        end: the first document that is too many, None if none is.
        marks: which chunks it is of.
        texts: the beginnings of documents, where texts of terms are looked for.
    """

    blocks: tuple[Block, ...]
    end: Place | None
    marks: Marks
    texts: TextSample


@dataclass(frozen=True, slots=True)
class CountedChunks:
    """All that is made of some chunks."""

    ranges: tuple[CountedRange, ...]
    sample: SamplePart


@dataclass(frozen=True, slots=True)
class ChunkReport:
    """
    What was read of one chunk.

    Attributes:
        report: the documents, and what could not be read.
        mark: the digest of what was counted.
    """

    report: ReadReport
    mark: bytes


def mark_of(table: CountTable) -> bytes:
    """Return a digest of all that a table holds."""
    digest = blake2b(digest_size=16)
    digest.update(repr((table.classes, table.documents)).encode("utf-8", "replace"))
    for runs in table.runs:
        for run in runs:
            digest.update(repr((len(run), run.sums)).encode())
            _update(digest, (run.keys, *run.columns))
    for entries in table.ledger:
        _update(digest, (entries.entries, entries.counts))
    return digest.digest()


def _update(digest: blake2b, arrays: Iterable[NDArray[np.integer]]) -> None:
    for array in arrays:
        digest.update(np.ascontiguousarray(array).data)


def split(table: CountTable, n_ranges: int) -> Iterator[CountTable]:
    """
    Yield a table's parts, which add up to it.

    Args:
        table: the counts.
        n_ranges: how many parts, a power of 2.
    """
    keys, digests = _bounds(n_ranges, KEY_BITS), _bounds(n_ranges, DIGEST_BITS)
    rows = [[_slices(run.keys, keys) for run in runs] for runs in table.runs]
    entries = [_slices(run.entries[:, 0], digests) for run in table.ledger]
    for number in range(n_ranges):
        yield CountTable(
            settings=table.settings,
            classes=table.classes,
            documents=tuple(0 if number else n for n in table.documents),
            runs=tuple(
                tuple(
                    _part(run, of_run[number], has_sums=not number)
                    for run, of_run in zip(runs, of_view, strict=True)
                )
                for runs, of_view in zip(table.runs, rows, strict=True)
            ),
            ledger=tuple(
                LedgerRun(run.entries[of[number]].copy(), run.counts[of[number]].copy())
                for run, of in zip(table.ledger, entries, strict=True)
            ),
        )


def _bounds(n_ranges: int, bits: int) -> NDArray[np.uint64]:
    """Return where each range but the first begins."""
    shift = np.uint64(bits - (n_ranges.bit_length() - 1))
    return np.arange(1, n_ranges, dtype=np.uint64) << shift


def _slices(keys: NDArray[np.uint64], bounds: NDArray[np.uint64]) -> list[slice]:
    """Return the rows that sorted keys have in each range."""
    ends = [0, *np.searchsorted(keys, bounds).tolist(), len(keys)]
    return [slice(*two) for two in pairwise(ends)]


def _part(run: SortedCounts, rows: slice, *, has_sums: bool) -> SortedCounts:
    """Return some rows, copied: the others may be let go of, or sent elsewhere."""
    columns = tuple(column[rows].copy() for column in run.columns)
    return SortedCounts(run.keys[rows].copy(), columns, run.sums if has_sums else ())


def add_ranges(parts: Sequence[CountedRange]) -> CountedRange:
    """
    Add up what chunks have in one range.

    Raises:
        TrainingError: a chunk is in two of them.
    """
    table = add([part.table for part in parts])
    return CountedRange(table, joined_marks([part.marks for part in parts]))


def add_samples(parts: Sequence[SamplePart], limits: Limits) -> SamplePart:
    """Return the sample of all documents of which these are samples."""
    sample = sample_of(parts, limits)
    sample.prune()
    marks = joined_marks([part.marks for part in parts])
    texts = texts_of(parts, limits)
    return SamplePart(tuple(sample.blocks()), sample.end, marks, texts)


def texts_of(parts: Sequence[SamplePart], limits: Limits) -> TextSample:
    """Return the beginnings of documents, of all; the parts stay as they are."""
    texts = limits.text_sample()
    for part in parts:
        texts.absorb(part.texts)
    return texts


def sample_of(parts: Sequence[SamplePart], limits: Limits) -> Sample:
    """Return the same as `Sample` has it; the parts stay as they are."""
    end = min((part.end for part in parts if part.end is not None), default=None)
    sample = Sample(documents=limits.sample, terms=limits.terms, end=end)
    for part in parts:
        for block in part.blocks:
            # what came from another machine is in memory
            is_aside = any(is_in_file(terms.keys) for terms in block.views)
            sample.add(replace(block, is_aside=is_aside))
    return sample


def joined_marks(marks: Iterable[Mapping[int, bytes]]) -> Marks:
    """
    Return the marks of all chunks.

    Raises:
        TrainingError: one is there twice; then its documents would count twice.
    """
    joined: Marks = {}
    for some in marks:
        if joined.keys() & some.keys():
            raise TrainingError(CHANGED)
        joined.update(some)
    return joined


def check_marks(marks: Iterable[Mapping[int, bytes]], expected: Marks) -> None:
    """
    Make sure that counts are of all chunks, each of them as it was reported.

    Raises:
        TrainingError: they are not.
    """
    if any(dict(some) != expected for some in marks):
        raise TrainingError(CHANGED)


def counted_chunk(
    counted: Counted, number: int, n_ranges: int
) -> tuple[CountedChunks, bytes]:
    """Return what is made of one chunk, in ranges, and its mark."""
    table, sample = counted.table, counted.sample
    mark = mark_of(table)
    marks = {number: mark}
    ranges = tuple(CountedRange(part, marks) for part in split(table, n_ranges))
    sample.prune()
    own = SamplePart(tuple(sample.blocks()), sample.end, marks, counted.texts)
    return CountedChunks(ranges, own), mark
