"""
An mbox read as far as it went at one moment, while mail programs go on using it.

The moment is one at which nobody was writing to it; how far it went is remembered, and
nothing is copied or locked while it is read. What is appended later is not read. What
is rewritten or cut off meanwhile is noticed: then its last bytes are others, or gone.
"""

# ruff: noqa: PTH115 -- importing pathlib costs 10 ms

import os
from contextlib import suppress
from time import monotonic
from typing import Final

from nbtext.document import Note
from nbtext.errors import SourceError
from nbtext.files import is_in_place
from nbtext.files.mail_locks import (
    QuietMoment,
    is_unchanged,
    lock_of,
    quiet_moment,
    tail_of,
)
from nbtext.sources._compressed import CHUNK

WAIT: Final = 10.0
"""Maximum seconds to wait for the locks of an mbox."""

SHORT_WAIT: Final = 0.05
"""The same, if waiting for another mbox was in vain not long ago."""

RECOVERY: Final = 60.0
"""Seconds after which an mbox is waited for again as long as the first."""


class Patience:
    """How long to wait for an mbox; many that are locked are not each waited for."""

    def __init__(self) -> None:
        self._exhausted = float("-inf")

    def seconds(self) -> float:
        """Return the maximum seconds to wait now."""
        is_recovered = monotonic() - self._exhausted > RECOVERY
        return WAIT if is_recovered else SHORT_WAIT

    def exhaust(self) -> None:
        """Remember that waiting was in vain."""
        self._exhausted = monotonic()


PATIENCE: Final = Patience()
"""That of this process."""


class Snapshot:
    """
    The bytes that a file had at a moment, from a place on.

    Attributes:
        is_whole: whether no message was being written at its end.
    """

    def __init__(self, descriptor: int, path: str | None, name: str) -> None:
        """
        Look at a regular file when nobody writes to it.

        Args:
            descriptor: the file, at the place from which it is read.
            path: where it is, to look for its dotlock; None if that is not known.
            name: what the user may call it.

        Raises:
            OSError: it cannot be read.
        """
        self._descriptor = descriptor
        self._path = path
        self._name = name
        moment = self._quiet_moment(None, PATIENCE.seconds())
        self.is_whole = self._may_wait = moment is not None
        self._status = os.fstat(descriptor) if moment is None else moment.status
        self._end = self._status.st_size
        self._tail = tail_of(descriptor, self._end) if moment is None else moment.tail
        self._start = os.lseek(descriptor, 0, os.SEEK_CUR)
        self._left = self._end - self._start

    def rewind(self) -> None:
        """Begin again."""
        os.lseek(self._descriptor, self._start, os.SEEK_SET)
        self._left = self._end - self._start

    def note(self) -> Note | None:
        """Return what the user should know if a message may be left out."""
        if self.is_whole:
            return None
        lock = lock_of(self._path) if self._path else ""
        return Note(
            f"{self._name}: another program{lock} has it locked, so its last message "
            "may be incomplete and was left out; read it again later",
            is_warning=True,
        )

    def read(self) -> bytes:
        """
        Return the next bytes, nothing at the end.

        Raises:
            SourceError: another program has rewritten the file.
            OSError: it cannot be read.
        """
        if self._left <= 0:
            return b""
        piece = os.read(self._descriptor, min(CHUNK, self._left))
        self._left -= len(piece)
        status = os.fstat(self._descriptor)
        if not piece or not is_unchanged(self._status, status):
            self._check(status, is_cut=not piece)
        return piece

    def _check(self, status: os.stat_result, *, is_cut: bool) -> None:
        """Find out whether a file that has changed was only appended to."""
        wait = PATIENCE.seconds() if self._may_wait else 0.0
        moment = self._quiet_moment(self._end, wait)
        self._may_wait = moment is not None
        tail = tail_of(self._descriptor, self._end) if moment is None else moment.tail
        self._status = status if moment is None else moment.status
        if is_cut or self._status.st_size < self._end or tail != self._tail:
            self.is_whole = False
            self._left = 0
            raise SourceError(
                f"{self._name}: another program has rewritten it while it was read; "
                "the messages before that were read; read it again for the others"
            )

    def _quiet_moment(self, end: int | None, wait: float) -> QuietMoment | None:
        moment = quiet_moment(self._descriptor, self._path, wait, end)
        if moment is None:
            PATIENCE.exhaust()
        return moment


def path_of(descriptor: int) -> str | None:
    """Return the path of an open file, if it has one and the system tells."""
    with suppress(OSError):
        path = os.readlink(f"/proc/self/fd/{descriptor}")
        if is_in_place(path, descriptor):
            return path
    return None
