"""Labelled sources that can be read twice, the standard input and pipes too."""

import os
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from io import FileIO
from typing import TYPE_CHECKING, BinaryIO

from nbtext.document import Item
from nbtext.sources._arguments import named_paths
from nbtext.sources._documents import documents
from nbtext.sources._numbered import numbered
from nbtext.sources._options import Options
from nbtext.sources._stream import Descriptor, FileObject

if TYPE_CHECKING:
    from nbtext.sources._compressed import ByteSource


def rereadable(
    arguments: Sequence[str], options: Options
) -> Callable[[], Iterator[Item]]:
    """
    Return what gives labelled documents, from the beginning each time it is called.

    If the standard input is among the sources, and no file, it is copied to a temporary
    file now; and so is what a pipe holds, which nobody would write to it again.
    """
    is_wanted = any(argument.rpartition("=")[2] == "-" for argument in arguments)
    stdin = _seekable() if is_wanted and sys.stdin is not None else None
    start = 0 if stdin is None else stdin.tell()
    copies: dict[str, BinaryIO] = {}

    def read() -> Iterator[Item]:
        if stdin is not None:
            stdin.seek(start)
        return documents(arguments, options, labelled=True, stdin=stdin, copies=copies)

    for _, path, _ in numbered(named_paths(arguments, labelled=True)):
        if path not in copies and _is_pipe(path):
            try:
                descriptor = os.open(path, os.O_RDONLY)
            except OSError:
                continue  # that is told when it is read
            with closing(Descriptor(descriptor, is_owned=True)) as source:
                copies[path] = _copy(source)
    return read


def _is_pipe(path: str) -> bool:
    """Return whether what is read of a path is not there to be read again."""
    try:
        return stat.S_ISFIFO(os.stat(path).st_mode)  # noqa: PTH116  as the path is written
    except (OSError, ValueError):
        return False


def _seekable() -> BinaryIO:
    """Return the standard input if it is a file, else a copy that closing deletes."""
    file = sys.stdin.buffer
    source: ByteSource = FileObject(file)
    with suppress(OSError, ValueError):  # what stands in its place has no descriptor
        if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            return file
        source = Descriptor(file.fileno(), is_owned=False)
    return _copy(source)


def _copy(source: "ByteSource") -> BinaryIO:
    """Return a file of what is read, which is gone when nobody has it any longer."""
    from tempfile import TemporaryFile

    with TemporaryFile() as file:
        while piece := source.read():
            file.write(piece)
        file.flush()
        copy = _Copy(os.dup(file.fileno()))
    copy.seek(0)
    return copy


class _Copy(FileIO):
    """A file that is closed where it was read last, as nobody knows before."""

    def __del__(self) -> None:
        self.close()
