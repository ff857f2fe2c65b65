"""
Plain mail into a plain model file, with what the compiled engine says of both.

Mails and a class go in; what they add is put behind the tables of the file, durably,
byte for byte as `nbtext.learning.stream` would, which is the specification. Plain is a
model of two classes of mail by the mean score, calibrated, with a ledger and without a
correction; and a mail that the class does not know, or knows already. Of everything
else nothing is learnt, and None comes out: `nbtext.learning.stream` does it. A tail
that is due is compacted before.

What is imported here is waited for with each message that is learnt.
"""

import os
import sys
from fcntl import LOCK_EX, LOCK_NB, LOCK_UN, flock

from nbtext.files import is_in_place
from nbtext.scoring.stored import FEW, FEW_BYTES, stored_at
from nbtext.store.appending import WRITER, append_table, is_due, now
from nbtext.store.plain_table import (
    MOST_TERMS,
    numbers_of,
    pack_table,
    smallest,
    term_arrays,
)
from nbtext.tokens.kinds import reader_of

TYPE_CHECKING = False  # typing takes longer to import than a message to learn
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Final, TypeAlias

    from nbtext._compiled import MailReader, StoredModel
    from nbtext.store.plain_table import Array, Value

    Terms: TypeAlias = tuple[memoryview, memoryview]
    """The distinct keys of a mail in one view, and how often each occurs, 16 bits."""

    Sums: TypeAlias = tuple[bytes, bytes, bytes]
    """Sorted keys, how often each occurs, and in how many mails, 32 bits."""

PRIOR: "Final" = (0.35, 100.0, 1.0)
"""What is expected of the fit, as `nbtext.scoring.models.mean` has it."""

BINS_A_NAT: "Final" = 16
ROUNDED: "Final" = 9
FARTHEST_BIN: "Final" = 4096
"""As `nbtext.counts.calibration` has them."""

_NOTHING_YET: "tuple[bool, ...]" = ()
"""What has become of mails where the tail was to be compacted first."""


def learn_stored(
    path: str,
    label: str,
    mails: "Sequence[bytes]",
    classes: tuple[str, str] | None = None,
) -> "tuple[bool, ...] | None":
    """
    Learn mails, if they, the model and the class are plain, and nobody else has it.

    Args:
        path: the model file.
        label: the class.
        mails: one or more.
        classes: those that the model must have, None for any two.

    Returns:
        For each whether it was learnt now, and not known in the class before; None if
        nothing was learnt.

    Raises:
        ModelWriteError: the model cannot be written; it is as it was.
    """
    return StoredLearner(path, classes).learn(label, mails)


