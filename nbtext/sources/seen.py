"""
Leaving out the messages of mailboxes that have not been read.

In a Maildir those have not the flag S, in an mbox no R in the field Status, in an MH
folder they are in the sequence unseen. A program that fills a folder of junk has made
its own verdicts. A message that its reader has seen there and left there is the
reader's verdict.
"""

# ruff: noqa: PTH100 -- importing pathlib costs 10 ms

import os
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from contextlib import closing
from functools import cache
from typing import Final

from nbtext.document import Document, Item, Unread
from nbtext.errors import SourceError
from nbtext.sources._inspect import may_be_mbox
from nbtext.sources._load import loaded
from nbtext.sources._stream import open_path, read_start
from nbtext.sources._walk import SEQUENCES, below, is_part_of_maildir
from nbtext.sources.mbox import END_OF_HEADER

_SEEN: Final = r"[:;!]2,[A-Za-z]*S[^/]*\Z"
_OF_MBOX: Final = r":[1-9]\d*\Z"
_STATUS: Final = rb"(?m)^[Ss][Tt][Aa][Tt][Uu][Ss]:([^\r\n]*)"
_READ: Final = rb"[ \t]*[ADFNOTU]{0,7}R[ADFNORTU]{0,7}[ \t]*"

LONGEST: Final = 1 << 24
"""Maximum bytes of the sequences of an MH folder that are read."""

_SEQUENCE: Final = rb"(?m)^unseen[ \t]*:([^\n]*)"
_RANGE: Final = rb"(\d{1,10})(?:-(\d{1,10}))?"


class SeenOnly:
    """
    Items without the messages of mailboxes that have not been read.

    Attributes:
        left_out: how many of these there were so far.
    """

    def __init__(self, items: Iterable[Item], max_bytes: int) -> None:
        """Take items."""
        self.left_out = 0
        self._items = items
        self._max_bytes = max_bytes
        self._is_seen = re.compile(_SEEN).search
        self._is_of_maildir = cache(is_part_of_maildir)
        self._unseen_in = cache(_unseen_in)

    def __iter__(self) -> Iterator[Item]:
        """Yield the others."""
        for file in self._items:
            if self._is_unseen(file):
                self.left_out += 1
                continue
            for item in _opened(file, self._max_bytes):
                if isinstance(item, Document) and _is_unseen_in_mbox(item):
                    self.left_out += 1
                else:
                    yield item

    def _is_unseen(self, item: Item) -> bool:
        """Return whether an item is a file that is a message, and nobody has read."""
        if not isinstance(item, Unread):
            return False
        path = os.path.abspath(item.path)
        folder, name = os.path.split(path)
        if self._is_of_maildir(folder):
            return not self._is_seen(path)
        is_number = name.isascii() and name.isdecimal()
        return is_number and int(name) in self._unseen_in(folder)


def _opened(item: Item, max_bytes: int) -> Iterable[Item]:
    """Return an item, or what is in it if it is a file that may prove to be an mbox."""
    if not isinstance(item, Unread) or item.is_mail is not None or item.is_one:
        return (item,)
    return loaded(item, max_bytes)


def _is_unseen_in_mbox(message: Document) -> bool:
    """Return whether a document is a message of an mbox that nobody has read."""
    text = message.texts[0]
    is_of_mbox = message.is_mail and re.search(_OF_MBOX, message.name)
    is_file = message.is_mail is None and not message.columns
    if not (is_of_mbox or (is_file and may_be_mbox(text, message.name))):
        return False
    header = re.split(END_OF_HEADER, text, maxsplit=1)[0]
    states = re.findall(_STATUS, header)
    return not states or not all(re.fullmatch(_READ, state) for state in states)


class Ranges:
    """Numbers, given as ranges of them."""

    def __init__(self, ranges: Iterable[tuple[int, int]]) -> None:
        """Take ranges in any order, each with its first and its last number."""
        self._firsts: list[int] = []
        self._lasts: list[int] = []  # of a range and of all before it
        last_of_all = -1
        for first, last in sorted(ranges):
            last_of_all = max(last_of_all, last)
            self._firsts.append(first)
            self._lasts.append(last_of_all)

    def __contains__(self, number: int) -> bool:
        """Return whether a number is in a range."""
        place = bisect_right(self._firsts, number)
        return place > 0 and number <= self._lasts[place - 1]


def _unseen_in(folder: str) -> Ranges:
    """Return which messages of an MH folder are unseen; none of any other folder."""
    path = below(folder, SEQUENCES)
    try:
        with closing(open_path(path, path, is_file=True)) as stream:
            text, _ = read_start(stream, LONGEST)
    except SourceError:
        return Ranges(())
    unfolded = text.replace(b"\n ", b"  ").replace(b"\n\t", b"  ")
    lines = b",".join(re.findall(_SEQUENCE, unfolded))  # as `filter` reads several
    ranges = re.findall(_RANGE, lines)
    return Ranges((int(first), int(last or first)) for first, last in ranges)
