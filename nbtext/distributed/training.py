"""
Training on a cluster: chunks counted where the data is, a tree of sums, one model.

Chunks are counted by the workers. Eight neighbours are added up; then each range of
keys goes its own way, eight sums into one again and again, and the last sum of each
goes to a file in a folder that all see. One worker maps these files, and makes the
model of them as one machine does. Only reports come to the client, and the model when
it is a file; no counts ever do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from uuid import uuid4

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from distributed import Client, Future

    from nbtext.arguments import AnyPath
    from nbtext.counts.read_report import Progress
    from nbtext.distributed.listing import Chunk, Listed
    from nbtext.distributed.parts import ChunkReport, Marks
    from nbtext.learning import SettingsOverrides
    from nbtext.learning.summary import TrainingSummary
    from nbtext.policy import Policy
    from nbtext.settings.reading import Settings
    from nbtext.store.blocks import Buffer

from nbtext import __version__, wording
from nbtext.arguments import path_of, sources_of
from nbtext.counts import ReadReport
from nbtext.counts.counting import Limits, settings_for
from nbtext.distributed import tasks
from nbtext.distributed.connecting import (
    check_workers,
    failures_told,
    of_version,
    result_of,
)
from nbtext.distributed.listing import list_sources
from nbtext.distributed.shared_folder import HELD, shared_folder
from nbtext.distributed.tasks import CountPlan, FinishPlan, WrittenModel
from nbtext.errors import NbtextError
from nbtext.learning.finishing import sample_limits
from nbtext.learning.overrides import DEFAULTS
from nbtext.learning.preparing import check_stays_keyed, reading_columns
from nbtext.learning.texts import keeps_texts
from nbtext.sources import Options
from nbtext.store import check_replaceable, replace_model
from nbtext.store.lock import WAIT
from nbtext.store.replacing import policy_of

FAN: Final = 8
"""How many sums are added up at a time."""

LEAST_RANGES: Final = 4
MOST_RANGES: Final = 256
A_RANGE: Final = 1 << 26
"""How many ranges of keys there are at least and at most, and how many bytes of
documents there are for each between."""

AUTO: Final = Options()


def train(
    sources: Sequence[AnyPath],
    client: Client,
    path: AnyPath,
    *,
    options: Options = AUTO,
    overrides: SettingsOverrides = DEFAULTS,
    replace: bool = False,
    shared: AnyPath | None = None,
    wait: float = WAIT,
    progress: Progress | None = None,
    on_read: Callable[[ReadReport], None] | None = None,
) -> TrainingSummary:
    """
    Make a model of labelled sources on a cluster, and put it in a file's place.

    The file is the one that `nbtext.train` makes of them, but for its date.

    Args:
        sources: as on the command line: `spam/`, `ham=Maildir/.Archive`, `rows.csv`;
            the client lists them, and the workers read them, by the same paths.
        client: a connection to the scheduler (`connected`).
        path: where the model goes; what is there is replaced once it is complete.
        options: what the sources are, if not what they look like.
        overrides: what differs from the default settings.
        replace: whether to replace a model that was taught since it was trained.
        shared: a folder that all workers and this process can write to; that of the
            model if None.
        wait: how many seconds to wait for another writer of the model.
        progress: told now and then how many more documents and bytes were read.
        on_read: told what was read and what was skipped, before anything is refused.

    Raises:
        ClusterError: there is no worker, one cannot do the work, or the cluster died.
        TrainingError: fewer than two classes, not one token, or documents that changed
            while they were counted.
        SettingsError: the score does not go with the number of classes; or a source is
            empty, or the standard input.
        TaughtError: the model there was taught, and would be lost.
        BusyError: another process has been writing the model all the time.
        ModelFileError: the file cannot be written.
        TypeError: the sources are one string, or none, or options or overrides are
            none.
    """
    sources, path = sources_of(sources), path_of(path)
    check_replaceable(path, replace=replace)
    options, overrides = reading_columns(options, overrides)
    if not replace:
        check_stays_keyed(path, overrides)
    with shared_folder(path, shared) as folder, failures_told(client):
        threads = check_workers(client, folder, HELD)
        listed = list_sources(sources, options, labelled=True)
        run = _Run(client, folder, listed, listed.chunks(threads), overrides)
        counted = run.count(options, progress)
        old = policy_of(path)
        try:
            written = run.finish(counted, old)
        except NbtextError:
            if on_read is not None:
                on_read(counted.report)
            raise
        if on_read is not None:
            on_read(written.summary.report)

        def pieces(policy: Policy | None) -> Iterable[Buffer]:
            nonlocal written
            if policy != old:  # somebody has set it meanwhile
                written = run.finish(counted, policy)
            return written.file.pieces()

        replace_model(path, pieces, replace=replace, wait=wait)
        return written.summary


@dataclass(frozen=True, slots=True)
class _Counted:
    """What is on the cluster once all chunks are counted."""

    plan: CountPlan
    report: ReadReport
    marks: Marks
    ranges: list[Future]
    samples: list[Future]


@dataclass(slots=True)
class _Run:
    """One training on a cluster."""

    client: Client
    folder: str
    listed: Listed
    chunks: list[Chunk]
    overrides: SettingsOverrides

    def count(self, options: Options, progress: Progress | None) -> _Counted:
        """Count all chunks, read as most of their documents ask for."""
        look = self._submit(
            tasks.first_look, self.chunks, options, self.listed.n_classes()
        )
        settings, options = result_of(look)
        guessed = None if options.guess is None else options.guess.close
        self.overrides = self.overrides._replace(guessed=guessed)
        settings = self.overrides.settings(settings)
        while True:
            counted = self._count(self._plan(settings, options), progress)
            wanted = self.overrides.settings(settings_for(counted.report))
            if settings == wanted or not counted.report.documents:
                return counted
            settings = wanted

    def finish(self, counted: _Counted, policy: Policy | None) -> WrittenModel:
        """Make the model of what is counted; see `nbtext.distributed.tasks`."""
        plan = FinishPlan(
            counting=counted.plan,
            overrides=self.overrides,
            chunks=tuple(self.chunks),
            marks=counted.marks,
            report=counted.report,
            policy=policy,
            folder=self.folder,
        )
        future = self._submit(tasks.finish, counted.ranges, counted.samples, plan)
        written: WrittenModel = result_of(future)
        return written

    def _plan(self, settings: Settings, options: Options) -> CountPlan:
        documents, terms = sample_limits(
            settings, may_correct=self.overrides.correction
        )
        ranges = LEAST_RANGES
        while ranges < MOST_RANGES and self.listed.n_bytes > ranges * A_RANGE:
            ranges *= 2
        limits = Limits(
            options.max_bytes, documents, terms, keeps_texts=keeps_texts(self.overrides)
        )
        return CountPlan(settings, options, limits, ranges)

    def _count(self, plan: CountPlan, progress: Progress | None) -> _Counted:
        counts, reports, groups = [], [], []
        for chunk in self.chunks:
            counts.append(self._submit(tasks.count_chunk, chunk, plan))
            reports.append(self._submit(tasks.report_of, counts[-1], level=1))
            if len(counts) == FAN or chunk is self.chunks[-1]:
                groups.append(self._submit(tasks.add_chunks, counts, plan, level=1))
                counts = []
        ranges = []
        for number in range(plan.n_ranges if groups else 0):
            of_range = [
                self._submit(tasks.range_of, group, number, level=2) for group in groups
            ]
            last = self._tree(of_range, tasks.sum_ranges)
            ranges.append(
                self._submit(tasks.store_range, last, self.folder, number, level=3)
            )
        samples = [self._submit(tasks.sample_part, group, level=2) for group in groups]
        samples = self._tree(samples, tasks.sum_samples, plan.limits)
        del groups
        report, marks = self._reported(reports, progress)
        return _Counted(plan, report, marks, ranges, samples)

    def _reported(
        self, reports: list[Future], progress: Progress | None
    ) -> tuple[ReadReport, Marks]:
        """Wait for all chunks, and return what was read of them, in their order."""
        # not by `as_completed`, which waits for ever if a scheduler dies meanwhile
        report, marks = ReadReport(), {}
        for number, future in enumerate(reports):
            one: ChunkReport = result_of(future)
            report.update(one.report)
            marks[number] = one.mark
            if progress is not None:
                progress(one.report.documents, one.report.bytes)
        return report, marks

    def _tree(
        self, futures: list[Future], add: Callable[..., object], *further: object
    ) -> list[Future]:
        """Add up, so many at a time, until there are no more than that."""
        while len(futures) > FAN:
            futures = [
                self._submit(add, futures[first : first + FAN], *further, level=2)
                for first in range(0, len(futures), FAN)
            ]
        return futures

    def _submit(
        self, task: Callable[..., object], *arguments: object, level: int = 0
    ) -> Future:
        """Have a task run; what brings work to its end goes first."""
        key = f"nbtext-{task.__name__}-{uuid4().hex}"
        return self.client.submit(
            of_version, __version__, wording.spoken(), task, *arguments,
            key=key, priority=level, pure=True,
        )  # fmt: skip
