"""
Overlapping terms joined: "click here" and "here now" are shown as "click here now".

Terms are joined where they overlap at their first occurrence in the document and say
much the same: the same side, as often, and none many times what its neighbour says. So
each term is in one group, and what a group says is the sum of what its terms say.
"""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from nbtext.tokens.located import Located, Parts

MOST_RATIO: Final = 4.0
"""Neighbours are joined if neither says more than so many times what the other says."""

MOST_TOKENS: Final = 8
MOST_BYTES: Final = 24
"""Maximum length of what is joined, in tokens or bytes."""


class Said(NamedTuple):
    """
    What a term of a document says.

    Attributes:
        key: the term.
        place: where it occurs first.
        times: how often it occurs.
        contribution: what it says, in nats.
    """

    key: int
    place: Located
    times: int
    contribution: float


class Group(NamedTuple):
    """
    Terms that overlap, in their order; or one that does not.

    Attributes:
        terms: one or more.
        parts: the tokens, or bytes, of all of them.
    """

    terms: tuple[Said, ...]
    parts: Parts


def joined(terms: Iterable[Said]) -> Iterator[Group]:
    """
    Join the overlapping terms of one view.

    Single tokens overlap with nothing, so that each is a group.
    """
    # singles apart: a token begins where a pair does, and would come between two
    ordered = sorted(terms, key=lambda term: (len(term.place.parts), term.place.start))
    group: list[Said] = []
    parts: Parts = ()
    for term in ordered:
        if group and _goes_on(group[-1], parts, term):
            parts = _appended(parts, term.place.parts)
            group.append(term)
            continue
        if group:
            yield Group(tuple(group), parts)
        group, parts = [term], term.place.parts
    if group:
        yield Group(tuple(group), parts)


def _goes_on(last: Said, parts: Parts, term: Said) -> bool:
    """Return whether a term continues a group that ends with another."""
    most = MOST_BYTES if isinstance(parts, bytes) else MOST_TOKENS
    length = len(term.place.parts)
    is_next = term.place.start == last.place.start + 1 and length > 1
    low, high = sorted((abs(last.contribution), abs(term.contribution)))
    return (
        is_next
        and length == len(last.place.parts)
        and len(parts) < most
        and last.times == term.times
        and last.contribution * term.contribution > 0
        and high <= MOST_RATIO * low
    )


def _appended(parts: Parts, more: Parts) -> Parts:
    """Return a text with the last token, or byte, of what continues it."""
    if isinstance(parts, bytes) and isinstance(more, bytes):
        return parts + more[-1:]
    return (*parts, more[-1])
