r"""
The classes of code points, and their folded forms: what a token is made of.

Every code point belongs to one of six classes:

* SPACE       white space, controls, unassigned: always stands between tokens;
* BRACKET     `< > , ; ( ) " [ ] { }`: punctuation that also separates header tokens;
* PUNCTUATION every other mark or symbol;
* WORD        letters, marks and numbers: \p{L}, \p{M}, \p{N};
* SINGLE      Han, kana, Thai, Lao, Khmer and Myanmar letters, each a token of its own,
              because those scripts put no space between words;
* PICTURE     emoji and what is drawn like them: as good as a word each.

Folding is simple lower case, one code point to one, so that positions never move.

The classes come from Unicode properties, but not from the properties of whatever
Unicode the reader's Python happens to have: that would change the tokens of an old
model. They were generated once, by `scripts/make_codepoints.py`, into the file
`codepoints-3.bin` beside this module, and the number in its name is part of a model's
settings. The file holds two tables of the same make, classes and then folding offsets:
a block number for each 256 code points, then the distinct blocks.
"""

import os
import sys

from nbtext.constants import CODE_POINTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

SPACE, BRACKET, PUNCTUATION, WORD, SINGLE, PICTURE = range(6)

N_CODE_POINTS: "Final" = 0x110000
BLOCK: "Final" = 256
N_BLOCKS: "Final" = N_CODE_POINTS // BLOCK
_FOLDER: "Final" = os.path.dirname(__file__)  # noqa: PTH120  pathlib costs 10 ms
_TABLE: "Final" = f"{_FOLDER}/codepoints-{CODE_POINTS}.bin"


class Blocks:
    """
    One value a code point, stored as distinct blocks of 256 values.

    Attributes:
        index: for each 256 code points the number of their block.
        values: the values of all blocks, one after the other.
    """

    __slots__ = ("index", "values")

    def __init__(self, index: bytes, values: memoryview) -> None:
        self.index = index
        self.values = values

    def __getitem__(self, code: int) -> int:
        """Return the value of one code point."""
        return int(self.values[self.index[code >> 8] << 8 | code & 255])


def classes() -> Blocks:
    """Return the class of each code point."""
    return _tables()[0]


def offsets() -> Blocks:
    """Return what is added to each code point to fold it."""
    return _tables()[1]


def offsets_of_ngrams() -> Blocks:
    """Return the same for n-grams, where 1 to 9 are folded to 0."""
    found = offsets()
    values = memoryview(bytearray(found.values)).cast("i")
    for digit in range(10):
        values[found.index[0] << 8 | ord("0") + digit] = -digit
    return Blocks(found.index, values.toreadonly())


_loaded: list[tuple[Blocks, Blocks]] = []


def _tables() -> tuple[Blocks, Blocks]:
    """Return both tables, which are loaded once."""
    if not _loaded:
        _loaded.append(_load())
    return _loaded[0]


def _load() -> tuple[Blocks, Blocks]:
    with open(_TABLE, "rb", buffering=0) as file:  # noqa: PTH123  pathlib takes 5 ms
        table = memoryview(file.read())
    # how many distinct blocks there are, of the classes and then of the offsets
    n_classes = int.from_bytes(table[:2], "little")
    index, table = bytes(table[4 : 4 + N_BLOCKS]), table[4 + N_BLOCKS :]
    values, table = table[: n_classes * BLOCK], table[n_classes * BLOCK :]
    fold_index, fold_values = bytes(table[:N_BLOCKS]), table[N_BLOCKS:].cast("i")
    if sys.byteorder == "big":
        from array import array

        swapped = array("i", fold_values)
        swapped.byteswap()
        fold_values = memoryview(swapped).toreadonly()
    return Blocks(index, values), Blocks(fold_index, fold_values)
