"""
An mbox: all messages in one file, which is read without locks and written with them.

Reading a large mbox takes minutes, and delivery must not wait for it. So an mbox is
read as far as it reached at one moment when nobody was writing to it.
"""

import os
from _blake2 import blake2b
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

from nbtext.files import make_durable, make_file, open_file
from nbtext.files.mail_locks import busy_mbox, quiet_moment
from nbtext.filtering.mailboxes._spans import Span, spans
from nbtext.sources import cannot_read


class Mbox:
    """
    An mbox.

    Attributes:
        path: where it is, as the user wrote it.
        place: the same without symbolic links.
    """

    kind = "mbox"

    def __init__(self, path: str) -> None:
        self.path = path
        self.place = os.path.realpath(path)

    def ensure(self) -> None:
        """
        Make it if it is missing: an empty file, for its owner alone.

        Raises:
            OSError: it cannot be made.
        """
        if not os.path.exists(self.place):
            make_file(self.place)
            make_durable(os.path.dirname(self.place))

    @contextmanager
    def opened(self, wait: float) -> Iterator["Snapshot"]:
        """
        Open it as it is at a moment when nobody writes to it.

        Raises:
            BusyError: others have had it locked all the time.
            SourceError: it cannot be read.
        """
        try:
            descriptor = open_file(self.place)
        except OSError as error:
            raise cannot_read(self.path, error) from error
        try:
            moment = quiet_moment(descriptor, self.place, wait)
            if moment is None:
                raise busy_mbox(self.path, wait)
            status = moment.status
            yield Snapshot(descriptor, status.st_size, self.key_of(status))
        except OSError as error:
            raise cannot_read(self.path, error) from error
        finally:
            with suppress(OSError):  # it was only read
                os.close(descriptor)

    def key_of(self, status: os.stat_result) -> bytes:
        """Return 16 bytes that are others as soon as anybody has written to it."""
        identity = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
        text = f"{identity}\0".encode() + os.fsencode(self.place)
        return blake2b(text, digest_size=16, person=b"nbtext mbox").digest()


class Snapshot(NamedTuple):
    """
    An mbox as it was at a moment.

    Attributes:
        descriptor: the open file.
        size: its size in bytes; what was appended later is ignored.
        key: 16 bytes that are others as soon as anybody has written to it.
    """

    descriptor: int
    size: int
    key: bytes

    def spans(self, max_bytes: int) -> Iterator[Span]:
        """Yield its messages, each with at most `max_bytes` bytes to classify."""
        for span in spans(self.descriptor, self.size, max_bytes):
            if not span.is_internal:
                yield span
