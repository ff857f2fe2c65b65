"""What the operating system says about a file, put as this program's errors."""

import os

from nbtext import wording
from nbtext.classes import quoted
from nbtext.errors import MissingSourceError, SourceError, advice_on_reading

_GLOB = frozenset("*?")
"""What a shell leaves in a pattern only where nothing matches it."""


def cannot_read(name: str, error: OSError | ValueError) -> SourceError:
    """Say what is wrong with a path and what to do about it."""
    match error:
        case FileNotFoundError() | NotADirectoryError():
            return MissingSourceError(
                f"{name}: no such file or folder; {_advice(name)}"
            )
        case PermissionError():
            return SourceError(f"{name}: reading is not permitted; check its mode")
        case IsADirectoryError():
            return SourceError(
                f"{name}: a file was expected, and a folder found; name a file"
            )
        case OSError():
            reason = error.strerror or str(error)
            advice = advice_on_reading(error, "check the path")
            return SourceError(f"{name}: cannot be read ({reason}); {advice}")
        case _:  # os.stat and os.open refuse a NUL byte with a ValueError
            return SourceError(
                f"{quoted(name)}: not a path, it has a NUL byte; leave it out"
            )


def _advice(name: str) -> str:
    """Return what to do about a path that leads nowhere."""
    path, _, label = name.rpartition("=")
    if path and label and "/" not in label and os.access(path, os.F_OK):
        return f"the label stands in front: {label}={path}"
    label, _, path = name.partition(":")
    is_label = label and path and "/" not in label and not path.isdecimal()
    if is_label and os.access(path, os.F_OK):
        return f"a label stands before =: {label}={path}"
    if name == "=":
        return "there are no blanks around it in LABEL=PATH"
    if "://" in name:
        return f"fetch it first: curl -LO {name}"
    if not (_GLOB.isdisjoint(name) or _is_text(name)) and _matches(name):
        lists = wording.given(lists=(wording.Blank("LABEL=LIST"),))
        return (
            "files match that, but no shell has looked: it is quoted, or stands behind "
            f"LABEL=; write them to a file (ls {name} > LIST), and give {lists}"
        )
    if not (_GLOB.isdisjoint(name) or _is_text(name)):
        return "no name matches that, or its * or ? is quoted; check how it is spelt"
    advice = ", or give a text by standard input" if _is_text(name) else ""
    return f"check how the path is spelt{advice}"


def _matches(pattern: str) -> bool:
    """Return whether there is a file that a shell would put in a pattern's place."""
    from glob import iglob  # of errors alone

    return any(iglob(pattern))  # noqa: PTH207  pathlib takes none from the root


def _is_text(name: str) -> bool:
    """
    Return whether a name looks like a text that was written where a name belongs.

    Chinese, Japanese and Thai have no spaces, and their names of files a suffix.
    """
    words = name.strip()
    foreign = not words.isascii() and "." not in words
    return "/" not in words and (" " in words or foreign)
