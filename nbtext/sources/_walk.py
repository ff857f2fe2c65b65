"""
The files below a folder, in an order that is the same on every machine.

A Maildir (cr.yp.to/proto/maildir.html) gives the messages in cur/ and new/, an MH
folder its numbered files; any other folder is walked. What begins with a dot is hidden
and left out, as is what the Maildir's flags or MH's naming call deleted or a draft.
The folders in a Maildir are other mailboxes: a note names them.
"""

# ruff: noqa: PTH100, PTH112, PTH116 -- importing pathlib costs 10 ms, half a run on one mail

import os
import sys
from collections.abc import Callable, Collection, Iterator
from itertools import chain
from typing import Final, TypeAlias

from nbtext.document import Note, Unread, Unreadable
from nbtext.errors import SourceError
from nbtext.sources._failures import cannot_read
from nbtext.sources._listing import (
    FILE,
    FOLDER,
    NOWHERE,
    OTHER,
    Listed,
    in_order,
    kind_of,
)

_COMPANIONS = (b".msf", b".lock")
"""Suffixes of what Thunderbird keeps beside a mailbox, and of what locks it."""

MOST_STRAY: Final = 16
"""Maximum files beside folders that may lie there by mistake."""

SEQUENCES: Final = ".mh_sequences"
"""What is in an MH folder only; nmh keeps its sets of messages there."""

_OURS = (b".nbt", b".decided", b".repaired")
"""Suffixes of what nbtext writes, and of no document if nbtext is what it says."""

_HEAD = 32
"""In so many bytes of them its name is."""

_NAMES = sys.getfilesystemencoding(), sys.getfilesystemencodeerrors()
"""How names are encoded; os.fsdecode finds out for each."""

Named: TypeAlias = Callable[[], Collection[str]]
"""Returns the absolute paths of all sources that the user named."""

_Contents: TypeAlias = "Iterator[Unread | Unreadable | Note | str]"
"""What is to be read, in order; a folder by its path."""


def is_maildir(path: str) -> bool:
    """Tell whether a folder has the parts that a Maildir has."""
    return all(os.path.isdir(below(path, part)) for part in ("cur", "new"))


def is_part_of_maildir(path: str) -> bool:
    """Tell whether a folder is one of the two parts of a Maildir that have messages."""
    maildir, name = os.path.split(path)
    parts = ("cur", "new", "tmp")
    return name in parts[:2] and all(
        os.path.isdir(below(maildir, part)) for part in parts
    )


def class_folders(path: str) -> list[str]:
    """
    Return the folders in a folder that holds nothing else, sorted; else none.

    A Maildir is no such folder, though it may hold three folders and nothing else. A
    model may be there, too: it may well have been trained on them.
    """
    return _inside(path, 0)[1]


def stray_files(path: str) -> tuple[list[str], list[str]]:
    """
    Return the few files that lie beside folders in a folder, and the folders, sorted.

    Both are empty if there are no two folders, no files, or many.
    """
    files, folders = _inside(path, MOST_STRAY)
    return (files, folders) if files and len(folders) > 1 else ([], [])


def _inside(path: str, most_files: int) -> tuple[list[str], list[str]]:
    """Return files and folders, sorted; none of a Maildir or where more files are."""
    files: list[str] = []
    folders: list[str] = []
    try:
        with os.scandir(path) as entries:
            for entry in entries:
                if entry.name.startswith("."):
                    continue
                if _is_folder(entry):
                    folders.append(below(path, entry.name))
                elif not _is_ours(entry):
                    files.append(below(path, entry.name))
                if len(files) > most_files:
                    return [], []
    except (OSError, ValueError):
        return [], []
    if is_maildir(path):
        return [], []
    return sorted(files, key=os.fsencode), sorted(folders, key=os.fsencode)


def below(folder: str, name: str) -> str:
    """Return the path of what is in a folder, which may be written `folder/`."""
    return f"{folder.rstrip('/')}/{name}"


