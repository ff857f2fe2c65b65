"""
Doing one thing to each of many: in turn, or in threads.

numpy lets go of the interpreter while it sorts, takes and computes, so threads that
work on ranges of large arrays run side by side. What comes out does not depend on how
many there are.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

One = TypeVar("One")
Other = TypeVar("Other")


class Map(Protocol):
    """How something is done to each of many: `map`, or that of a pool of threads."""

    def __call__(
        self, function: Callable[[One], Other], many: Iterable[One], /
    ) -> Iterator[Other]:
        """Yield the results, in order."""


@contextmanager
def threads(jobs: int) -> Iterator[Map]:
    """
    Give a `map` that works in so many threads; the plain one for a single job.

    That of the threads takes all it is given at once, and holds what is done until it
    is asked for.
    """
    if jobs == 1:
        yield map
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(jobs) as pool:
        try:
            yield pool.map
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
