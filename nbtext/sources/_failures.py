"""What the operating system says about a file, put as this program's errors."""

from nbtext.classes import quoted
from nbtext.errors import MissingSourceError, SourceError


def cannot_read(name: str, error: OSError | ValueError) -> SourceError:
    """Say what is wrong with a path and what to do about it."""
    match error:
        case FileNotFoundError() | NotADirectoryError():
            is_text = " " in name.strip() and "/" not in name  # as it looks
            advice = ", or give a text by standard input" if is_text else ""
            return MissingSourceError(
                f"{name}: no such file or folder; check how the path is spelt{advice}"
            )
        case PermissionError():
            return SourceError(f"{name}: reading is not permitted; check its mode")
        case IsADirectoryError():
            return SourceError(
                f"{name}: a file was expected, and a folder found; name a file"
            )
        case OSError():
            reason = error.strerror or str(error)
            return SourceError(f"{name}: cannot be read ({reason}); check the path")
        case _:  # os.stat and os.open refuse a NUL byte with a ValueError
            return SourceError(
                f"{quoted(name)}: not a path, it has a NUL byte; leave it out"
            )
