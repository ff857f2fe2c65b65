"""
What workers run: chunks read and counted, sums, and the model made of them.

A task takes what it works on, and gives back a value; it changes nothing but files in
the shared folder, whose names say what they hold.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nbtext.counts import ReadReport
    from nbtext.counts.counting import Limits
    from nbtext.distributed.listing import Chunk
    from nbtext.learning import SettingsOverrides
    from nbtext.learning.summary import TrainingSummary
    from nbtext.policy import Policy
    from nbtext.settings.reading import Settings
    from nbtext.sources import Options

from nbtext.counts import CountTable
from nbtext.counts.counting import Counted, count, guess
from nbtext.counts.room import bounded
from nbtext.counts.table import add
from nbtext.distributed.items import items_of
from nbtext.distributed.parts import (
    ChunkReport,
    CountedChunks,
    CountedRange,
    Marks,
    SamplePart,
    add_ranges,
    add_samples,
    check_marks,
    counted_chunk,
    joined_marks,
    sample_of,
    texts_of,
)
from nbtext.distributed.range_files import StoredRange, store
from nbtext.distributed.shared_files import SharedFile, write_shared
from nbtext.learning.inheriting import with_policy_of_old
from nbtext.learning.reading_once import LabelledSources
from nbtext.learning.training import trained_on


@dataclass(frozen=True, slots=True)
class CountPlan:
    """
    How chunks are counted, the same for all of them.

    Attributes:
        settings: how documents are read.
        options: what the sources are.
        limits: how much of a document is read, and how many are kept.
        n_ranges: into how many ranges of keys counts are cut, a power of 2.
    """

    settings: Settings
    options: Options
    limits: Limits
    n_ranges: int


@dataclass(frozen=True, slots=True)
class FinishPlan:
    """
    What a model is made by, beside the counts.

    Attributes:
        counting: how documents were counted.
        overrides: what differs from the default settings and scoring.
        chunks: all documents, for a second pass.
        marks: what was counted of each chunk.
        report: what was read.
        policy: that of the model that is replaced.
        folder: where the file goes.
    """

    counting: CountPlan
    overrides: SettingsOverrides
    chunks: tuple[Chunk, ...]
    marks: Marks
    report: ReadReport
    policy: Policy | None
    folder: str


@dataclass(frozen=True, slots=True)
class WrittenModel:
    """A model in the shared folder."""

    file: SharedFile
    summary: TrainingSummary


def first_look(
    chunks: Sequence[Chunk], options: Options, n_classes: int | None
) -> tuple[Settings, Options]:
    """
    Read the first documents, and guess how all of them are to be read.

    Returns:
        How, before anything is overridden; and what the sources are, with what was
        guessed of the columns of tables.
    """
    items = (item for chunk in chunks for item in items_of(chunk.items, options))
    settings, _ = guess(items, n_classes, options.max_bytes)
    if options.guess is not None:
        options.guess.close()
    return settings, options


def count_chunk(chunk: Chunk, plan: CountPlan) -> tuple[CountedChunks, ChunkReport]:
    """Read a chunk where this runs, and count it."""
    with worker_memory():
        items = items_of(chunk.items, plan.options)
        counted = count(items, plan.settings, plan.limits)
        made, mark = counted_chunk(counted, chunk.number, plan.n_ranges)
        return made, ChunkReport(counted.report, mark)


def report_of(counted: tuple[CountedChunks, ChunkReport]) -> ChunkReport:
    """Return what was read of a chunk, which is small."""
    return counted[1]


def add_chunks(
    counted: Sequence[tuple[CountedChunks, ChunkReport]], plan: CountPlan
) -> CountedChunks:
    """Add up neighbouring chunks, before their ranges go different ways."""
    chunks = [chunk for chunk, _ in counted]
    with worker_memory():
        return CountedChunks(
            tuple(
                add_ranges(parts)
                for parts in zip(*(chunk.ranges for chunk in chunks), strict=True)
            ),
            add_samples([chunk.sample for chunk in chunks], plan.limits),
        )


def range_of(counted: CountedChunks, number: int) -> CountedRange:
    """Return one range of what was counted."""
    return counted.ranges[number]


def sample_part(counted: CountedChunks) -> SamplePart:
    """Return the sample of what was counted."""
    return counted.sample


def sum_ranges(parts: Sequence[CountedRange]) -> CountedRange:
    """Add up a range of keys of many chunks."""
    with worker_memory():
        return add_ranges(parts)


def sum_samples(parts: Sequence[SamplePart], limits: Limits) -> SamplePart:
    """Return one sample of many."""
    with worker_memory():
        return add_samples(parts, limits)


def store_range(parts: Sequence[CountedRange], folder: str, number: int) -> StoredRange:
    """Add up the last of a range, and write it to the shared folder."""
    return store(sum_ranges(parts), folder, number)


def finish(
    stored: Sequence[StoredRange], samples: Sequence[SamplePart], plan: FinishPlan
) -> WrittenModel:
    """
    Make the model of all ranges, and write it to the shared folder.

    The ranges are mapped, and added up one after the other; what takes more than a part
    of the worker's memory is in temporary files.

    Raises:
        TrainingError: the counts are not those that were reported, or train no model.
        ClusterError: a range is not as it was written.
        ModelWriteError: the folder cannot be written to.
    """
    marks = [*(one.marks for one in stored), joined_marks(one.marks for one in samples)]
    check_marks(marks, plan.marks)
    counting = plan.counting
    with worker_memory(is_alone=True):
        nothing = CountTable(counting.settings)
        table = add([one.load() for one in stored] or [nothing])
        limits = counting.limits
        sample, texts = sample_of(samples, limits), texts_of(samples, limits)
        sources = LabelledSources(
            lambda: (
                item
                for chunk in plan.chunks
                for item in items_of(chunk.items, counting.options)
            ),
            limits.max_bytes,
        )
        trained = trained_on(
            Counted(table, sample, plan.report, texts), sources, plan.overrides
        )
        trained = with_policy_of_old(trained, plan.policy)
        path = Path(plan.folder, f"model-{uuid4().hex}")
        file = write_shared(path, trained.contents.pack())
        return WrittenModel(file, trained.summary())


@contextmanager
def worker_memory(*, is_alone: bool = False) -> Iterator[None]:
    """Bound the memory of counts by half of what the worker may take."""
    from distributed import get_worker

    try:
        worker = get_worker()
    except ValueError:  # as where a test calls a task
        yield
        return
    limit = worker.memory_manager.memory_limit
    share = 2 if is_alone else 2 * worker.state.nthreads
    with bounded(None if limit is None else limit // share):
        yield
