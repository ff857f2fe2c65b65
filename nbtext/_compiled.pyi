from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

CONSTANTS: tuple[int, int, int, int, int]
"""
The number of the interface, and BASE, SPREAD, PAIR and MIX of
`nbtext.tokens.tokenizer`.
"""

class Tables:
    """The kind of token and the folded form of each code point."""

    def __new__(
        cls,
        class_index: bytes,
        classes: memoryview,
        fold_index: bytes,
        offsets: memoryview,
        kinds: bytes,
        /,
    ) -> Tables: ...
    def document_keys(
        self,
        documents: list[list[tuple[str, str]]],
        salts: Callable[[str], int] | None,
        tokens: bool,
        pairs: bool,
        fold_tokens: bool,
        fold_pairs: bool,
        limit: int,
        /,
    ) -> tuple[bytearray, bytearray]: ...
    def ngram_keys(
        self, documents: list[list[tuple[str, str]]], fold_tokens: bool, limit: int, /
    ) -> tuple[bytearray, bytearray]: ...

def find(
    keys: NDArray[np.uint64],
    buckets: NDArray[Any],
    shift: int,
    wanted: NDArray[np.uint64],
    places: NDArray[np.int64],
    /,
) -> None: ...
