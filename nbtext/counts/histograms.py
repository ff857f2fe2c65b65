"""
Histograms of counts: how many terms are in how many documents of a class.

Some event models also count the terms that a document does not have, or the words that
no class knows. They need sums over all terms of a model, which these few numbers give
without a pass over it. They are not additive (a term that one table has
once and another twice has been in three documents), so a table behind others keeps the
*change*. This is the plain half; `nbtext.counts.count_histograms` counts them, by
arrays.
"""

from __future__ import annotations

from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from nbtext.errors import SettingsError
from nbtext.settings.plain import any_map, list_of, map_of, unexpected

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from nbtext.settings.views import View

MOST_NUMBERS: Final = 200_000
"""Maximum numbers of documents that a table tells apart; one with more keeps no
histograms, since a header is read whole for every message."""

MOST: Final = 1 << 63
"""No number of documents or terms is as large."""

KEYS: Final = ("documents", "terms", "singletons")
"""The keys of a histogram in the header of a table."""


class Histogram(NamedTuple):
    """
    How often the terms of one view were counted in a class, or how that changes.

    Attributes:
        documents: a number of documents of the class, 1 or more, to how many terms are
            in as many; none is zero.
        singletons: how many terms occur once in all that was counted, in a document of
            the class.
    """

    documents: Mapping[int, int] = MappingProxyType({})
    singletons: int = 0

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for msgpack."""
        numbers = sorted(self.documents)
        return {
            "documents": numbers,
            "terms": [self.documents[number] for number in numbers],
            "singletons": self.singletons,
        }

    @classmethod
    def from_dict(cls, plain: Any) -> Histogram:
        """
        Rebuild a histogram, believing nothing.

        Raises:
            SettingsError: it is not one.
        """
        found = map_of(plain, "a histogram", KEYS)
        numbers = list_of(found["documents"], "documents of a histogram")
        terms = list_of(found["terms"], "terms of a histogram", len(numbers))
        once = found["singletons"]
        for one in (*numbers, *terms, once):
            if type(one) is not int:
                raise unexpected("a histogram", "whole numbers", one)
        if any(low >= high for low, high in pairwise((0, *numbers, MOST))):
            message = "the numbers of documents of a histogram do not ascend"
            raise SettingsError(message)
        if not all(terms) or max(map(abs, (*terms, once))) >= MOST:
            message = "a histogram has numbers of terms that no documents leave"
            raise SettingsError(message)
        return cls(dict(zip(numbers, terms, strict=True)), once)


ByClass: TypeAlias = "dict[str, Histogram]"
"""The histograms of one view: the name of a class to its own, where it is not zero."""

Histograms: TypeAlias = tuple[ByClass, ...]
"""Those of a model or table, for each view."""


def added(parts: Iterable[Histograms]) -> Histograms:
    """Add histograms of the same views up, one or more: a whole one, and changes."""
    return tuple(map(_added, zip(*parts, strict=True)))


def _added(parts: Iterable[ByClass]) -> ByClass:
    """Add up those of one view."""
    numbers: dict[str, dict[int, int]] = {}
    singletons: dict[str, int] = {}
    for part in parts:
        for name, one in part.items():
            sums = numbers.setdefault(name, {})
            for number, terms in one.documents.items():
                sums[number] = sums.get(number, 0) + terms
            singletons[name] = singletons.get(name, 0) + one.singletons
    return _without_zeros(numbers, singletons)


def _without_zeros(
    numbers: Mapping[str, Mapping[int, int]], singletons: Mapping[str, int]
) -> ByClass:
    found = {}
    for name in sorted(numbers.keys() | singletons.keys()):
        documents = numbers.get(name, {})
        kept = {number: terms for number, terms in documents.items() if terms}
        one = Histogram(kept, singletons.get(name, 0))
        if one.documents or one.singletons:
            found[name] = one
    return found


def negative(histograms: Histograms) -> Histograms:
    """Return what takes histograms away again."""
    return tuple(
        {
            name: Histogram(
                {number: -terms for number, terms in one.documents.items()},
                -one.singletons,
            )
            for name, one in by_class.items()
        }
        for by_class in histograms
    )


class ChangingHistograms:
    """The histograms of one view while terms come, go and are counted otherwise."""

    def __init__(self, view: View) -> None:
        self._places = view.column("occurrences"), view.column("documents")
        self._documents: dict[str, dict[int, int]] = {}
        self._singletons: dict[str, int] = {}

    def enter(self, counts: Mapping[str, Sequence[int]], times: int) -> None:
        """
        Enter a term, or take it out.

        Args:
            counts: class to the term's columns there.
            times: 1, or -1 to take it out.
        """
        occurrences, documents = self._places
        total, only = 0, ""
        for name, columns in counts.items():
            number = columns[documents]
            if number > 0:
                numbers = self._documents.setdefault(name, {})
                numbers[number] = numbers.get(number, 0) + times
            if columns[occurrences]:
                total += columns[occurrences]
                only = name
        if total == 1:
            self._singletons[only] = self._singletons.get(only, 0) + times

    def by_class(self) -> ByClass:
        """Return what there is now."""
        return _without_zeros(self._documents, self._singletons)


def size_of(histograms: Histograms) -> int:
    """Return how many numbers of documents histograms tell apart."""
    return sum(
        len(one.documents) for by_class in histograms for one in by_class.values()
    )


def as_plain(histograms: Histograms, views: Sequence[str]) -> dict[str, Any]:
    """Return histograms as plain values, for msgpack, by the names of their views."""
    return {
        view: {name: one.as_dict() for name, one in sorted(by_class.items())}
        for view, by_class in zip(views, histograms, strict=True)
    }


def from_plain(plain: Any, views: Sequence[str]) -> Histograms:
    """
    Rebuild the histograms of a table, believing nothing.

    Raises:
        SettingsError: they are none.
    """
    by_view = any_map(plain, "the histograms")
    if {*by_view} != {*views}:
        message = "the histograms are not one for each view"
        raise SettingsError(message)
    return tuple(
        {
            name: Histogram.from_dict(one)
            for name, one in any_map(by_view[view], f"histograms of {view}").items()
        }
        for view in views
    )
