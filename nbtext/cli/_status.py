"""Exit statuses: 0 and the verdicts of `--is`, else those of sysexits.h."""

from typing import TYPE_CHECKING, Final

from nbtext.errors import (
    BusyError,
    ListenError,
    MailboxError,
    MemoryFileError,
    MissingSourceError,
    ModelAccessError,
    ModelFileError,
    ModelMemoryError,
    ModelWriteError,
    NbtextError,
    NoModelError,
    SettingsError,
    TaughtError,
)

if TYPE_CHECKING:
    from nbtext.document import Skipped

DONE: Final = 0
IT_IS: Final = 0
IT_IS_NOT: Final = 1
UNSURE: Final = 2
BOGOFILTER_FAILED: Final = 3
USAGE: Final = 64
DATA: Final = 65
NO_INPUT: Final = 66
SOFTWARE: Final = 70
CANNOT_CREATE: Final = 73
IO_ERROR: Final = 74
TRY_AGAIN: Final = 75
INTERRUPTED: Final = 130
CLOSED_PIPE: Final = 141

OF_ERRORS: Final[tuple[tuple[type[NbtextError], int], ...]] = (
    (NoModelError, NO_INPUT),
    (MissingSourceError, NO_INPUT),
    (SettingsError, USAGE),
    (ModelWriteError, CANNOT_CREATE),
    (TaughtError, CANNOT_CREATE),
    (ModelAccessError, IO_ERROR),
    (ListenError, IO_ERROR),
    (BusyError, TRY_AGAIN),
    (ModelMemoryError, TRY_AGAIN),
    (MailboxError, CANNOT_CREATE),
    (MemoryFileError, IO_ERROR),
    (ModelFileError, DATA),
)
"""The first kind that an error is of decides; other errors are the data's fault."""


def status_of(error: NbtextError) -> int:
    """Return the exit status of an error that ends a command."""
    return next((code for kind, code in OF_ERRORS if isinstance(error, kind)), DATA)


def as_bogofilter(code: int) -> int:
    """Return the status that bogofilter has for one: every failure is the same."""
    is_failure = USAGE <= code < 128  # beyond are signals and a closed pipe
    return BOGOFILTER_FAILED if is_failure else code


def outcome(failures: "Skipped") -> int:
    """Return the exit status of a batch: not 0 if anything was skipped."""
    if not failures:
        return DONE
    if all(isinstance(failure.error, MissingSourceError) for failure in failures):
        return NO_INPUT
    return DATA
