"""What was listed becomes documents, where a worker opens it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nbtext.document import Item
    from nbtext.sources import Options

from nbtext.distributed import partitions
from nbtext.distributed.partitions import Partition
from nbtext.distributed.remote import contents_of, is_remote, opened
from nbtext.document import Unread, Unreadable
from nbtext.errors import SourceError
from nbtext.files.temporary import temporary_folder
from nbtext.sources import Unopened, items_of_stream, loaded, opened_items

Source: TypeAlias = "Item | Unopened | RemoteFile | Partition"
"""What is listed: a document, what there is to say, or what is opened by a worker."""


class RemoteFile(NamedTuple):
    """
    A file elsewhere that is one document, or an mbox.

    Attributes:
        url: where it is.
        label: what it is labelled.
        is_mail: whether it is mail; None if only its bytes tell.
        is_one: whether it is one document even if it looks like an mbox.
    """

    url: str
    label: str | None
    is_mail: bool | None = None
    is_one: bool = False


def items_of(sources: Sequence[Source], options: Options) -> Iterator[Item]:
    """Yield what was listed, files opened, those of other machines fetched."""
    files: list[RemoteFile] = []
    for source in sources:
        if isinstance(source, RemoteFile):
            files.append(source)
            continue
        yield from _fetched(files, options.max_bytes)
        files = []
        if isinstance(source, Partition):
            yield from partitions.items_of(source, options)
        elif isinstance(source, Unopened) and is_remote(source.place.name):
            yield from _of_container(source, options)
        else:
            yield from opened_items([source], options)
    yield from _fetched(files, options.max_bytes)


def _fetched(files: Sequence[RemoteFile], max_bytes: int) -> Iterator[Item]:
    """Yield what small files hold, fetched side by side."""
    if not files:
        return
    found = contents_of([file.url for file in files])
    with temporary_folder() as folder:
        path = folder / "file"
        for file, contents in zip(files, found, strict=True):
            if isinstance(contents, SourceError):
                yield Unreadable(file.url, contents)
                continue
            path.write_bytes(contents)
            unread = Unread(file.url, str(path), *file[1:])
            yield from loaded(unread, max_bytes)  # and not later: it is replaced


def _of_container(source: Unopened, options: Options) -> Iterator[Item]:
    """Yield what a file elsewhere holds, read as a stream."""
    place = source.place
    try:
        with opened(place.name) as file:
            for item in items_of_stream(file, source.kind, place, options):
                if isinstance(item, Unread) and is_remote(item.path):  # of an index
                    named = RemoteFile(item.path, item.label, is_one=item.is_one)
                    yield from _fetched([named], options.max_bytes)
                else:
                    yield item
    except SourceError as error:
        yield Unreadable(place.name, error)
