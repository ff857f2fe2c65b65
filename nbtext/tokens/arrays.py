"""
The keys of many documents at once, as arrays: `nbtext.tokens.tokenizer` for a crowd.

The texts of a batch are joined into one, its code points are classed and folded by
table, and tokens begin and end where the kind changes. Most tokens have eight bytes or
less: a token's key is then one load of a word from where it begins, a mask, and a few
multiplications, for all tokens at once. The keys are those of
`nbtext.tokens.tokenizer`, to the bit; only their order within a document is another.
Where `nbtext.tokens.compiled` is at hand, it is asked instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from nbtext.settings import Alphabet, View

from nbtext.tokens import codepoints, compiled
from nbtext.tokens.tokenizer import BASE, KINDS, MASK, MIX, PAIR, SPREAD, Field, salt

Keys: TypeAlias = "NDArray[np.uint64]"
Index: TypeAlias = "NDArray[np.int64]"
Codes: TypeAlias = "NDArray[np.uint8] | NDArray[np.uint32]"
Kinds: TypeAlias = "NDArray[np.uint8]"

SINGLE_KIND: Final = 3

LONG: Final = 512
FEW: Final = 4
"""Tokens of more bytes than LONG are hashed one by one, and longer ones once they are
FEW."""

WINDOW: Final = 1 << 14
"""How many words of such a token are hashed at a time."""

MASKS: Final = np.array([2 ** (8 * size) - 1 for size in range(9)], np.uint64)
"""What keeps the first bytes of a little-endian word."""


@dataclass(frozen=True, slots=True)
class BatchKeys:
    """
    The keys of a batch of documents in one view.

    Attributes:
        keys: shape (n_keys,), grouped by document; within one, in order of occurrence.
        starts: shape (n_documents + 1,), where each document's keys begin.
    """

    keys: Keys
    starts: Index


def batch_keys(view: View, documents: Sequence[list[Field]]) -> BatchKeys:
    """
    Return the keys of each document in one view.

    Args:
        view: what is read, and how.
        documents: for each document its fields in that view.

    """
    if compiled.IS_USED:
        keys, starts = compiled.document_keys(view, documents)
        return BatchKeys(
            np.frombuffer(keys, np.uint64), np.frombuffer(starts, np.int64)
        )
    return array_keys(view, documents)


def array_keys(view: View, documents: Sequence[list[Field]]) -> BatchKeys:
    """Return the same by operations on arrays."""
    n_fields = [len(fields) for fields in documents]
    texts = [text for fields in documents for _, text in fields]
    text = _Text("\n".join([*texts, ""]), view.alphabet)
    starts, ends = _runs(text.kinds)

    # the first token of each field, and then of each document
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    begins = np.zeros(len(texts) + 1, np.int64)
    np.cumsum(lengths + 1, out=begins[1:])
    field_of_document = np.zeros(len(n_fields) + 1, np.int64)
    np.cumsum(n_fields, out=field_of_document[1:])
    first_of_field = np.searchsorted(starts, begins)
    if view.limit is not None:
        within = _within(first_of_field[field_of_document], view.limit)
        if within is not None:
            starts, ends = starts.take(within), ends.take(within)
            first_of_field = np.searchsorted(starts, begins)
    first_of_document = first_of_field[field_of_document]

    salts = None
    if view.fields:
        names = [salt(name) for fields in documents for name, _ in fields]
        salts = np.repeat(np.array(names, np.uint64), np.diff(first_of_field))
    of_tokens = of_pairs = text.keys(starts, ends, salts, fold=view.fold_tokens)
    if not view.pairs:
        return BatchKeys(of_tokens, first_of_document)
    if view.fold_pairs != view.fold_tokens:
        of_pairs = text.keys(starts, ends, salts, fold=view.fold_pairs)
    pairs = _pair_keys(of_pairs)

    # the last token of a field has no neighbour: it is the one before the next first
    last = first_of_field[1:][np.diff(first_of_field) > 0] - 1
    n_last = np.searchsorted(last, first_of_document)
    if not view.tokens:
        is_pair = np.ones(len(pairs), np.bool_)
        is_pair[last] = False
        kept = pairs.take(is_pair.nonzero()[0])
        return BatchKeys(kept, first_of_document - n_last)
    both = np.empty(2 * len(of_tokens), np.uint64)
    both[0::2] = of_tokens
    both[1::2] = pairs
    is_term = np.ones(len(both), np.bool_)
    is_term[2 * last + 1] = False
    kept = both.take(is_term.nonzero()[0])
    return BatchKeys(kept, 2 * first_of_document - n_last)


class _Text:
    """
    A text, the kinds of its code points, and the keys of its tokens.

    Attributes:
        kinds: shape (n_code_points,), as in `nbtext.tokens.tokenizer.KINDS`.
    """

    __slots__ = ("_codes", "_text", "kinds")

    def __init__(self, text: str, alphabet: Alphabet) -> None:
        self._text = text
        try:
            narrow = text.encode("latin-1")
        except UnicodeEncodeError:
            wide = text.encode("utf-32-le", "surrogatepass")
            self._codes: Codes = np.frombuffer(wide, "<u4")
            self.kinds = _kind_table(alphabet).take(self._codes)
        else:
            self._codes = np.frombuffer(narrow, np.uint8)
            kinds = narrow.translate(_narrow_kinds(alphabet))
            self.kinds = np.frombuffer(kinds, np.uint8)

    def keys(
        self, starts: Index, ends: Index, salts: Keys | None, *, fold: bool
    ) -> Keys:
        """Return the key of each token, from where they start and end."""
        text = self._text
        if text.isascii():
            encoded = (text.lower() if fold else text).encode("ascii")
        else:
            codes = _folded(self._codes) if fold else self._codes
            if fold:
                text = _decoded(codes)
            encoded = text.encode("utf-8", "surrogatepass")
            starts, ends = _places_in_utf8(codes, starts, ends)
        keys = _polynomials(encoded, starts, ends - starts)
        if salts is not None:
            keys += salts
        keys *= np.uint64(SPREAD)
        return mixed(keys)


def _folded(codes: Codes) -> Codes:
    if codes.dtype == np.uint8:
        narrow = codes.tobytes().translate(_narrow_folding())
        return np.frombuffer(narrow, np.uint8)
    return _fold_table().take(codes)


def _decoded(codes: Codes) -> str:
    encoding = "latin-1" if codes.dtype == np.uint8 else "utf-32-le"
    return codes.tobytes().decode(encoding, "surrogatepass")


def _places_in_utf8(codes: Codes, starts: Index, ends: Index) -> tuple[Index, Index]:
    """Return the same places in the UTF-8 form of a text, where most is ASCII."""
    longer = (codes >= 0x80).nonzero()[0]
    wide = codes.take(longer)
    more = np.ones(len(longer) + 1, np.int64)
    more[0] = 0
    more[1:] += wide >= 0x800
    more[1:] += wide >= 0x10000
    before = np.cumsum(more)  # how many bytes more than code points, up to each
    return (
        starts + before.take(np.searchsorted(longer, starts)),
        ends + before.take(np.searchsorted(longer, ends)),
    )


def _runs(kinds: Kinds) -> tuple[Index, Index]:
    """Return where tokens start and end; the text ends with a separator."""
    is_edge = np.empty(len(kinds), np.bool_)
    is_edge[:1] = True
    np.not_equal(kinds[1:], kinds[:-1], out=is_edge[1:])
    highest = kinds.max(initial=0)
    if highest == SINGLE_KIND:
        is_edge |= kinds == SINGLE_KIND
    edges = is_edge.nonzero()[0]
    if highest == 1:  # tokens and separators take turns
        first = 0 if kinds[0] else 1
        return edges[first:-1:2], edges[first + 1 :: 2]
    tokens = (kinds.take(edges) != 0).nonzero()[0]
    return edges.take(tokens), edges.take(tokens + 1)


def _within(first_of_document: Index, limit: int) -> Index | None:
    """Return which tokens are among the first `limit` of their document, None: all."""
    counts = np.diff(first_of_document)
    if not len(counts) or counts.max() <= limit:
        return None
    rank = np.arange(first_of_document[-1]) - np.repeat(first_of_document[:-1], counts)
    return (rank < limit).nonzero()[0]


def _pair_keys(keys: Keys) -> Keys:
    """Return the key of each token with its next; the last one's is of no use."""
    pairs = keys * np.uint64(PAIR)
    pairs[:-1] += keys[1:]
    return mixed(pairs)


