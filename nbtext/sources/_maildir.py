"""
The messages of a Maildir (cr.yp.to/proto/maildir.html) while mail programs use it.

They show a message by moving it from new/ to cur/, and change the flags in its name
there; what is before the flags stays. So new/ is listed first: what is shown meanwhile
is in both lists and not in neither, and is read once.
"""

# ruff: noqa: PTH118 -- importing pathlib costs 10 ms

import os
import re
from collections.abc import Iterator
from itertools import groupby
from typing import Final, NamedTuple

from nbtext.sources._listing import FOLDER, Listed, in_order, kind_of

# The colon is replaced on systems that forbid it.
_FLAGS: Final = rb"[:;!]2,"
_LEFT_OUT: Final = rb"[:;!]2,[A-Za-z]*[DT]"

TRIES: Final = 8
"""How often a message is looked for whose name changes."""


class Part(NamedTuple):
    """
    A part of a Maildir.

    Attributes:
        folder: its path.
        found: its messages in order, without the trashed and drafts.
        error: why it cannot be listed, if it cannot.
    """

    folder: str
    found: Iterator[Listed]
    error: OSError | None = None


def parts_of(maildir: str) -> tuple[Part, Part]:
    """Return cur/ and new/ of a Maildir, to be read in this order; both are listed."""
    root = maildir.rstrip("/")
    new = _listed(f"{root}/new")
    shown = _listed(f"{root}/cur")
    gone: set[bytes] = set()  # out of new/ since it was listed
    both: set[bytes] = set()  # of these, what is listed in cur/, too
    new = new._replace(found=in_order(_noting_gone(new, gone)))
    shown = shown._replace(found=_noting_both(shown, gone, both))
    rest = (one for one in new.found if unique_of(one[1]) not in both)
    return shown, new._replace(found=rest)


def unique_of(name: bytes) -> bytes:
    """Return the part of a message's name that stays whatever its flags are."""
    return re.split(_FLAGS, name, maxsplit=1)[0]


def moved_to(path: str) -> str | None:
    """Return where a mail program has put a message of a Maildir, if it has."""
    folder, name = os.path.split(path)
    maildir, part = os.path.split(folder)
    if part not in ("new", "cur"):
        return None
    unique = unique_of(os.fsencode(name))
    try:
        with os.scandir(os.path.join(maildir, "cur")) as entries:
            same = (e.path for e in entries if unique_of(os.fsencode(e.name)) == unique)
            return next(same, None)
    except OSError:
        return None


def _listed(folder: str) -> Part:
    is_left_out = re.compile(_LEFT_OUT).search

    def messages() -> Iterator[Listed]:
        with os.scandir(folder) as scanned:
            for entry in scanned:
                name = os.fsencode(entry.name)
                if name.startswith(b".") or is_left_out(name):
                    continue
                kind = kind_of(entry)
                if kind != FOLDER:
                    yield name, name, kind

    try:
        return Part(folder, in_order(messages()))
    except OSError as error:
        return Part(folder, iter(()), error)


def _noting_gone(new: Part, gone: set[bytes]) -> Iterator[Listed]:
    """Yield what was new, and note what is no longer there."""
    for entry in new.found:
        if not _is_there(new.folder, entry):
            gone.add(unique_of(entry[1]))
        yield entry


def _noting_both(shown: Part, gone: set[bytes], both: set[bytes]) -> Iterator[Listed]:
    """Yield what was shown, each once, and note what was in new/ before."""
    for unique, group in groupby(shown.found, lambda entry: unique_of(entry[1])):
        if unique in gone:
            both.add(unique)
        some = list(group)
        # a name that changes while the folder is listed may be there twice
        there = some[1:] and [one for one in some if _is_there(shown.folder, one)]
        yield from there or some[:1]


def _is_there(folder: str, entry: Listed) -> bool:
    _, name, _ = entry
    return os.path.lexists(os.path.join(os.fsencode(folder), name))