class StoredLearner:
    """
    A model file that is taught by `learn`.

    For a process that teaches it again and again the model stays open: its tail is one
    table of changes in memory, and a lesson takes as long whatever stands in the file.
    One thread at a time may use it.
    """

    __slots__ = ("_classes", "_is_kept", "_model", "_path", "_reader", "_state")

    def __init__(
        self,
        path: str,
        classes: tuple[str, str] | None = None,
        *,
        is_kept: bool = False,
    ) -> None:
        """
        Open nothing yet.

        Args:
            path: the model file.
            classes: those that it must have, None for any two.
            is_kept: whether the model stays open.
        """
        self._path = path
        self._classes = classes
        self._is_kept = is_kept
        self._model: StoredModel | None = None
        self._reader: MailReader | None = None
        self._state: tuple[int, ...] = ()

    def learn(self, label: str, mails: "Sequence[bytes]") -> "tuple[bool, ...] | None":
        """
        Learn mails as `learn_stored` does.

        Raises:
            ModelWriteError: the model cannot be written; it is as it was.
        """
        if not _are_few(mails):
            return None
        learnt = self._learn_if_free(label, mails, may_compact=True)
        if learnt != _NOTHING_YET:
            return learnt
        return self._learn_if_free(label, mails, may_compact=False)

    def _learn_if_free(
        self, label: str, mails: "Sequence[bytes]", *, may_compact: bool
    ) -> "tuple[bool, ...] | None":
        """Learn mails, if nobody else has the model; or compact it, if that is due."""
        try:
            # not to wait for the other end if it is a pipe
            descriptor = os.open(self._path, os.O_RDWR | os.O_NONBLOCK)
        except (OSError, ValueError):
            return None
        try:
            if _is_locked_by_us(descriptor) and is_in_place(self._path, descriptor):
                model = self._opened(descriptor)
                if model is not None and may_compact and is_due(_lengths_of(model)):
                    from nbtext.store.compacting import is_tail_compacted  # seldom

                    return _NOTHING_YET if is_tail_compacted(self._path) else None
                return self._learn(descriptor, model, label, mails)
        except BaseException:
            self._model = None
            raise
        finally:
            _let_go(descriptor)
        return None

    def _learn(
        self,
        descriptor: int,
        model: "StoredModel | None",
        label: str,
        mails: "Sequence[bytes]",
    ) -> "tuple[bool, ...] | None":
        """Learn mails into the model that is locked."""
        if model is None or self._reader is None:
            return None
        classes = model.classes()
        if label not in classes or self._classes not in (None, classes):
            return None
        header = {"writer": WRITER, "written": now()}
        lesson = lesson_of(model, self._reader, label, mails, header)
        if lesson is None:
            return None
        are_new, table = lesson
        if table:
            append_table(self._path, descriptor, model.header()[-1], [table])
            if not is_in_place(self._path, descriptor):
                return None  # another model stands there now, which is taught too
            self._keep(descriptor, model, table)
        return are_new

    def _opened(self, descriptor: int) -> "StoredModel | None":
        """Return the model as it is in its file, opened unless it is already."""
        state = _state_of(descriptor)
        if state is None:
            return None  # others open it, and say what is wrong
        if self._model is None or state != self._state:
            before, self._model, self._state = self._model, None, state
            model = stored_at(descriptor)
            if model is None:
                return None
            self._reader = reader_of(model.views())
            self._model = model
            if self._is_kept:
                model.gather(before)
        return self._model

    def _keep(self, descriptor: int, model: "StoredModel", table: bytes) -> None:
        """Add a table that was appended to the model that stays open."""
        # the table is in the file, so nothing may fail any more
        state = _state_of(descriptor) if self._is_kept else None
        if state is not None and model.append(table):
            self._state = state
        else:
            self._model = None


def _state_of(descriptor: int) -> tuple[int, ...] | None:
    """Return what tells one state of a file from another, None if that is not known."""
    try:
        found = os.fstat(descriptor)
    except OSError:
        return None
    return (
        found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
    )  # fmt: skip


def _lengths_of(model: "StoredModel") -> list[int]:
    """Return the length of each table, in bytes."""
    return [length for length, _ in model.tables()]


def _are_few(mails: "Sequence[bytes]") -> bool:
    return len(mails) <= FEW and sum(map(len, mails)) <= FEW_BYTES and all(mails)


def _is_locked_by_us(descriptor: int) -> bool:
    """Lock an open file, if nobody else has."""
    try:
        flock(descriptor, LOCK_EX | LOCK_NB)
    except OSError:
        return False
    return True


def _let_go(descriptor: int) -> None:
    # not left to closing: a process that was forked meanwhile may hold it too
    try:  # noqa: SIM105  contextlib takes long to import
        flock(descriptor, LOCK_UN)
    except OSError:
        pass
    # what was written was made durable, or is not
    try:  # noqa: SIM105  contextlib takes long to import
        os.close(descriptor)
    except OSError:
        pass


# --- a lesson -------------------------------------------------------------------------


class Mail:
    """A mail that is learnt: its digest, fingerprint, terms in each view, and score."""

    __slots__ = ("digest", "mark", "score", "terms")

    def __init__(self, digest: bytes, mark: bytes, terms: "list[Terms]") -> None:
        self.digest, self.mark, self.terms, self.score = digest, mark, terms, 0.0


class NotHereError(Exception):
    """A lesson is one for `nbtext.learning.stream`."""


