"""
The contents of a message: its text to classify, and its digest.

Mail programs keep the state of a message in its header, at least in an mbox. Those
fields are not part of the digest, so a message that was read, flagged or moved to
another folder is still the same message.
"""

import os
import re
import stat
from _blake2 import blake2b  # hashlib would load OpenSSL too, for 2 ms
from typing import Final, NamedTuple

from nbtext.document import Unread
from nbtext.errors import NoMemoryError, SourceError
from nbtext.sources import cannot_read, compression, load
from nbtext.sources.mbox import END_OF_HEADER

DIGEST_SIZE: Final = 16

LONGEST_HEADER: Final = 1 << 18
"""Number of bytes of a message in which fields of mail programs are searched for."""

LARGEST: Final = 1 << 30
"""Maximum bytes of a message: all of them are hashed, a second for some 400 MB."""

STATE_FIELDS: Final = (
    "Status", "X-Status", "X-Keywords", "X-UID", "X-IMAP", "X-IMAPbase",
    "Content-Length", "Lines",
)  # fmt: skip
"""Fields in which UW IMAP, Dovecot, mutt and Python's `mailbox` keep their state."""

_STATE: Final = rb"(?im)^(?:%s)[ \t]*:[^\n]*(?:\n[ \t][^\n]*)*(?:\n|\Z)" % (
    "|".join(STATE_FIELDS).encode()
)


class Content(NamedTuple):
    """
    A message.

    Attributes:
        text: its first bytes, to classify.
        is_cut: whether there are more.
        digest: DIGEST_SIZE bytes that identify all of it except STATE_FIELDS and the
            line feed at its end, which an mbox may have added.
    """

    text: bytes
    is_cut: bool
    digest: bytes


class Gathered:
    """A message that arrives in pieces, of which the first bytes are kept."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._kept: list[bytes] = []
        self._size = 0
        self._head = b""
        self._is_header = True
        self._hashed = blake2b(digest_size=DIGEST_SIZE, person=b"nbtext content")
        self._ending = b""

    def add(self, piece: bytes) -> None:
        """Add the next bytes."""
        if self._size <= self._max_bytes:
            self._kept.append(piece)
        self._size += len(piece)
        if not self._is_header:
            self._hash(piece)
            return
        self._head += piece
        if re.search(END_OF_HEADER, self._head) or len(self._head) > LONGEST_HEADER:
            self._end_header()

    def content(self) -> Content:
        """Return the message, which is complete now."""
        if self._is_header:
            self._end_header()
        text = b"".join(self._kept)[: self._max_bytes]
        is_cut = self._size > self._max_bytes
        return Content(text, is_cut, self._hashed.digest())

    def _end_header(self) -> None:
        head, self._head, self._is_header = self._head, b"", False
        found = re.search(END_OF_HEADER, head[:LONGEST_HEADER])
        end = min(found.end() if found else LONGEST_HEADER, len(head))
        self._hash(re.sub(_STATE, b"", head[:end]) + head[end:])

    def _hash(self, piece: bytes) -> None:
        """Hash all but a line feed at the very end."""
        if piece:
            self._hashed.update(self._ending)
            text = piece.removesuffix(b"\n")
            self._hashed.update(text)
            self._ending = piece[len(text) :]


def read_content(path: str, max_bytes: int) -> Content:
    """
    Read a file that holds one message, decompressed if it is compressed.

    Raises:
        MissingSourceError: there is no such file.
        SourceError: it cannot be read, or is no file.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                found = (
                    "a folder" if stat.S_ISDIR(status.st_mode) else "a device or pipe"
                )
                message = f"{path}: a message was expected, and {found} found"
                raise SourceError(f"{message}; move it elsewhere")
            if status.st_size > LARGEST:
                message = f"{path}: {status.st_size:,} bytes found, and {LARGEST:,} is"
                raise SourceError(f"{message} the most of a message; move it elsewhere")
            gathered = Gathered(max_bytes)
            left = status.st_size  # what is added meanwhile is not read
            head = piece = os.read(descriptor, min(left, 1 << 20))
            while piece:
                gathered.add(piece)
                left -= len(piece)
                piece = os.read(descriptor, min(left, 1 << 20))
        finally:
            os.close(descriptor)
    except (OSError, ValueError) as error:
        raise cannot_read(path, error) from error
    except MemoryError as error:
        raise NoMemoryError(path) from error
    content = gathered.content()
    if compression(head):
        document = load(Unread(path, path, is_mail=True), max_bytes)
        return Content(document.texts[0], document.truncated, content.digest)
    return content
