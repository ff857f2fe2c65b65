"""
A source's bytes as they come: from a path, a pipe or a file object, decompressed.

A `Stream` can show its head before it is read, so that the format can be told, and can
say whether reading would wait, so that what is ready can be handed on first.
"""

import io
import os
import select
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from nbtext.byte_order import MARKS
from nbtext.document import PAUSE, Note, Pause
from nbtext.errors import SourceError
from nbtext.plain_mail import Begun
from nbtext.sources._compressed import (
    CHUNK,
    ByteSource,
    Decompressed,
    compression,
    may_be_compressed,
)
from nbtext.sources._failures import cannot_read

if TYPE_CHECKING:
    from nbtext.sources._snapshot import Snapshot


_NOTHING: Final = b" \t\r\n\f\v\0" + b"".join(mark for mark, _ in MARKS)
"""Bytes of blank lines and of byte order marks."""


class Stream:
    """
    The bytes of one source, decompressed if their head says so.

    A failure ends the stream as the end of its bytes would, so that what came before
    it is not lost; the reader looks at `error` afterwards.

    Attributes:
        name: what the user may call the source.
        error: what ended the bytes before their end, if anything did.
        may_wait: whether `read` and `peek` may have to wait for another process.
    """

    def __init__(self, name: str, source: ByteSource) -> None:
        self.name = name
        self.may_wait = isinstance(source, Descriptor) and source.may_wait
        self.error: SourceError | None = None
        self._source = source
        self._head = b""
        self._is_begun = False
        self._snapshot: Snapshot | None = None

    def would_block(self) -> bool:
        """Tell whether `read` would have to wait for a pipe."""
        return not self._head and self._source.would_block()

    def read(self) -> bytes:
        """Return the next piece, waiting if need be; nothing at the end."""
        if self._head:
            head, self._head = self._head, b""
            return head
        return self._pull()

    def peek(self, size: int, *, waits: bool = False) -> bytes:
        """
        Return up to `size` bytes from the beginning, to be read again.

        Fewer at the end of the source, and where a pipe has given a whole line with
        something on it, but would make the reader wait for more, unless it is to wait.
        """
        pieces, length = [self._head], len(self._head)
        line = _Line()
        line.add(self._head)
        while length < size:
            if line.is_whole and not waits and self._source.would_block():
                break
            more = self._pull()
            if not more:
                break
            pieces.append(more)  # which may be many and short
            length += len(more)
            line.add(more)
        self._head = b"".join(pieces)
        return self._head[:size]

    def chunks(self) -> Iterator[bytes | Pause]:
        """Yield what is left, piece by piece, and a pause whenever that would wait."""
        while True:
            if self.would_block():
                yield PAUSE
            chunk = self.read()
            if not chunk:
                return
            yield chunk

    def take_snapshot(self) -> Note | None:
        """
        Begin again with what a regular file holds when no mail program writes to it.

        Pipes and compressed files, to which nobody delivers mail, are left as they are.

        Returns:
            A note if others have been writing all the time: `is_whole` is False then.
        """
        self.peek(1)  # tells whether it is compressed
        if self.error is not None or not isinstance(self._source, Descriptor):
            return None
        try:
            snapshot = self._source.take_snapshot(self.name)
        except OSError as error:
            self.error = cannot_read(self.name, error)
            return None
        if snapshot is None:
            return None
        self._snapshot = snapshot
        self._head = b""
        return snapshot.note()

    def rewind(self) -> bool:
        """Read a snapshot once more from its beginning; return whether there is one."""
        if self._snapshot is None:
            return False
        self._snapshot.rewind()
        self._head = b""
        return True

    @property
    def is_whole(self) -> bool:
        """Whether the bytes end where a message does, as far as is known."""
        return self._snapshot is None or self._snapshot.is_whole

    def close(self) -> None:
        """Close what is below."""
        self._source.close()

    def convert(self, converted: Callable[[bytes, ByteSource], ByteSource]) -> None:
        """
        Put a converter in the source's place, before anything was read.

        Args:
            converted: makes it of what was peeked at, and the source of the rest.
        """
        self._source = converted(self._head, self._source)
        self._head = b""

    def _pull(self) -> bytes:
        if self.error is not None:
            return b""
        try:
            if self._is_begun:
                return self._source.read()
            self._is_begun = True
            return self._begin()
        except SourceError as error:
            self.error = error
        except OSError as error:
            self.error = cannot_read(self.name, error)
        return b""

    def _begin(self) -> bytes:
        """Read as far as it takes to know the compression, and one piece."""
        head = self._source.read()
        while may_be_compressed(head):
            more = self._source.read()
            if not more:
                break
            head += more
        kind = compression(head)
        if kind is None:
            return head
        self._source = Decompressed(self.name, kind, head, self._source)
        return self._source.read()


class _Line:
    """
    Whether a stream has given a line with something on it, and all of it.

    Blank lines and a byte order mark tell nothing of what comes.
    """

    def __init__(self) -> None:
        self.is_whole = False
        self._is_begun = False

    def add(self, piece: bytes) -> None:
        """Take in what comes next."""
        if not self._is_begun:
            piece = piece.lstrip(_NOTHING)
            self._is_begun = bool(piece)
        self.is_whole = self.is_whole or (self._is_begun and b"\n" in piece)