def lesson_of(
    model: "StoredModel",
    reader: "MailReader",
    label: str,
    mails: "Sequence[bytes]",
    header: "Mapping[str, Value]",
) -> "tuple[tuple[bool, ...], bytes] | None":
    """
    Return what learning mails adds to a model.

    Args:
        model: it has the class.
        reader: of its views.
        label: the class.
        mails: one or more.
        header: which program writes it, and when, by the names of the file.

    Returns:
        For each mail whether it was not known in the class yet, and the bytes of the
        table to append, none if all were known; None if `nbtext.learning.stream` is to
        do it.
    """
    try:
        new, are_new = _new_of(model, reader, label, mails)
        return are_new, _table_of(model, label, new, header) if new else b""
    except NotHereError:
        return None


def _new_of(
    model: "StoredModel", reader: "MailReader", label: str, mails: "Sequence[bytes]"
) -> tuple[list[Mail], tuple[bool, ...]]:
    """Return mails that are not known yet, and for each of all whether it is one."""
    views, digests, marks, kinds = reader.read_all(tuple(mails))
    if not all(kinds.cast("Q")) or sys.byteorder != "little":  # as the file is
        raise NotHereError
    place = model.classes().index(label)
    new: dict[int, Mail] = {}
    for n in range(len(mails)):
        digest = bytes(digests[16 * n : 16 * n + 16])
        is_known = model.is_known(digest, place)
        if is_known is None or any(digest == mail.digest for mail in new.values()):
            raise NotHereError  # it is to be moved, or is a copy of another
        if not is_known:
            terms = [_terms_of(*view, n) for view in views]
            new[n] = Mail(digest, bytes(marks[8 * n : 8 * n + 8]), terms)
    if new:
        scored = model.score_all(views)
        if scored is None or len(new) > scored[-1][place]:
            raise NotHereError  # those that outgrow a model are scored afterwards
        scores = memoryview(scored[0]).cast("d")
        for n, mail in new.items():
            mail.score = scores[n]
    return [*new.values()], tuple([n in new for n in range(len(mails))])


def _terms_of(
    keys: memoryview, counts: memoryview, ends: memoryview, number: int
) -> "Terms":
    """Return the terms of one of the mails that were read together."""
    bounds = ends.cast("Q")
    start, end = bounds[number - 1] if number else 0, bounds[number]
    return keys[8 * start : 8 * end], counts[2 * start : 2 * end]


