"""
Make the table of code points: `python scripts/make_codepoints.py FILE`.

The classes are those of the Unicode that the installed `regex` knows, and folding is
that of the Python that runs this. A table that differs from `codepoints-3.bin` gives
other tokens: it needs a number of its own in `nbtext.constants.CODE_POINTS`, or no
model made before is read as it was trained.
"""

import struct
import sys
from pathlib import Path

import regex

from nbtext.tokens.codepoints import (
    BLOCK,
    BRACKET,
    N_CODE_POINTS,
    PICTURE,
    PUNCTUATION,
    SINGLE,
    WORD,
)


def generate() -> bytes:
    """
    Make the table from the Unicode properties that the `regex` package knows.

    Returns:
        The bytes of the file, little-endian.
    """
    text = [chr(code) for code in range(N_CODE_POINTS)]
    patterns = {  # later ones win
        PUNCTUATION: r"[\p{P}\p{S}\p{Cf}\p{Co}]",
        PICTURE: r"[[\p{Extended_Pictographic}\p{Regional_Indicator}]--[\0-\xff]]",
        WORD: r"[\p{L}\p{M}\p{N}]",
        SINGLE: (
            r"[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}"
            r"\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}&&[\p{L}\p{M}\p{N}]]"
        ),
        BRACKET: r'[<>,;()"\[\]{}]',
    }
    values = bytearray(N_CODE_POINTS)
    for code_class, pattern in patterns.items():
        matches = regex.compile(pattern, regex.VERSION1).match
        for code, character in enumerate(text):
            if matches(character):
                values[code] = code_class
    folding = [_folded(character) - ord(character) for character in text]

    class_index, class_blocks = _blocks(bytes(values), 1)
    fold_index, fold_blocks = _blocks(struct.pack(f"<{N_CODE_POINTS}i", *folding), 4)
    counts = struct.pack("<HH", len(class_blocks), len(fold_blocks))
    return b"".join(
        [counts, class_index, *class_blocks, fold_index, *fold_blocks],
    )


def _folded(character: str) -> int:
    lower = character.lower()
    return ord(lower) if len(lower) == 1 else ord(lower[0])


def _blocks(values: bytes, size: int) -> tuple[bytes, list[bytes]]:
    seen: dict[bytes, int] = {}
    step = BLOCK * size
    index = [
        seen.setdefault(values[start : start + step], len(seen))
        for start in range(0, len(values), step)
    ]
    return bytes(index), list(seen)


if __name__ == "__main__":
    Path(sys.argv[1]).write_bytes(generate())
