"""
Byte n-grams and their keys, one document at a time: the specification.

What a document adds in a view of the alphabet "ngrams":

1. The texts of its fields are joined with a space between them, and the first LONGEST
   code points are read.
2. Each run of code points of the class SPACE, U+0000 among them, becomes one space,
   and none at either end.
3. Each other code point is folded, if the view folds tokens, and each of the digits
   1 to 9 is then a 0.
4. Of the text in UTF-8 `limit` bytes are read, without a space at their end. If there
   are any, four line feeds are put before them and four behind.
5. Every five consecutive bytes are a term, whatever characters they begin and end in.
6. With `threes`, three consecutive characters are a term, too, if the first begins at
   the last line feed before the text or in its first `threes` bytes, the second is
   neither a space nor a line feed, and they have four bytes at the most. What is left
   of a character that is cut is one.

So a text has terms of its first and last one to four bytes, which say most about a
single word. A line feed is in no other term, since it is a space. A number that is
new has terms that others had, if it is written as they were. Runs of three are within a
word, and tell of its beginning and end. Five bytes hold three longer characters
hardly ever, and two and a half of them are as good.

The key of an n-gram is that of a token of its bytes whose field's salt is 1.

`ngrams` is the definition. `keys` computes many keys together, as
`nbtext.tokens.tokenizer.pair_keys` does, and `nbtext.tokens.compiled` is faster still.
"""

import re
from array import array
from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import Final

from nbtext.settings.views import View
from nbtext.tokens import codepoints
from nbtext.tokens.kinds import KINDS
from nbtext.tokens.tokenizer import (
    KEY_SHIFT,
    LANES,
    LOW,
    MASK,
    SPREAD,
    Characters,
    Field,
    keys_of_lanes,
    mix,
)

SIZE: Final = 5
"""How many bytes are an n-gram, but for a run of three characters."""

SIZES_OF_THREES: Final = (3, 4)
"""How many bytes a run of three characters has that is a term."""

EDGE: Final = b"\n" * (SIZE - 1)
"""What stands before a text and behind it."""

LONGEST: Final = 6000
"""How many code points of a document are read."""

SALT: Final = 1
"""What is added to the number of an n-gram, so that none is 0."""

SPACES: Final = re.compile("  +")
THREES: Final = re.compile(
    rb"(?=([^\x80-\xbf][\x80-\xbf]*[^\x80-\xbf \n][\x80-\xbf]*"
    rb"[^\x80-\xbf][\x80-\xbf]*))"
)
"""Three characters, the second neither a space nor an edge."""
SALTS: Final = int.from_bytes((SALT.to_bytes(16, "little")) * LANES, "little")
"""The salt in each lane of 128 bits."""


def ngrams(view: View, fields: list[Field]) -> Iterator[bytes]:
    """Yield the n-grams of a document, in order: those of five bytes first."""
    for _, ngram in located(view, fields):
        yield ngram


def located(view: View, fields: list[Field]) -> Iterator[tuple[int, bytes]]:
    """Yield where in the normalised text each n-gram begins, and it."""
    data = normalised(view, fields)
    for start in range(len(data) - SIZE + 1):
        yield start, data[start : start + SIZE]
    yield from threes(view, data)


def at(view: View, data: bytes, number: int) -> tuple[int, bytes]:
    """Return what `located` yields at a number, from the normalised text alone."""
    n_fives = max(len(data) - SIZE + 1, 0)
    if number < n_fives:
        return number, data[number : number + SIZE]
    return next(islice(threes(view, data), number - n_fives, None))


def threes(view: View, data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield where in the normalised text a run of three characters begins, and it."""
    first, end = len(EDGE) - 1, len(EDGE) + (view.threes or 0)
    piece = data[: end + max(SIZES_OF_THREES)] if view.threes else b""
    for match in THREES.finditer(piece, first):
        if match.start() < end and len(match[1]) in SIZES_OF_THREES:
            yield match.start(), match[1]


def normalised(view: View, fields: list[Field]) -> bytes:
    """Return the bytes that the n-grams of a document are cut from."""
    texts = [text[:LONGEST] for _, text in islice(fields, LONGEST)]
    text = " ".join(texts)[:LONGEST].translate(_characters(view.fold_tokens))
    text = SPACES.sub(" ", text).lstrip(" ")
    data = text.encode("utf-8", "surrogatepass")[: view.limit].rstrip(b" ")
    return EDGE + data + EDGE if data else data


def terms(view: View, fields: list[Field]) -> Iterator[tuple[str, str, str | None]]:
    """
    Yield the n-grams as `nbtext.tokens.tokenizer.terms` does tokens.

    The field is the text that the view reads. Bytes that are cut out of a character are
    lone surrogates, as in the names of files (PEP 383).
    """
    for ngram in ngrams(view, fields):
        yield view.text, ngram.decode("utf-8", "surrogateescape"), None


def defined_keys(view: View, fields: list[Field]) -> Iterator[int]:
    """Yield the key of each of the `ngrams`, in their order: the definition."""
    for ngram in ngrams(view, fields):
        yield _key(ngram)


def keys(view: View, fields: list[Field]) -> "array[int]":
    """Return the same keys, sooner."""
    data = normalised(view, fields)
    found = array("Q")
    for start in range(0, len(data) - SIZE + 1, LANES):
        piece = data[start : start + LANES + SIZE - 1]
        n_lanes = len(piece) - SIZE + 1
        lanes = bytearray(16 * n_lanes)
        for byte in range(SIZE):
            lanes[byte::16] = piece[byte : byte + n_lanes]
        salts = SALTS & (1 << 128 * n_lanes) - 1
        salted = int.from_bytes(lanes, "little") + salts
        found += keys_of_lanes(salted * SPREAD & LOW, n_lanes)
    found.extend(_key(run) for _, run in threes(view, data))
    return found


def _key(ngram: bytes) -> int:
    number = int.from_bytes(ngram, "little")
    return mix((number + SALT) * SPREAD & MASK) >> KEY_SHIFT


@cache
def _characters(is_folded: bool) -> Characters:
    classes, offsets = codepoints.classes(), codepoints.offsets_of_ngrams()
    kinds = KINDS["ngrams"]

    def become(code: int) -> int:
        if not (code and kinds[classes[code]]):
            return ord(" ")
        return code + offsets[code] if is_folded else code

    return Characters(become)
