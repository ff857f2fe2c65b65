from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

CONSTANTS: tuple[int, int, int, int, int, int]
"""As `nbtext.tokens.compiled.FITS` has them."""

class MailReader:
    """Reads mail down to keys."""

    def __new__(
        cls,
        views: tuple[tuple[object, ...], ...],
        answer: Callable[[int, bytes, bytes], bytes | None],
        /,
    ) -> MailReader: ...
    def read(
        self, message: bytes, is_named: bool = True, /
    ) -> tuple[tuple[memoryview, ...], bytes, bool] | None:
        """Return the keys of each view, the digest, and whether it is typical."""
    def read_all(
        self, messages: tuple[bytes, ...], are_named: bool = True, /
    ) -> tuple[
        tuple[tuple[memoryview, memoryview, memoryview], ...],
        memoryview,
        memoryview,
        memoryview,
    ]:
        """Return keys, counts, ends by view; digests, fingerprints, what was read."""
    def find_texts(self, message: bytes, finder: TextFinder | None, /) -> bool:
        """Have a finder look in a message; False if Python has to read it."""

class StoredModel:
    """A plain model, opened where it lies."""

    def __new__(cls, file: memoryview | bytes, /) -> StoredModel: ...
    def classes(self) -> tuple[str, str]:
        """Return the names of the classes, sorted."""
    def policies(self) -> list[bytes]:
        """Return the policy of each table, as it is packed; the last one decides."""
    def views(
        self,
    ) -> tuple[tuple[str, str, bool, bool, bool, bool, bool, int | None], ...]:
        """Return the settings of its views."""
    def append(self, table: bytes, /) -> bool:
        """Read a table that stands behind those of the file; False if it is odd."""
    def gather(self) -> None:
        """Gather the tables behind the first in memory."""
    def tables(self) -> tuple[int, ...]:
        """Return the length of each table, in bytes."""
    def lesson(
        self,
        place: int,
        mails: tuple[tuple[tuple[memoryview, ...], bytes], ...],
        written: str,
        writer: str,
        /,
    ) -> tuple[tuple[bool, ...], bytes] | None:
        """Return for each mail whether it was new, and the bytes of the table."""
    def score(
        self, keys: tuple[memoryview, ...], /
    ) -> (
        tuple[
            int,
            tuple[float, float],
            int,
            float,
            tuple[float, float],
            tuple[float, float],
        ]
        | None
    ):
        """
        Score a document.

        Returns:
            The place of the more probable class, the probabilities, how many terms are
            known, the score, the log posterior, and that which is printed.
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
        ngrams: bool,
        limit: int,
        /,
    ) -> tuple[memoryview, memoryview]: ...

class TextFinder:
    """Looks for the texts of terms."""

    def __new__(
        cls,
        views: tuple[tuple[object, ...], ...],
        wanted: tuple[NDArray[np.uint64], ...],
        /,
    ) -> TextFinder: ...
    def look(self, view: int, fields: list[tuple[str, str]], /) -> None:
        """Look in the fields of a document in one view."""
    def found(self, view: int, /) -> tuple[bytearray, bytearray]:
        """Return the texts of a view, and which keys have one."""

def add_by_class(
    n_terms: int,
    starts: NDArray[np.integer[Any]],
    classes: NDArray[np.uint16],
    weights: NDArray[np.integer[Any]],
    begins: NDArray[np.int64],
    places: NDArray[np.int64],
    x: NDArray[np.float64],
    own: NDArray[np.float64],
    labels: NDArray[np.int64],
    rates: NDArray[np.float64],
    smoothing: float,
    complements: NDArray[np.float64],
    owns: NDArray[np.float64],
    /,
) -> None:
    """Do what `nbtext.scoring.models.contrast_sums.add_by_class` specifies."""

def add_means_left_out(
    pairs: NDArray[np.integer[Any]],
    width: int,
    places: NDArray[np.int64],
    times: NDArray[np.int64],
    starts: NDArray[np.int64],
    labels: NDArray[np.int64],
    sizes: NDArray[np.float64],
    smoothing: float,
    least: float,
    scores: NDArray[np.float64],
    /,
) -> None:
    """Add what `nbtext.scoring.models.mean.Mean.left_out` does for one view."""

def sum_entries(
    n_starts: int,
    starts: NDArray[np.signedinteger],
    classes: NDArray[np.uint16],
    values: NDArray[np.float64],
    begins: NDArray[np.int64],
    places: NDArray[np.int64],
    x: NDArray[np.float64],
    sums: NDArray[np.float64],
    /,
) -> None:
    """Do what `nbtext.scoring.models.arrays.Said.sums` specifies."""

def correct(
    views: list[tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.uint16]]],
    n_terms: int,
    order: NDArray[np.int64],
    scored: NDArray[np.int64],
    labels: NDArray[np.int64],
    times: NDArray[np.int64],
    base: NDArray[np.int32],
    n_passes: int,
    rate: float,
    cut: float,
    decay: float,
    doubt: float,
    amounts: NDArray[np.int16],
    logits: NDArray[np.float64],
    is_kept: bool,
    /,
) -> tuple[bytearray, bytearray, bytearray]:
    """Do what `nbtext.learning.passes.correct_by_arrays` specifies."""

def find(
    keys: NDArray[np.uint64],
    buckets: NDArray[Any],
    shift: int,
    wanted: NDArray[np.uint64],
    places: NDArray[np.int64],
    /,
) -> None:
    """
    Write what `nbtext.counts.term_table.TermTable.find` returns to places.

    Raises:
        ValueError: the arrays have other sizes.

    """

def small_files(
    paths: tuple[str, ...], most: int, together: int, before: int, /
) -> list[bytes | None]:
    """Do what `nbtext.sources._ahead.small_files` specifies."""

def sum_terms(
    keys: tuple[NDArray[np.uint64], ...],
    counts: tuple[NDArray[np.uint16], ...],
    distinct: NDArray[np.uint64],
    occurrences: NDArray[np.int32],
    documents: NDArray[np.int32],
    /,
) -> int:
    """Do what `nbtext.counts.counter.sum_by_arrays` specifies; -1 if sums are large."""
