"""Labelled sources that can be read twice, the standard input too."""

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import BinaryIO

from nbtext.document import Item
from nbtext.sources._documents import documents
from nbtext.sources._options import Options


def rereadable(
    arguments: Sequence[str], options: Options
) -> Callable[[], Iterator[Item]]:
    """
    Return what gives labelled documents, from the beginning each time it is called.

    If the standard input is among the sources, it is copied to a temporary file now.
    """
    is_piped = any(argument.rpartition("=")[2] == "-" for argument in arguments)
    stdin = _copied() if is_piped and sys.stdin is not None else None

    def read() -> Iterator[Item]:
        if stdin is not None:
            stdin.seek(0)
        return documents(arguments, options, labelled=True, stdin=stdin)

    return read


def _copied() -> BinaryIO:
    """Return a copy of the standard input, which is deleted when it is closed."""
    from shutil import copyfileobj
    from tempfile import TemporaryFile

    copy = TemporaryFile()  # noqa: SIM115  open as long as sources are read
    copyfileobj(sys.stdin.buffer, copy)
    copy.flush()
    return copy
