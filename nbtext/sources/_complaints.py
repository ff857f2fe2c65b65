"""
Complaints about the records of one source: each once, and how often it recurs.

A table whose first quote is not closed, or whose column is missing in every row, would
fill a screen, a log or a disk with the same sentence.
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from nbtext.document import Item, Unreadable
from nbtext.errors import NumberError, SourceError

MOST_REASONS: Final = 20
"""Maximum reasons that are told apart in a source; the rest are counted together."""

LISTED: Final = 10
"""Maximum records that are listed for a reason."""

_OTHER: Final = "other reasons, each as those above; mend or remove them"


def counted_complaints(items: Iterable[Item], source: str) -> Iterator[Item]:
    """
    Yield items, and of complaints for the same reason the first and how many follow.

    Args:
        items: what a source holds; its records are called `SOURCE:NUMBER`.
        source: what the source is called.

    Raises:
        SourceError: whatever the items raise, after all complaints.
    """
    repeats: dict[str, _Repeats] = {}
    failure = None
    try:
        for item in items:
            if not isinstance(item, Unreadable) or item.name == source:
                yield item
                continue
            reason = _reason(item)
            if reason not in repeats and len(repeats) < MOST_REASONS:
                repeats[reason] = _Repeats()
                yield item
            else:
                place = reason if reason in repeats else _OTHER
                record = item.name.removeprefix(f"{source}:")
                repeats.setdefault(place, _Repeats()).add(record, item.documents)
    except SourceError as error:  # the rest of the source cannot be read
        failure = error
    for reason, repeat in repeats.items():
        if repeat.documents:
            yield repeat.complaint(source, reason)
    if failure is not None:
        raise failure


def _reason(item: Unreadable) -> str:
    """Return what is wrong, without what is of one record alone."""
    if isinstance(item.error, NumberError):
        return item.error.reason
    return str(item.error).removeprefix(f"{item.name}: ")


class _Repeats:
    """Further complaints for one reason: how many, and about which records."""

    def __init__(self) -> None:
        self.documents = 0
        self._first: list[str] = []
        self._last = ""

    def add(self, record: str, documents: int) -> None:
        self.documents += documents
        self._last = record
        if len(self._first) < LISTED:
            self._first.append(record)

    def complaint(self, source: str, reason: str) -> Unreadable:
        """Return what stands for all of them."""
        listed = ", ".join(self._first)
        if self.documents > len(self._first):
            listed = f"{', '.join(islice(self._first, 3))}, ... {self._last}"
        noun = "record" if self.documents == 1 else "records"
        text = f"{source}: {self.documents:,} more {noun} ({listed}): {reason}"
        return Unreadable(source, SourceError(text), self.documents)
