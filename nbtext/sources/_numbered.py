"""
Single documents of a file, called as `classify` prints them: `box.mbox:17`.

What is asked for by number is taken from the stream of all that the file holds, so it
is the same document under the same name. Numbers that ascend are found in one pass.
"""

# ruff: noqa: PTH113 -- importing pathlib costs 10 ms

import os
import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from nbtext.document import Item, Note, Pause, Unreadable
from nbtext.errors import MissingSourceError

NO_NUMBERS: Final = (
    "documents of standard input cannot be named by their numbers, because it is read "
    "once; put it into a file, and name FILE:17"
)
"""Why `-:17` is refused."""

_NUMBERED: Final = re.compile(r"(.+):([1-9]\d{0,17})\Z", re.DOTALL | re.ASCII)


class Numbered(NamedTuple):
    """
    A source, or documents of one by their numbers.

    Attributes:
        label: the label that the user wrote, None if none.
        path: the source, without numbers.
        numbers: which of its documents are wanted, from 1 and ascending; empty for all.
    """

    label: str | None
    path: str
    numbers: tuple[int, ...] = ()


def split_number(path: str) -> tuple[str, int] | None:
    """Return a file and a number if that is what a path means; None if not."""
    found = _NUMBERED.match(path)
    if found is None or os.path.lexists(path) or not os.path.isfile(found[1]):
        return None
    return found[1], int(found[2])


def is_of_stdin(path: str) -> bool:
    """Return whether a path asks for a document of the standard input by its number."""
    found = _NUMBERED.match(path)
    return found is not None and found[1] == "-" and not os.path.lexists(path)


def numbered(named: Sequence[tuple[str | None, str]]) -> Iterator[Numbered]:
    """Yield the sources in their order; what one pass can find is one of them."""
    run: Numbered | None = None
    for label, path in named:
        found = split_number(path)
        file, number = found or (path, 0)
        is_next = run is not None and (label, file) == run[:2] and run.numbers
        if run is not None and is_next and number > run.numbers[-1]:
            run = run._replace(numbers=(*run.numbers, number))
            continue
        if run is not None:
            yield run
        run = Numbered(label, file, (number,) if found else ())
    if run is not None:
        yield run


def chosen(items: Iterator[Item], path: str, numbers: Sequence[int]) -> Iterator[Item]:
    """
    Yield those items that have the numbers, and an error for those that are none.

    If the file cannot be read, or not all of it, that is the error.
    """
    waiting = [f"{path}:{number}" for number in reversed(numbers)]
    n_found = 0
    failure: Unreadable | None = None
    for item in items:
        if isinstance(item, Note | Pause):
            yield item
            continue
        if isinstance(item, Unreadable) and item.name == path:
            failure = item
            continue
        n_found += item.name.startswith(f"{path}:")
        if item.name == waiting[-1]:
            yield item
            waiting.pop()
            if not waiting:
                return
    if failure is not None:
        yield failure._replace(documents=len(waiting))
        return
    for name in reversed(waiting):
        holds = f"it holds {n_found:,}" if n_found else "it is one document"
        error = MissingSourceError(
            f"{name}: {path} has no document of this number; {holds}"
        )
        yield Unreadable(name, error)