def _table_of(
    model: "StoredModel", label: str, mails: list[Mail], header: "Mapping[str, Value]"
) -> bytes:
    """Return the table that adds mails of a class."""
    settings, scoring, scores, policy, keep, size = model.header()
    views = [text for _, text, *_ in model.views()]
    sums = [_sums([mail.terms[n] for mail in mails]) for n in range(len(views))]
    n_terms = [len(keys) // 8 for keys, _, _ in sums]
    known = _n_known(model, [keys for keys, _, _ in sums])
    n_mails = len(mails)
    bins = [bin_of(mail.score) for mail in mails]
    kept = _kept_of(n_mails, keep)
    arrays = _arrays_of(views, sums, mails)
    if kept:
        arrays += _records(views, mails[-kept:], bins[-kept:])
    whole: dict[str, Value] = {
        **header,
        "settings": settings,
        "scoring": scoring,
        "classes": (label,),
        "documents": (n_mails,),
        "totals": [
            ((sum(numbers_of(times)), n if n_mails == 1 else sum(documents[::4])),)
            for n, (_, times, documents) in zip(n_terms, sums, strict=True)
        ],
        "terms": n_terms,
        "calibrations": (_calibration_of(model, label, bins, scores),),
        "history": {
            "trained": "",
            "taught": n_mails,
            "learnt": {label: header["written"]},
            "offset": size,
            "new_terms": [n - old for n, old in zip(n_terms, known, strict=True)],
            "records": kept,
            "keep": keep,
            "run": size,
        },
    }
    table = pack_table(whole | {"policy": policy} if policy else whole, arrays)
    if table is None:
        raise NotHereError
    return table


def _kept_of(n_mails: int, keep: int) -> int:
    """Return how many records there are; a table that adds one mail is its own."""
    return min(n_mails, keep) if n_mails > 1 else 0


def _calibration_of(
    model: "StoredModel", label: str, bins: list[int], scores: bytes
) -> "dict[str, Value]":
    """Return what is kept of scores, and what is fitted with them."""
    fit = model.fit(model.classes().index(label), bytes_of(bins), *PRIOR)
    if fit is None:
        raise NotHereError
    return {
        "scoring": scores,
        "prior": PRIOR,
        "counts": [(bin_, label, bins.count(bin_)) for bin_ in sorted({*bins})],
        "losses": (),
        "documents": {label: len(bins)},
        "fit": fit,
    }


def _n_known(model: "StoredModel", keys: list[bytes]) -> list[int]:
    """Return of each view how many of its keys the model knows."""
    known = []
    for place, of_view in enumerate(keys):
        others = len(keys) - place - 1
        found = model.score((*(b"",) * place, of_view, *(b"",) * others))
        if found is None:
            raise NotHereError
        known.append(found[1])
    return known


def bin_of(score: float) -> int:
    """Return the bin that a score falls into, as `nbtext.counts.calibration` does."""
    bin_ = int(round(score * BINS_A_NAT, ROUNDED) // 1)  # as floor, which is in math
    return max(-FARTHEST_BIN, min(FARTHEST_BIN, bin_))


def bytes_of(bins: list[int]) -> bytes:
    """Return bins as 16-bit integers."""
    return b"".join([bin_.to_bytes(2, "little", signed=True) for bin_ in bins])


def _sums(terms: "list[Terms]") -> "Sums":
    """Add up what mails have in one view."""
    from nbtext._compiled import sum_terms  # there need not be any

    keys, counts = zip(*terms, strict=True)
    room = sum(map(len, keys)) // 8
    sums = bytearray(8 * room), bytearray(4 * room), bytearray(4 * room)
    n = sum_terms(keys, counts, *sums)
    if not 0 <= n < MOST_TERMS:
        raise NotHereError
    return bytes(sums[0][: 8 * n]), bytes(sums[1][: 4 * n]), bytes(sums[2][: 4 * n])


# --- arrays ---------------------------------------------------------------------------


def _arrays_of(
    views: list[str], sums: "list[Sums]", mails: list[Mail]
) -> "list[Array]":
    """Return the arrays of terms, and of the ledger."""
    arrays = []
    for name, of_view in zip(views, sums, strict=True):
        arrays += term_arrays(name, *of_view)
    arrays += _documents("ledger", sorted(mails, key=_digest_of))
    arrays.append(("ledger.counts", "u1", b"\1" * len(mails)))
    return arrays


def _documents(prefix: str, mails: list[Mail]) -> "list[Array]":
    """Return the arrays that say which mails there are, all of the first class."""
    return [
        (f"{prefix}.high", "u8", b"".join([mail.digest[7::-1] for mail in mails])),
        (f"{prefix}.low", "u8", b"".join([mail.digest[:7:-1] for mail in mails])),
        (f"{prefix}.fingerprints", "u8", b"".join([mail.mark for mail in mails])),
        (f"{prefix}.classes", "u1", bytes(len(mails))),
    ]


def _records(views: list[str], mails: list[Mail], bins: list[int]) -> "list[Array]":
    """Return the arrays of what mails left, to be undone."""
    arrays = [*_documents("undo", mails), ("undo.bins", "i2", bytes_of(bins))]
    for place, name in enumerate(views):
        sums = [_sums([mail.terms[place]]) for mail in mails]
        times = [n for _, occurrences, _ in sums for n in numbers_of(occurrences)]
        arrays += [
            (f"undo.{name}.sizes", *smallest([len(keys) // 8 for keys, _, _ in sums])),
            (f"undo.{name}.keys", "u8", b"".join([keys for keys, _, _ in sums])),
            (f"undo.{name}.counts", *smallest(times)),
        ]
    return arrays


def _digest_of(mail: Mail) -> bytes:
    return mail.digest