def mixed(values: Keys) -> Keys:
    """Spread the bits of each value, in place, as `tokenizer.mix` does."""
    values ^= values >> np.uint64(32)
    values *= np.uint64(MIX)
    values ^= values >> np.uint64(29)
    return values


def _polynomials(encoded: bytes, starts: Index, lengths: Index) -> Keys:
    """Return the polynomial of each token, from its place and length in bytes."""
    # a word from every place
    n_places = len(encoded) + 1
    overlapping = np.ndarray(n_places, "<u8", encoded + bytes(8), strides=(1,))
    words = np.ascontiguousarray(overlapping)  # copied: taking from it is faster then
    polynomials = words.take(starts)
    polynomials &= MASKS.take(np.minimum(lengths, 8))
    longer = (lengths > 8).nonzero()[0]
    step, factor = 8, 1
    while len(longer) > FEW and step < LONG:
        factor = factor * BASE & MASK
        rest = lengths.take(longer) - step
        word = words.take(starts.take(longer) + step)
        word &= MASKS.take(np.minimum(rest, 8))
        polynomials[longer] += word * np.uint64(factor)
        step += 8
        longer = longer.take((rest > 8).nonzero()[0])
    for token in longer.tolist():
        start, length = int(starts[token]), int(lengths[token])
        polynomials[token] = _long_token(encoded[start : start + length])
    return polynomials


