from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

CONSTANTS: tuple[int, int, int, int, int, int]
"""As `nbtext.tokens.compiled.FITS` has them."""

class MailReader:
    """
    Reads mail, or plain texts, down to keys; see `nbtext.tokens.key_reading`.

    Args:
        views: each (tables, text, fields, tokens, pairs, fold_tokens, fold_pairs,
            ngrams, limit, threes) as in `nbtext.settings.views.View`, but for threes,
            0 for none, and the text: 0 is headers, 1 raw, 2 body, and 3, of all views
            then, a text that is no mail.
            Tables are of code points: their classes in blocks, index and values, their
            folding offsets, 32-bit integers, likewise, and the kind of each class.
        answer: returns bytes, or None, for a number of a question and two bytes.

    """

    def __new__(
        cls,
        views: tuple[tuple[object, ...], ...],
        answer: Callable[[int, bytes, bytes], bytes | None],
        /,
    ) -> MailReader: ...
    def read(
        self,
        messages: tuple[bytes, ...],
        are_named: bool = True,
        are_counted: bool = True,
        /,
    ) -> tuple[tuple[tuple[bytes, bytes, bytes], ...], bytes]:
        """
        Read messages.

        Args:
            messages: any bytes.
            are_named: whether they get digests and fingerprints.
            are_counted: whether each key comes once, with how often it occurs, or as
                often as it occurs.

        Returns:
            For each view the keys of each message, how often each of them occurs
            (16-bit integers, perhaps some too many; none if they are not counted) and
            where each message's keys end. Then for each message 32 bytes: a digest of
            16 and a fingerprint, which mean nothing if it is not named, and a number: 1
            for one that was read, 2 if it is mail that is typical, 0 for one that
            `nbtext.tokens.reading.read` is to read.

        """
    def document_keys(
        self, documents: list[list[tuple[bytes, bytes]]], /
    ) -> tuple[bytes, bytes]:
        """
        Return the keys of documents in its one view, and where each document's begin.

        Args:
            documents: each a list of fields, each (name, text) in UTF-8.

        Returns:
            Two buffers of 64-bit integers: the keys, of each document in the order of
            the definition, and n_documents + 1 places among them.

        """
    def look_for(
        self,
        wanted: tuple[tuple[NDArray[np.uint64], NDArray[np.int64], int], ...],
        /,
    ) -> None:
        """
        Begin to look for the texts of terms; see `nbtext.tokens.text_finding`.

        Args:
            wanted: for each view keys, buckets and shift of its terms, as
                `nbtext.counts.term_table.TermTable` has them.

        """
    def find_texts(self, message: bytes, /) -> bool:
        """
        Look in the texts of a message.

        Returns:
            False if its fields are to be read by `nbtext.tokens.reading.read`.

        Raises:
            RuntimeError: nothing is looked for, or another thread looks; likewise
                below.

        """
    def look(self, view: int, fields: list[tuple[bytes, bytes]], /) -> None:
        """Look in fields, as above, for the terms of a view, by its number."""
    def found(self, view: int, /) -> tuple[bytearray, bytearray]:
        """
        Return the texts of a view in the order of their keys, and which keys have one.

        Returns:
            The texts, and a byte for each key that was wanted: 1 if it has a text.

        """

