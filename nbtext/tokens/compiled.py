"""
The innermost loops, compiled: texts to keys, and keys to their places in a model.

`_compiled.c` is built where a C compiler is at hand when nbtext is installed, and used
by both engines wherever it was built. Without it, or with `NBTEXT_COMPILED=0` in the
environment, everything comes out the same, to the bit, but later
(docs/experiments/004-compiled.md).
"""

import os
import sys
from array import array
from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Final, TypeAlias

from nbtext.settings import Alphabet, View
from nbtext.tokens import codepoints
from nbtext.tokens import tokenizer as tokens
from nbtext.tokens.tokenizer import BASE, KINDS, MIX, PAIR, SPREAD, Field

if TYPE_CHECKING:
    from typing import Any

    import numpy as np
    from numpy.typing import NDArray

    from nbtext._compiled import Tables

    Buffer: TypeAlias = bytearray | array[int]

INTERFACE: Final = 1
"""Which functions `_compiled.c` has, and what they return."""


def _is_used() -> bool:
    """Return whether the loops are there, wanted, and those of this very nbtext."""
    if os.environ.get("NBTEXT_COMPILED") == "0":
        return False
    try:
        from nbtext import _compiled
    except ImportError:
        return False
    made_with = getattr(_compiled, "CONSTANTS", None)
    return made_with == (INTERFACE, BASE, SPREAD, PAIR, MIX)


IS_USED: Final = _is_used()

if IS_USED:
    from nbtext import _compiled


def keys(view: View, fields: list[Field]) -> Iterable[int]:
    """Return the key of each term of a document in one view, in any order."""
    if not IS_USED:
        return tokens.keys(view, fields)
    found, _ = _compiled_keys(view, [fields])
    return memoryview(found).cast("Q")


def document_keys(
    view: View, documents: Sequence[list[Field]]
) -> tuple["Buffer", "Buffer"]:
    """
    Return the keys of documents in one view.

    Returns:
        The keys, grouped by document, and where each document's begin among them, with
        the end: shapes (n_keys,) and (n_documents + 1,), 64-bit integers as the
        machine has them. The keys may be written to.

    """
    if IS_USED:
        return _compiled_keys(view, documents)
    found, starts = array("Q"), array("q", [0])
    for fields in documents:
        found.extend(tokens.keys(view, fields))
        starts.append(len(found))
    return found, starts


def _compiled_keys(
    view: View, documents: Sequence[list[Field]]
) -> tuple[bytearray, bytearray]:
    return _compiled.document_keys(
        list(documents),
        tokens.salt if view.fields else None,
        _tables(view.alphabet),
        view.tokens,
        view.pairs,
        view.fold_tokens,
        view.fold_pairs,
        -1 if view.limit is None else min(view.limit, sys.maxsize),
    )


def find(
    keys: "NDArray[np.uint64]",
    buckets: "NDArray[Any]",
    shift: int,
    wanted: "NDArray[np.uint64]",
    places: "NDArray[np.int64]",
) -> None:
    """
    Find the places of keys in a sorted table; only where `IS_USED`.

    Args:
        keys: shape (n_terms + 1,), sorted; the last is a sentinel.
        buckets: shape (2 ** (64 - shift),), where the keys with these top bits begin.
        shift: how many low bits of a key do not choose its bucket.
        wanted: shape (n_wanted,), the keys that are looked up.
        places: shape (n_wanted,), written to: their places, n_terms for no term's.

    Raises:
        ValueError: the arrays have other sizes.

    """
    _compiled.find(keys, buckets, shift, wanted, places)


@cache
def _tables(alphabet: Alphabet) -> "Tables":
    classes, offsets = codepoints.classes(), codepoints.offsets()
    kinds = bytes(KINDS[alphabet])
    return classes.index, classes.values, offsets.index, offsets.values, kinds
