"""
Everything nbtext raises on purpose.

* NbtextError
  - SourceError         a document cannot be found, read or taken apart
    + NumberError       a column of numbers holds something else
    + MissingSourceError  there is nothing where a source should be
    + NoMemoryError     there is not enough memory to read a document
  - TrainingError       the documents cannot support a model
  - SettingsError       settings that contradict the model or one another
    + SecretError         the secret of a keyed model is not here, or not the right one
    + UnknownClassError  a class that the model does not have
  - ModelFileError
    + NoModelError      there is no file where the model should be
    + ModelAccessError  the operating system does not let one open, read or lock it
    + NotAModelError    the bytes were never a model, or are damaged
      > DamagedError      they were one, and it is known where they are not any more
    + ModelVersionError a model, but of a format this nbtext does not read
    + ModelWriteError   a model cannot be written
    + TaughtError       a model would be lost that was taught since it was trained
    + ModelMemoryError  there is not enough memory for a model
    + BusyError         another process has been writing the model all the time, or
                        a mailbox
  - NoRoomError         the temporary folder is full, and memory too short
  - ClusterError        a cluster cannot be reached, or does not do its work
  - TextFormError       the text form of a model is not one, or is damaged
  - ReportError         a report of an evaluation cannot be written
  - ListenError         a server cannot listen where it shall
  - RequestError        a server does not do what a client asks
  - MailboxError        a mailbox cannot be changed
  - MemoryFileError     what was decided about mailboxes cannot be read or written

A message says where, what was expected, what was found and what to do next; it
starts in lower case and has no final stop, because the command line prints it
after "Error: ". Mistakes of the caller's code (a negative alpha, an array of the
wrong shape) stay ValueError and TypeError.
"""

import errno
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from nbtext import wording
from nbtext.classes import MOST_CLASSES, alike, folder_of, quoted, similar

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class NbtextError(Exception):
    """Base of the errors that are the data's fault, not the program's."""

    def __reduce__(self) -> "tuple[Any, ...]":
        """Return what makes the same error in another process, whatever made this."""
        return Exception.__new__, (type(self), *self.args), self.__dict__


class SourceError(NbtextError):
    """A document cannot be found, read or taken apart."""


class MissingSourceError(SourceError):
    """There is no file or folder at the path of a source."""


class NumberError(SourceError):
    """
    A column of numbers holds something else.

    Attributes:
        reason: what is wrong with any such record.
    """

    def __init__(self, name: str, column: str, value: str) -> None:
        expected = f"a finite number was expected in column {column}"
        advice = "mend it, or leave it empty if it is not known"
        self.reason = f"{expected}; {advice}"
        found = quoted(clipped(value))
        super().__init__(f"{name}: {expected}, and {found} found; {advice}")


MOST_SHOWN: Final = 40
"""Maximum code points of a value that are shown in a message."""


def clipped(value: str) -> str:
    """Return a value, or its beginning, for a message."""
    return value if len(value) <= MOST_SHOWN else f"{value[:MOST_SHOWN]}..."


def listed(names: "Sequence[str]") -> str:
    """Return names for a message; of many the first, and how many more there are."""
    shown = ", ".join(names[:MOST_LISTED])
    rest = len(names) - MOST_LISTED
    return f"{shown} and {rest:,} more" if rest > 0 else shown


