"""
Documents that are read once and scored many times: their terms, kept in a file.

Labelled sources go in, a `TermCache` comes out, from which the counts of any of the
documents are made, and the sample that training would keep of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    from numpy.typing import NDArray

    from nbtext.counts import TermCache
    from nbtext.document import Document, Item
    from nbtext.learning.overrides import SettingsOverrides
    from nbtext.settings.reading import Settings
    from nbtext.tokens import AnyReading

from nbtext import wording
from nbtext.counts import Counter, CountTable, ReadReport, Sample
from nbtext.counts.counter import BATCH, LEAST_SIZE
from nbtext.counts.counting import guess, readings, settings_for
from nbtext.counts.read_report import Progress, documents
from nbtext.counts.sample import Block
from nbtext.document import Note
from nbtext.errors import NoMemoryError, TrainingError
from nbtext.learning.finishing import sample_limits
from nbtext.tokens import fingerprints, read_terms


class Kept(NamedTuple):
    """
    A document whose terms are kept.

    Attributes:
        document: the document.
        reading: the same, taken apart.
        number: how many were read before it.
    """

    document: Document
    reading: AnyReading
    number: int


class LabelledSources(NamedTuple):
    """
    Labelled documents that are to be read, and who is told of it.

    Attributes:
        read: gives them, from the beginning each time.
        max_bytes: how much of a document is read.
        n_classes: how many classes there will be, if that is known.
        progress: told now and then how many more documents and bytes were read.
        on_read: told what was read, and what was skipped, before anything is refused.
        are_labels_found: whether the labels are of a column that nobody has named.
    """

    read: Callable[[], Iterable[Item]]
    max_bytes: int
    n_classes: int | None = None
    progress: Progress | None = None
    on_read: Callable[[ReadReport], None] | None = None
    are_labels_found: bool = False

    def tell(self, report: ReadReport) -> None:
        """
        Tell what was read.

        Raises:
            SourceError: nothing was, for this reason.
        """
        if self.on_read is not None:
            self.on_read(report)
        if report.skipped and not report.documents:
            raise report.skipped.first


FEW_CLASSES: Final = 20
"""So many classes are not too many, however few documents there are."""


ALMOST_ALL: Final = 0.9
"""The share of documents that are classes of their own where labels are none."""


def notes_on_labels(
    sources: LabelledSources, n_classes: int, documents: int
) -> list[Note]:
    """
    Return a warning of classes that are as many as texts or numbers of rows are.

    None where `check_found_labels` refuses them.
    """
    if n_classes <= max(FEW_CLASSES, documents / 2):
        return []
    if _are_no_labels(sources, n_classes, documents):
        return []
    text = (
        f"{n_classes:,} classes are many for {documents:,} documents; are these the "
        f"labels ({wording.named('label_column')}), and not texts or numbers of rows?"
    )
    return [Note(text, is_warning=True)]


def _are_no_labels(sources: LabelledSources, n_classes: int, documents: int) -> bool:
    if not sources.are_labels_found or n_classes <= FEW_CLASSES:
        return False
    return n_classes >= ALMOST_ALL * documents


def check_found_labels(
    sources: LabelledSources, n_classes: int, documents: int
) -> None:
    """
    Refuse labels of a column that nobody has named where nearly each is another.

    Raises:
        TrainingError: that is so.
    """
    if _are_no_labels(sources, n_classes, documents):
        ask = wording.given(label_column=wording.Blank("COLUMN"))
        raise TrainingError(
            f"{n_classes:,} classes found for {documents:,} documents, where labels "
            "that repeat were expected; what was taken for labels seems to be texts or "
            f"numbers of rows: name the column of the labels ({ask}; "
            "without a heading its number, from 1), even if it is that one"
        )


OnKept: TypeAlias = Callable[["Kept | None"], None]
"""Told of each document that is kept, in the order of the cache; of None when all of
them are read again from the beginning."""


def read_once(
    sources: LabelledSources,
    settings_of: Callable[[Settings], Settings],
    on_kept: OnKept | None = None,
) -> tuple[TermCache, Settings, ReadReport]:
    """
    Read all documents, as most of them ask for, and put their terms by.

    Args:
        sources: the documents; what was read of them is not told.
        settings_of: returns how documents are read, given the default for them.
        on_kept: told of each document.
    """
    from nbtext.counts import TermCache  # not for training, which reads them once

    read, max_bytes, n_classes, progress, *_ = sources
    settings, items = guess(read(), n_classes, max_bytes)
    wished = settings_of(settings)
    while True:
        cache, report = TermCache(), ReadReport()
        if on_kept is not None:
            on_kept(None)
        batch: list[Kept] = []
        size = 0
        opened = documents(items, report, max_bytes, progress)
        opened_readings = readings(opened, wished, report)
        for number, (document, reading) in enumerate(opened_readings):
            batch.append(Kept(document, reading, number))
            size += max(reading.size, LEAST_SIZE)
            if size >= BATCH:
                _add(cache, wished, batch, report, on_kept)
                batch, size = [], 0
        if batch:
            _add(cache, wished, batch, report, on_kept)
        if not report.documents:
            return cache, wished, report
        wanted = settings_of(settings_for(report))
        if wished == wanted:
            return cache, wished, report
        cache.close()
        wished, items = wanted, iter(read())


def _add(
    cache: TermCache,
    settings: Settings,
    batch: list[Kept],
    report: ReadReport,
    on_kept: OnKept | None,
) -> None:
    """Put documents by, or one at a time if memory is short for all of them."""
    batch = sorted(batch, key=lambda one: one.document.label or "")
    try:
        views = read_terms(settings, [one.reading.views for one in batch])
    except MemoryError:
        views = None  # by the next line what was made of all of them is released
    if views is not None:
        labels = [one.document.label or "" for one in batch]
        cache.add(labels, [one.reading.digest for one in batch], views)
        if on_kept is not None:
            for kept in batch:
                on_kept(kept)
    elif len(batch) > 1:
        for one in batch:
            _add(cache, settings, [one], report, on_kept)
    else:
        document, reading, _ = batch[0]
        error = NoMemoryError(document.name)
        report.remove(document, error, is_mail=reading.is_mail)


def counts_of(
    cache: TermCache, settings: Settings, chosen: NDArray[np.bool_]
) -> CountTable:
    """Count the documents that are chosen, shape (n_documents,)."""
    counter = Counter(settings)
    for labels, digests, views in cache.labelled(chosen):
        counter.add_terms(labels, digests, views)
    return counter.table()


def sample_of(
    cache: TermCache,
    settings: Settings,
    overrides: SettingsOverrides,
    chosen: NDArray[np.bool_],
) -> Sample:
    """Return those of the chosen documents that training would keep."""
    limits = sample_limits(settings, may_correct=overrides.correction)
    sample = Sample(documents=limits[0], terms=limits[1])
    for labels, digests, views in cache.labelled(chosen):
        marks = fingerprints(views).tolist()
        sample.add(Block(labels, digests, marks, [one.compact() for one in views]))
    return sample
