"""
Tokens and their keys, one document at a time: the specification.

A text goes in, its terms' keys come out. A token is a maximal run of code points of one
kind, as the view's alphabet says; a pair is two neighbouring tokens of one field. A key
is the upper 48 of 64 bits:

    polynomial(token) = sum of w_i BASE^i, modulo 2^64, where w_0, w_1, ... are the
                        token's UTF-8 bytes as little-endian words of eight, the last
                        one filled up with zeros
    hash(token)       = mix((polynomial + salt(field)) * SPREAD)
    hash(pair)        = mix(hash(first) * PAIR + hash(second))
    key(term)         = hash(term) >> 16

All steps are integer arithmetic modulo 2^64, so that keys are the same on every
machine, and a token is hashed whole however long it is. U+0000 is never part of a
token.

`defined_keys` is the definition. `keys` returns the same in a third of the time: it
folds a text once, remembers the keys of tokens, and computes those of many pairs
together. `nbtext.tokens.compiled` returns them faster still. Property tests hold both
to the definition. Views of byte n-grams are specified by `nbtext.tokens.ngrams`.
"""

import re
import sys
from _blake2 import blake2b  # hashlib would load OpenSSL too, for 2 ms
from array import array
from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache, partial
from itertools import chain, islice
from typing import Final, TypeAlias, TypeVar

from nbtext.constants import MOST_TOKENS
from nbtext.settings.reading import KEY_BITS
from nbtext.settings.views import Alphabet, View
from nbtext.tokens import codepoints
from nbtext.tokens.kinds import KINDS

Field: TypeAlias = tuple[str, str]
"""A field's name, and its text."""

Hashed = TypeVar("Hashed", str, bytes, tuple[int, int])

MASK: Final = 2**64 - 1
KEY_SHIFT: Final = 64 - KEY_BITS
"""The low bits of a hash that are no part of the key that is counted."""

BASE: Final = 0x9E37_79B9_7F4A_7C15
"""Odd and 5 modulo 8, so that its powers modulo 2^64 repeat only after 2^62."""
SPREAD: Final = 0xD6E8_FEB8_6659_FD93
PAIR: Final = 0xA076_1D64_78BD_642F
MIX: Final = 0xE703_7ED1_A0B4_28DB

RUNS: Final = re.compile("\x01+|\x02+|\x03")

PIECE: Final = 1 << 13
"""About how many code points are tokenised at a time, which bounds the memory."""
SEPARATORS: Final = re.compile("[\0\t\n\r ]")
"""Some of the code points that are part of no token, but for the alphabet "pattern"."""
NUL: Final = re.compile("\0")
"""The only one of "pattern"."""

REMEMBERED: Final = 1 << 16
REMEMBERED_OF_FIELD: Final = 1 << 10
FIELDS: Final = 128
"""Maximum tokens whose keys are remembered: of text without a field's name, of a field,
and how many fields."""
SHORT: Final = 32
"""Maximum code points of a token whose key is remembered."""

LONG: Final = 1 << 17
"""Code points of a text without separators from which its tokens are listed in parts,
of PIECE tokens."""

LANES: Final = 1 << 10
"""Maximum pairs whose keys are computed together."""
LOW: Final = int.from_bytes((b"\xff" * 8 + bytes(8)) * (LANES + 1), "little")
"""The low 64 bits of each lane of 128."""


@lru_cache(maxsize=4096)
def salt(name: str) -> int:
    """
    Return what sets the terms of one field apart from those of another.

    It is remembered, because a mail has the fields of other mails.
    """
    return int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), "little")


def mix(value: int) -> int:
    """Spread the bits of a value over all 64, one to one."""
    value ^= value >> 32
    value = value * MIX & MASK
    return value ^ value >> 29


def token_hash(token: str, field_salt: int = 0) -> int:
    """Return the hash of one token, already folded if it shall be."""
    encoded = token.encode("utf-8", "surrogatepass")
    value = int.from_bytes(encoded[:8], "little")
    factor = 1
    for start in range(8, len(encoded), 8):
        factor = factor * BASE & MASK
        value += int.from_bytes(encoded[start : start + 8], "little") * factor
    return mix((value + field_salt) * SPREAD & MASK)


