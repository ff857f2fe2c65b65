"""
Plain mail into a plain model file, with what the compiled engine says of both.

Mails and a class go in; what they add is put behind the tables of the file, durably,
byte for byte as `nbtext.learning.stream` would, which is the specification. Plain is a
model of two classes of mail by the mean score, calibrated, with a ledger and without a
correction; and a mail that the model does not know, or knows once. Of everything else
nothing is done, and None comes out: `nbtext.learning.stream` does it. A tail that is
due is compacted before.

What is imported here is waited for with each message that is learnt.
"""

import os
from fcntl import LOCK_EX, LOCK_NB, LOCK_UN, flock

from nbtext.files import is_in_place
from nbtext.learning.lesson import lesson_of
from nbtext.scoring.stored import FEW, FEW_BYTES, stored_at
from nbtext.store.appending import WRITER, append_table, is_due, now
from nbtext.tokens.kinds import reader_of

TYPE_CHECKING = False  # typing takes longer to import than a message to learn
if TYPE_CHECKING:
    from collections.abc import Sequence

    from nbtext._compiled import MailReader, StoredModel
    from nbtext.learning.lesson import Outcome
    from nbtext.tokens.kinds import Described

_NOTHING_YET: "tuple[Outcome, ...]" = ()
"""What has become of mails where the tail was to be compacted first."""


def learn_stored(
    path: str,
    label: str | None,
    mails: "Sequence[bytes]",
    classes: tuple[str, str] | None = None,
) -> "tuple[Outcome, ...] | None":
    """
    Learn mails, if they, the model and the class are plain, and nobody else has it.

    Args:
        path: the model file.
        label: the class, None to forget a mail.
        mails: one or more.
        classes: those that the model must have, None for any two.

    Returns:
        For each what has become of it, as `lesson_of` says; None if nothing was done.

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

    __slots__ = (
        "_classes", "_is_kept", "_model", "_path", "_reader", "_state", "_views"
    )  # fmt: skip

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
        self._views: tuple[Described, ...] = ()
        self._state: tuple[int, ...] = ()

    def learn(
        self, label: str | None, mails: "Sequence[bytes]"
    ) -> "tuple[Outcome, ...] | None":
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
        self, label: str | None, mails: "Sequence[bytes]", *, may_compact: bool
    ) -> "tuple[Outcome, ...] | None":
        """Learn mails, if nobody else has the model; or compact it, if that is due."""
        try:
            # not to wait for the other end if it is a pipe
            descriptor = os.open(self._path, os.O_RDWR | os.O_NONBLOCK)
        except (OSError, ValueError):
            return None
        try:
            if _is_locked_by_us(descriptor) and is_in_place(self._path, descriptor):
                model = self._opened(descriptor)
                if model is None or not self._has_class(model, label):
                    return None
                if may_compact and is_due(_lengths_of(model)):
                    from nbtext.store.compacting import is_tail_compacted  # seldom

                    return _NOTHING_YET if is_tail_compacted(self._path) else None
                return self._learn(descriptor, model, label, mails)
        except BaseException:
            self._model = None
            raise
        finally:
            _let_go(descriptor)
        return None

    def _has_class(self, model: "StoredModel", label: str | None) -> bool:
        """Return whether a model has the class, and the classes that it must have."""
        classes = model.classes()
        return label in (None, *classes) and self._classes in (None, classes)

    def _learn(
        self,
        descriptor: int,
        model: "StoredModel",
        label: str | None,
        mails: "Sequence[bytes]",
    ) -> "tuple[Outcome, ...] | None":
        """Learn mails into the model that is locked."""
        if self._reader is None:
            return None
        header = {"writer": WRITER, "written": now()}
        lesson = lesson_of(
            model, self._reader, label, mails, header, lambda: stored_at(descriptor)
        )
        if lesson is None:
            return None
        outcomes, table = lesson
        if table:
            append_table(self._path, descriptor, model.header()[-1], [table])
            if not is_in_place(self._path, descriptor):
                return None  # another model stands there now, which is taught too
            self._keep(descriptor, model, table)
        return outcomes

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
            views = model.views()
            if views != self._views or self._reader is None:
                self._reader, self._views = reader_of(views), views
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
