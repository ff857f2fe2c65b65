"""
The texts of the terms of a view, by key: what a model names its terms with.

A text is what the key is a hash of (`nbtext.tokens.text_finding` has its form), so the
key is computed from the text wherever texts are read, all of a view together, and no
text can stand for a term that it is not.
"""

from __future__ import annotations

from _blake2 import blake2b  # hashlib would load OpenSSL too, for 2 ms
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from nbtext.counts.sorted_counts import Keys
    from nbtext.settings.views import View

    Bytes: TypeAlias = NDArray[np.uint8]
    Places: TypeAlias = NDArray[np.int64]
    Hashes: TypeAlias = NDArray[np.uint64]

from nbtext.tokens.bags import mixed
from nbtext.tokens.ngrams import SALT, SIZE, SIZES_OF_THREES
from nbtext.tokens.text_finding import MOST_TEXT, PART_END, TEXT_END
from nbtext.tokens.tokenizer import BASE, KEY_SHIFT, PAIR, SPREAD

WORD: Final = 8
"""Bytes of a word of a token's polynomial."""

MASKS: Final = np.array(
    [(1 << 8 * n_bytes) - 1 for n_bytes in range(WORD + 1)], np.uint64
)
"""What is left of a word that so many bytes are of."""


class Named(NamedTuple):
    """
    A term as its text names it.

    Attributes:
        field: the name of its field, None if that is no part of the term.
        text: its tokens with a space between them; bytes of cut characters are lone
            surrogates.
    """

    field: str | None
    text: str


class TermTexts:
    """
    The texts of the terms of one view.

    Attributes:
        keys: shape (n_texts,), ascending, distinct.
        texts: shape (n_bytes,), one text after the other, each with its end.
    """

    __slots__ = ("keys", "texts")

    def __init__(self, keys: Keys, texts: Bytes) -> None:
        self.keys = keys
        self.texts = texts

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def starts(self) -> Places:
        """Where each text begins, and where the last ends, shape (n_texts + 1,)."""
        return np.append(0, np.flatnonzero(self.texts == TEXT_END[0]) + 1)

    def of(self, keys: Keys) -> TermTexts:
        """Return the texts of those terms that are among some; these are sorted."""
        places = np.searchsorted(keys, self.keys)
        is_there = places < len(keys)
        is_there[is_there] = keys[places[is_there]] == self.keys[is_there]
        return self.where(is_there)

    def where(self, is_wanted: NDArray[np.bool_]) -> TermTexts:
        """Return the texts that are wanted, shape (n_texts,) is whether each is."""
        if is_wanted.all():
            return self
        return self.take(np.flatnonzero(is_wanted))

    def take(self, places: Places) -> TermTexts:
        """Return some of the texts, in the order of their places."""
        starts = self.starts
        sizes = np.diff(starts).take(places)
        ends = np.cumsum(sizes)
        # from each byte that is taken to where it is
        shift = np.repeat(starts.take(places) - (ends - sizes), sizes)
        rows = shift + np.arange(len(shift))
        return TermTexts(self.keys.take(places), self.texts.take(rows))

    def each(self) -> Iterator[bytes]:
        """Yield each text, without its end."""
        whole, starts = self.texts.tobytes(), self.starts.tolist()
        for start, end in pairwise(starts):
            yield whole[start : end - 1]

    def named(self, view: View, keys: Iterable[int]) -> dict[int, Named]:
        """Return how some terms are named, those that have a text."""
        wanted = np.array(sorted(keys), np.uint64)
        found = self.of(wanted)
        texts = map(named_by, [view] * len(found), found.each())
        return dict(zip(found.keys.tolist(), texts, strict=True))


NO_TEXTS: Final = TermTexts(np.empty(0, np.uint64), np.empty(0, np.uint8))


def named_by(view: View, text: bytes) -> Named:
    """Return how a text names its term."""
    parts = [part.decode("utf-8", "surrogateescape") for part in text.split(PART_END)]
    field = parts.pop(0) if view.fields else None
    return Named(field, " ".join(parts))


def joined(parts: Sequence[TermTexts]) -> TermTexts:
    """Return the texts that any of several has, each once."""
    if len(parts) == 1:
        return parts[0]
    keys = np.concatenate([part.keys for part in parts])
    texts = np.concatenate([part.texts for part in parts])
    whole = TermTexts(keys, texts)
    _, first = np.unique(keys, return_index=True)
    return whole.take(first)


