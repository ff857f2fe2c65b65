"""
The model file: a stream of count tables, read in place.

A path goes in; the tables come out, in the order of the file, their headers checked and
their arrays mapped. A table that a crash cut off at the end of the file is passed over.
Any bytes at all give a model or a `ModelFileError`.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from errno import EISDIR, ENOMEM
from mmap import ACCESS_READ, mmap
from stat import S_ISDIR, S_ISREG
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from nbtext.counts.histograms import Histograms
    from nbtext.policy import Policy

from nbtext import wording
from nbtext.counts.correction import CorrectionInfo, total_info, why_not_added
from nbtext.errors import (
    DamagedError,
    ModelAccessError,
    ModelFileError,
    ModelMemoryError,
    NoModelError,
    NotAModelError,
    advice_on_reading,
)
from nbtext.files import unlocked
from nbtext.settings.reading import Settings
from nbtext.settings.scoring import Scoring
from nbtext.store.blocks import Buffer
from nbtext.store.reuse import kept_tables, put_tables
from nbtext.store.table import BEGINNING, HEAD_SIZE, StoredTable, read_table


class Mapped(mmap):
    """
    The bytes of a file, in place.

    Attributes:
        inode: the device and inode of the file.
        stretches: from which byte to which it has data; None if it has no holes.
    """

    inode: tuple[int, int] = (0, 0)
    stretches: list[tuple[int, int]] | None = None


class ModelFile(NamedTuple):
    """
    An open model file.

    Attributes:
        path: where it is.
        size: its bytes, as far as they were read.
        tables: one or more, in the order of the file.
        cut: how many bytes behind them are a table that was not written whole.
        contents: the bytes of the file as they were read, all of them.
        notes: what its user should know: a tail that was not written whole, tables
            that ask to be scored in different ways.
        is_cut_short: whether that tail was written whole once, as far as is known:
            something else than a crash has cut the file short.
    """

    path: str
    size: int
    tables: tuple[StoredTable, ...]
    cut: int
    contents: memoryview
    notes: tuple[str, ...]
    is_cut_short: bool = False

    def __hash__(self) -> int:
        return id(self)  # its arrays have no hash; and nothing else is the same file

    @property
    def settings(self) -> Settings:
        """Return how the documents of all its tables were read."""
        return self.tables[0].header.settings

    @property
    def is_in_order(self) -> bool:
        """Whether each table stands where it was written: none was moved or joined."""
        wanted = [table.header.history.offset for table in self.tables]
        return wanted == [None, *(table.offset for table in self.tables[1:])]

    @property
    def keeps_histograms(self) -> bool:
        """Whether any of its tables has histograms, so that the others shall, too."""
        return any(table.header.histograms is not None for table in self.tables)

    @property
    def histograms(self) -> "Histograms | None":
        """Return the histograms of the whole file, None if they must be counted."""
        parts = [table.header.histograms for table in self.tables]
        found = [part for part in parts if part is not None]
        if len(found) < len(parts) or not self.is_in_order:
            return None
        from nbtext.counts.histograms import added  # few models have them

        return added(found)

    @property
    def correction(self) -> CorrectionInfo | None:
        """Return what its correction says of itself, None if it has none."""
        infos = [table.header.correction for table in self.tables]
        found = [info for info in infos if info is not None]
        return total_info(found) if found else None

    @property
    def scoring(self) -> Scoring:
        """Return how the last of its tables asks to be scored."""
        return self.tables[-1].header.scoring

    @property
    def policy(self) -> "Policy | None":
        """Return the policy of the last of its tables, None if it has none."""
        return self.tables[-1].header.policy

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return what of it is lost, in a sentence, if anything is."""
        if not self.is_cut_short:
            return ()
        from nbtext.store.cut_short import warning_of  # few files are

        return (warning_of(self.path, self.contents, self.size),)


def open_model(path: str, *, drop_correction: bool = False) -> ModelFile:
    """
    Open a model file to read it, without reading its arrays.

    Args:
        path: the model file.
        drop_correction: whether its correction is passed over, if it has any.

    Raises:
        NoModelError: there is no such file.
        ModelVersionError: it was written by a newer nbtext.
        NotAModelError: it is something else, or damaged.
        ModelFileError: it cannot be read.
    """
    file = _read(path, map_file(path), drop_correction=drop_correction)
    # whoever was writing may have written the rest meanwhile
    settled = map_settled(path) if file.cut else None
    if settled is None:
        if not file.cut or not was_whole(file.contents, file.size):
            return file
        # its size may have been asked before the rest was written
        again = _read(path, map_file(path), drop_correction=drop_correction)
        is_same = (again.size, again.cut) == (file.size, file.cut)
        return again._replace(is_cut_short=is_same)
    file = _with_tail(_read(path, settled, drop_correction=drop_correction))
    if not file.cut or file.is_cut_short:
        return file
    note = (
        f"{path}: the last {file.cut} bytes are a table that was not written whole; "
        "they are passed over"
    )
    return file._replace(notes=(note, *file.notes))


