"""Exit statuses: 0 and the verdicts of `--is`, else those of sysexits.h."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from nbtext.document import Skipped
    from nbtext.errors import NbtextError

DONE: "Final" = 0
IT_IS: "Final" = 0
IT_IS_NOT: "Final" = 1
UNSURE: "Final" = 2
BOGOFILTER_FAILED: "Final" = 3
USAGE: "Final" = 64
DATA: "Final" = 65
NO_INPUT: "Final" = 66
SOFTWARE: "Final" = 70
CANNOT_CREATE: "Final" = 73
IO_ERROR: "Final" = 74
TRY_AGAIN: "Final" = 75
INTERRUPTED: "Final" = 130
CLOSED_PIPE: "Final" = 141


def status_of(error: "NbtextError") -> int:
    """Return the exit status of an error that ends a command."""
    from nbtext import errors

    # the first kind that an error is of decides; others are the data's fault
    kinds: tuple[tuple[type[NbtextError], int], ...] = (
        (errors.NoModelError, NO_INPUT),
        (errors.MissingSourceError, NO_INPUT),
        (errors.SettingsError, USAGE),
        (errors.ModelWriteError, CANNOT_CREATE),
        (errors.TaughtError, CANNOT_CREATE),
        (errors.ReportError, CANNOT_CREATE),
        (errors.ModelAccessError, IO_ERROR),
        (errors.ListenError, IO_ERROR),
        (errors.BusyError, TRY_AGAIN),
        (errors.ModelMemoryError, TRY_AGAIN),
        (errors.NoRoomError, IO_ERROR),
        (errors.ClusterError, TRY_AGAIN),
        (errors.MailboxError, CANNOT_CREATE),
        (errors.MemoryFileError, IO_ERROR),
        (errors.ModelFileError, DATA),
    )
    return next((code for kind, code in kinds if isinstance(error, kind)), DATA)


def as_bogofilter(code: int) -> int:
    """Return the status that bogofilter has for one: every failure is the same."""
    is_failure = USAGE <= code < 128  # beyond are signals and a closed pipe
    return BOGOFILTER_FAILED if is_failure else code


def outcome(failures: "Skipped") -> int:
    """Return the exit status of a batch: not 0 if anything was skipped."""
    if not failures:
        return DONE
    from nbtext.errors import MissingSourceError

    if all(isinstance(failure.error, MissingSourceError) for failure in failures):
        return NO_INPUT
    return DATA