def walk(
    path: str, label: str | None, *, is_mh: bool = False, named: Named = frozenset
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
        named: returns the absolute paths of all sources, which are not left out.
    """
    seen: set[tuple[int, int]] = set()
    waiting: list[_Contents] = [iter([path])]
    while waiting:
        item = next(waiting[-1], None)
        if item is None:
            waiting.pop()
            continue
        if not isinstance(item, str):
            yield item
            continue
        try:
            status = os.stat(item)
            if (status.st_dev, status.st_ino) not in seen:
                seen.add((status.st_dev, status.st_ino))
                is_mh_itself = is_mh and item == path
                waiting.append(_contents(item, label, named, is_mh=is_mh_itself))
        except (OSError, ValueError) as error:
            yield Unreadable(item, cannot_read(item, error))


def _contents(
    folder: str, label: str | None, named: Named, *, is_mh: bool
) -> _Contents:
    """Return what is to be read of a folder, which is read at once."""
    if is_maildir(folder):
        return chain(_note_of_folders(folder, named), _messages(folder, label))
    if not is_mh:
        is_mh = os.path.lexists(below(folder, SEQUENCES))
    found = _Found(folder)
    entries = in_order(found.entries())
    is_mail = is_mh or None
    if is_mh or found.are_numbers:
        entries = in_order(filter(None, map(_numbered, entries)))
    before = below(folder, "")
    items = (_item(before, one, label, is_mail) for one in entries)
    return chain(map(_note_of_model, sorted(found.models)), items)


class _Found:
    """
    The visible entries of a folder, as they come.

    Attributes:
        are_numbers: whether all files so far have numbers for names.
        models: the files so far that nbtext has written.
    """

    def __init__(self, folder: str) -> None:
        self.are_numbers = True
        self.models: list[str] = []
        self._folder = folder

    def entries(self) -> Iterator[Listed]:
        """Yield the entries, without what lies beside a mailbox for programs."""
        with os.scandir(os.fsencode(self._folder)) as scanned:
            for entry in scanned:
                name = entry.name
                if name.startswith(b".") or (
                    name.endswith(_COMPANIONS) and self._is_companion(name)
                ):
                    continue
                kind = kind_of(entry)
                if kind == FILE and name.endswith(_OURS) and _is_ours(entry):
                    self.models.append(below(self._folder, name.decode(*_NAMES)))
                    continue
                if kind == FOLDER:  # where the paths of its files are: a-b before a/b
                    yield name + b"/", name, kind
                    continue
                self.are_numbers = self.are_numbers and name.isdigit()
                yield name, name, kind

    def _is_companion(self, name: bytes) -> bool:
        """Tell of `inbox.msf` and `inbox.lock` whether there is an `inbox`."""
        beside = os.fsdecode(name.rpartition(b".")[0])
        return os.path.lexists(below(self._folder, beside))


def _numbered(entry: Listed) -> Listed | None:
    """Sort messages of MH by number, folders behind them; leave out all others."""
    key, name, kind = entry
    if kind == FOLDER:
        return b"/" + key, name, kind
    if not name.isdigit():
        return None
    number = name.lstrip(b"0")
    return b".%05d%b/%b" % (len(number), number, name), name, kind


def _is_ours(entry: os.DirEntry[str] | os.DirEntry[bytes]) -> bool:
    """Tell whether a file is a model or what lies beside it, by name and beginning."""
    if not os.fsencode(entry.name).endswith(_OURS):
        return False
    try:
        descriptor = os.open(entry.path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:  # which is told where it is read
        return False
    try:
        return b"nbtext" in os.pread(descriptor, _HEAD, 0)
    except OSError:  # a folder, or a pipe
        return False
    finally:
        os.close(descriptor)


def _note_of_model(path: str) -> Note:
    """Say that a file in a folder is left out, which nbtext has written there."""
    return Note(f"{path}: nbtext wrote this file, which is no document: left out")


def _note_of_folders(maildir: str, named: Named) -> list[Note]:
    """Name the mailboxes in a Maildir (Maildir++), which are not read at all."""
    with os.scandir(maildir) as entries:
        others = sorted(
            entry.name
            for entry in entries
            if entry.name not in ("cur", "new", "tmp") and is_maildir(entry.path)
        )
    if others:
        known = named()
        paths = {name: os.path.abspath(below(maildir, name)) for name in others}
        others = [name for name in others if paths[name] not in known]
    if not others:
        return []
    shown = ", ".join([*others[:3], "..."] if len(others) > 3 else others)
    were = "1 was" if len(others) == 1 else f"{len(others)} were"
    text = (
        f"{maildir}: a Maildir is read without the folders in it, and {were} left out"
    )
    return [Note(f"{text} ({shown}); name one to read it: {below(maildir, others[0])}")]


def _messages(maildir: str, label: str | None) -> _Contents:
    """Yield the messages of a Maildir, without the trashed and drafts."""
    from nbtext.sources._maildir import parts_of  # most folders are none

    for part in parts_of(maildir):
        if part.error is not None:
            yield Unreadable(part.folder, cannot_read(part.folder, part.error))
        before = below(part.folder, "")
        for entry in part.found:
            yield _item(before, entry, label, True)


def _item(
    before: str, entry: Listed, label: str | None, is_mail: bool | None
) -> Unread | Unreadable | str:
    """Return what is to be read of an entry, given what its path begins with."""
    _, name, kind = entry
    path = before + name.decode(*_NAMES)
    if kind == FILE:
        return Unread(path, path, label, is_mail)
    if kind == FOLDER:
        return path
    if kind == NOWHERE:
        error = SourceError(f"{path}: the link leads nowhere; mend or remove it")
    elif kind == OTHER:
        error = SourceError(
            f"{path}: a file was expected, and a socket, pipe or device found; "
            "name it by itself to read it"
        )
    else:
        try:
            os.stat(path)
        except OSError as failure:
            error = cannot_read(path, failure)
        else:  # it has become something that the system tells of
            return Unread(path, path, label, is_mail)
    return Unreadable(path, error)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself; opening it reports that
        return False
