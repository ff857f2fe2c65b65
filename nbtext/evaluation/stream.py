"""
Documents as a stream: in which order they come, and when their labels arrive.

In: names and times of documents, and what the user asked for. Out: an order, and for
each step the documents whose labels are told after it.
"""

import re
from collections.abc import Iterable, Sequence
from math import inf
from typing import Final, Literal, NamedTuple, TypeAlias

from nbtext import wording
from nbtext.errors import SettingsError

OrderName: TypeAlias = Literal["name", "date", "index"]

ORDERS: Final[tuple[OrderName, ...]] = ("name", "date", "index")

_NUMBERS: Final = re.compile(r"([0-9]+)")


def natural(name: str) -> tuple[tuple[str | int, ...], str]:
    """
    Return what orders a name: its last part, numbers by value, then all of it.

    So `spam/2.eml` comes before `ham/10.eml`, and messages of several folders mix.
    """
    last = name.rstrip("/").rpartition("/")[2]
    # text and numbers take turns, text first
    pieces = _NUMBERS.split(last)
    parts = [int(one[:300]) if n % 2 else one for n, one in enumerate(pieces)]
    return tuple(parts), name


def in_order(
    order: OrderName,
    numbers: Sequence[int],
    names: Sequence[str],
    times: Sequence[float | None],
) -> list[int]:
    """
    Return places of documents in the order of the stream.

    Args:
        order: by name; by date, those without one last, by name; or as they were read.
        numbers: how many documents were read before each.
        names: what each is called.
        times: when each was received or written, in seconds since 1970.

    Raises:
        SettingsError: they are to be in order of their dates, and none has one.
    """
    places = range(len(names))
    if order == "index":
        return sorted(places, key=numbers.__getitem__)
    if order == "name":
        return sorted(places, key=lambda place: natural(names[place]))
    if names and all(time is None for time in times):
        others = " or ".join(wording.given(order=name) for name in ("name", "index"))
        message = (
            f"not one document has a date (mail has, in Received or Date); use {others}"
        )
        raise SettingsError(message)

    def by_date(place: int) -> tuple[float, tuple[tuple[str | int, ...], str]]:
        time = times[place]
        return inf if time is None else time, natural(names[place])

    return sorted(places, key=by_date)


def order_of(text: str) -> OrderName:
    """
    Return the order of a name.

    Raises:
        SettingsError: there is no such order.
    """
    for order in ORDERS:
        if order == text:
            return order
    message = f"order is {text!r}, expected one of {', '.join(ORDERS)}"
    raise SettingsError(message)


class Feedback(NamedTuple):
    """
    When the true label of a document is told.

    Attributes:
        delay: how many documents are classified in between.
        first: of how many documents it is told at all, None for all of them.
    """

    delay: int = 0
    first: int | None = None

    def __str__(self) -> str:
        if self.first is not None:
            return f"first:{self.first}"
        return f"delay:{self.delay}" if self.delay else "immediate"

    def arrivals(self, step: int) -> Iterable[int]:
        """Return the documents whose labels arrive once that of a step is judged."""
        place = step - self.delay
        is_told = place >= 0 and (self.first is None or place < self.first)
        return (place,) if is_told else ()


IMMEDIATE: Final = Feedback()
"""Each label is told as soon as its document is classified."""

_FORM: Final = re.compile(r"(delay|first):([0-9]{1,12})")


def feedback_of(text: str) -> Feedback:
    """
    Read a feedback: `immediate`, `delay:N` or `first:N`.

    Raises:
        SettingsError: it is none of these.
    """
    if text == "immediate":
        return IMMEDIATE
    match = _FORM.fullmatch(text)
    if match is None:
        message = (
            f"feedback is {text!r}, expected immediate, delay:N or first:N, N a number "
            "of documents"
        )
        raise SettingsError(message)
    n = int(match[2])
    return Feedback(delay=n) if match[1] == "delay" else Feedback(first=n)