class StoredModel:
    """
    A plain model, opened where it lies: two classes of mail, by the mean score.

    It decides as `nbtext.scoring.classifier.Classifier` does.

    Args:
        file: all bytes of a model file, which it keeps.

    Raises:
        ValueError: it is another kind of model, or damaged: `nbtext.scoring.model`
            reads it.

    """

    def __new__(cls, file: memoryview | bytes, /) -> StoredModel: ...
    def classes(self) -> tuple[str, str]:
        """Return the names of the classes, sorted."""
    def views(
        self,
    ) -> tuple[tuple[str, str, bool, bool, bool, bool, bool, int | None, None], ...]:
        """
        Return the settings of its views.

        Returns:
            For each view its alphabet, and text, fields, tokens, pairs, fold_tokens,
            fold_pairs, limit and threes, as `nbtext.settings.views.View` has them.

        """
    def append(self, table: bytes, /) -> bool:
        """
        Read the bytes of a table that now stands behind those of the file.

        Returns:
            Whether it goes with the model, which is of no use any more if not.

        Raises:
            RuntimeError: the model is being read by another thread.

        """
    def gather(self, before: StoredModel | None, /) -> None:
        """
        Gather the tables behind the first in memory, for a model that is kept open.

        Args:
            before: the model that was kept open until now. If its first table is the
                same, the counts that it has in memory of it are taken from it.

        Raises:
            RuntimeError: the model is being read by another thread.

        """
    def tables(self) -> tuple[tuple[int, bytes], ...]:
        """
        Return the length of each table, in bytes, and its policy.

        The policy is as it is packed, or b""; the last one decides.
        """
    def header(self) -> tuple[bytes, bytes, bytes, bytes, int, int]:
        """
        Return what a table says that is put behind those of the file.

        Returns:
            The settings, the scoring, that of scores, and the policy, none if it is
            empty, each as they are packed; how many undo records are kept; and how long
            all tables are, in bytes.

        """
    def rows(self, digest: bytes, /) -> list[tuple[int, int, int, int]] | None:
        """
        Return in which classes a document is counted.

        Args:
            digest: 16 bytes.

        Returns:
            For each class, and what tells counts from others: the place of the class, 0
            or 1; the fingerprint; how often; and into which bin the document's score
            fell before it was learnt, NO_BIN if nobody knows. None if that is not to be
            said here.

        """
    def held_out(self) -> bytes:
        """
        Return what the tables keep of held-out scores.

        Returns:
            Rows as `newton` takes them, those of each table in turn; what is less than
            zero is taken away.

        """
    def score(
        self,
        views: tuple[tuple[bytes, bytes, bytes], ...],
        /,
    ) -> (
        tuple[list[tuple[float, int, int]], tuple[float, float], tuple[int, int]] | None
    ):
        """
        Score documents, whose terms are as `MailReader.read` returns them.

        Args:
            views: for each view the keys of each document, 64-bit integers, how often
                each of them occurs, 16-bit integers, or none for once, and where each
                document's keys end, 64-bit integers.

        Returns:
            For each document the score, not calibrated, how many of its terms the model
            knows and how many it has; slope and offset of the calibration; how many
            documents each class has. None if the file is damaged, which
            `nbtext.scoring.model` says how.

        Raises:
            ValueError: the views are of different documents, or say of more terms than
                there are.

        """

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
    copies: NDArray[np.int64],
    sizes: NDArray[np.float64],
    smoothing: float,
    least: float,
    scores: NDArray[np.float64],
    /,
) -> None:
    """
    Add what `nbtext.scoring.models.mean.Mean.many` does for one view.

    Args:
        pairs: each term's counts in the first and second class.
        width: the bytes of each of these counts, 4 or 8.
        places: the terms of the documents among those.
        times: how often each of them counts.
        starts: where each document's terms begin, and their end.
        labels: the documents' classes.
        copies: how often each document is counted.
        sizes: the sums of the counts of the two classes.
        smoothing: a, as in `nbtext.scoring.models.mean`.
        least: odds below it, and above its reciprocal, count nothing.
        scores: added to: the mean of what a document's terms say where it alone was not
            counted.

    """

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
    """
    Do what `nbtext.learning.passes.correct_by_arrays` specifies.

    The list of the views is empty then.

    Returns:
        Its entries, three arrays: places (32 bits), classes (16) and values (64); of
        one that is not kept, none.

    """

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
    paths: tuple[bytes, ...], most: int, together: int, before: int, /
) -> list[bytes | None]:
    """Do what `nbtext.sources._ahead.small_files` specifies."""

def newton(
    rows: memoryview,
    bins_a_nat: int,
    slope: float,
    offset: float,
    likely: float,
    precision: float,
    equal: float,
    /,
) -> tuple[float, float]:
    """
    Do what `nbtext.counts.fitting._newton` does, for sizes as they are.

    Args:
        rows: two 64-bit integers each: twice a bin, and one more of the second class;
            and how many documents had a score in it.
        bins_a_nat: how many bins a nat has.
        slope: where it begins.
        offset: likewise.
        likely: of the prior, the slope, as `nbtext.counts.calibration.Prior` has it.
        precision: likewise, of the slope.
        equal: likewise, of the offset where classes are of equal size.
    """

def checksums(header: bytes, arrays: bytes, /) -> tuple[bytes, bytearray]:
    """
    Return the checksum of the header of a table, and those of the blocks of its arrays.

    Args:
        header: all but its checksum.
        arrays: what stands between the first array's begin and the last one's end.
    """

def sum_terms(
    terms: tuple[
        tuple[NDArray[np.uint64] | bytes, NDArray[np.uint16] | bytes],
        ...,
    ],
    /,
) -> tuple[bytearray, bytearray, bytearray] | None:
    """
    Do what `nbtext.counts.counter.sum_by_arrays` specifies.

    Args:
        terms: keys, the 16 upper bits of each being 0, and as many counts.

    Returns:
        The distinct keys, 64-bit integers, and of each how often it occurs, and in how
        many documents, 32-bit integers; None if one does not fit.
    """
