"""
Many documents to the terms of each in each view, at once, without the interpreter.

What comes out is what `nbtext.tokens.key_reading.read_keys` and then
`nbtext.tokens.bags.read_terms` make of each document by itself, which specify it, but
for the order of a document's terms: that in which they occur first. The compiled reader
lets go of the interpreter's lock for a whole batch, so that threads read side by side.
What it refuses is left to those two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nbtext.tokens import compiled
from nbtext.tokens.bags import Terms
from nbtext.tokens.key_reading import bytes_of, digest_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nbtext.document import Document
    from nbtext.settings.reading import Settings


class ReadBatch(NamedTuple):
    """
    Documents that were read together.

    Attributes:
        documents: those that were read.
        digests: what names each of them; none if they are not to be named.
        fingerprints: what tells their counts from those of others; likewise.
        are_mail: whether each is mail.
        views: for each view their terms.
        others: the documents that are still to be read.
    """

    documents: list[Document]
    digests: list[bytes]
    fingerprints: list[int]
    are_mail: list[bool]
    views: list[Terms]
    others: list[Document]


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
        return ReadBatch([], [], [], [], [], [*documents])
    views, digests, marks, kinds = reader.read_all(texts, are_named)
    is_read = kinds.cast("Q").tolist()
    fingerprints = marks.cast("Q").tolist() if are_named else []
    read, others, names, are_mail = [], [], [], []
    for place, (document, kind) in enumerate(zip(documents, is_read, strict=True)):
        if not kind:
            others.append(document)
            continue
        read.append(document)
        if are_named:
            digest = bytes(digests[16 * place : 16 * place + 16])
            names.append(digest_of(document, digest))
        is_mail = kind > 1 if document.is_mail is None else document.is_mail
        are_mail.append(is_mail)
    terms = [_terms_of(*view) for view in views]
    if others:
        places = np.array(is_read).nonzero()[0]
        terms = [of_view.take(places) for of_view in terms]
        if are_named:
            fingerprints = [fingerprints[place] for place in places.tolist()]
    return ReadBatch(read, names, fingerprints, are_mail, terms, others)


def _terms_of(keys: memoryview, counts: memoryview, ends: memoryview) -> Terms:
    """Return the terms of one view, as the compiled reader gives them."""
    found = np.frombuffer(keys, np.uint64)
    starts = np.zeros(len(ends) // 8 + 1, np.int64)
    starts[1:] = np.frombuffer(ends, np.int64)
    return Terms(found, np.frombuffer(counts, np.int16)[: len(found)], starts)
