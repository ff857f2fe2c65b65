"""
Folders and files elsewhere, listed by their URLs, with the labels that they have.

They are those of folders and files of this machine, but for two things: a Maildir or an
MH folder is a folder like others, and an index is only known where it is called one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nbtext.distributed.items import Source
    from nbtext.distributed.remote import RemotePath
    from nbtext.sources import Options

from nbtext.distributed.items import RemoteFile
from nbtext.distributed.remote import folder_contents, size_of
from nbtext.document import Note, Unreadable
from nbtext.errors import SourceError
from nbtext.sources import (
    Place,
    Unopened,
    container_format,
    file_label,
    folder_label,
    meanings_of,
    note_of,
    split_label,
)

ONE_EACH: Final = {"mail": True, "maildir": True, "mh": True, "text": False}
"""Formats of which each file is a document, and whether that is mail."""


def remote_sources(
    arguments: Sequence[str], options: Options, labelled: bool
) -> Iterator[tuple[Source, int]]:
    """
    Yield what URLs name, each with its size in bytes.

    Args:
        arguments: URLs, or `LABEL=URL`.
        options: what they are.
        labelled: whether a document without a label is an error, and whether a single
            folder of folders is a folder a class.

    Raises:
        SettingsError: the library for such URLs is not installed.
    """
    options.check()
    named = [(label, url.rstrip("/")) for label, url in map(split_label, arguments)]
    contents = {url: _contents(url) for _, url in named}
    if labelled and len(named) == 1 and named[0][0] is None:
        named = _class_folders(named[0][1], contents)
    classes = meanings_of(named, options) if labelled else {}
    if classes:
        yield note_of(classes, named), 0
    for label, url in named:
        place = Place(url, label, label is not None, labelled, classes)
        found = contents[url]
        if isinstance(found, SourceError):
            yield Unreadable(url, found), 0
        elif found is None:
            yield _named_file(place, options), size_of(url)
        else:
            if labelled and label is None:
                place = place.named(folder_label(url), is_given=True)
            if not found:
                yield Note(f"{url}: no document there"), 0
            yield from ((_file_of(one, place, options), one.size) for one in found)


def _contents(url: str) -> list[RemotePath] | SourceError | None:
    """Return the files of a folder, None for a file, or why it cannot be listed."""
    try:
        return folder_contents(url)
    except SourceError as error:
        return error


def _class_folders(
    url: str, contents: dict[str, list[RemotePath] | SourceError | None]
) -> list[tuple[str | None, str]]:
    """Return the folders in a folder that holds nothing else, or itself."""
    found = contents[url]
    if not isinstance(found, list) or not found:
        return [(None, url)]
    groups: dict[str, list[RemotePath]] = {}
    for file in found:
        folder, slash, _ = file.url[len(url) + 1 :].partition("/")
        if not slash:
            return [(None, url)]
        groups.setdefault(f"{url}/{folder}", []).append(file)
    contents.update(groups)
    return [(None, folder) for folder in groups]


def _named_file(place: Place, options: Options) -> Source:
    if place.labelled and place.label is None:
        place = place.named(file_label(place.name))
    if options.format in ONE_EACH:
        return RemoteFile(place.name, place.label, ONE_EACH.get(options.format))
    kind = None if options.format == "auto" else options.format
    return Unopened(kind, place, is_named=True)


def _file_of(file: RemotePath, place: Place, options: Options) -> Source:
    """Return a file of a folder: a table or mailbox by its name, else a document."""
    kind: str | None = options.format
    if kind == "auto":
        kind = container_format(file.url)
    if kind is None or kind in ONE_EACH:
        return RemoteFile(file.url, place.label, ONE_EACH.get(options.format))
    return Unopened(kind, place._replace(name=file.url))
