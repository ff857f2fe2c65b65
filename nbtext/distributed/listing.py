"""
Sources to chunks: what one task reads.

The client lists the sources, and opens those alone that may be read in parts: labels
are known by folders, files and what the user wrote. What a file holds is found where
the chunk is read.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nbtext.distributed.items import Source
    from nbtext.sources import Options

from nbtext import wording
from nbtext.distributed.items import RemoteFile
from nbtext.distributed.partitions import Partition, partitions
from nbtext.distributed.remote import is_remote, local_path
from nbtext.distributed.remote_sources import remote_sources
from nbtext.document import Document, Pause, Unread, Unreadable
from nbtext.errors import SettingsError, SourceError
from nbtext.sources import Place, Unopened, listed_items, split_label

LEAST_CHUNK: Final = 1 << 20
MOST_CHUNK: Final = 1 << 25
"""How many bytes of documents a chunk has, at least and at most, about."""

CHUNKS_A_THREAD: Final = 8
"""How many chunks each thread of a worker gets, if there is enough for them: so that
none is still at work long after the others."""

A_DOCUMENT: Final = 512
"""What opening a file counts for, in bytes."""

ON_CLIENT: Final = (
    "the standard input is not on the cluster; put it into a file that the workers can "
    "read, and name that"
)


@dataclass(frozen=True, slots=True)
class Chunk:
    """What one task reads."""

    number: int
    items: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class Listed:
    """
    The sources, listed.

    Attributes:
        items: all that they are.
        sizes: of each, how many bytes it has, about, and A_DOCUMENT.
    """

    items: list[Source]
    sizes: list[int]

    @property
    def n_bytes(self) -> int:
        """Return how many bytes there are to read, about."""
        return sum(self.sizes)

    def n_classes(self) -> int | None:
        """Return how many classes there are, None if only the documents tell."""
        labels = set()
        for item in self.items:
            if isinstance(item, Unopened | Partition):
                if not item.place.is_label_given:  # a column may
                    return None
                labels.add(item.place.label)
            elif isinstance(item, Unread | RemoteFile | Document):
                labels.add(item.label)
        return len(labels)

    def chunks(self, threads: int, most: int = MOST_CHUNK) -> list[Chunk]:
        """Cut them into chunks for so many threads."""
        share = self.n_bytes // (CHUNKS_A_THREAD * max(threads, 1))
        most = min(max(share, LEAST_CHUNK), most)
        chunks: list[Chunk] = []
        items: list[Source] = []
        total = 0
        for item, size in zip(self.items, self.sizes, strict=True):
            if items and total + size > most:
                chunks.append(Chunk(len(chunks), tuple(items)))
                items, total = [], 0
            items.append(item)
            total += size
        if items:
            chunks.append(Chunk(len(chunks), tuple(items)))
        return chunks


def list_sources(sources: Sequence[str], options: Options, *, labelled: bool) -> Listed:
    """
    List sources, by their whole paths: workers run in other folders.

    Raises:
        SettingsError: one is the standard input, a path is empty, some are URLs and
            some are not, or what URLs or Parquet take is not installed.
    """
    arguments = [*map(_whole, sources)]
    are_remote = {is_remote(split_label(argument)[1]) for argument in arguments}
    if len(are_remote) > 1:
        message = (
            "some sources are URLs, and some are paths of this machine; name all by "
            f"URLs, or train twice and `{wording.call('upkeep.merge')}` the models"
        )
        raise SettingsError(message)
    listing = remote_sources if True in are_remote else _local_sources
    sized = [
        part
        for item, size in listing(arguments, options, labelled)
        for part in _in_parts(item, size, options, labelled)
    ]
    return Listed([item for item, _ in sized], [size + A_DOCUMENT for _, size in sized])


def _local_sources(
    arguments: Sequence[str], options: Options, labelled: bool
) -> Iterator[tuple[Source, int]]:
    for item in listed_items(arguments, options, labelled=labelled):
        if not isinstance(item, Pause):
            yield item, _size(item)


def _in_parts(
    item: Source, size: int, options: Options, labelled: bool
) -> Iterator[tuple[Source, int]]:
    """Yield the parts of a file that several tasks can read; others as they are."""
    if isinstance(item, Unopened) and item.kind in (None, "jsonl"):
        place = item.place
    elif isinstance(item, Unread | RemoteFile) and item.is_mail is None:
        path = item.path if isinstance(item, Unread) else item.url
        place = Place(path, item.label, is_label_given=True, labelled=labelled)
    else:
        yield item, size
        return
    try:
        parts = partitions(place, size, options)
    except SourceError as error:
        yield Unreadable(place.name, error), 0
        return
    if parts is None:
        yield item, size
    else:
        yield from ((part, part.size) for part in parts)


def _whole(source: str) -> str:
    label, path = split_label(source)
    if path == "-":
        raise SettingsError(ON_CLIENT)
    path = local_path(path)
    if not path or is_remote(path):
        return source
    # not resolved: what a folder is called is its class
    whole = os.path.abspath(path)  # noqa: PTH100  pathlib has nothing that does this
    return whole if label is None else f"{label}={whole}"


def _size(item: Source) -> int:
    if isinstance(item, Document):
        return sum(map(len, item.texts))
    path = ""
    if isinstance(item, Unread):
        path = item.path
    elif isinstance(item, Unopened):
        path = item.place.name
    try:
        return Path(path).stat().st_size if path else 0
    except (OSError, ValueError):  # which is told where it is read
        return 0