class Descriptor:
    """
    A file descriptor; only one that is not a regular file can make a reader wait.

    What was read of it already, its head, is read again.
    """

    def __init__(
        self,
        descriptor: int,
        *,
        is_owned: bool,
        path: str | None = None,
        head: bytes = b"",
    ) -> None:
        self._descriptor = descriptor
        self._head = head
        self._is_owned = is_owned
        self._path = path
        self._poll: select.poll | None = None
        self._snapshot: Snapshot | None = None
        self._start = 0
        self._piece = CHUNK
        status = os.fstat(descriptor)
        if stat.S_ISREG(status.st_mode):
            # Most files are small, and a fresh buffer of CHUNK bytes costs its pages.
            self._piece = max(4096, min(CHUNK, status.st_size + 1))
            if not is_owned:
                self._start = os.lseek(descriptor, 0, os.SEEK_CUR)
        else:
            self._poll = select.poll()
            self._poll.register(descriptor, select.POLLIN)

    def read(self) -> bytes:
        """Return what one call gives; wait, even for a descriptor set not to block."""
        if self._snapshot is not None:
            return self._snapshot.read()
        if self._head:
            head, self._head = self._head, b""
            return head
        while True:
            try:
                return os.read(self._descriptor, self._piece)
            except BlockingIOError:
                if self._poll is None:
                    raise
                self._poll.poll()

    def take_snapshot(self, name: str) -> "Snapshot | None":
        """
        Begin again with what a regular file holds when no mail program writes to it.

        Returns:
            None if this is no regular file.

        Raises:
            OSError: it cannot be read.
        """
        if self.may_wait:
            return None
        from nbtext.sources._snapshot import Snapshot, path_of

        path = self._path if self._is_owned else path_of(self._descriptor)
        os.lseek(self._descriptor, self._start, os.SEEK_SET)
        self._snapshot = Snapshot(self._descriptor, path, name)
        return self._snapshot

    @property
    def may_wait(self) -> bool:
        """Whether this is no regular file."""
        return self._poll is not None

    def would_block(self) -> bool:
        """Tell whether neither bytes nor the end are there yet."""
        if self._head:
            return False
        return self._poll is not None and not self._poll.poll(0)

    def close(self) -> None:
        """Close the descriptor, unless it is another's."""
        if self._is_owned:
            os.close(self._descriptor)


class FileObject:
    """A file object that has no descriptor of its own, such as `io.BytesIO`."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def read(self) -> bytes:
        """Return the next bytes."""
        return self._file.read(CHUNK)

    def would_block(self) -> bool:
        """Return False, because there is no way to find out."""
        return False

    def close(self) -> None:
        """Leave it open, it is another's."""


def open_path(path: str, name: str, *, is_file: bool = False) -> Stream:
    """
    Open a file or a pipe; for a pipe this waits until another program writes to it.

    Args:
        path: the file or pipe.
        name: what the user may call it.
        is_file: whether it was a regular file a moment ago: then it must be one still,
            and nobody who has put a pipe in its place makes this wait.

    Raises:
        SourceError: it cannot be opened, or is a folder.
    """
    try:
        if is_file:
            from nbtext.files import open_file  # standard input needs none of it

            descriptor = open_file(path, follow=True)
        else:
            descriptor = os.open(path, os.O_RDONLY)
        return Stream(name, Descriptor(descriptor, is_owned=True, path=path))
    except (OSError, ValueError) as error:
        raise cannot_read(name, error) from error


def open_stdin(stdin: BinaryIO | Begun | None = None) -> Stream:
    """
    Take the standard input, or what is given in its place.

    A buffered file is read below its buffer, because only a descriptor can be asked
    whether it would block; nothing may have been read from it before.

    Raises:
        SourceError: this process was started without a standard input.
    """
    if stdin is None:
        if sys.stdin is None:
            raise SourceError("-: standard input is closed; name a file instead")
        stdin = sys.stdin.buffer
    try:
        if isinstance(stdin, Begun):
            begun = Descriptor(stdin.descriptor, is_owned=False, head=stdin.head)
            return Stream("-", begun)
        if isinstance(stdin, io.BufferedReader | io.FileIO):
            with suppress(io.UnsupportedOperation):  # around something in memory
                return Stream("-", Descriptor(stdin.fileno(), is_owned=False))
    except (OSError, ValueError) as error:
        raise cannot_read("-", error) from error
    return Stream("-", FileObject(stdin))


@contextmanager
def open_binary(path: str) -> Iterator[BinaryIO]:
    """
    Open a source as a file object, decompressed if it is compressed.

    Reading it raises a SourceError where the source fails.

    Args:
        path: a file or a pipe, `-` for the standard input; there is nothing in it if
            this process was started without one.

    Raises:
        SourceError: it cannot be opened, or is a folder.
    """
    if path == "-" and sys.stdin is None:
        yield io.BytesIO()
        return
    with closing(open_stdin() if path == "-" else open_path(path, path)) as stream:
        yield io.BufferedReader(_Raw(stream), CHUNK)


class _Raw(io.RawIOBase):
    """A stream as the standard library reads one."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._rest = b""

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer as far as the next piece goes; 0 at the end."""
        data = self._rest or self._stream.read()
        if not data and self._stream.error is not None:
            raise self._stream.error
        size = min(len(buffer), len(data))
        buffer[:size], self._rest = data[:size], data[size:]
        return size


def read_start(stream: Stream, max_bytes: int) -> tuple[bytes, bool]:
    """Return at most the first `max_bytes` bytes, and whether there are more."""
    pieces: list[bytes] = []
    size = 0
    while size <= max_bytes:
        piece = stream.read()
        if not piece:
            break
        pieces.append(piece)
        size += len(piece)
    whole = b"".join(pieces)
    return whole[:max_bytes], size > max_bytes