def open_locked(path: str) -> ModelFile:
    """
    Open a model file to write it; the caller holds its lock.

    Raises:
        DamagedError: it was cut short by something else than a crash: what is written
            would hide that.
        ModelFileError: as `open_model`.
    """
    file = _with_tail(_read(path, map_file(path)))
    check_not_cut_short(file)
    return file


def check_not_cut_short(file: ModelFile) -> None:
    """
    Refuse a file that was cut short, for those who write what they read of it.

    Raises:
        DamagedError: it was.
    """
    if file.is_cut_short:
        from nbtext.store.cut_short import refusal_of  # few files are

        headers = (table.header for table in file.tables)
        raise refusal_of(file.path, file.contents, file.size, headers)


def was_whole(mapped: memoryview, offset: int) -> bool:
    """
    Return whether a table that is not whole now was so once.

    Its first byte is written when all others are durable. So whatever a crash of the
    machine leaves of the others, it leaves a zero there.
    """
    return mapped[offset] != 0


def _with_tail(file: ModelFile) -> ModelFile:
    """Return a file that nobody is writing, with what is known of its tail."""
    if not file.cut:
        return file
    check_tail(file.path, file.contents, file.size)
    return file._replace(is_cut_short=was_whole(file.contents, file.size))


def _read(path: str, mapped: memoryview, *, drop_correction: bool = False) -> ModelFile:
    """
    Read a model file as it is now, which may be while a table is being appended.

    Nothing behind the first byte of that is looked at: it is being written.
    """
    whole: Mapped = mapped.obj  # type: ignore[assignment]  # what it is a view of
    tables = kept_tables(path, whole.inode, mapped)
    offset = tables[-1].offset + tables[-1].length if tables else 0
    while offset < len(mapped):
        table = next_table(path, mapped, offset, tables[0] if tables else None)
        if table is None:
            break
        tables.append(table)
        offset += table.length
    if not tables:
        raise DamagedError(path, 0, "the file ends before its first table does")
    put_tables(path, whole.inode, mapped, tables)
    if drop_correction:
        tables = [*map(without_correction, tables)]
    cut = len(mapped) - offset
    return ModelFile(path, offset, tuple(tables), cut, mapped, _notes(path, tables))


def with_table(file: ModelFile, chunks: Iterable[Buffer]) -> ModelFile:
    """
    Return a file as it would be with a table behind it; nothing is written.

    Raises:
        NotAModelError: they are no table.
    """
    whole = memoryview(b"".join([file.contents[: file.size], *chunks]))
    table = read_table(file.path, whole, file.size, file.tables[0])
    if table is None:
        raise DamagedError(file.path, file.size, "the file ends before its table does")
    tables = [*file.tables, table]
    notes = _notes(file.path, tables)
    return ModelFile(file.path, len(whole), tuple(tables), 0, whole, notes)


def map_file(path: str) -> memoryview:
    """
    Return the bytes of a file, in place.

    Raises:
        NoModelError: there is no such file.
        NotAModelError: it is empty.
        ModelAccessError: it cannot be read.
    """
    with _opened(path) as descriptor:
        return memoryview(_mapped(path, descriptor))


def map_settled(path: str) -> memoryview | None:
    """
    Return the bytes of a file that nobody is writing now; None if somebody is.

    What a writer appends is not among them: all of them can be looked at.

    Raises:
        ModelFileError: as `map_file`.
    """
    with _opened(path) as descriptor, unlocked(descriptor) as is_unlocked:
        return memoryview(_mapped(path, descriptor)) if is_unlocked else None


@contextmanager
def _opened(path: str) -> Iterator[int]:
    """
    Open a file, and say what that means for a model if it fails.

    Raises:
        NoModelError: there is no such file.
        ModelAccessError: it cannot be read.
    """
    try:
        # not to wait for the other end if it is a pipe
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        try:
            yield descriptor
        finally:
            os.close(descriptor)
    except FileNotFoundError as error:
        message = (
            f"{path}: no model there; make one with `{wording.call('train')}`, or name "
            "another"
        )
        raise NoModelError(message) from error
    except (OSError, ValueError) as error:
        if getattr(error, "errno", None) == ENOMEM:  # to map it
            raise ModelMemoryError(path) from error
        reason = getattr(error, "strerror", None) or error
        advice = advice_on_reading(error, "name a model file that you may read")
        message = f"{path}: the model cannot be read: {reason}; {advice}"
        raise ModelAccessError(message) from error


