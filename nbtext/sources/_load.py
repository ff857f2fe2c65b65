"""
A file that holds one document, opened and read when its turn comes.

A file in a folder is not looked into before, because that would open each of them
twice; so only here it may turn out to be an mbox, which is then taken apart.
"""

# ruff: noqa: PTH116 -- importing pathlib costs 10 ms

import os
from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import chain, islice
from time import time

from nbtext.document import Document, Note, Pause, Unread, Unreadable
from nbtext.errors import MissingSourceError, NoMemoryError, SourceError
from nbtext.plain_mail import FRESH
from nbtext.sources._ahead import SMALL, small_file
from nbtext.sources._compressed import compression, may_be_compressed
from nbtext.sources._inspect import HEAD, is_doubtful, may_be_mbox, refuse_unread
from nbtext.sources._stream import Stream, open_path, read_start
from nbtext.sources.mbox import is_header, item_of, may_become_mbox, messages


def loaded(
    unread: Unread, max_bytes: int, text: bytes | None = None
) -> Iterable[Document | Note | Unreadable]:
    """
    Open and read a file, and give its document, or each message if it is an mbox.

    A note says so if the last message of an mbox is left out, because another program
    has had it locked. In the place of what cannot be read is the error that says why.

    Args:
        unread: the file.
        max_bytes: how much of a document is read.
        text: what is in it, if that was read ahead (`nbtext.sources._ahead`); it is no
            mbox then.
    """
    if text is not None and not is_doubtful(text):  # as most, of many
        return (Document(unread.name, (text,), unread.label, unread.is_mail),)
    return _loaded(unread, max_bytes, text)


def _loaded(
    unread: Unread, max_bytes: int, text: bytes | None
) -> Iterator[Document | Note | Unreadable]:
    """Yield what is in a file, and in the place of what cannot be read why that is."""
    try:
        yield from _load_all(unread, max_bytes, text)
    except SourceError as error:
        yield Unreadable(unread.name, error)
    except MemoryError:
        yield Unreadable(unread.name, NoMemoryError(unread.name))


def _load_all(
    unread: Unread, max_bytes: int, text: bytes | None
) -> Iterable[Document | Note]:
    """
    Do what `loaded` does.

    Raises:
        SourceError: at once or later, it cannot be read, or is damaged.
    """
    is_named = unread.is_mail is not None or unread.is_one
    if text is not None and not _is_compressed(text):
        if not is_named:
            refuse_unread(text, unread.name)
        return (Document(unread.name, (text,), unread.label, unread.is_mail),)
    document = load(unread, max_bytes)
    text = document.texts[0]
    # What its container, or the user, calls a mail or a text is one document.
    if is_named:
        return (document,)
    refuse_unread(text, unread.name)
    if text.startswith(b"From ") and (document.truncated or b"\nFrom " in text):
        return _messages(unread, document, max_bytes)
    # a mail program that has just made or emptied a file may be about to write to it
    if (not text or text.startswith(b"From ")) and _is_fresh(unread.path):
        return _messages(unread, document, max_bytes)
    return (document,)


def _is_fresh(path: str) -> bool:
    """Return whether a file may still be growing: its first message is on its way."""
    try:
        return time() - os.stat(path).st_mtime < FRESH
    except OSError:
        return False


def _messages(
    unread: Unread, document: Document, max_bytes: int
) -> Iterator[Document | Note]:
    """
    Yield each message of an mbox, or the whole if it has but one.

    Collections with a mail in each file, such as SpamAssassin's, keep the line that
    began it in an mbox; so a second message must begin with such a line and a header.
    """
    with closing(_opened(unread)) as stream:
        note = stream.take_snapshot()
        head = stream.peek(HEAD)
        is_on_its_way = not stream.is_whole and (not head or may_become_mbox(head))
        if not (may_be_mbox(head, unread.path) or is_on_its_way):
            if head and not document.texts[0]:
                text, is_cut = read_start(stream, max_bytes)
                document = document._replace(texts=(text,), truncated=is_cut)
            if stream.error is not None:
                raise stream.error
            yield document
            return
        if note is not None:
            yield note
        found = (m for m in messages(stream, max_bytes) if not isinstance(m, Pause))
        first = list(islice(found, 2))
        is_mailbox = len(first) == 2 and is_header(first[1][0])
        if is_mailbox or not stream.is_whole:
            for number, (text, is_cut) in enumerate(chain(first, found), 1):
                yield item_of(unread.name, unread.label, number, text, is_cut)
        else:
            if stream.rewind():  # what was read before may be a part of it
                text, is_cut = read_start(stream, max_bytes)
                document = document._replace(texts=(text,), truncated=is_cut)
            yield document
    if stream.error is not None:
        raise stream.error


def load(unread: Unread, max_bytes: int) -> Document:
    """
    Open and read a document, decompressed if it is compressed, up to `max_bytes`.

    Raises:
        SourceError: it cannot be read, or is damaged before its end or `max_bytes`.
    """
    small = small_file(unread.path, min(max_bytes, SMALL))
    if small is not None and not _is_compressed(small):
        return Document(unread.name, (small,), unread.label, unread.is_mail)
    stream = _opened(unread)
    try:
        text, is_cut = read_start(stream, max_bytes)
    finally:
        stream.close()
    if stream.error is not None:
        raise stream.error
    return Document(unread.name, (text,), unread.label, unread.is_mail, is_cut)


def _is_compressed(text: bytes) -> bool:
    """Return whether a whole file is compressed, or too short to tell."""
    return may_be_compressed(text) or compression(text) is not None


def _opened(unread: Unread) -> Stream:
    """Open a file where it is, or where a mail program has put it meanwhile."""
    path = unread.path
    tries = 0
    while True:
        try:
            return open_path(path, unread.name, is_file=True)
        except MissingSourceError:
            from nbtext.sources._maildir import TRIES, moved_to  # few are moved

            moved = moved_to(unread.path)
            tries += 1
            if moved is None or tries > TRIES:
                raise
            path = moved
