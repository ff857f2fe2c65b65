"""
The files below a folder, in an order that is the same on every machine.

A Maildir (cr.yp.to/proto/maildir.html) gives the messages in cur/ and new/, an MH
folder its numbered files; any other folder is walked. What begins with a dot is hidden
and left out, as is what the Maildir's flags or MH's naming call deleted or a draft.
The folders in a Maildir are other mailboxes: a note names them.
"""

# ruff: noqa: PTH116 -- importing pathlib costs 10 ms, half a run on one message

import os
import re
from collections.abc import Iterator
from itertools import chain
from typing import TypeAlias

from nbtext.document import Note, Unread, Unreadable
from nbtext.errors import SourceError
from nbtext.sources._failures import cannot_read

# The flags follow the last ":2,"; the colon is replaced on systems that forbid it.
_LEFT_OUT_FLAGS = r"[:;!]2,[A-Za-z]*[DT]"

_COMPANIONS = (".msf", ".lock")
"""Suffixes of what Thunderbird keeps beside a mailbox, and of what locks it."""

_Contents: TypeAlias = list[Unread | Unreadable | Note | str]
"""What is to be read, in order; a folder by its path."""


def is_maildir(path: str) -> bool:
    """Tell whether a folder has the parts that a Maildir has."""
    try:
        with os.scandir(path) as entries:
            return _has_maildir_parts(list(entries))
    except OSError:
        return False


def class_folders(path: str) -> list[str]:
    """
    Return the folders in a folder that holds nothing else, sorted; else none.

    A Maildir is no such folder, though it may hold three folders and nothing else.
    """
    try:
        with os.scandir(path) as entries:
            visible = [entry for entry in entries if not entry.name.startswith(".")]
        if _has_maildir_parts(visible) or not all(map(_is_folder, visible)):
            return []
    except (OSError, ValueError):
        return []
    return sorted((below(path, entry.name) for entry in visible), key=os.fsencode)


def below(folder: str, name: str) -> str:
    """Return the path of what is in a folder, which may be written `folder/`."""
    return f"{folder.rstrip('/')}/{name}"


def walk(
    path: str, label: str | None, *, is_mh: bool = False
) -> Iterator[Unread | Unreadable | Note]:
    """
    Yield every file below a folder, sorted by the bytes of its path.

    The messages of an MH folder come first in it, sorted by number. A folder is read
    once even if links lead to it again, so a loop ends. Where something else than a
    file or folder is, or something that cannot be read, its error is yielded.

    Args:
        path: the folder, as the user wrote it.
        label: what the files are labelled.
        is_mh: whether it is one of MH though nothing in it says so.
    """
    seen: set[tuple[int, int]] = set()
    waiting: _Contents = [path]
    while waiting:
        item = waiting.pop()
        if not isinstance(item, str):
            yield item
            continue
        try:
            status = os.stat(item)
            if (status.st_dev, status.st_ino) not in seen:
                seen.add((status.st_dev, status.st_ino))
                contents = _contents(item, label, is_mh=is_mh and item == path)
                waiting.extend(reversed(contents))
        except (OSError, ValueError) as error:
            yield Unreadable(item, cannot_read(item, error))


def _contents(folder: str, label: str | None, *, is_mh: bool) -> _Contents:
    with os.scandir(folder) as scanned:
        entries = list(scanned)
    if _has_maildir_parts(entries):
        messages = [_messages(folder, part, label) for part in ("cur", "new")]
        return [*_note_of_folders(folder, entries), *chain(*messages)]
    is_mh = is_mh or any(entry.name == ".mh_sequences" for entry in entries)
    visible = [entry for entry in entries if not entry.name.startswith(".")]
    visible = _without_companions(visible)
    if is_mh or all(_is_number(e.name) or _is_folder(e) for e in visible):
        return _numbered(folder, visible, label, is_mail=is_mh or None)
    visible.sort(key=_path_order)
    return [_item(folder, entry, label) for entry in visible]


def _without_companions(entries: list[os.DirEntry[str]]) -> list[os.DirEntry[str]]:
    """Leave out what lies beside `inbox` for programs: its index, and its dotlock."""
    if not any(entry.name.endswith(_COMPANIONS) for entry in entries):
        return entries
    others = {entry.name + suffix for entry in entries for suffix in _COMPANIONS}
    return [entry for entry in entries if entry.name not in others]


def _note_of_folders(maildir: str, entries: list[os.DirEntry[str]]) -> list[Note]:
    """Name the mailboxes in a Maildir (Maildir++), which are not read with it."""
    others = sorted(
        entry.name
        for entry in entries
        if entry.name not in ("cur", "new", "tmp") and is_maildir(entry.path)
    )
    if not others:
        return []
    shown = ", ".join([*others[:3], "..."] if len(others) > 3 else others)
    were = "1 was" if len(others) == 1 else f"{len(others)} were"
    text = (
        f"{maildir}: a Maildir is read without the folders in it, and {were} left out"
    )
    return [Note(f"{text} ({shown}); name one to read it: {below(maildir, others[0])}")]


def _messages(maildir: str, part: str, label: str | None) -> _Contents:
    """Return the messages in a part of a Maildir, without the trashed and drafts."""
    folder = below(maildir, part)
    is_left_out = re.compile(_LEFT_OUT_FLAGS).search
    try:
        with os.scandir(folder) as scanned:
            entries = [
                entry
                for entry in scanned
                if not entry.name.startswith(".")
                and not is_left_out(entry.name)
                and not _is_folder(entry)
            ]
    except OSError as error:
        return [Unreadable(folder, cannot_read(folder, error))]
    entries.sort(key=_path_order)
    return [_item(folder, entry, label, is_mail=True) for entry in entries]


def _numbered(
    folder: str,
    entries: list[os.DirEntry[str]],
    label: str | None,
    *,
    is_mail: bool | None,
) -> _Contents:
    """Return the messages of an MH folder, then the folders in it."""
    folders = sorted(filter(_is_folder, entries), key=_path_order)
    messages = [e for e in entries if _is_number(e.name) and not _is_folder(e)]
    messages.sort(key=lambda entry: (int(entry.name), entry.name))
    in_order = [*messages, *folders]
    return [_item(folder, entry, label, is_mail=is_mail) for entry in in_order]


def _item(
    folder: str,
    entry: os.DirEntry[str],
    label: str | None,
    *,
    is_mail: bool | None = None,
) -> Unread | Unreadable | str:
    path = below(folder, entry.name)
    try:
        if entry.is_file():
            return Unread(path, path, label, is_mail)
        if entry.is_dir():
            return path
        if entry.is_symlink():
            error = SourceError(f"{path}: the link leads nowhere; mend or remove it")
        else:
            error = SourceError(
                f"{path}: a file was expected, and a socket, pipe or device found; "
                "name it by itself to read it"
            )
    except OSError as failure:
        error = cannot_read(path, failure)
    return Unreadable(path, error)


def _has_maildir_parts(entries: list[os.DirEntry[str]]) -> bool:
    parts = [entry for entry in entries if entry.name in ("cur", "new")]
    return len(parts) == 2 and all(map(_is_folder, parts))


def _is_number(name: str) -> bool:
    return name.isascii() and name.isdigit()


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself; opening it reports that
        return False


def _path_order(entry: os.DirEntry[str]) -> bytes:
    """Sort a folder where the paths of its files belong: `a-b` before `a/b`."""
    return os.fsencode(entry.name + "/" if _is_folder(entry) else entry.name)