class NoMemoryError(SourceError):
    """There is not enough memory to read a document."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"{name}: there is not enough memory to read it; allow more, or read less "
            f"of it with {wording.named('max_bytes')}"
        )


class TrainingError(NbtextError):
    """The documents at hand cannot support a model."""


TOO_MANY_CLASSES: Final = (
    f"the documents have more than {MOST_CLASSES:,} classes, the most that a model "
    "holds; is the label column the right one?"
)
"""What is wrong with documents most of which have a class of their own."""


class SettingsError(NbtextError):
    """Settings that contradict the model or one another."""


class UnknownKeyError(SettingsError):
    """A file says of itself what this nbtext does not know, and another may."""

    def __init__(self, what: str, key: str) -> None:
        super().__init__(f"this nbtext does not know {key} in {what}")


class UnknownClassError(SettingsError):
    """A class that the model does not have; one spelt like it is named."""

    def __init__(
        self, where: str, label: str, classes: "Sequence[str]", *, advice: str = ""
    ) -> None:

        near = similar(label, classes)
        folder = folder_of(label, classes)
        known = f"the model's classes are {listed([*map(clipped, classes)]) or 'none'}"
        if near is not None:
            is_same = not near.isascii() and alike((label, near))
            how = " (the same, composed of other characters)" if is_same else ""
            known = f"did you mean {quoted(near)}{how}? T{known[1:]}"
        elif folder is not None:
            renaming = wording.call("upkeep.rename", names={folder: label})
            advice = f"to give {quoted(folder)} that name: {renaming}"
        text = f"{where}: no class {quoted(label)}; {known}"
        super().__init__(f"{text}; {advice}" if advice else text)


FULL: Final = (errno.ENOSPC, errno.EDQUOT)
"""What the system says where there is no room for a file."""

REFUSED: Final = (errno.EACCES, errno.EPERM, errno.EROFS)
"""What the system says where a file, or a folder, may not be written to."""

TOO_MANY: Final = (errno.EMFILE, errno.ENFILE)
"""What the system says where no more files can be open."""

FAILING: Final = (errno.EIO, errno.ESTALE)
"""What the system says where a disk, or the server that a file is on, fails."""

MORE_FILES: Final = "allow more open files (`ulimit -n`)"
"""What to do about TOO_MANY."""

MOST_LISTED: Final = 20
"""Maximum number of classes or columns that a message names."""


def advice_on(error: Exception, path: str) -> str:
    """
    Return what to do about a file that cannot be written, after a semicolon, if known.

    Args:
        error: if it names a file, that was to be made in its folder.
        path: what else may not be written to.
    """
    code = getattr(error, "errno", None)
    if code in FULL:
        return "; make room there"
    if code == errno.EFBIG:
        return "; allow larger files (`ulimit -f`), or put it on another disk"
    if code in TOO_MANY:
        return f"; {MORE_FILES}"
    if code in REFUSED:
        if made := getattr(error, "filename", None):
            path = os.path.dirname(made)  # noqa: PTH120  importing pathlib costs 10 ms
        return f"; see who may write to {path}"
    return ""


def advice_on_reading(error: Exception, otherwise: str) -> str:
    """Return what to do about a file that cannot be read, else what is mostly done."""
    code = getattr(error, "errno", None)
    if code in TOO_MANY:
        return MORE_FILES
    if code in FAILING:
        return "look after its disk, or the network that it is on"
    return otherwise


class SecretError(SettingsError):
    """The secret of a keyed model is not here, not the right one, or open to others."""


class ModelFileError(NbtextError):
    """A model file cannot be read or written."""


class NoModelError(ModelFileError):
    """There is no file where the model should be."""


class ModelAccessError(ModelFileError):
    """The operating system does not let one open, read or lock a model file."""


class NotAModelError(ModelFileError):
    """The bytes were never a model, or they are damaged."""


class DamagedError(NotAModelError):
    """
    A table in a model file is damaged.

    Attributes:
        offset: where in the file it begins, in bytes.
        what: what is wrong with it.
    """

    def __init__(
        self, path: str, offset: int, what: str, *, advice: str | None = None
    ) -> None:
        if advice is None:  # as about most damage
            check = wording.call("upkeep.check_model")
            advice = (
                f"see what is still good with `{check}`, restore a copy or train again"
            )
        super().__init__(f"{path}: damaged at byte {offset}: {what}; {advice}")
        self.offset = offset
        self.what = what


class ModelVersionError(ModelFileError):
    """A model, but of a format version that this nbtext does not read."""


class ModelWriteError(ModelFileError):
    """A model cannot be written; what was there before is unchanged."""


class TaughtError(ModelFileError):
    """A model that was taught since it was trained would be replaced, and lost."""


class BusyError(ModelFileError):
    """Another process has been writing a file for as long as one would wait."""


class ModelMemoryError(ModelFileError):
    """There is not enough memory for a model."""

    def __init__(self, path: str) -> None:
        super().__init__(
            f"{path}: there is not enough memory for this model; allow more, or prune "
            "a copy of it where there is more"
        )


@contextmanager
def memory_for_model(path: str) -> "Iterator[None]":
    """
    Say that memory is short for a model, and not for a document that is read by it.

    Raises:
        ModelMemoryError: what is done here takes more memory than there is.
    """
    try:
        yield
    except MemoryError as error:
        raise ModelMemoryError(path) from error


class NoRoomError(NbtextError):
    """The temporary folder has no room for what memory is too short for."""

    def __init__(
        self, folder: str, n_bytes: int, error: OSError, *, is_bounded: bool = True
    ) -> None:
        more = f", or allow more memory with {wording.named('memory')}"
        advice = advice_on(error, folder)
        what = f"{n_bytes:,} bytes were" if n_bytes else "a file was"
        super().__init__(
            f"{folder}: {what} to be put into the temporary folder: "
            f"{error.strerror or error}{f'{advice}, or' if advice else ';'} name "
            f"another folder with TMPDIR{more if is_bounded else ''}"
        )


class ClusterError(NbtextError):
    """A cluster cannot be reached, or does not do its work; no model was changed."""


class TextFormError(NbtextError):
    """
    The text form of a model is not one, or is damaged.

    Attributes:
        line: in which line, from 1.
    """

    def __init__(
        self,
        name: str,
        line: int,
        expected: str,
        found: str,
        advice: str = "dump the model again",
    ) -> None:
        super().__init__(
            f"{name}: line {line}: expected {expected}, found {found}; "
            f"nothing was loaded; {advice}"
        )
        self.line = line


class ReportError(NbtextError):
    """A report of an evaluation cannot be written; what was there is unchanged."""


class ListenError(NbtextError):
    """A server cannot listen where it shall."""


class RequestError(NbtextError):
    """
    A server does not do what a client asks.

    Attributes:
        code: the status of sysexits.h, or of spamd, that the client is told.
    """

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code = code


class MailboxError(NbtextError):
    """A mailbox cannot be changed; every message is still in one."""


class MemoryFileError(NbtextError):
    """The memory of what was decided cannot be read or written, or is none."""
