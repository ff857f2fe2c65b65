"""What the user names, as one stream of documents in the order of the arguments."""

# ruff: noqa: PTH100, PTH116, PTH120 -- importing pathlib costs 10 ms

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from functools import cache
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, cast

from nbtext import wording
from nbtext.document import PAUSE, Item, Note, Pause, Unread, Unreadable
from nbtext.errors import NoMemoryError, SourceError
from nbtext.sources._arguments import named_paths
from nbtext.sources._contents import IS_MAIL, stream_items
from nbtext.sources._doubtful import are_parts, warning
from nbtext.sources._failures import cannot_read
from nbtext.sources._inspect import ONE_DOCUMENT, container_format
from nbtext.sources._labels import file_label, folder_label
from nbtext.sources._meanings import meanings_of, note_of
from nbtext.sources._numbered import chosen, numbered
from nbtext.sources._options import Options, Place
from nbtext.sources._stream import FileObject, Stream, open_path, open_stdin
from nbtext.sources._walk import Named, is_maildir, is_part_of_maildir, walk

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import TypeAlias, TypeVar

    from nbtext.plain_mail import Begun

    Listed = TypeVar("Listed", Item, "Item | Unopened")

    _FileItems: TypeAlias = Callable[
        [str | None, Place, Options, bool], Iterator["Item | Unopened"]
    ]
    """Yields what a file holds, or the file itself; the last is whether it is one."""


class Unopened(NamedTuple):
    """
    A file that may hold any number of documents, and has not been opened.

    Attributes:
        kind: what it is by its name or the user's word; None to go by inspection.
        place: where it lies, and what that says of labels.
        is_named: whether the user has named it, and not a folder that it is in.
    """

    kind: str | None
    place: Place
    is_named: bool = False


_FOLDERS = ("maildir", "mh")
_ONE_EACH = ("mail", "text", *_FOLDERS)


def documents(
    arguments: Sequence[str],
    options: Options,
    *,
    labelled: bool,
    stdin: "BinaryIO | Begun | None" = None,
    copies: "Mapping[str, BinaryIO] | None" = None,
) -> Iterator[Item]:
    """
    Yield every document that the arguments name, in their order, lazily.

    What cannot be read is yielded as the error that says why, and the rest goes on;
    where there is no document at all, a note says so.
    Before input is awaited, a pause is yielded if anything has been since the last.

    Args:
        arguments: paths, `LABEL=PATH`, and `-` for the standard input, which is also
            read if there are none.
        options: how to read them.
        labelled: whether a document without a label is an error, and whether a single
            folder of folders is a folder a class.
        stdin: what to read for `-` in place of the standard input.
        copies: what to read in place of some paths, each from its beginning.

    Raises:
        SettingsError: a path is empty, or the standard input is named twice.
        ValueError: an option makes no sense.
    """
    found = _items(arguments, options, labelled, stdin, _file_items, copies or {})
    return cast("Iterator[Item]", found)  # since files are opened


def listed_items(
    arguments: Sequence[str], options: Options, *, labelled: bool
) -> Iterator[Item | Unopened]:
    """
    Yield the same, but for files that are to be taken apart: these stay unopened.

    Raises:
        As `documents` does.
    """

    def unopened(
        kind: str | None, place: Place, options: Options, is_regular: bool
    ) -> Iterator[Item | Unopened]:
        if is_regular and kind != ONE_DOCUMENT:
            yield Unopened(kind, place)
        else:
            yield from _file_items(kind, place, options, is_regular)

    return _items(arguments, options, labelled, None, unopened, {})


def opened_items(items: Iterable[Item | Unopened], options: Options) -> Iterator[Item]:
    """Yield what was listed, the files opened that `listed_items` left unopened."""
    for item in items:
        if not isinstance(item, Unopened):
            yield item
            continue
        path = item.place.name
        found = _file_items(item.kind, item.place, options, True)
        found = _within_memory(found, path)
        yield from _noted_if_empty(found, path) if item.is_named else found


def items_of_stream(
    file: BinaryIO, kind: str | None, place: Place, options: Options
) -> Iterator[Item]:
    """Yield what a file object holds."""
    stream = Stream(place.name, FileObject(file))
    items = stream_items(stream, kind, place, options, can_reopen=False)
    yield from _within_memory(items, place.name)


def _items(
    arguments: Sequence[str],
    options: Options,
    labelled: bool,
    stdin: "BinaryIO | Begun | None",
    file_items: "_FileItems",
    copies: "Mapping[str, BinaryIO]",
) -> Iterator[Item | Unopened]:
    options.check()
    named = named_paths(arguments, labelled=labelled)
    if labelled:
        is_told = options.format not in ("auto", *_ONE_EACH)
        warned = warning(arguments, is_told=is_told)
        if warned is not None:
            yield warned
    classes = meanings_of(named, options) if labelled else {}
    if classes:
        yield note_of(classes, named)
    is_quiet = True
    is_alone = len(named) == 1 or are_parts(path for _, path in named)

    @cache
    def paths() -> frozenset[str]:
        return frozenset(os.path.abspath(path) for _, path in named)

    for label, path, numbers in numbered(named):
        place = Place(
            name=path,
            label=label,
            is_label_given=label is not None,
            labelled=labelled,
            meanings=classes,
            by_number=bool(numbers),
            is_alone=is_alone,
        )
        of_place = (
            _stdin_items(place, options, stdin)
            if path == "-"
            else _copied_items(place, options, copies[path])
            if path in copies
            # documents of a file are known by their numbers once it is opened
            else _path_items(
                place, options, _file_items if numbers else file_items, paths
            )
        )
        of_place = _within_memory(of_place, path)
        if numbers:
            of_place = chosen(cast("Iterator[Item]", of_place), path, numbers)
        for item in _noted_if_empty(of_place, path):
            if isinstance(item, Unread):  # as most are, of many
                is_quiet = False
                yield item
                continue
            is_pause = isinstance(item, Pause)
            if isinstance(item, Unopened) and item.place.name == path:
                yield item._replace(is_named=True)
            elif not (is_pause and is_quiet):
                yield item
            is_quiet = is_pause


