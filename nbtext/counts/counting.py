"""
Counting sources: a stream of documents in, one table and a report of what was read out.

The work is a map and a sum. With an executor, chunks of documents are counted wherever
it runs them, and the tables added up as they come back; without one, a single counter
takes all. The sum is the same either way, bit for bit.
"""

from __future__ import annotations

import os
from collections import deque
from contextlib import suppress
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from concurrent.futures import Executor, Future

from nbtext.counts.adding import Adding
from nbtext.counts.counter import (
    BATCH,
    LEAST_SIZE,
    Counter,
    ReadDocument,
    make_sure_of_memory,
)
from nbtext.counts.read_report import Progress, ReadReport, documents
from nbtext.counts.room import bound
from nbtext.counts.sample import TERMS, Place, Sample
from nbtext.counts.table import CountTable
from nbtext.counts.text_sample import TextSample
from nbtext.document import Document, Item, Pause, Unread
from nbtext.errors import NoMemoryError, SourceError
from nbtext.parallel import ahead, threads
from nbtext.settings.reading import Format, Settings, default_settings
from nbtext.tokens import AnyReading, is_mail, read_keys
from nbtext.tokens.batch_reading import ReadBatch, read_together
from nbtext.tokens.key_reading import are_read_together

CHUNK: Final = 8 << 20
"""How many bytes of documents are handed to a process at a time."""

TOGETHER: Final = 1 << 20
"""How many bytes of mails are read together: with a quarter of that, what is done once
for each batch takes a twelfth of training (docs/experiments/011-engine.md)."""

OF_MEMORY: Final = 256
"""Of which part of the bound on memory so many bytes are at most, but for a `BATCH`."""

GUESSED: Final = 32
"""How many documents are looked at to guess how all of them are to be read."""

FEW_DOCUMENTS: Final = 20
"""Up to so many documents of a class, in the mean, runs of three characters are worth
their time (docs/experiments/056-few-documents.md)."""


class Counted(NamedTuple):
    """The outcome of counting."""

    table: CountTable
    sample: Sample
    report: ReadReport
    texts: TextSample


class Limits(NamedTuple):
    """
    Bounds on what is read and kept.

    Attributes:
        max_bytes: how much of a document is read.
        sample: how many documents are kept to be looked at again.
        terms: how many distinct terms of them.
        end: the first document that is known to be none of them.
        keeps_texts: whether texts of terms will be looked for.
    """

    max_bytes: int
    sample: int
    terms: int = TERMS
    end: Place | None = None
    keeps_texts: bool = False

    def text_sample(self) -> TextSample:
        """Return where documents are kept in which texts are looked for."""
        return TextSample() if self.keeps_texts else TextSample(documents=0)


def readings(
    opened: Iterable[Document], settings: Settings, report: ReadReport
) -> Iterator[tuple[Document, AnyReading]]:
    """Read the documents of a report; those that cannot be read leave it again."""
    for document in opened:
        try:
            reading = read_keys(document, settings)
        except SourceError as error:
            report.remove(document, error)
            continue
        report.mail += reading.is_mail
        yield document, reading


def count(
    items: Iterable[Item],
    settings: Settings,
    limits: Limits,
    progress: Progress | None = None,
    jobs: int = 1,
) -> Counted:
    """
    Count labelled documents.

    Args:
        items: the documents; each of them has a label.
        settings: how they are read.
        limits: how much of them is read and kept.
        progress: called now and then with what was read.
        jobs: how many threads work at documents that `are_read_together`.
    """
    report = ReadReport()
    sample = Sample(documents=limits.sample, terms=limits.terms, end=limits.end)

    def leave_out(uncounted: ReadDocument) -> None:
        document = uncounted.source
        error = NoMemoryError(document.name)
        report.remove(document, error, is_mail=uncounted.is_mail)

    texts = limits.text_sample()
    with threads(jobs) as map_:
        counter = Counter(settings, sample=sample, on_no_memory=leave_out, map_=map_)
        feed(counter, items, settings, report, limits.max_bytes, progress, jobs, texts)
        counter.count_waiting()
        pruned = map_(Sample.prune, [sample])  # scoring it needs much memory besides
        table = counter.table()
        list(pruned)
    return Counted(table, sample, report, texts)


def feed(
    counter: Counter,
    items: Iterable[Item],
    settings: Settings,
    report: ReadReport,
    max_bytes: int,
    progress: Progress | None = None,
    jobs: int = 1,
    texts: TextSample | None = None,
) -> None:
    """Read labelled documents as `count` does, and hand them to a counter."""
    opened = documents(items, report, max_bytes, progress)
    if not are_read_together(settings):
        _feed_each(counter, opened, settings, report, texts)
        return
    read = partial(_read_together, settings=settings)
    for batch in ahead(jobs, read, _batches(opened)):
        report.mail += sum(batch.are_mail)
        if batch.documents:
            labels = [document.label or "" for document in batch.documents]
            counter.add_terms(labels, batch.digests, batch.views, batch.fingerprints)
            if texts is not None:
                texts.add(batch.digests, batch.documents)
        _feed_each(counter, batch.others, settings, report, texts)


