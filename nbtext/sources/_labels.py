"""Arguments as the user writes them, and the labels that paths and cells give."""

# ruff: noqa: PTH100, PTH119, PTH120, PTH122 -- importing pathlib costs 10 ms

import os

from nbtext.document import readable
from nbtext.sources._walk import is_part_of_maildir

COMPRESSIONS = (".gz", ".bz2", ".xz", ".zst")


def split_label(argument: str) -> tuple[str | None, str]:
    """
    Return the label and the path of `LABEL=PATH`.

    The label is None, and the argument a path, if nothing or a folder stands before
    the first `=`, or if there is such a path.
    """
    label, equals, path = argument.partition("=")
    if not equals or not label or "/" in label or os.path.lexists(argument):
        return None, argument
    return readable(label), path


def folder_label(path: str) -> str:
    """
    Return the folder's own name, without the dot of a Maildir's subfolder.

    That of `cur` and `new` is the Maildir's.
    """
    name = os.path.basename(path.rstrip("/"))
    if name in ("", ".", ".."):
        path = os.path.realpath(path)
        name = os.path.basename(path) or "/"
    if name in ("cur", "new"):
        path = os.path.abspath(path)
        if is_part_of_maildir(path):
            name = os.path.basename(os.path.dirname(path))
    return readable(name.removeprefix(".") or name)


def file_label(path: str) -> str:
    """Return the file's name without its suffixes: `mail/spam.mbox.gz` is spam."""
    name = without_compression(os.path.basename(path))
    return readable(os.path.splitext(name)[0])


def without_compression(path: str) -> str:
    """Take away a suffix that tells a compression."""
    stem, suffix = os.path.splitext(path)
    return stem if suffix.lower() in COMPRESSIONS else path


def printable(label: bytes) -> str:
    r"""Return the label as text; a byte that is not UTF-8 becomes `\xff`."""
    return label.decode("utf-8", "backslashreplace")