def pair_hash(first: int, second: int) -> int:
    """Return the hash of two neighbours from the hashes of their tokens."""
    return mix((first * PAIR + second) & MASK)


def fold(text: str) -> str:
    """Fold a text to lower case, code point by code point."""
    return text.lower() if text.isascii() else text.translate(_folding())


def tokens(text: str, alphabet: Alphabet) -> Iterator[str]:
    """Yield the tokens of a text, in order."""
    kinds = text.translate(_kinds(alphabet))
    for run in RUNS.finditer(kinds):
        yield text[run.start() : run.end()]


def tokens_sooner(text: str, alphabet: Alphabet) -> Iterable[str]:
    """Return the same; of ASCII that is not long, listed at once."""
    if text.isascii() and len(text) < LONG:
        return _ascii_tokens(alphabet).findall(text)
    return tokens(text, alphabet)


def limit_of(view: View) -> int:
    """Return how many tokens of a document a view reads."""
    return min(view.limit or MOST_TOKENS, MOST_TOKENS)


def terms(view: View, fields: list[Field]) -> Iterator[tuple[str, str, str | None]]:
    """
    Yield the terms of a document in one view: field, token, and a pair's second token.

    A view's limit is on tokens; a pair needs both of its tokens within it.
    """
    left = limit_of(view)
    for name, text in fields:
        before = None
        for token in tokens(text, view.alphabet):
            if not left:
                return
            left -= 1
            if view.tokens:
                yield name, (fold(token) if view.fold_tokens else token), None
            if view.pairs:
                second = fold(token) if view.fold_pairs else token
                if before is not None:
                    yield name, before, second
                before = second


def defined_keys(view: View, fields: list[Field]) -> Iterator[int]:
    """Yield the key of each of the `terms`, in their order: the definition."""
    for name, token, second in terms(view, fields):
        field_salt = salt(name) if view.fields else 0
        value = token_hash(token, field_salt)
        if second is not None:
            value = pair_hash(value, token_hash(second, field_salt))
        yield value >> KEY_SHIFT


def keys(view: View, fields: list[Field]) -> Iterator[int]:
    """Yield the same keys in another order, sooner."""
    return chain.from_iterable(keys_by_piece(view, fields, _hashes, pair_keys))


def keys_by_piece(
    view: View,
    fields: list[Field],
    hashes_of: Callable[[str | None], dict[str, int]],
    pair_keys_of: Callable[[list[int]], Iterable[int]],
) -> Iterator[Iterable[int]]:
    """
    Yield the same as one iterable after another, which takes fewer steps.

    Args:
        view: what is read.
        fields: the document.
        hashes_of: returns the hashes of the tokens of a field, by its name, or of
            tokens of no field, None.
        pair_keys_of: returns the key of each of several hashes and the next one.
    """
    left = limit_of(view)
    for name, text in fields:
        hash_of = hashes_of(name if view.fields else None).__getitem__
        before: list[int] = []  # the hash of the last token of the piece before
        pieces = _pieces(text, view.alphabet)
        for tokens in chain.from_iterable(_tokens_by_form(view, one) for one in pieces):
            for form in tokens:
                del tokens[form][left:]
            left -= len(next(iter(tokens.values())))
            if view.tokens:
                hashes = map(hash_of, tokens[view.fold_tokens])
                yield [value >> KEY_SHIFT for value in hashes]
            if view.pairs:
                before += map(hash_of, tokens[view.fold_pairs])
                for start in range(0, len(before) - 1, LANES):
                    yield pair_keys_of(before[start : start + LANES + 1])
                del before[:-1]
            if not left:
                return


def pair_keys(hashes: list[int]) -> "array[int]":
    """
    Return the key of each hash and the next one, of LANES + 1 hashes at the most.

    The hashes become one large integer, each in a lane of 128 bits, so that no product
    reaches into the next lane; each step of `pair_hash` is done to all lanes at once.
    """
    lanes = array("Q", bytes(16 * len(hashes)))
    lanes[::2] = array("Q", hashes)
    if sys.byteorder == "big":
        lanes.byteswap()
    first = int.from_bytes(lanes, "little")
    # the last lane has no second key, and is left out at the end
    return keys_of_lanes(first * PAIR + (first >> 128) & LOW, len(hashes))[:-1]