def texts_in(view: View, packed: Bytes) -> TermTexts:
    """
    Return texts as a model file has them, with their keys.

    Args:
        view: what they are of.
        packed: one after the other, each with its end, shape (n_bytes,).

    Raises:
        ValueError: some are none of the view, or they are not in the order of their
            keys.
    """
    keys = keys_of(view, packed)
    if not (keys[1:] > keys[:-1]).all():
        message = f"the texts of the view {view.name} are not in order"
        raise ValueError(message)
    return TermTexts(keys, packed)


def keys_of(view: View, packed: Bytes) -> Keys:
    """
    Return the key that each text is hashed to.

    Args:
        view: what they are of.
        packed: one after the other, each with its end, shape (n_bytes,).

    Raises:
        ValueError: some are no texts of terms of the view.
    """
    if not len(packed):
        return NO_TEXTS.keys
    is_end = packed == TEXT_END[0]
    ends = np.flatnonzero(is_end | (packed == PART_END[0]))
    starts = np.append(0, ends[:-1] + 1)
    last = np.flatnonzero(is_end.take(ends))  # the last part of each text
    n_parts = np.diff(last, prepend=-1)
    lengths = np.diff(ends.take(last), prepend=-1) - 1
    if not is_end[-1] or int(lengths.max()) > MOST_TEXT:
        raise _no_texts(view)
    n_named, most = int(view.fields), 2 if view.pairs else 1
    fewest = 1 if view.tokens else 2
    n_tokens = n_parts - n_named
    if not ((n_tokens >= fewest) & (n_tokens <= most)).all():
        raise _no_texts(view)
    salts = np.zeros(len(last), np.uint64)
    first = last - n_tokens + 1  # the first token of each text
    if n_named:
        named = first - 1
        salts = _salts(packed, starts.take(named), ends.take(named))
    if view.alphabet == "ngrams":
        sizes = (SIZE, *SIZES_OF_THREES) if view.threes else (SIZE,)
        if not np.isin(lengths, sizes).all():
            raise _no_texts(view)
        salts = np.full(len(last), SALT, np.uint64)
    hashes = _hashes(packed, starts.take(first), ends.take(first), salts)
    is_pair = np.flatnonzero(n_tokens == 2)
    if len(is_pair):
        second = last.take(is_pair)
        of_second = _hashes(
            packed, starts.take(second), ends.take(second), salts.take(is_pair)
        )
        hashes[is_pair] = mixed(hashes.take(is_pair) * np.uint64(PAIR) + of_second)
    return hashes >> np.uint64(KEY_SHIFT)


def _no_texts(view: View) -> ValueError:
    message = f"the texts of the view {view.name} are none of its terms"
    return ValueError(message)


def _hashes(packed: Bytes, starts: Places, ends: Places, salts: Hashes) -> Hashes:
    """Return `nbtext.tokens.tokenizer.token_hash` of tokens, all of them together."""
    # the word that begins at each byte; the bytes behind the last token are zeros
    padded = np.append(packed, np.zeros(WORD, np.uint8))
    words = np.ndarray((len(packed),), "<u8", padded.data, strides=(1,))
    sums = salts.copy()
    rows, factor = np.arange(len(starts)), 1
    at, left = starts, ends - starts
    while len(rows):
        masks = MASKS.take(np.minimum(left, WORD))
        word = words.take(at).astype(np.uint64) & masks
        sums[rows] += word * np.uint64(factor)
        factor = factor * BASE & (1 << 64) - 1
        more = np.flatnonzero(left > WORD)
        rows, at, left = rows.take(more), at.take(more) + WORD, left.take(more) - WORD
    return mixed(sums * np.uint64(SPREAD))


def _salts(packed: Bytes, starts: Places, ends: Places) -> Hashes:
    """Return the salt of each name of a field."""
    whole = packed.tobytes()
    names = zip(starts.tolist(), ends.tolist(), strict=True)
    return np.array([_salt(whole[start:end]) for start, end in names], np.uint64)


@lru_cache(maxsize=4096)
def _salt(name: bytes) -> int:
    """Return `nbtext.tokens.tokenizer.salt` of a name in UTF-8."""
    digest = blake2b(name, digest_size=8).digest()
    return int.from_bytes(digest, "little")
