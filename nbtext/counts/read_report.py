"""Documents opened, and a report of what was read; neither takes numpy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Final, TypeAlias

from nbtext.document import Document, Item, Note, Pause, Skipped, Unreadable
from nbtext.settings.views import THREES_BYTES
from nbtext.tokens.opening import open_documents

if TYPE_CHECKING:
    from nbtext.errors import SourceError

Progress: TypeAlias = Callable[[int, int], None]
"""Called now and then with the documents and bytes read since the last call."""

PROGRESS_EVERY: Final = 1 << 20
"""Minimum bytes that are read between two calls of a `Progress`."""

ASCII: Final = bytes(range(128))


class ReadReport:
    """
    What was read.

    Attributes:
        documents: how many were counted.
        mail: how many of them look like mail.
        short: how many of them are as short as runs of three characters go, most of
            their bytes ASCII.
        empty: how many of them have not a byte.
        bytes: their size, as far as it was read.
        truncated: the names of those that were longer than what is read of one.
        skipped: those that could not be read, and why.
        labels: the labels of those counted.
        notes: what else the user should know of the sources.
    """

    __slots__ = (
        "bytes", "documents", "empty", "labels", "mail", "notes", "short", "skipped",
        "truncated",
    )  # fmt: skip

    def __init__(self, notes: Iterable[Note] = ()) -> None:
        self.documents = 0
        self.mail = 0
        self.short = 0
        self.empty = 0
        self.bytes = 0
        self.truncated: list[str] = []
        self.skipped = Skipped()
        self.labels: set[str] = set()
        self.notes = list(notes)

    def remark(self, remark: Unreadable | Note) -> None:
        """Take in what is no document."""
        if isinstance(remark, Note):
            self.notes.append(remark)
        else:
            self.skipped.add(remark)

    def remove(
        self, document: Document, error: SourceError, *, is_mail: bool = False
    ) -> None:
        """Note that a document that was opened could not be read after all."""
        self.mail -= is_mail
        self.documents -= 1
        self.short -= is_short(document)
        self.empty -= not any(document.texts)
        self.bytes -= sum(map(len, document.texts))
        if document.truncated:
            self.truncated.remove(document.name)
        self.skipped.add(Unreadable(document.name, error))

    def update(self, other: ReadReport) -> None:
        """Take in another report."""
        self.documents += other.documents
        self.mail += other.mail
        self.short += other.short
        self.empty += other.empty
        self.bytes += other.bytes
        self.truncated += other.truncated
        self.skipped.extend(other.skipped)
        self.labels |= other.labels
        self.notes += other.notes


def documents(
    items: Iterable[Item],
    report: ReadReport,
    max_bytes: int,
    progress: Progress | None = None,
) -> Iterator[Document]:
    """Open what has not been opened, and enter everything into a report."""
    before = ReadReport()  # at the last call of progress
    for document in open_documents(items, max_bytes, report.remark):
        if isinstance(document, Pause):
            continue
        size = sum(map(len, document.texts))
        report.documents += 1
        report.short += size <= THREES_BYTES and is_short(document)
        report.empty += not size
        report.bytes += size
        if document.label is not None:
            report.labels.add(document.label)
        if document.truncated:
            report.truncated.append(document.name)
        if progress is not None and report.bytes - before.bytes > PROGRESS_EVERY:
            progress(report.documents - before.documents, report.bytes - before.bytes)
            before.documents, before.bytes = report.documents, report.bytes
        yield document


def is_short(document: Document) -> bool:
    """Return whether a document is as long as runs go, most of its bytes ASCII."""
    size = sum(map(len, document.texts))
    if size > THREES_BYTES:
        return False
    if all(map(bytes.isascii, document.texts)):
        return True
    return 2 * sum(len(text.translate(None, ASCII)) for text in document.texts) <= size
