"""
The messages that earlier runs have classified, known by name or by their bytes.

They are in a file of records (`nbtext.filtering.seen_records`), which are only added,
under a lock. The last may be cut off by a crash, and is then skipped, as is any whose
checksum is wrong. A message has a record before it is moved (begun) and one afterwards
(decided); so the next run sees a crash in between, and finishes. docs/filtering.md says
how the file grows.
"""

import os
import struct
from collections.abc import Collection, Iterable, Mapping
from time import time
from typing import Final, NamedTuple

from nbtext import wording
from nbtext.errors import MemoryFileError
from nbtext.files import write_at, write_out
from nbtext.files.reading_at import read_at
from nbtext.filtering.mailboxes import OldFiles, OldState
from nbtext.filtering.seen_records import (
    APPENDING,
    BEGUN,
    DECIDED,
    DROPPED,
    LATE,
    LATEST,
    MAGIC,
    RECORD,
    REPLACED,
    TOLD,
    Record,
    cannot,
    packed,
    records,
    worth_keeping,
)

NOTHING: Final = bytes(16)

KEPT: Final = 400 * 86_400
"""Seconds for which messages are remembered that are no longer there."""

A_DAY: Final = 86_400
"""Seconds in which a warning is told once at most."""

FEW: Final = 4096
"""Number of records up to which the file is never written anew."""


class Entry(NamedTuple):
    """
    A message that is remembered.

    Attributes:
        name: 16 bytes that name it where it is.
        content: 16 bytes that name it wherever it is.
    """

    name: bytes
    content: bytes


class Begun(NamedTuple):
    """
    A message that a run has begun to move or to flag.

    Attributes:
        content: 16 bytes that name it wherever it is.
        folder: 8 bytes that name the mailbox that it was in.
        when: when that was, in seconds since the epoch.
    """

    content: bytes
    folder: bytes
    when: int