def _batches(opened: Iterable[Document]) -> Iterator[list[Document]]:
    """Put documents together that are read together."""
    batch: list[Document] = []
    size = 0
    enough = min(TOGETHER, max(bound() // OF_MEMORY, BATCH))
    for document in opened:
        batch.append(document)
        size += max(sum(map(len, document.texts)), LEAST_SIZE)
        if size >= enough:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _read_together(documents: list[Document], settings: Settings) -> ReadBatch:
    """Read documents, or leave them to be read one by one if memory is short."""
    documents = sorted(documents, key=lambda one: one.label or "")  # by class
    try:
        batch = read_together(documents, settings)
        make_sure_of_memory(batch.views)
    except MemoryError:
        return ReadBatch(settings, documents)
    return batch


def _feed_each(
    counter: Counter,
    opened: Iterable[Document],
    settings: Settings,
    report: ReadReport,
    texts: TextSample | None,
) -> None:
    """Read documents one by one, and hand them to a counter."""
    for document, reading in readings(opened, settings, report):
        if texts is not None:
            texts.add([reading.digest], [document])
        counter.add(
            ReadDocument(
                label=document.label or "",
                views=reading.views,
                digest=reading.digest,
                size=reading.size,
                source=document,
                is_mail=reading.is_mail,
            )
        )


def count_with(
    executor: Executor,
    jobs: int,
    items: Iterable[Item],
    settings: Settings,
    limits: Limits,
    progress: Progress | None = None,
) -> Counted:
    """Do what `count` does, a chunk at a time, wherever an executor runs it."""
    report = ReadReport()
    sample = Sample(documents=limits.sample, terms=limits.terms)
    adding = Adding()
    texts = limits.text_sample()
    waiting = filter(None, chunks(items))
    pending: deque[Future[Counted]] = deque()

    def submit(chunk: list[Item]) -> None:
        known = limits._replace(end=sample.end)
        pending.append(executor.submit(count, chunk, settings, known))

    for chunk in islice(waiting, 2 * jobs):
        submit(chunk)
    while pending:
        counted = pending.popleft().result()
        for chunk in islice(waiting, 1):
            submit(chunk)
        report.update(counted.report)
        if progress is not None:
            progress(counted.report.documents, counted.report.bytes)
        sample.absorb(counted.sample)
        texts.absorb(counted.texts)
        adding.add(counted.table)
    nothing = CountTable(settings=settings, runs=tuple(() for _ in settings.views))
    with threads(jobs) as map_:
        return Counted(adding.table(map_) or nothing, sample, report, texts)


def chunks(items: Iterable[Item], most: int = CHUNK) -> Iterator[list[Item]]:
    """
    Cut a stream into pieces of about `most` bytes, the first ones smaller.

    An empty piece says that input would block now: what has been handed out should be
    dealt with first.
    """
    chunk: list[Item] = []
    size, limit = 0, most // 8
    for item in items:
        is_pause = isinstance(item, Pause)
        if not is_pause:
            chunk.append(item)
            size += _size(item)
        if chunk and (is_pause or size >= limit):
            yield chunk
            chunk, size, limit = [], 0, min(limit * 2, most)
        if is_pause:
            yield []
    if chunk:
        yield chunk


def _size(item: Item) -> int:
    if isinstance(item, Document):
        return sum(map(len, item.texts))
    if isinstance(item, Unread):
        with suppress(OSError, ValueError):
            return os.stat(item.path).st_size  # noqa: PTH116  a path object is slower
    return 0


def guess(
    items: Iterable[Item], n_classes: int | None, max_bytes: int
) -> tuple[Settings, Iterator[Item]]:
    """
    Guess from the first documents how all of them are to be read.

    Args:
        items: the documents.
        n_classes: how many classes there are, None if only the documents tell.
        max_bytes: how much of a document is read.

    Returns:
        The settings, and the same items.
    """
    stream = iter(items)
    report = ReadReport()
    opening = documents(islice(stream, GUESSED), report, max_bytes)
    opened = list(islice(opening, GUESSED))  # a file may hold more than memory does
    report.mail = sum(map(is_mail, opened))
    settings = _settings_for(report, n_classes or len(report.labels))
    return settings, chain(opened, opening, report.notes, report.skipped, stream)


def settings_for(report: ReadReport) -> Settings:
    """
    Return the settings for documents like these, which are all that there are.

    They are those of mail if most of them are. Texts have runs of three characters if
    classes have few of them, and most are short, and ASCII for the most part.
    """
    n_classes = len(report.labels)
    are_few = report.documents <= FEW_DOCUMENTS * n_classes
    has_threes = are_few and 2 * report.short > report.documents
    return _settings_for(report, n_classes, has_threes=has_threes)


def _settings_for(
    report: ReadReport, n_classes: int, *, has_threes: bool = False
) -> Settings:
    is_mostly_mail = 2 * report.mail > report.documents
    kind: Format = "mail" if is_mostly_mail else "text"
    return default_settings(kind, n_classes, has_threes=has_threes)
