"""
The texts of terms: documents and the keys that are wanted in, each key's text out.

A key does not tell its term, so a model that shall name its terms keeps their texts. A
text is what the key is a hash of, in folded form, so that it is the same in whichever
document it is found:

    the name of the field, if the view has fields, and 0x00
    the token, in UTF-8
    0x00 and the second token, if the term is a pair

or the bytes of an n-gram, or the value of a category. 0xFF ends it. Neither of the
two bytes is in any token: U+0000 is never part of one, and UTF-8 has no 0xFF. Terms of
which that is not so, or whose text is longer than MOST_TEXT, have none.

`PlainFinder` is the specification; a `nbtext._compiled.MailReader` does the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from nbtext._compiled import MailReader
    from nbtext.document import Document
    from nbtext.settings.reading import Settings
    from nbtext.settings.views import View
    from nbtext.tokens.tokenizer import Field

    Keys = NDArray[np.uint64]

from nbtext.errors import SourceError
from nbtext.tokens import compiled, definition
from nbtext.tokens.engine import engine
from nbtext.tokens.key_reading import are_read_together, bytes_of
from nbtext.tokens.reading import read

MOST_TEXT: Final = 256
"""Maximum bytes of a text, without its end."""

PART_END: Final = b"\0"
"""What stands between the parts of a text."""

TEXT_END: Final = b"\xff"
"""What ends a text."""


class PlainFinder:
    """Looks for the texts of terms in one document after the other."""

    def __init__(self, views: Sequence[View], wanted: Sequence[Keys]) -> None:
        """Look for texts."""
        self._views = views
        self._wanted = [keys.tolist() for keys in wanted]
        self._left = [set(keys) for keys in self._wanted]
        self._texts: list[dict[int, bytes]] = [{} for _ in views]

    def look(self, view: int, fields: list[Field], /) -> None:
        """Look in the fields of a document in one view."""
        left, settings = self._left[view], self._views[view]
        if not left:
            return
        keys = definition.defined_keys(settings, fields)
        for text, key in zip(_texts(settings, fields), keys, strict=True):
            if key in left and text is not None:
                left.discard(key)
                if len(text) <= MOST_TEXT:
                    self._texts[view][key] = text

    def found(self, view: int, /) -> tuple[bytes, bytes]:
        """
        Return what was found of a view.

        Returns:
            The texts in the order of their keys, each with its end; and a byte for each
            key that was wanted, 1 if it has a text.
        """
        texts = self._texts[view]
        having = [texts[key] + TEXT_END for key in self._wanted[view] if key in texts]
        return b"".join(having), bytes(key in texts for key in self._wanted[view])


def _texts(view: View, fields: list[Field]) -> Iterator[bytes | None]:
    """Yield the text of each term, None if it can have none."""
    for name, token, second in definition.terms(view, fields):
        if view.alphabet == "ngrams":
            yield token.encode("utf-8", "surrogateescape")
            continue
        parts = [name] if view.fields else []
        parts.append(token)
        if second is not None:
            parts.append(second)
        encoded = [part.encode("utf-8", "surrogatepass") for part in parts]
        has_end = any(PART_END in part for part in encoded)
        yield None if has_end else PART_END.join(encoded)


def find_texts(
    settings: Settings, documents: Sequence[Document], wanted: Sequence[Keys]
) -> list[tuple[bytes | bytearray, NDArray[np.bool_]]]:
    """
    Look for the texts of terms in documents; the first that has a term tells its text.

    Args:
        settings: how documents are read, without a secret.
        documents: where to look; those that cannot be read are passed over.
        wanted: for each view of the settings the keys, sorted, shape (n_keys,).

    Returns:
        For each view the texts in the order of their keys, each with its end, and which
        of the wanted keys have one, shape (n_keys,).
    """
    n = settings.n_texts
    texts, quick = settings.views[:n], None
    if engine().is_compiled:
        quick = compiled.text_finder(texts, settings.format, tuple(wanted[:n]))
    of_texts = quick or PlainFinder(texts, wanted[:n])
    attributes = settings.views[n:]
    of_attributes = PlainFinder(attributes, wanted[n:])
    finders: list[tuple[PlainFinder | MailReader, int]]
    finders = [(of_texts, view) for view in range(n)]
    finders += [(of_attributes, view) for view in range(len(attributes))]
    reader = quick if are_read_together(settings) else None
    for document in documents:
        data = None if reader is None else bytes_of(document, settings)
        if reader and data is not None and reader.find_texts(data):
            continue
        try:
            views = read(document, settings).views
        except SourceError:
            continue
        for (finder, view), fields in zip(finders, views, strict=True):
            if isinstance(finder, PlainFinder):
                finder.look(view, fields)
            else:
                finder.look(view, compiled.in_bytes(fields))
    found = [finder.found(view) for finder, view in finders]
    return [(texts, np.frombuffer(states, np.uint8) == 1) for texts, states in found]
