"""
Standard input, read without loading what could read anything but one mail.

`nbtext.sources` tells what a stream holds; a mail is what begins with the name of a
field and is no mbox, no table and not compressed. Here it is only told whether that is
beyond doubt.
"""

# ruff: noqa: PTH113, PTH114, PTH115, PTH116 -- importing pathlib costs 10 ms

import os
from io import BytesIO
from stat import S_ISREG
from time import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO, Final

PIECE: "Final" = 1 << 18
LONGEST: "Final" = 1 << 20
"""Longer mail takes so long that loading the rest matters little, in bytes."""

MOST_HELD: "Final" = 1 << 24
"""Maximum bytes that are held of a message that is passed on."""

FRESH: "Final" = 900.0
"""Seconds since the last write after which nobody delivers mail to a file any more."""

ENVELOPE: "Final" = b"From "


class Begun:
    """
    A descriptor from which something was read.

    Attributes:
        descriptor: what can be read on from.
        head: what was read; nothing of a regular file, which was wound back.
    """

    __slots__ = ("descriptor", "head")

    def __init__(self, descriptor: int, head: bytes) -> None:
        self.descriptor = descriptor
        self.head = head


class Held:
    """
    A message that is to be passed on, of which no more is held than is needed.

    Attributes:
        head: the message, or as much of it as is held.
        more: what was read behind that; empty if the head is all of it.
    """

    __slots__ = ("_file", "head", "more")

    def __init__(self, file: "BinaryIO", most: int = MOST_HELD) -> None:
        """
        Read what is held of a message, waiting for more where it is set not to block.

        Args:
            file: what it is read from; another program may set it so at any time.
            most: how many bytes of it are held.

        Raises:
            OSError: it cannot be read.
        """
        self._file = file
        self.head = b"".join(_pieces(file, most))
        self.more = b"".join(_pieces(file, 1)) if len(self.head) == most else b""

    def read_if_written_to(self, status: os.stat_result) -> None:
        """
        Read all of a message that lies where it is passed on to.

        What is still to be read would be overwritten there, or would never end.

        Args:
            status: of the file that the message is written to.

        Raises:
            OSError: it cannot be read.
        """
        is_file = bool(self.more) and S_ISREG(status.st_mode)
        if is_file and os.path.samestat(status, os.fstat(self._file.fileno())):
            self.more = b"".join(self.rest())
            self._file = BytesIO()

    def rest(self) -> "Iterator[bytes]":
        """
        Read and yield what is behind the head, once.

        Raises:
            OSError: it cannot be read.
        """
        if self.more:
            yield self.more
            yield from _pieces(self._file)

    def whole(self) -> "Iterator[bytes]":
        """Yield all of the message, as it came."""
        yield self.head
        yield from self.rest()


def _pieces(file: "BinaryIO", most: int | None = None) -> "Iterator[bytes]":
    """Read a file, to its end or up to so many bytes."""
    left = PIECE if most is None else most
    while left > 0:
        wanted = min(left, PIECE)
        # what is read is all there is, or all there is yet; only the end is empty
        piece: bytes | None = file.read(wanted)
        if piece is None:
            _wait_for(file)
            continue
        if piece:
            yield piece
        if not piece or (len(piece) < wanted and file.isatty()):
            return  # an end is not typed twice
        left -= 0 if most is None else len(piece)


def _wait_for(file: "BinaryIO") -> None:
    """Wait until a file can be read."""
    from select import POLLIN, poll

    waiting = poll()
    waiting.register(file, POLLIN)
    waiting.poll()


def read_mail(descriptor: int, *, is_one: bool) -> "bytes | Begun":
    """
    Read a mail from a descriptor to its end, if it is one beyond doubt.

    Args:
        descriptor: standard input.
        is_one: whether it is one mail by the user's word, and neither mbox nor table.

    Returns:
        The mail, without the line that begins it in an mbox if it is not one by the
        user's word; or what is to be read on from.

    Raises:
        OSError: it cannot be read.
    """
    status = os.fstat(descriptor)
    is_file = S_ISREG(status.st_mode)
    start = os.lseek(descriptor, 0, os.SEEK_CUR) if is_file else 0
    read = b""
    while len(read) <= LONGEST:
        try:
            piece = os.read(descriptor, PIECE)
        except BlockingIOError:  # set not to block, and there is no more yet
            break
        if not piece:
            mail = _mail_of(read, is_one=is_one)
            if mail and (mail is read or _is_whole(descriptor, status)):
                return mail
            break
        read += piece
        if not _may_be_plain(read, is_one=is_one):
            break  # what is ready of others is told before their end
    if is_file:
        os.lseek(descriptor, start, os.SEEK_SET)
        read = b""
    return Begun(descriptor, read)


def _may_be_plain(read: bytes, *, is_one: bool) -> bool:
    """Return whether what begins so may be one mail beyond doubt."""
    if not read[:1].isalpha() or read.startswith(b"BZh"):  # bzip2
        return False
    first = BytesIO(read).readline().removesuffix(b"\n")  # the rest is not copied
    if is_name_of_file(first):  # in a list of them
        return False
    if is_one:
        return True
    if read.startswith(ENVELOPE) and (b"\nFrom " in read or b">From " in read):
        return False
    return b"\t" not in first  # a label and a text, in a table


def is_name_of_file(line: bytes) -> bool:
    """Return whether a line is the name of a file; of a mail's, nobody is asked."""
    may_be_field = b":" in line.partition(b"/")[0] or line.startswith(ENVELOPE)
    return not may_be_field and os.path.isfile(line)


def _mail_of(read: bytes, *, is_one: bool) -> bytes:
    """Return the mail that was read, nothing if it may be anything else."""
    if is_one or not read.startswith(ENVELOPE[: len(read)]):
        return read
    mail = read.partition(b"\n")[2]  # an mbox of one message
    return mail if mail[:1].isalpha() else b""


def _is_whole(descriptor: int, status: os.stat_result) -> bool:
    """Return whether nobody is adding to what was read, should it be an mbox."""
    if not S_ISREG(status.st_mode) or time() - status.st_mtime > FRESH:
        return True
    try:
        path = os.readlink(f"/proc/self/fd/{descriptor}")
        is_there = os.path.samestat(os.stat(path), status)
        return is_there and is_quiet(descriptor, path, status)
    except OSError:  # where the system does not tell, or the file has no name any more
        return False


def is_quiet(descriptor: int, path: str | bytes, read: os.stat_result) -> bool:
    """
    Return whether no mail program writes to a file, or has done so since it was read.

    Nobody waits: a lock, or what may be one, is enough for False.

    Args:
        descriptor: the file, open for reading.
        path: where it is; its dotlock is looked for beside it.
        read: its status before it was read.

    Raises:
        OSError: its status cannot be read.
    """
    from fcntl import LOCK_NB, LOCK_SH, LOCK_UN, lockf

    if os.path.islink(path) or os.path.lexists(os.fsencode(path) + b".lock"):
        return False
    try:
        lockf(descriptor, LOCK_SH | LOCK_NB)
    except OSError:
        return False
    lockf(descriptor, LOCK_UN)
    now = os.fstat(descriptor)
    return (now.st_size, now.st_mtime_ns) == (read.st_size, read.st_mtime_ns)
