"""
Many documents to the terms of each in each view, at once, without the interpreter.

What comes out is what `nbtext.tokens.key_reading.read_keys` and then
`nbtext.tokens.bags.read_terms` make of each document by itself, which specify it, but
for the order of a document's terms: that in which they occur first. The compiled reader
lets go of the interpreter's lock for a whole batch, so that threads read side by side.
What it refuses is left to those two.

Nothing is loaded for arrays before they are asked for: the compiled engine scores plain
mail without them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nbtext.tokens import compiled
from nbtext.tokens.key_reading import bytes_of, digest_of, is_mail_by

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nbtext.document import Document
    from nbtext.settings.reading import Settings
    from nbtext.tokens.bags import Terms
    from nbtext.tokens.key_reading import PackedTerms


class ReadBatch:
    """
    Documents that were read together.

    Attributes:
        documents: those that were read.
        digests: what names each of them; none if they are not to be named.
        fingerprints: what tells their counts from those of others; likewise.
        others: the documents that are still to be read.
        packed: the terms of all documents in the order in which they were given, of
            which the others have none.
        places: the places of those that were read among all.
        kinds: what the compiled reader has read each as.
    """

    def __init__(
        self, settings: Settings, others: list[Document], packed: PackedTerms = ()
    ) -> None:
        """Say of no document yet that it was read."""
        self.documents: list[Document] = []
        self.digests: list[bytes] = []
        self.fingerprints: list[int] = []
        self.kinds: list[int] = []
        self.places: list[int] = []
        self.others = others
        self.packed = packed
        self._settings = settings
        self._views: list[Terms] | None = None

    @property
    def are_mail(self) -> list[bool]:
        """Whether each of the documents that were read is mail."""
        read = zip(self.kinds, self.documents, strict=True)
        return [is_mail_by(kind, one, self._settings) for kind, one in read]

    @property
    def views(self) -> list[Terms]:
        """The terms of the documents that were read, by view, as arrays."""
        if self._views is None:
            self._views = [_terms_of(*of_view) for of_view in self.packed]
            if self.others:
                import numpy as np

                places = np.array(self.places, np.intp)
                self._views = [terms.take(places) for terms in self._views]
        return self._views


def read_together(
    documents: Sequence[Document], settings: Settings, *, are_named: bool = True
) -> ReadBatch:
    """
    Read documents of settings that `are_read_together`.

    Args:
        documents: any documents.
        settings: how they are read.
        are_named: whether their digests are wanted, which take a quarter of the time.

    Raises:
        MemoryError: there is too little for all of them.
    """
    reader = compiled.reader(settings.views, settings.format)
    given = [bytes_of(document, settings) for document in documents]
    texts = tuple([text for text in given if text is not None])
    if reader is None or len(texts) < len(documents):
        return ReadBatch(settings, [*documents])
    packed, facts = reader.read(texts, are_named)
    numbers = memoryview(facts).cast("Q").tolist()
    fingerprints, kinds = numbers[2::4], numbers[3::4]
    batch = ReadBatch(settings, [], packed)
    for place, (document, kind) in enumerate(zip(documents, kinds, strict=True)):
        if not kind:
            batch.others.append(document)
            continue
        batch.documents.append(document)
        batch.places.append(place)
        if are_named:
            digest = facts[32 * place : 32 * place + 16]
            batch.digests.append(digest_of(document, digest))
            batch.fingerprints.append(fingerprints[place])
        batch.kinds.append(kind)
    return batch


def _terms_of(keys: bytes, counts: bytes, ends: bytes) -> Terms:
    """Return the terms of one view, as the compiled reader gives them."""
    import numpy as np

    from nbtext.tokens.bags import Terms

    found = np.frombuffer(keys, np.uint64)
    starts = np.zeros(len(ends) // 8 + 1, np.int64)
    starts[1:] = np.frombuffer(ends, np.int64)
    return Terms(found, np.frombuffer(counts, np.uint16)[: len(found)], starts)
