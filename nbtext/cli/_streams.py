"""
The standard streams: the one module that writes to them.

Results go to standard output as UTF-8, whatever the locale; everything else goes to
standard error. rich, which draws, is of `nbtext.cli._terminal`.
"""

import os
import sys
from itertools import islice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Final

BYTES: "Final" = {0xDC00 + byte: f"\\x{byte:02x}" for byte in range(0x80, 0x100)}
"""How bytes are written that are not UTF-8, which names have as lone surrogates."""

MANY: "Final" = 4096
"""Maximum lines that are held before they are written."""


def to_stdout(lines: "Iterable[str]") -> None:
    """
    Write lines to standard output, MANY at a time, and see them out.

    Raises:
        OSError: this process was started without a standard output.
    """
    if sys.stdout is None:
        raise _closed()
    rest = iter(lines)
    while some := [*islice(rest, MANY)]:
        text = "".join(f"{line}\n" for line in some)
        if getattr(sys.stdout, "buffer", None) is None:
            sys.stdout.write(text)
            sys.stdout.flush()
        else:
            bytes_to_stdout(_as_utf8(text))


def _closed() -> OSError:
    """Return what says that there is no standard output."""
    from errno import EBADF  # seldom

    return OSError(EBADF, os.strerror(EBADF), "standard output")


def _as_utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:  # whoever made the line has not escaped a name
        return text.translate(BYTES).encode("utf-8", "backslashreplace")


def bytes_to_stdout(data: bytes | memoryview) -> None:
    """
    Write bytes to standard output as they are, and see them out.

    Raises:
        OSError: it cannot be written, or this process was started without it.
    """
    if sys.stdout is None:
        raise _closed()
    rest = memoryview(data)
    try:
        while rest:  # with PYTHONUNBUFFERED set, a part may be all that is written
            rest = rest[sys.stdout.buffer.write(rest) :]
        sys.stdout.flush()
    except OSError as error:
        error.filename = "standard output"
        raise


def to_stderr(message: str) -> None:
    """Write one line to standard error."""
    if sys.stderr is None:
        return
    try:
        sys.stderr.write(f"{_one_line(message)}\n")
        sys.stderr.flush()
    except (OSError, ValueError):
        pass  # standard error is closed


def _one_line(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else repr(character)[1:-1]
        for character in text.translate(BYTES)
    )
