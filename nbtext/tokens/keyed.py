"""
Keys that nobody can compute without a secret, for models trained with `keyed`.

They take the place of the public ones of `nbtext.tokens.tokenizer` and
`nbtext.tokens.ngrams`. Each distinct token, n-gram and pair is hashed by keyed BLAKE2b
(RFC 7693, section 2.9), a pseudorandom function: without the key nobody can tell
whether a token is in a model, or choose tokens whose keys collide. Mixing the public
hash with a secret would not do, because tokens that collide there would collide still.

    key of a purpose  = BLAKE2b-256(secret, person = purpose)
    hash(token)       = BLAKE2b-64(key of "nbtext token", token)
    hash(field token) = BLAKE2b-64(BLAKE2b-256(key of "nbtext field", field), token)
    hash(pair)        = BLAKE2b-64(key of "nbtext pair", hash(first) hash(second))
    hash(n-gram)      = BLAKE2b-64(key of "nbtext ngram", n-gram)
    digest            = BLAKE2b-128(key of "nbtext digest", public digest)

The name of a category has the hash of a token. A number is no secret: sums of numbers
can only be taken of the numbers themselves.

Texts are UTF-8; hashes are read, and written into a pair, as little-endian numbers. A
key is the upper 48 bits of a hash, as everywhere.
"""

from _blake2 import blake2b  # hashlib would load OpenSSL too, for 2 ms
from array import array
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain, pairwise
from typing import Final

from nbtext.keyring import secret_of
from nbtext.settings.views import View
from nbtext.tokens import attributes, ngrams, tokenizer
from nbtext.tokens.tokenizer import KEY_SHIFT, Field, Hashed, Hashes

REMEMBERED: Final = 1 << 15
REMEMBERED_OF_FIELD: Final = 1 << 10
FIELDS: Final = 64
"""Maximum hashes that are remembered: of tokens without a field, of pairs and of
n-grams; of tokens of a field; and of how many fields."""

HASH_SIZE: Final = 8
KEY_SIZE: Final = 32
DIGEST_SIZE: Final = 16
"""Lengths in bytes."""


def _bytes(hashed: str | bytes | tuple[int, int]) -> bytes:
    if isinstance(hashed, str):
        return hashed.encode("utf-8", "surrogatepass")
    if isinstance(hashed, bytes):
        return hashed
    first, second = hashed
    return (first | second << 64).to_bytes(2 * HASH_SIZE, "little")


def _hashes_by(key: bytes, limit: int = REMEMBERED) -> Hashes[Hashed]:
    def hash_of(hashed: Hashed) -> int:
        digest = blake2b(_bytes(hashed), key=key, digest_size=HASH_SIZE).digest()
        return int.from_bytes(digest, "little")

    return Hashes(hash_of, limit)


class Keyed:
    """The hash functions of one secret, with what they have hashed lately."""

    def __init__(self, secret: bytes) -> None:
        self._field_key = _key_of(secret, b"nbtext field")
        self._digest_key = _key_of(secret, b"nbtext digest")
        self._tokens: Hashes[str] = _hashes_by(_key_of(secret, b"nbtext token"))
        pair_key = _key_of(secret, b"nbtext pair")
        self._pairs: Hashes[tuple[int, int]] = _hashes_by(pair_key)
        self._ngrams: Hashes[bytes] = _hashes_by(_key_of(secret, b"nbtext ngram"))
        self._fields = lru_cache(maxsize=FIELDS)(self._tokens_of_field)

    def keys(self, view: View, fields: list[Field]) -> "array[int]":
        """Return the key of each term of a document in one view, in any order."""
        if view.kind == "number":
            return attributes.keys(view, fields)
        if view.kind == "value":
            values = [self._tokens[value] >> KEY_SHIFT for _, value in fields]
            return array("Q", values)
        if view.alphabet == "ngrams":
            hash_of = self._ngrams.__getitem__
            found = map(hash_of, ngrams.ngrams(view, fields))
            return array("Q", (value >> KEY_SHIFT for value in found))
        pieces = tokenizer.keys_by_piece(view, fields, self._hashes, self._pair_keys)
        return array("Q", chain.from_iterable(pieces))

    def defined_keys(self, view: View, fields: list[Field]) -> Iterator[int]:
        """Yield the key of each term of a document, in the order of the definition."""
        if view.kind != "text":
            yield from self.keys(view, fields)
            return
        if view.alphabet == "ngrams":
            for ngram in ngrams.ngrams(view, fields):
                yield self._ngrams[ngram] >> KEY_SHIFT
            return
        for field, token, second in tokenizer.terms(view, fields):
            hashes = self._hashes(field if view.fields else None)
            value = hashes[token]
            if second is not None:
                value = self._pairs[value, hashes[second]]
            yield value >> KEY_SHIFT

    def digest(self, public: bytes) -> bytes:
        """Return the digest of a document from the one that anybody can compute."""
        return blake2b(public, key=self._digest_key, digest_size=DIGEST_SIZE).digest()

    def _hashes(self, field: str | None) -> dict[str, int]:
        """Return the hashes of the tokens of a field, or of those without one."""
        return self._tokens if field is None else self._fields(field)

    def _tokens_of_field(self, field: str) -> Hashes[str]:
        name = field.encode("utf-8", "surrogatepass")
        key = blake2b(name, key=self._field_key, digest_size=KEY_SIZE).digest()
        return _hashes_by(key, REMEMBERED_OF_FIELD)

    def _pair_keys(self, hashes: list[int]) -> Iterable[int]:
        """Return the key of each hash and the next one."""
        hash_of = self._pairs.__getitem__
        return [value >> KEY_SHIFT for value in map(hash_of, pairwise(hashes))]


def _key_of(secret: bytes, purpose: bytes) -> bytes:
    return blake2b(key=secret, digest_size=KEY_SIZE, person=purpose).digest()


@lru_cache(maxsize=4)
def keyed(fingerprint: str) -> Keyed:
    """
    Return the hash functions of the secret that a fingerprint names.

    Raises:
        SecretError: the secret is not here.
    """
    return Keyed(secret_of(fingerprint))
