from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Tables: TypeAlias = tuple[bytes, memoryview, bytes, memoryview, bytes]
"""Index and values of the code points' classes and of their folding offsets, and the
kind of token that each class makes."""

CONSTANTS: tuple[int, int, int, int, int]
"""
The number of the interface, and BASE, SPREAD, PAIR and MIX of
`nbtext.tokens.tokenizer`.
"""

def document_keys(
    documents: list[list[tuple[str, str]]],
    salts: Callable[[str], int] | None,
    tables: Tables,
    tokens: bool,
    pairs: bool,
    fold_tokens: bool,
    fold_pairs: bool,
    limit: int,
    /,
) -> tuple[bytearray, bytearray]: ...
def find(
    keys: NDArray[np.uint64],
    buckets: NDArray[Any],
    shift: int,
    wanted: NDArray[np.uint64],
    places: NDArray[np.int64],
    /,
) -> None: ...