class SeenMessages:
    """
    The messages that were classified.

    Attributes:
        path: the file.
        damaged: number of damaged records, but for one that was cut off.
    """

    def __init__(self, path: str, descriptor: int | None) -> None:
        self.path = path
        self.damaged = 0
        self._descriptor = descriptor
        self._names: set[bytes] = set()
        self._contents: set[bytes] = set()
        self._begun: dict[bytes, Begun] = {}
        self._appending: dict[bytes, int] = {}
        self._replaced: dict[bytes, OldState] = {}
        self._told: dict[bytes, tuple[bytes, int]] = {}
        self._n_records = 0
        self._end = len(MAGIC)
        self._has_grown = False

    def knows_name(self, name: bytes) -> bool:
        """Return whether the message of that name was classified."""
        return name in self._names

    def knows(self, entry: Entry) -> bool:
        """
        Return whether a message was classified, under whatever name.

        One that a run has only begun to move is classified again, whatever its name is
        now: it may have got that before it was moved.
        """
        if entry.name in self._names:
            return True
        if entry.name in self._begun:
            return False
        return entry.content in self._contents

    def is_begun(self, name: bytes) -> bool:
        """Return whether a run that crashed has begun to move a message."""
        return name in self._begun

    def begun_in(self, folder: bytes) -> dict[bytes, Begun]:
        """Return what runs that crashed have begun in a mailbox, by its names there."""
        return {name: one for name, one in self._begun.items() if one.folder == folder}

    def appending_to(self, name: bytes) -> int | None:
        """Return the size of an mbox when a run that crashed began to add to it."""
        return self._appending.get(name)

    def begin(self, folder: bytes, entries: Collection[Entry]) -> None:
        """Remember, durably, that messages are about to be moved or marked."""
        if entries:
            self._add(BEGUN, folder, entries)
            self.sync()

    def begin_appending(self, folder: bytes, starts: Mapping[bytes, int]) -> None:
        """Remember, durably, which mboxes are about to grow, and from which size."""
        entries = [Entry(name, n.to_bytes(16, "little")) for name, n in starts.items()]
        self._add(APPENDING, folder, entries)
        self.sync()

    def old_files(self, folder: bytes) -> OldFiles:
        """Return what remembers which mboxes were replaced while filtering one."""

        def begin(file: bytes, size: int) -> None:
            self._add(REPLACED, folder, [Entry(file, size.to_bytes(16, "little"))])
            self.sync()

        def put_back(file: bytes, end: int, inode: int) -> None:
            content = struct.pack("<QQ", end, inode)
            self._add(LATE, folder, [Entry(_other(file), content)])
            self.sync()

        def finish(file: bytes) -> None:
            self.finish(folder, [Entry(file, NOTHING)])

        return OldFiles(self._replaced.get, begin, put_back, finish)

    def finish(self, folder: bytes, entries: Collection[Entry]) -> None:
        """Remember that messages are classified, and moved if they had to be."""
        self._add(DECIDED, folder, entries)

    def finish_begun(self, folder: bytes, entries: Collection[Entry]) -> None:
        """Remember that messages were moved by a run that has not remembered it."""
        self.finish(folder, entries)
        self._contents.update(content for _, content in entries)

    def drop(self, folder: bytes, entries: Collection[Entry]) -> None:
        """Forget that messages were about to be moved, whatever became of them."""
        self._add(DROPPED, folder, entries)

    def is_told(self, what: bytes, state: bytes) -> bool:
        """
        Return whether a warning was told of this state, or of another within a day.

        Args:
            what: 16 bytes that name what it is about.
            state: 16 bytes that change when that changes.
        """
        told, when = self._told.get(what, (NOTHING, 0))
        return told == state or 0 <= int(time()) - when < A_DAY

    def tell(self, what: bytes, state: bytes) -> None:
        """Remember that a warning was told."""
        self._add(TOLD, NOTHING[:8], [Entry(what, state)])

    def sync(self) -> None:
        """
        Make durable what was remembered.

        Raises:
            MemoryFileError: that cannot be done.
        """
        if self._descriptor is not None and self._has_grown:
            try:
                write_out(self._descriptor)
            except OSError as error:
                raise cannot(self.path, "written", error) from error

    def tidy(self, folders: Mapping[bytes, Iterable[bytes]]) -> None:
        """
        Write the file anew without outdated records, if they are half of it.

        Args:
            folders: for each folder that was listed, the names of all its messages.

        Raises:
            MemoryFileError: it cannot be written.
        """
        if self._descriptor is None or not (self._has_grown or self.damaged):
            return
        if self._n_records <= FEW and not self.damaged:
            return
        from nbtext.files import replace_file  # hardly ever

        data = _all_of(self._descriptor)
        there = {folder: set(names) for folder, names in folders.items()}
        kept = list(worth_keeping(data, there, int(time()) - KEPT))
        if self.damaged or 2 * len(kept) < self._n_records:
            try:
                replace_file(self.path, [MAGIC + b"".join(kept)])
            except OSError as error:
                raise cannot(self.path, "written anew", error) from error

    def _add(self, kind: bytes, folder: bytes, entries: Collection[Entry]) -> None:
        """Remember what has happened, in the file, too, unless it is only read."""
        # what a wrong clock says fits, too
        now = min(max(int(time()), 0), LATEST)
        added: list[Record] = [(kind, now, folder, *entry) for entry in entries]
        if self._descriptor is not None and added:
            self._write(self._descriptor, b"".join(map(packed, added)))
        self._n_records += len(added)
        for record in added:
            self._take(record)

    def _write(self, descriptor: int, data: bytes) -> None:
        try:
            if not self._has_grown:
                # what a crash has cut off goes; nobody else writes meanwhile
                os.ftruncate(descriptor, self._end)
                self._has_grown = True
            write_at(descriptor, self._end, data)
        except OSError as error:
            raise cannot(self.path, "written", error) from error
        self._end += len(data)

    def read(self, descriptor: int) -> None:
        """
        Read the file.

        Raises:
            MemoryFileError: it cannot be read, or is no such file.
        """
        try:
            is_ours = MAGIC.startswith(read_at(descriptor, len(MAGIC), 0))
            data = _all_of(descriptor) if is_ours else b""
        except OSError as error:
            raise cannot(self.path, "read", error) from error
        if not is_ours:
            message = (
                f"{self.path}: the memory of what was decided was expected, and "
                "something else found; name another file with "
                f"{wording.named('path')}, or remove it"
            )
            raise MemoryFileError(message)
        bad = 0
        for place, record in records(data):
            if record is None:
                bad += 1
                continue
            self.damaged += bad  # what follows shows that it was not cut off
            bad = 0
            self._end = place + RECORD
            self._n_records += 1
            self._take(record)
            if record[0] == DECIDED:  # in one run, messages that are alike are all new
                self._contents.add(record[4])
        self._contents.discard(NOTHING)

    def _take(self, record: Record) -> None:
        kind, when, folder, name, content = record
        if kind == DECIDED:
            self._names.add(name)
            self._begun.pop(name, None)
            self._appending.pop(name, None)
            self._replaced.pop(name, None)
        elif kind == BEGUN:
            self._names.discard(name)
            self._begun[name] = Begun(content, folder, when)
        elif kind == DROPPED:
            self._begun.pop(name, None)
        elif kind == APPENDING:
            self._appending[name] = int.from_bytes(content, "little")
        elif kind == TOLD:
            self._told[name] = content, when
        elif kind == REPLACED:
            self._replaced[name] = OldState(int.from_bytes(content, "little"))
        elif kind == LATE:
            size = self._replaced.get(_other(name), OldState(0)).size
            end, inode = struct.unpack("<QQ", content)
            self._replaced[_other(name)] = OldState(size, end, inode)


def _other(name: bytes) -> bytes:
    """Return another name for a second record of the same thing; and back."""
    return bytes(byte ^ 0xFF for byte in name)


def _all_of(descriptor: int) -> bytes:
    with os.fdopen(os.dup(descriptor), "rb") as file:
        file.seek(0)
        return file.read()
