"""What the laws of both targets are made of."""

from collections.abc import Callable
from hashlib import blake2b
from random import Random
from time import process_time
from typing import Final, TypeAlias, TypeVar

Check: TypeAlias = Callable[[bytes], None]
"""Raises if some law does not hold of an input."""

Value = TypeVar("Value")

TRIES: Final = 3


class BrokenLawError(Exception):
    """Something that should hold of any bytes does not hold of these."""


def expect(*, holds: bool, law: str) -> None:
    """
    Refuse an input that breaks a law.

    Raises:
        BrokenLawError: it does.
    """
    if not holds:
        raise BrokenLawError(law)


def within(seconds: float, act: Callable[[], Value], what: str) -> Value:
    """
    Do something that should not take longer than that, of the processor's time.

    Raises:
        BrokenLawError: it did, each time that it was tried.
    """
    fastest = float("inf")
    for _ in range(TRIES):
        start = process_time()
        value = act()
        fastest = min(fastest, process_time() - start)
        if fastest <= seconds:
            return value
    message = f"{what} took {fastest:.3f} s, more than {seconds:.3f} s"
    raise BrokenLawError(message)


def drawn_from(data: bytes) -> Random:
    """Return random numbers that are always the same for the same input."""
    return Random(blake2b(data, digest_size=8).digest())  # noqa: S311  no secret