def _mapped(path: str, descriptor: int) -> Mapped:
    """Map an open file, and look for holes in it, which have no tables."""
    status = os.fstat(descriptor)
    if S_ISDIR(status.st_mode):
        raise IsADirectoryError(EISDIR, os.strerror(EISDIR))
    if not status.st_size or not S_ISREG(status.st_mode):
        message = (
            f"{path}: a model was expected, and an empty or special file found; make "
            f"one with `{wording.call('train')}`, or name another"
        )
        raise NotAModelError(message)
    mapped = Mapped(descriptor, status.st_size, access=ACCESS_READ)
    mapped.inode = status.st_dev, status.st_ino
    if status.st_blocks * 512 < status.st_size:
        from nbtext.store.searching import stretches_of  # few files have holes

        mapped.stretches = stretches_of(descriptor, status.st_size)
    return mapped


def next_table(
    path: str, mapped: memoryview, offset: int, first: StoredTable | None
) -> StoredTable | None:
    """
    Return the table at a place of a file, None if it was cut off there.

    Raises:
        ModelVersionError: it was written by a newer nbtext.
        NotAModelError: it is something else, or damaged.
    """
    if first is not None and not was_whole(mapped, offset):
        return None
    return read_table(path, mapped, offset, first)


def check_sound(file: ModelFile) -> None:
    """
    Verify every byte of the arrays, for those who read most of them anyway.

    Raises:
        DamagedError: one is not as it was written.
    """
    for table in file.tables:
        table.arrays.verify_all()


def without_correction(table: StoredTable) -> StoredTable:
    """Return the same counts; the arrays of a correction are passed over."""
    header = table.header._replace(correction=None, biases=())
    return table._replace(header=header)


def check_tail(path: str, mapped: memoryview, offset: int) -> None:
    """
    Refuse a cut-off table that another one stands behind: it is not the last.

    Raises:
        NotAModelError: that is so.
    """
    from nbtext.store.searching import find

    whole: Mapped = mapped.obj  # type: ignore[assignment]  # what it is a view of
    place = find(whole, whole.stretches, BEGINNING, offset + 1 + HEAD_SIZE)
    if place >= 0:
        what = f"the table here ends within another one, at byte {place - HEAD_SIZE}"
        raise DamagedError(path, offset, what)


def _notes(path: str, tables: list[StoredTable]) -> tuple[str, ...]:
    first = tables[0].header
    for table in tables[1:]:
        if table.header.settings != first.settings:
            what = first.settings.difference(table.header.settings)
            message = (
                f"{path}: the table at byte {table.offset} does not add to the first: "
                f"{what}; keep them in two files"
            )
            raise ModelFileError(message)
    corrections = [table.header.correction for table in tables]
    reason = why_not_added([info for info in corrections if info is not None])
    if reason:
        ask = wording.call("upkeep.open_models", drop_correction=True)
        message = f"{path}: {reason}; `{ask}` makes a model of its counts alone"
        raise ModelFileError(message)
    return (*_scoring_notes(path, tables), *_policy_notes(path, tables))


def _policy_notes(path: str, tables: list[StoredTable]) -> tuple[str, ...]:
    """Say that tables of different policies were joined."""
    policies = {
        table.header.policy for table in tables if table.header.history.offset is None
    }
    if len(policies) <= 1:
        return ()
    if tables[-1].header.policy is None:
        left = "the last one has none, so those of the others do not count"
        return (f"{path}: its tables have different policies; {left}",)
    return (f"{path}: its tables have different policies; the last one counts",)


def _scoring_notes(path: str, tables: list[StoredTable]) -> tuple[str, ...]:
    """Say that tables of different scorings were joined."""
    # parameters are chosen by what was held out, again whenever something is learnt,
    # and a third class that is learnt brings another score
    asked = {
        table.header.scoring._replace(parameters=())
        for table in tables
        if table.header.history.offset is None
    }
    if len(asked) <= 1:
        return ()
    last = tables[-1].header.scoring
    found = wording.given(score=last.score, smoothing=last.smoothing)
    return (
        f"{path}: its tables ask to be scored in different ways; the last one wins "
        f"({found})",
    )
