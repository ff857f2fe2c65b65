"""
The texts of terms that a new model keeps.

In: the counts by term, and the beginnings of some documents. Out: for each view the
texts of the terms that enough documents have, as far as they are in these beginnings.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from nbtext.counts import TermTable
    from nbtext.counts.sorted_counts import Keys
    from nbtext.counts.text_sample import TextSample
    from nbtext.document import Document
    from nbtext.learning.overrides import SettingsOverrides
    from nbtext.parallel import Map
    from nbtext.settings.reading import Settings
    from nbtext.settings.views import View

from nbtext.counts.room import Ranges
from nbtext.counts.sorted_counts import NO_KEYS, RANGE
from nbtext.counts.texts import TermTexts, joined
from nbtext.tokens.text_finding import find_texts

LEAST_DOCUMENTS: Final = 3
"""A term has a text if so many documents have it, over all classes."""

MOST_TEXTS: Final = 1 << 18
"""Maximum texts of a view; the terms of most documents have them."""

MOST_PARTS: Final = 4
LEAST_PART: Final = 128
"""Texts are looked for in so many parts of the documents at most, side by side, and in
parts of so many documents at least."""


def keeps_texts(overrides: SettingsOverrides) -> bool:
    """Return whether a new model keeps texts; keyed ones would no longer be secret."""
    return overrides.texts and overrides.secret is None


def look_for_texts(
    settings: Settings,
    terms: Sequence[TermTable],
    sample: TextSample,
    map_: Map = map,
    jobs: int = 1,
) -> Callable[[], tuple[TermTexts, ...] | None]:
    """
    Begin to look for the texts of terms.

    Args:
        settings: how documents were read, without a secret.
        terms: the counts by term, for each view.
        sample: where the texts are looked for.
        map_: deals with views, and looks in parts of the documents; threads do that
            while other things are done.
        jobs: in how many at a time.

    Returns:
        What gives the texts, once, when they are found; None if the model shall keep
        none.
    """
    if not sample.is_wanted:
        return lambda: None
    if settings.pattern:  # whose limit is the time of all threads (clock(3))
        map_, jobs = map, 1
    wanted = list(map_(_wanted, zip(settings.views, terms, strict=True)))
    documents = sample.documents()
    jobs = min(jobs, MOST_PARTS)  # each looks for all texts, which takes memory
    size = max(LEAST_PART, -(-len(documents) // jobs))
    parts = [documents[n : n + size] for n in range(0, len(documents), size)]
    found = map_(partial(_found_in, settings, wanted), parts or [[]])
    if jobs == 1:
        found = iter([*found])  # now, so that the documents can leave memory
    return lambda: tuple(map_(joined, zip(*found, strict=True)))


def _found_in(
    settings: Settings, wanted: Sequence[Keys], documents: Sequence[Document]
) -> list[TermTexts]:
    """Return for each view those of the wanted texts that are in some documents."""
    found = find_texts(settings, documents, wanted)
    return [
        TermTexts(keys[having], np.frombuffer(texts, np.uint8))
        for keys, (texts, having) in zip(wanted, found, strict=True)
    ]


def _wanted(of_view: tuple[View, TermTable]) -> Keys:
    """Return the keys of the terms of a view whose texts are kept, sorted."""
    view, terms = of_view
    if view.kind == "number":
        return NO_KEYS
    documents = terms.sums(view.column("documents"))[:-1]
    places = most_common(documents, LEAST_DOCUMENTS, MOST_TEXTS)
    return terms.keys.take(places)


def most_common(
    documents: NDArray[np.integer], least: int, most: int
) -> NDArray[np.intp]:
    """
    Return the places of the terms that most documents have, of equals the first.

    It takes memory for some times as many as are returned at most, and for one range.

    Args:
        documents: shape (n_terms,), how many have each term.
        least: how many must have it.
        most: how many places are returned at most, one or more.

    Returns:
        The places, sorted.
    """
    places, counts, n_found = [np.empty(0, np.intp)], [documents[:0]], 0
    working = Ranges([documents])
    for start in range(0, len(documents), RANGE):
        part = documents[start : start + RANGE]
        found = np.flatnonzero(part >= least)
        places.append(found + start)
        counts.append(part.take(found))
        n_found += len(found)
        if n_found > 2 * most:
            places, counts = _first(places, counts, most)
            n_found = most
            least = int(counts[0].min()) + 1  # of equals the first are here already
        working.done(part.nbytes)
    working.let_go()
    return _first(places, counts, most)[0][0]


def _first(
    places: list[NDArray[np.intp]], counts: list[NDArray[np.integer]], most: int
) -> tuple[list[NDArray[np.intp]], list[NDArray[np.integer]]]:
    """Return the places, and the counts, of so many of the largest counts."""
    all_places, all_counts = np.concatenate(places), np.concatenate(counts)
    if len(all_counts) > most:
        least = np.partition(all_counts, -most)[-most]
        is_kept = all_counts >= least
        equal = (all_counts == least).nonzero()[0]
        n_spare = int(is_kept.sum()) - most
        is_kept[equal[len(equal) - n_spare :]] = False  # of equals the first are kept
        all_places, all_counts = all_places[is_kept], all_counts[is_kept]
    return [all_places], [all_counts]
