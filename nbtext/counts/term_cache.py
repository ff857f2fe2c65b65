"""
The terms of documents, kept in a file: what cross-validation reads again and again.

Batches of terms go into a temporary file that nobody else can see and that is gone with
the process; they come out batch by batch, whole or some of their documents.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from copy import copy
from errno import EIO
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

from nbtext.counts.room import temporary_file
from nbtext.errors import NoRoomError
from nbtext.files import write_all
from nbtext.files.temporary import folder_of_temporary_files
from nbtext.tokens import Terms


class TermCache:
    """
    A file of terms.

    Attributes:
        labels: the class of each document, in the order of the file.
        digests: what names each document.
        sizes: how many distinct terms each has, over all views.
    """

    def __init__(self) -> None:
        """
        Keep nothing yet.

        Raises:
            NoRoomError: no file can be made in the temporary folder.
        """
        self.labels: list[str] = []
        self.digests: list[bytes] = []
        self.sizes: list[int] = []
        try:
            self._file = temporary_file()  # closed with the cache
        except OSError as error:
            raise _no_room(0, error) from error
        # for each batch where its first document stands, its views' starts, its place
        self._batches: list[tuple[int, list[NDArray[np.int64]], int]] = []
        self._views: Sequence[int] | None = None

    def __enter__(self) -> TermCache:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file, which is gone then."""
        self._file.close()

    def add(
        self, labels: Sequence[str], digests: Sequence[bytes], views: Sequence[Terms]
    ) -> None:
        """
        Keep the terms of a batch of documents.

        Raises:
            NoRoomError: the temporary folder has no room for them.
        """
        place, parts = self._file.tell(), []
        for terms in views:
            parts += [terms.keys.tobytes(), terms.counts.tobytes()]
        try:
            for part in parts:
                write_all(self._file.fileno(), part)
        except OSError as error:
            raise _no_room(sum(map(len, parts)), error) from error
        starts = [terms.starts for terms in views]
        self._batches.append((len(self.labels), starts, place))
        self.labels += labels
        self.digests += digests
        sizes = sum(np.diff(terms.starts) for terms in views)
        self.sizes += np.asarray(sizes).tolist()

    def of_views(self, places: Sequence[int]) -> TermCache:
        """Return the same file, of whose views only those at some places come out."""
        chosen = copy(self)
        chosen._views = places
        return chosen

    def batches(
        self, chosen: NDArray[np.bool_]
    ) -> Iterator[tuple[NDArray[np.int64], list[Terms]]]:
        """
        Yield the documents that are chosen, batch by batch.

        Args:
            chosen: shape (n_documents,), which.

        Yields:
            The documents' places in the file, and for each view their terms.
        """
        for first, starts, place in self._batches:
            n_documents = len(starts[0]) - 1
            wanted = np.flatnonzero(chosen[first : first + n_documents])
            if len(wanted):
                views = self._read(starts, place, 0, n_documents)
                yield wanted + first, [terms.take(wanted) for terms in views]

    def labelled(
        self, chosen: NDArray[np.bool_]
    ) -> Iterator[tuple[list[str], list[bytes], list[Terms]]]:
        """Yield the same with labels and digests in place of places, as `add` takes."""
        for places, views in self.batches(chosen):
            numbers = places.tolist()
            labels = [self.labels[place] for place in numbers]
            yield labels, [self.digests[place] for place in numbers], views

    def document(self, place: int) -> list[Terms]:
        """Return the terms of one document in each view, by its place in the file."""
        number = bisect_right(self._batches, place, key=itemgetter(0)) - 1
        first, starts, at = self._batches[number]
        return self._read(starts, at, place - first, place - first + 1)

    def _read(
        self, starts: Sequence[NDArray[np.int64]], place: int, first: int, end: int
    ) -> list[Terms]:
        """Return the terms of the documents of a batch from one on to another."""
        views = []
        for begins in starts:
            low, high, n_terms = begins[[first, end, -1]].tolist()
            keys = self._read_at(place + 8 * low, 8 * (high - low))
            counts = self._read_at(place + 8 * n_terms + 4 * low, 4 * (high - low))
            views.append(
                Terms(
                    np.frombuffer(keys, np.uint64),
                    np.frombuffer(counts, np.int32),
                    begins[first : end + 1] - low,
                )
            )
            place += 12 * n_terms
        return views if self._views is None else [views[n] for n in self._views]

    def _read_at(self, place: int, size: int) -> bytes:
        """Return bytes of the file; the system gives 2 GB at a time at the most."""
        pieces: list[bytes] = []
        while size:
            # not by the file's position, which forked processes share
            piece = os.pread(self._file.fileno(), size, place)
            if not piece:
                raise OSError(EIO, os.strerror(EIO), "a temporary file")
            pieces.append(piece)
            place, size = place + len(piece), size - len(piece)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def _no_room(n_bytes: int, error: OSError) -> NoRoomError:
    return NoRoomError(folder_of_temporary_files(), n_bytes, error, is_bounded=False)
