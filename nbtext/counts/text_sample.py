"""
The documents in which the texts of terms are looked for, kept as they were read.

Whether a term is in documents enough to be named is known only when all are counted; by
then a pipe cannot be read again, and opening thousands of files takes longer than all
else that is done for texts. So the beginnings of some documents are kept: of those of
smallest digest, which the sample for calibration begins with, so that they depend
neither on the order of the documents nor on the number of processes.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nbtext.document import Document

DOCUMENTS: Final = 1024
"""Maximum documents whose beginnings are kept: more would name rare terms only, and
training would take longer (docs/experiments/017-texts.md)."""

BEGINNING: Final = 1 << 16
"""Maximum bytes of a document, or of a column of one, that are kept."""

BYTES: Final = 1 << 24
"""Maximum bytes of all documents that are kept."""

OVERHEAD: Final = 512
"""What a document takes beside its texts, in bytes, so that empty ones are bounded."""


Place: TypeAlias = tuple[bytes, tuple[bytes, ...], tuple[str, ...]]
"""What orders documents: digest, texts and columns."""


class Beginning(NamedTuple):
    """
    The beginning of a document.

    Attributes:
        place: what orders it among others.
        document: the document, its texts as far as they are kept.
        size: how many bytes it takes, about.
    """

    place: Place
    document: Document
    size: int


class TextSample:
    """The beginnings of the documents of smallest digest among those added."""

    def __init__(self, *, documents: int = DOCUMENTS, most: int = BYTES) -> None:
        """
        Have nothing yet.

        Args:
            documents: maximum documents; none if 0.
            most: maximum bytes of all.
        """
        self._limit = documents
        self._most = most
        self._kept: list[Beginning] = []
        self._size = 0
        self._end: Place | None = None  # the first document that is too many

    @property
    def is_wanted(self) -> bool:
        """Whether any documents are kept."""
        return self._limit > 0

    def __getstate__(self) -> dict[str, object]:
        """Leave behind what is not in the sample, on the way to another process."""
        self._prune()
        return self.__dict__

    def add(self, digests: Iterable[bytes], documents: Iterable[Document]) -> None:
        """Take documents into account."""
        if not self._limit:
            return
        last = None if self._end is None else self._end[0]
        for digest, document in zip(digests, documents, strict=True):
            if last is None or digest <= last:
                self._keep(_beginning(digest, document))
        is_long = len(self._kept) > self._limit + self._limit // 2
        if is_long or self._size > self._most + self._most // 2:
            self._prune()

    def absorb(self, other: TextSample) -> None:
        """Take into account all that another sample has taken into account."""
        chosen, end = other._chosen()
        ends = [one for one in (self._end, end) if one is not None]
        self._end = min(ends, default=None)
        for kept in chosen:
            self._keep(kept)
        self._prune()

    def clear(self) -> None:
        """Begin again."""
        self._kept, self._size, self._end = [], 0, None

    def documents(self) -> list[Document]:
        """Return the beginnings of documents, in the order of digests."""
        self._prune()
        return [kept.document for kept in self._kept]

    def _keep(self, kept: Beginning) -> None:
        self._kept.append(kept)
        self._size += kept.size

    def _prune(self) -> None:
        """Let go of what is not in the sample, and of copies."""
        # at once: on a cluster, a thread may send it while another absorbs it
        chosen, self._end = self._chosen()
        self._kept, self._size = chosen, sum(kept.size for kept in chosen)

    def _chosen(self) -> tuple[list[Beginning], Place | None]:
        """Return the documents of the sample, and the first that is too many."""
        chosen: list[Beginning] = []
        size, before = 0, None
        # sorted, not looked up: where digests differ, no texts are gone through
        for kept in sorted(self._kept, key=attrgetter("place")):
            place = kept.place
            if self._end is not None and place >= self._end:
                break
            if place == before:
                continue
            before = place
            size += kept.size
            if size > self._most or len(chosen) == self._limit:
                return chosen, place
            chosen.append(kept)
        return chosen, self._end


def _beginning(digest: bytes, document: Document) -> Beginning:
    """Return the beginning of a document that a digest names."""
    texts = document.texts
    size = sum(map(len, texts))
    if size > BEGINNING:
        texts = tuple([text[:BEGINNING] for text in texts])
        document, size = document._replace(texts=texts), sum(map(len, texts))
    return Beginning((digest, texts, document.columns), document, size + OVERHEAD)
