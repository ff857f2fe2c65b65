"""
The compiled extension: whether there is one that fits, and calls to it.

It is built from `nbtext/compiled` where a C compiler is at hand when nbtext is
installed. Each file there does what the Python module of its name specifies, to the
bit, only faster (docs/experiments/004-compiled.md). `nbtext.tokens.engine` says which
of the two is used.
"""

from collections.abc import Sequence
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Final

from nbtext.constants import MOST_TOKENS
from nbtext.settings.reading import KEY_BITS, Format
from nbtext.settings.views import View
from nbtext.tokens.kinds import INTERFACE, PLAIN_TEXT, reader_of
from nbtext.tokens.tokenizer import BASE, MIX, PAIR, SPREAD, Field, limit_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from nbtext._compiled import MailReader
    from nbtext.tokens.kinds import Described

FITS: Final = (INTERFACE, BASE, SPREAD, PAIR, MIX, KEY_BITS)
"""The constants of an extension that belongs to this nbtext."""


def unfit() -> str:
    """Return why the extension is not used, nothing if it fits."""
    try:
        extension = import_module("nbtext._compiled")
    except ModuleNotFoundError:
        return "no compiled extension"
    except ImportError as error:
        return f"the compiled extension cannot be loaded: {error}"
    if getattr(extension, "CONSTANTS", None) != FITS:
        return "the compiled extension belongs to another version of nbtext"
    return ""


def document_keys(view: View, documents: Sequence[list[Field]]) -> tuple[bytes, bytes]:
    """Return what `nbtext.tokens.engine.document_keys` does."""
    reader = _kept_reader_of(described((view,), "text"))
    return reader.document_keys([in_bytes(fields) for fields in documents])


def in_bytes(fields: list[Field]) -> list[tuple[bytes, bytes]]:
    """Return fields as the compiled engine reads them."""
    return [
        (name.encode("utf-8", "surrogatepass"), text.encode("utf-8", "surrogatepass"))
        for name, text in fields
    ]


_kept_reader_of: Final = lru_cache(maxsize=64)(reader_of)


MOST_VIEWS: Final = 16
"""Maximum views that the compiled reader reads."""


@lru_cache(maxsize=8)
def reader(views: tuple[View, ...], document_format: Format) -> "MailReader | None":
    """Return what reads documents to keys, None if they are to be read in Python."""
    if len(views) > MOST_VIEWS or any(view.alphabet == "pattern" for view in views):
        return None
    return reader_of(described(views, document_format))


def described(
    views: tuple[View, ...], document_format: Format = "mail"
) -> "tuple[Described, ...]":
    """Return views as readers and finders are made of them."""
    is_mail = document_format == "mail"  # else all views read the same
    return tuple(
        (
            view.alphabet,
            view.text if is_mail else PLAIN_TEXT,
            view.fields,
            view.tokens,
            view.pairs,
            view.fold_tokens,
            view.fold_pairs,
            limit_of(view),
            view.threes and min(view.threes, MOST_TOKENS),
        )
        for view in views
    )


def text_finder(
    views: tuple[View, ...],
    document_format: Format,
    wanted: "tuple[NDArray[np.uint64], ...]",
) -> "MailReader | None":
    """
    Return what looks for the texts of terms, None if Python has to.

    Args:
        views: what is read, all of them of text.
        document_format: how documents are read.
        wanted: for each view the keys, sorted, shape (n_keys,).
    """
    if len(views) > MOST_VIEWS:
        return None
    finder = reader_of(described(views, document_format))
    finder.look_for(tuple(map(_with_buckets, wanted)))
    return finder


def _with_buckets(
    keys: "NDArray[np.uint64]",
) -> "tuple[NDArray[np.uint64], NDArray[np.int64], int]":
    """Return keys as a `nbtext.counts.term_table.TermTable` has them."""
    import numpy as np

    bits = max(len(keys).bit_length() - 1, 1)
    shift = KEY_BITS - bits
    first_bits = (keys >> np.uint64(shift)).view(np.int64)
    sizes = np.bincount(first_bits, minlength=1 << bits)
    sentinel = np.uint64(2**64 - 1)
    return np.append(keys, sentinel), np.cumsum(sizes) - sizes, shift
