"""
Sources that hold only mail: one input, or files and folders by name.

A source is a message, an mbox or a folder of messages, and the messages of an mbox have
its name. Names may also come on the standard input, one a line; each source is read
before the next line is awaited.
"""

# ruff: noqa: PTH112, PTH113 -- importing pathlib costs 10 ms

import os
from collections.abc import Iterable, Iterator
from contextlib import closing
from typing import Final, Literal, TypeAlias

from nbtext.document import Document, Item, Pause, Unreadable
from nbtext.errors import SourceError
from nbtext.plain_mail import Begun
from nbtext.sources._contents import stream_items
from nbtext.sources._documents import documents
from nbtext.sources._inspect import ONE_DOCUMENT
from nbtext.sources._lines import BadRecord, lines
from nbtext.sources._options import Options, Place
from nbtext.sources._stream import Stream, open_path, open_stdin
from nbtext.sources._walk import is_maildir
from nbtext.sources.mbox import LONGEST_SEPARATOR, STDIN, is_mbox

INPUT: Final = STDIN
"""The name of a message that has none."""

Kind: TypeAlias = Literal["mbox", "message", "either"]
"""What a file is; either: an mbox if it begins with the line that begins a message."""

_LONGEST_NAME: Final = 1 << 16


def input_items(
    path: str | None, kind: Kind, max_bytes: int, begun: Begun | None = None
) -> Iterator[Item]:
    """
    Yield the messages of the standard input, or of a file or folder in its place.

    They have no names, unless it is a folder.

    Args:
        path: the file or folder, None for the standard input.
        kind: what a file is.
        max_bytes: how much of a message is read.
        begun: what standard input is read on from, if some of it was.
    """
    if path is not None and os.path.isdir(path):
        yield from mailbox_items(path, kind, max_bytes)
        return
    try:
        stream = open_stdin(begun) if path is None else open_path(path, path)
    except SourceError as error:
        yield Unreadable(path or INPUT, error)
        return
    is_taken_apart = kind == "mbox" or (kind == "either" and _begins_as_mbox(stream))
    found, form = ("mbox", "mbox") if is_taken_apart else (ONE_DOCUMENT, "mail")
    options = Options(format=form, max_bytes=max_bytes)
    with closing(stream):
        place = Place(name=path or INPUT)
        items = stream_items(stream, found, place, options, can_reopen=False)
        yield from _named(items, INPUT)


def mailbox_items(path: str, kind: Kind, max_bytes: int) -> Iterator[Item]:
    """
    Yield the messages of a file or folder.

    In a folder each file is a message; but if the kind is mbox, and the folder is no
    Maildir, each file is inspected.
    """
    if os.path.isdir(path):
        form = "auto" if kind == "mbox" and not is_maildir(path) else "mail"
    else:
        form = "mbox" if kind == "mbox" or _is_taken_apart(path, kind) else "mail"
    written = f"./{path}" if path == "-" else path
    options = Options(format=form, max_bytes=max_bytes)
    items = documents((written,), options, labelled=False)
    yield from _named(items, path) if form == "mbox" else items


def _named(items: Iterable[Item], name: str) -> Iterator[Item]:
    for item in items:
        yield item._replace(name=name) if isinstance(item, Document) else item


def _is_taken_apart(path: str, kind: Kind) -> bool:
    if kind != "either" or not os.path.isfile(path):
        return False
    try:
        with closing(open_path(path, path, is_file=True)) as stream:
            return _begins_as_mbox(stream)
    except SourceError:  # reading it reports that
        return False


def _begins_as_mbox(stream: Stream) -> bool:
    return is_mbox(stream.peek(LONGEST_SEPARATOR))


def names() -> Iterator[str | Pause]:
    """
    Yield each line of the standard input that is not empty, and a pause before waiting.

    Raises:
        SourceError: there is no standard input, it fails, or a line is no name.
    """
    stream = open_stdin()
    for line in lines(stream, _LONGEST_NAME):
        if isinstance(line, BadRecord):
            message = (
                f"-: a name on each line was expected, and one of over {_LONGEST_NAME} "
                "bytes found; pipe in names, not messages"
            )
            raise SourceError(message)
        if isinstance(line, Pause):
            yield line
        elif line:
            yield os.fsdecode(line)
    if stream.error is not None:
        raise stream.error