def _long_token(encoded: bytes) -> int:
    step = pow(BASE, WINDOW, MASK + 1)
    polynomial, factor = 0, 1
    for start in range(0, len(encoded), 8 * WINDOW):
        piece = encoded[start : start + 8 * WINDOW]
        words = np.frombuffer(piece + bytes(-len(piece) % 8), "<u8")
        polynomial += int((_powers()[: len(words)] * words).sum()) * factor
        factor = factor * step & MASK
    return polynomial & MASK


@cache
def _powers() -> Keys:
    """Return BASE^i modulo 2^64, for i up to WINDOW."""
    powers = np.full(WINDOW, BASE, np.uint64)
    powers[0] = 1
    return powers.cumprod(dtype=np.uint64)


@cache
def _narrow_kinds(alphabet: Alphabet) -> bytes:
    classes = codepoints.classes()
    kinds = KINDS[alphabet]
    return bytes(kinds[classes[code]] for code in range(256))


@cache
def _narrow_folding() -> bytes:
    offsets = codepoints.offsets()
    return bytes(code + offsets[code] for code in range(256))


@cache
def _kind_table(alphabet: Alphabet) -> Kinds:
    classes = _whole_table(codepoints.classes(), np.dtype(np.uint8))
    return np.array(KINDS[alphabet], np.uint8).take(classes)


@cache
def _fold_table() -> NDArray[np.uint32]:
    table = _whole_table(codepoints.offsets(), np.dtype(np.int32))
    table = table + np.arange(codepoints.N_CODE_POINTS, dtype=np.int32)
    return table.astype("<u4")


def _whole_table(blocks: codepoints.Blocks, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return the value of each code point, shape (n_code_points,)."""
    rows = np.frombuffer(blocks.values, dtype).reshape(-1, codepoints.BLOCK)
    return rows.take(np.frombuffer(blocks.index, np.uint8), axis=0).ravel()
