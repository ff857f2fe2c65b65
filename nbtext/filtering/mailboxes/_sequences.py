"""
The sequences of an MH folder: named sets of messages, in the file `.mh_sequences`.

A line is a name, a colon, and numbers and ranges (mh-sequence(5)); nmh reads it as a
field of a header, which may go on in lines that begin with a blank. nmh locks the file
with fcntl(2), Python's `mailbox` with that and a dotlock.
"""

import errno
import os
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from typing import Final, TypeAlias

from nbtext.errors import MailboxError, SettingsError
from nbtext.files import make_file, open_file, replace_file
from nbtext.files.reading_at import read_at
from nbtext.filtering.mailboxes._locks import locked
from nbtext.filtering.mailboxes._message import Marks
from nbtext.sources import SEQUENCES

UNSEEN: Final = "unseen"
FLAGS: Final = {"F": "flagged", "R": "replied"}
"""The sequences that stand for flags, named as in Python's `mailbox`."""

RESERVED: Final = frozenset({"all", "cur", "first", "last", "next", "new", "prev"})

LONGEST: Final = 1 << 24
"""Maximum bytes of the file that are read."""

WAIT: Final = 10.0
"""Maximum seconds to wait for other mail programs, which write a few lines."""

Sequences: TypeAlias = dict[str, set[int]]

_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9]*")
_FOLD: Final = re.compile(rb"\n(?=[ \t])")
_NUMBER: Final = re.compile(rb"\d{1,10}")
_RANGE: Final = re.compile(rb"(\d{1,10})(?:-(\d{1,10}))?")


def check_marks(marks: Marks) -> None:
    """
    Refuse marks that an MH folder cannot store.

    Raises:
        SettingsError: there is one.
    """
    odd = {*marks.letters} - {"S", *FLAGS}
    names = [name for name in marks.keywords if not is_sequence(name)]
    if odd or names:
        shown = ", ".join([str(Marks("".join(sorted(odd)))), *names]).strip(", ")
        message = (
            f"an MH folder cannot mark a message {shown}; it has seen, flagged and "
            "replied, and sequences, whose names are letters and digits"
        )
        raise SettingsError(message)


def is_sequence(name: str) -> bool:
    """Return whether a sequence of a user may have this name."""
    return bool(_NAME.fullmatch(name)) and name not in RESERVED


def sequences_in(folder: str, there: Iterable[int]) -> Sequences:
    """
    Return the sequences of a folder, without numbers of messages that are gone.

    Raises:
        OSError: their file cannot be read, or is no regular file.
    """
    path = f"{folder}/{SEQUENCES}"
    try:
        descriptor = open_file(path)
    except FileNotFoundError:
        return {}
    try:
        return _sequences_of(_read(descriptor, path), there)
    finally:
        os.close(descriptor)


def _read(descriptor: int, path: str) -> bytes:
    data = read_at(descriptor, LONGEST + 1, 0)
    if len(data) > LONGEST:  # to write it anew would cut it
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), path)
    return data


def _sequences_of(data: bytes, there: Iterable[int]) -> Sequences:
    lines = _FOLD.sub(b" ", data).split(b"\n")
    numbers = sorted(there)
    found: Sequences = {}
    for line in lines:
        name, colon, rest = line.partition(b":")
        if colon and name.strip():
            text = name.strip().decode("utf-8", "surrogateescape")
            # the current message stays, even if it is gone
            current = _NUMBER.findall(rest)[:1] if text == "cur" else []
            found.setdefault(text, {*map(int, current)}).update(_numbers(rest, numbers))
    return found


def change(
    folder: str, there: Callable[[], Iterable[int]], do: Callable[[Sequences], None]
) -> None:
    """
    Change the sequences of a folder.

    Args:
        folder: the folder.
        there: returns the messages of the folder; others are dropped.
        do: changes the sequences in place.

    Raises:
        BusyError: another program has had the file locked all the time.
        MailboxError: it cannot be locked or written.
    """
    path = f"{folder}/{SEQUENCES}"
    try:
        make_file(path)
        with locked([path], WAIT) as opened:
            # not opened again: closing it would release the lock (fcntl(2))
            before = _read(opened[path], path)
            sequences = _sequences_of(before, there())
            do(sequences)
            after = _packed(sequences)
            if after != before:  # also where a message is gone: others get its number
                replace_file(path, [after])
    except OSError as error:
        message = f"{path}: cannot be written: {error.strerror}; its messages are safe"
        raise MailboxError(message) from error


def _numbers(text: bytes, there: list[int]) -> set[int]:
    found: set[int] = set()
    for first, last in _RANGE.findall(text):
        start = bisect_left(there, int(first))
        found.update(there[start : bisect_right(there, int(last or first))])
    return found


def _packed(sequences: Sequences) -> bytes:
    lines = (
        f"{name}: {' '.join(_ranges(sorted(numbers)))}\n"
        for name, numbers in sequences.items()
        if numbers
    )
    return "".join(lines).encode("utf-8", "surrogateescape")


def _ranges(numbers: list[int]) -> Iterable[str]:
    start = 0
    for place, number in enumerate(numbers):
        if place + 1 == len(numbers) or numbers[place + 1] != number + 1:
            first = numbers[start]
            yield str(first) if first == number else f"{first}-{number}"
            start = place + 1
