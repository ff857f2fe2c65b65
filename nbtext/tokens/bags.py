"""
Documents as bags of terms: distinct keys, and how often each occurs.

The fields of a batch of documents go in; for each view the terms of each document come
out, sorted. With them goes what counting needs of a document as a whole: the weights of
its terms at unit length, and a fingerprint of all its counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

import numpy as np

from nbtext.settings.columns import LOGS, UNIT, levels_of
from nbtext.tokens.bag import LOG_UNIT, MOST_COUNTED, log_count
from nbtext.tokens.engine import document_keys
from nbtext.tokens.tokenizer import MIX

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from nbtext.settings.reading import Settings
    from nbtext.tokens.engine import Content


Keys: TypeAlias = "NDArray[np.uint64]"

FEW_LOGS: Final = np.array([log_count(count) for count in range(256)])
"""The logarithms of small counts, in units of 1/2048."""


class Terms(NamedTuple):
    """
    The distinct terms of a batch of documents in one view.

    Attributes:
        keys: shape (n_terms,), grouped by document, distinct within one.
        counts: shape (n_terms,), how often each occurs in its document, 1 or more.
        starts: shape (n_documents + 1,), where each document's terms begin.
    """

    keys: Keys
    counts: NDArray[np.integer]
    starts: NDArray[np.int64]

    @property
    def n_documents(self) -> int:
        """Return how many documents there are."""
        return len(self.starts) - 1

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Return how many terms each document has, of shape (n_documents,)."""
        return self.starts[1:] - self.starts[:-1]

    def bag(self, document: int) -> dict[int, int]:
        """Return the terms of one document as `nbtext.tokens.bag` has them."""
        rows = slice(*self.starts[document : document + 2].tolist())
        return dict(
            zip(self.keys[rows].tolist(), self.counts[rows].tolist(), strict=True)
        )

    def compact(self) -> Terms:
        """Return the same with counts in 16 bits, if they fit."""
        if self.counts.dtype == np.uint16 or self.counts.max(initial=0) >= 1 << 16:
            return self
        return Terms(self.keys, self.counts.astype(np.uint16), self.starts)

    def part(self, documents: slice) -> Terms:
        """Return the terms of some documents that stand side by side, not copied."""
        starts = self.starts[documents.start : documents.stop + 1]
        rows = slice(starts[0], starts[-1])
        return Terms(self.keys[rows], self.counts[rows], starts - starts[0])

    def take(self, documents: NDArray[np.int64]) -> Terms:
        """Return the terms of some of the documents, in the order that is given."""
        # those that stand side by side are one part
        breaks = (documents[1:] != documents[:-1] + 1).nonzero()[0] + 1
        if not len(breaks) and len(documents) == self.n_documents:
            return self
        firsts = np.append(documents[:1], documents.take(breaks))
        lasts = np.append(documents.take(breaks - 1), documents[-1:])
        begins = self.starts.take(firsts).tolist()
        ends = self.starts.take(lasts + 1).tolist()
        parts = [slice(*part) for part in zip(begins, ends, strict=True)]
        return Terms(
            np.concatenate([self.keys[:0], *(self.keys[part] for part in parts)]),
            np.concatenate([self.counts[:0], *(self.counts[part] for part in parts)]),
            starts_of(self.sizes.take(documents)),
        )


