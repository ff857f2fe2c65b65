"""Sources named in a file, as `find -print0` and `grep -l` write them."""

import os
from collections.abc import Iterable, Iterator
from typing import Final

from nbtext import wording
from nbtext.errors import SettingsError
from nbtext.sources._labels import split_label
from nbtext.sources._stream import open_binary

LONGEST: Final = 1 << 16
"""Maximum bytes of a name."""


def listed(lists: Iterable[str], *, is_null: bool) -> list[str]:
    """
    Return the sources that lists name, in their order.

    Args:
        lists: files of names, `-` for the standard input; `LABEL=FILE` gives all names
            in a file this label.
        is_null: whether names end in a NUL byte, and not with their line.

    Raises:
        SettingsError: a name is too long or no path, or two lists are the standard
            input.
        SourceError: a list cannot be read.
    """
    named = [split_label(path) for path in lists]
    if [path for _, path in named].count("-") > 1:
        lists = wording.given(lists=("-",))
        message = f"{lists}: standard input can be read once; name it once"
        raise SettingsError(message)
    found: list[str] = []
    for label, path in named:
        written = "" if label is None else f"{label}="
        names = _names(path, b"\0") if is_null else _lines(path)
        found += [written + os.fsdecode(name) for name in names if name]
    return found


def _lines(path: str) -> Iterator[bytes]:
    """
    Yield the name on each line, which ends in LF or CR LF.

    Raises:
        SettingsError: one holds a NUL byte, as no path does.
    """
    for name in _names(path, b"\n"):
        if b"\0" in name:
            raise _no_list(path, "a line has a NUL byte")
        yield name.removesuffix(b"\r")


def _names(path: str, end: bytes) -> Iterator[bytes]:
    """
    Yield the names in a list, none of which is held if it is too long.

    Empty ones among them are for the caller to pass over. A piece that has nothing else
    is refused, because there may be no end of it, as with /dev/zero.
    """
    rest = b""
    with open_binary(path) as file:
        while chunk := file.read(LONGEST):
            *names, rest = (rest + chunk).split(end)
            if len(names) == LONGEST and not any(names):
                raise _no_list(path, f"{LONGEST:,} names in turn are empty")
            if max(map(len, (*names, rest))) > LONGEST:
                raise _no_list(path, f"a name has over {LONGEST:,} bytes")
            yield from names
    yield rest


def _no_list(path: str, reason: str) -> SettingsError:
    """Say why a file is no list of names, and what one is."""
    return SettingsError(
        f"{wording.given(lists=(path,))}: {reason}; list files, one a line, or with "
        f"{wording.given(is_null=True)} each with a NUL byte behind it"
    )