def _noted_if_empty(items: "Iterator[Listed]", path: str) -> "Iterator[Listed | Note]":
    """Yield the items of a source; if there is no document, a note says so."""
    for item in items:
        yield item
        if not isinstance(item, Note | Pause):
            yield from items
            return
    yield Note(f"{path}: no document there")


def _within_memory(
    items: "Iterator[Listed]", path: str
) -> "Iterator[Listed | Unreadable]":
    """Yield the items of a source; if memory is short for the next one, it ends."""
    try:
        yield from items
    except MemoryError:
        yield Unreadable(path, NoMemoryError(path))


def _stdin_items(
    place: Place, options: Options, stdin: "BinaryIO | Begun | None"
) -> Iterator[Item]:
    try:
        if options.format in _FOLDERS:
            raise _not_a_folder(place, options)
        stream = open_stdin(stdin)
    except SourceError as error:
        yield Unreadable(place.name, error)
    else:
        kind = _kind_of_files(options)
        yield from stream_items(stream, kind, place, options, can_reopen=False)


def _copied_items(place: Place, options: Options, copy: "BinaryIO") -> Iterator[Item]:
    """Yield what a pipe held, of which there is a copy."""
    if options.format in _FOLDERS:
        yield Unreadable(place.name, _not_a_folder(place, options))
        return
    if place.labelled and place.label is None:
        place = place.named(file_label(place.name))
    copy.seek(0)
    yield from items_of_stream(copy, _kind_of_files(options), place, options)


def _path_items(
    place: Place, options: Options, file_items: "_FileItems", named: Named
) -> Iterator[Item | Unopened]:
    path = place.name
    is_unnamed = place.labelled and place.label is None
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError) as error:
        yield Unreadable(path, cannot_read(path, error))
        return
    if stat.S_ISDIR(mode):
        if is_unnamed:
            place = place.named(folder_label(path), is_given=True)
        yield from _folder_items(place, options, file_items, named)
    elif options.format in _FOLDERS:
        yield Unreadable(path, _not_a_folder(place, options))
    else:
        if is_unnamed:
            place = place.named(file_label(path))
        kind, is_regular = _kind_of_files(options), stat.S_ISREG(mode)
        if kind is None and is_regular and _is_of_maildir(path):
            # one message, though it may begin as an mbox does
            yield Unread(path, path, place.label, is_mail=True)
            return
        yield from file_items(kind, place, options, is_regular)


def _is_of_maildir(path: str) -> bool:
    """Return whether a file is a message of a Maildir, however it is named."""
    return is_part_of_maildir(os.path.dirname(os.path.abspath(path)))


def _folder_items(
    place: Place, options: Options, file_items: "_FileItems", named: Named
) -> Iterator[Item | Unopened]:
    if options.format == "maildir" and not is_maildir(place.name):
        yield Unreadable(place.name, _not_a_folder(place, options))
        return
    forced, is_mail = _kind_of_files(options), IS_MAIL.get(options.format)
    is_mh = options.format == "mh"
    for found in walk(place.name, place.label, is_mh=is_mh, named=named):
        if not isinstance(found, Unread):
            yield found
            continue
        kind = forced
        if kind is None and not found.is_mail:
            kind = container_format(found.path)
        if kind is not None and kind != ONE_DOCUMENT:
            below = place._replace(name=found.path)
            yield from file_items(kind, below, options, True)
        elif is_mail is not None:
            yield Unread(found.name, found.path, found.label, is_mail)
        else:
            yield found


def _file_items(
    kind: str | None, place: Place, options: Options, is_regular: bool
) -> Iterator[Item]:
    path = place.name
    if is_regular and kind == ONE_DOCUMENT:
        yield Unread(path, path, place.label, IS_MAIL.get(options.format))
        return
    if not is_regular:
        yield PAUSE  # to open a pipe is to wait for who writes to it
    try:
        stream = open_path(path, path, is_file=is_regular)
    except SourceError as error:
        yield Unreadable(path, error)
        return
    with closing(stream):
        yield from stream_items(stream, kind, place, options, can_reopen=is_regular)


def _kind_of_files(options: Options) -> str | None:
    """Return what every file is by the user's word; None to go by inspection."""
    if options.format in _ONE_EACH:
        return ONE_DOCUMENT
    return None if options.format == "auto" else options.format


def _not_a_folder(place: Place, options: Options) -> SourceError:
    expected = {"maildir": "a Maildir, with cur/ and new/,", "mh": "an MH folder"}
    return SourceError(
        f"{place.name}: {expected[options.format]} was expected, and something else "
        f"found; leave out {wording.given(format=options.format)}"
    )