def starts_of(sizes: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return where documents of some sizes begin, and where the last one ends."""
    starts = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=starts[1:])
    return starts


def terms_of(bags: Sequence[Mapping[int, int]]) -> Terms:
    """Return the terms of documents that are given as dictionaries."""
    terms = [term for bag in bags for term in sorted(bag.items())]
    return Terms(
        np.array([key for key, _ in terms], np.uint64),
        np.array([count for _, count in terms], np.int64),
        starts_of(np.array([len(bag) for bag in bags], np.int64)),
    )


def joined(parts: Sequence[Terms]) -> Terms:
    """Return the terms of all documents of some batches, one or more."""
    if len(parts) == 1:
        return parts[0]
    return Terms(
        np.concatenate([part.keys for part in parts]),
        np.concatenate([part.counts for part in parts]),
        starts_of(np.concatenate([part.sizes for part in parts])),
    )


def read_terms(
    settings: Settings, documents: Sequence[Sequence[Content]]
) -> list[Terms]:
    """
    Return for each view the terms of documents.

    Args:
        settings: how they are read.
        documents: for each document, for each view, its fields or its keys.
    """
    views = []
    for number, view in enumerate(settings.views):
        of_view = [fields[number] for fields in documents]
        keys, starts = document_keys(view, of_view, settings.secret)
        own = np.frombuffer(keys, np.uint64).copy()  # to be sorted
        views.append(batch_terms(own, np.frombuffer(starts, np.int64)))
    return views


def batch_terms(keys: Keys, starts: NDArray[np.int64]) -> Terms:
    """Sort each document's keys, in place, and count its distinct terms."""
    for start, end in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        keys[start:end].sort()
    is_first = np.empty(len(keys), np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=is_first[1:])
    is_first[starts[:-1][starts[:-1] < len(keys)]] = True
    first = is_first.nonzero()[0]
    counts = np.empty(len(first), np.int32)
    # numpy crashes if memory is too short for the buffers of `out` of another type
    counts[:-1] = first[1:] - first[:-1]
    counts[-1:] = len(keys) - first[-1:]
    return Terms(keys.take(first), counts, np.searchsorted(first, starts))


def mixed(values: Keys) -> Keys:
    """Spread the bits of each value, in place, as `tokenizer.mix` does."""
    values ^= values >> np.uint64(32)
    values *= np.uint64(MIX)
    values ^= values >> np.uint64(29)
    return values


def log_counts(counts: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return `nbtext.tokens.bag.log_count` of each of some counts."""
    logs: NDArray[np.int64] = FEW_LOGS.take(counts, mode="clip")
    more = (counts >= len(FEW_LOGS)).nonzero()[0]
    capped = np.minimum(counts.take(more).astype(np.float64), MOST_COUNTED)
    logs[more] = np.rint(LOG_UNIT * np.log1p(capped))
    return logs


def unit_weights(terms: Terms) -> NDArray[np.int64]:
    """Return floor(65535 l / |l|) for each term, shape (n_terms,)."""
    squares = log_counts(terms.counts)
    squares *= squares
    lengths = sum_by_document(squares, terms.starts)
    # below 2^63, because no logarithm reaches 17; a quotient is at most 65535^2
    squares *= UNIT**2
    squares //= np.repeat(np.maximum(lengths, 1), np.diff(terms.starts))
    # the floor of the root of an integer below 2^52 is exact
    weights: NDArray[np.int64] = np.sqrt(squares).astype(np.int64)
    return weights


def further_columns(
    terms: Terms, columns: Sequence[str]
) -> list[NDArray[np.unsignedinteger]]:
    """
    Return what each term adds to its columns besides occurrences and documents.

    Returns:
        For each further column, in order, shape (n_terms,).
    """
    further: list[NDArray[np.unsignedinteger]] = []
    if "weight" in columns:
        # in 16 bits they fit, because none is above UNIT
        further.append(unit_weights(terms).astype(np.uint16))
    further += [(terms.counts == level).view(np.uint8) for level in levels_of(columns)]
    if LOGS in columns:
        # in 16 bits they fit: 2048 ln(2^24) is 34,069
        further.append(log_counts(terms.counts).astype(np.uint16))
    return further


def sum_by_document(
    values: NDArray[Any], starts: NDArray[np.signedinteger]
) -> NDArray[Any]:
    """Return the sum of values over each document, 0 for one without any."""
    dtype = np.dtype(np.float64 if values.dtype.kind == "f" else np.int64)
    if values.dtype == np.uint64:  # a sum of marks, which overflows
        dtype = values.dtype
    sums = np.zeros(len(starts) - 1, dtype)
    filled = (starts[:-1] < starts[1:]).nonzero()[0]
    if len(filled):
        firsts = starts[:-1].take(filled)
        sums[filled] = np.add.reduceat(values, firsts, dtype=dtype)
    return sums


def fingerprints(views: Sequence[Terms]) -> Keys:
    """
    Return what tells the counts of one document from those of another.

    One, so that it is not 0 where there are no terms, and the sum, modulo 2^64, over
    the views v = 1, 2, ... and their terms, of mix(mix(key * (2 v + 1) + count)); no
    order matters.
    """
    total = np.ones(len(views[0].starts) - 1, np.uint64)
    for number, terms in enumerate(views, 1):
        values = terms.keys * np.uint64(2 * number + 1)
        values += terms.counts.astype(np.uint64)
        total += sum_by_document(mixed(mixed(values)), terms.starts)
    return total