def keys_of_lanes(value: int, n_lanes: int) -> "array[int]":
    """Mix each lane of 128 bits, the low 64 of which are filled; return the keys."""
    value ^= value >> 32 & LOW
    value = value * MIX & LOW
    value ^= value >> 29 & LOW
    value >>= KEY_SHIFT
    lanes = array("Q", value.to_bytes(16 * n_lanes, "little"))
    if sys.byteorder == "big":
        lanes.byteswap()
    return lanes[::2]


def _pieces(text: str, alphabet: Alphabet) -> Iterator[str]:
    """Cut a text between tokens into pieces of about PIECE code points."""
    start = 0
    separators = NUL if alphabet == "pattern" else SEPARATORS
    while cut := separators.search(text, start + PIECE):
        yield text[start : cut.start()]
        start = cut.start()
    yield text[start:]


def _tokens_by_form(view: View, text: str) -> Iterator[dict[bool, list[str]]]:
    """
    Yield the tokens of a text: folded (True), as written (False), or both.

    Those of a long text come in parts, since each is an object of some fifty bytes.
    """
    forms = {view.fold_tokens} if view.tokens else set()
    if view.pairs:
        forms.add(view.fold_pairs)
    texts = {is_folded: fold(text) if is_folded else text for is_folded in forms}
    if text.isascii() and len(text) < LONG:
        findall = _ascii_tokens(view.alphabet).findall
        yield {form: findall(texts[form]) for form in forms}
        return
    # tokens end where the text as it is written says so; folding moves no code point
    runs = RUNS.finditer(text.translate(_kinds(view.alphabet)))
    while spans := [run.span() for run in islice(runs, PIECE)]:
        yield {form: [texts[form][start:end] for start, end in spans] for form in forms}


@cache
def _ascii_tokens(alphabet: Alphabet) -> re.Pattern[str]:
    """Return what matches the tokens of a text of ASCII."""
    of_kind: dict[int, str] = {}
    for character in map(chr, range(1, 128)):
        kind = KINDS[alphabet][codepoints.classes()[ord(character)]]
        of_kind[kind] = of_kind.get(kind, "") + re.escape(character)
    runs = [f"[{of_kind[kind]}]+" for kind in (1, 2) if kind in of_kind]
    return re.compile("|".join(runs))


class Hashes(dict[Hashed, int]):
    """The hashes of what was met lately, so many at the most."""

    def __init__(self, hash_of: Callable[[Hashed], int], limit: int) -> None:
        self._hash_of: Callable[[Hashed], int] = hash_of
        self._limit = limit

    def __missing__(self, hashed: Hashed) -> int:
        value = self._hash_of(hashed)
        if len(hashed) <= SHORT:
            if len(self) >= self._limit:
                self.clear()
            self[hashed] = value
        return value


def _hashes(field: str | None) -> dict[str, int]:
    """Return the hashes of the tokens of a field, or of tokens of no field."""
    return _token_hashes(0 if field is None else salt(field))


@lru_cache(maxsize=FIELDS)
def _token_hashes(field_salt: int) -> Hashes[str]:
    limit = REMEMBERED_OF_FIELD if field_salt else REMEMBERED
    return Hashes(partial(token_hash, field_salt=field_salt), limit)


class Characters(dict[int, int]):
    """What each code point met so far becomes, for `str.translate`."""

    def __init__(self, become: Callable[[int], int]) -> None:
        self._become = become

    def __missing__(self, code: int) -> int:
        other = self[code] = self._become(code)
        return other


@cache
def _kinds(alphabet: Alphabet) -> Characters:
    kinds, classes = KINDS[alphabet], codepoints.classes()
    # U+0000 is never part of a token
    return Characters(lambda code: kinds[classes[code]] if code else 0)


@cache
def _folding() -> Characters:
    offsets = codepoints.offsets()
    return Characters(lambda code: code + offsets[code])
