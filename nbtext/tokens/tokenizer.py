"""
Tokens and their keys, one document at a time: the specification.

A text goes in, its terms' keys come out. A token is a maximal run of code points of one
kind, as the view's alphabet says; a pair is two neighbouring tokens of one field. A key
is 64 bits:

    polynomial(token) = sum of w_i BASE^i, modulo 2^64, where w_0, w_1, ... are the
                        token's UTF-8 bytes as little-endian words of eight, the last
                        one filled up with zeros
    key(token)        = mix((polynomial + salt(field)) * SPREAD)
    key(pair)         = mix(key(first) * PAIR + key(second))

All steps are integer arithmetic modulo 2^64, so that keys are the same on every
machine, and a token is hashed whole however long it is. U+0000 is never part of a
token. `nbtext.tokens.compiled` does the same in C; property tests hold it to this
module.
"""

import re
from _blake2 import blake2b  # hashlib would load OpenSSL too, for 2 ms
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from typing import Final, TypeAlias

from nbtext.settings import Alphabet, View
from nbtext.tokens import codepoints

Field: TypeAlias = tuple[str, str]
"""A field's name, and its text."""

MASK: Final = 2**64 - 1
BASE: Final = 0x9E37_79B9_7F4A_7C15
"""Odd and 5 modulo 8, so that its powers modulo 2^64 repeat only after 2^62."""
SPREAD: Final = 0xD6E8_FEB8_6659_FD93
PAIR: Final = 0xA076_1D64_78BD_642F
MIX: Final = 0xE703_7ED1_A0B4_28DB

KINDS: Final[dict[Alphabet, tuple[int, int, int, int, int]]] = {
    # the kind of token of SPACE, BRACKET, PUNCTUATION, WORD and SINGLE code points:
    # 0 separates, 3 makes a token of each code point
    "fields": (0, 0, 1, 1, 1),
    "words": (0, 0, 0, 1, 3),
    "marks": (0, 2, 2, 1, 3),
}
RUNS: Final = re.compile("\x01+|\x02+|\x03")


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


def token_key(token: str, field_salt: int = 0) -> int:
    """Return the key of one token, already folded if it shall be."""
    encoded = token.encode("utf-8", "surrogatepass")
    value = int.from_bytes(encoded[:8], "little")
    factor = 1
    for start in range(8, len(encoded), 8):
        factor = factor * BASE & MASK
        value += int.from_bytes(encoded[start : start + 8], "little") * factor
    return mix((value + field_salt) * SPREAD & MASK)


def pair_key(first: int, second: int) -> int:
    """Return the key of two neighbours from the keys of their tokens."""
    return mix((first * PAIR + second) & MASK)


def fold(text: str) -> str:
    """Fold a text to lower case, code point by code point."""
    return text.translate(_folding())


def tokens(text: str, alphabet: Alphabet) -> Iterator[str]:
    """Yield the tokens of a text, in order."""
    kinds = text.translate(_kinds(alphabet))
    for run in RUNS.finditer(kinds):
        yield text[run.start() : run.end()]


def terms(view: View, fields: list[Field]) -> Iterator[tuple[str, str, str | None]]:
    """
    Yield the terms of a document in one view: field, token, and a pair's second token.

    A view's limit is on tokens; a pair needs both of its tokens within it.
    """
    left = view.limit
    for name, text in fields:
        before = None
        for token in tokens(text, view.alphabet):
            if left is not None:
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


def keys(view: View, fields: list[Field]) -> Iterator[int]:
    """Yield the key of each term of a document in one view, in order of occurrence."""
    salts = {name: salt(name) if view.fields else 0 for name, _ in fields}
    key = _remembering(token_key)
    for name, token, second in terms(view, fields):
        first_key = key(token, salts[name])
        if second is None:
            yield first_key
        else:
            yield pair_key(first_key, key(second, salts[name]))


def _remembering(function: Callable[[str, int], int]) -> Callable[[str, int], int]:
    """Remember what a function returned, for as long as its caller keeps it."""
    return cache(function)


class _Kinds(dict[int, int]):
    """The kind of each code point met so far, for `str.translate`."""

    def __init__(self, alphabet: Alphabet) -> None:
        self._kinds = KINDS[alphabet]
        self._classes = codepoints.classes()

    def __missing__(self, code: int) -> int:
        kind = self[code] = self._kinds[self._classes[code]]
        return kind


class _Folding(dict[int, int]):
    """The folded form of each code point met so far, for `str.translate`."""

    def __init__(self) -> None:
        self._offsets = codepoints.offsets()

    def __missing__(self, code: int) -> int:
        folded = self[code] = code + self._offsets[code]
        return folded


@cache
def _kinds(alphabet: Alphabet) -> _Kinds:
    return _Kinds(alphabet)


@cache
def _folding() -> _Folding:
    return _Folding()
