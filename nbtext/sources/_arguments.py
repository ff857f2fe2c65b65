"""The arguments together: the paths they name, and what is known before reading."""

# ruff: noqa: PTH116 -- importing pathlib costs 10 ms, half a run on one message

import os
import stat
from collections.abc import Sequence
from contextlib import closing
from typing import Final

from nbtext.document import Unread
from nbtext.errors import SettingsError, SourceError
from nbtext.sources._failures import cannot_read
from nbtext.sources._inspect import (
    HEAD,
    ONE_DOCUMENT,
    inspect,
    labelled_format,
)
from nbtext.sources._labels import (
    file_label,
    folder_label,
    split_label,
    without_compression,
)
from nbtext.sources._meanings import meanings_of
from nbtext.sources._numbered import NO_NUMBERS, is_of_stdin, split_number
from nbtext.sources._options import Options
from nbtext.sources._stream import open_path
from nbtext.sources._walk import below, class_folders, walk

MOST_CLASSES: Final = 100
"""Maximum number of arguments that are looked into: more are files, not classes."""


def named_paths(
    arguments: Sequence[str], *, labelled: bool
) -> list[tuple[str | None, str]]:
    """
    Return the label, if one is written, and the path of each argument.

    No arguments mean the standard input. A single folder that holds only folders
    stands for those, each a class, where labels are wanted.

    Raises:
        SettingsError: a path is empty or has a character that none has, or the standard
            input is named twice, or by the number of a document in it, or an index in a
            folder says what the classes are.
    """
    _check_characters(arguments)
    named = [split_label(argument) for argument in arguments or ["-"]]
    _check(named)
    if labelled and len(named) == 1 and named[0][0] is None:
        folders = class_folders(named[0][1])
        if folders:
            _refuse_index(named[0][1], folders)
            return [(None, folder) for folder in folders]
    return named


def _check_characters(arguments: Sequence[str]) -> None:
    """
    Refuse what is not even text, such as half a surrogate pair that JSON had.

    Raises:
        SettingsError: an argument has a character that is in no path.
    """
    for argument in arguments:
        try:
            os.fsencode(argument)
        except UnicodeEncodeError as error:
            message = (
                f"{argument!a}: a path was expected, and {argument[error.start]!a} "
                "found, which is in none; give it as `os.listdir` does"
            )
            raise SettingsError(message) from error


def _check(named: list[tuple[str | None, str]]) -> None:
    """
    Refuse what is surely a mistake, such as an empty variable of the shell.

    Raises:
        SettingsError: a path is empty, or the standard input is named twice, or by the
            number of a document in it.
    """
    for label, path in named:
        if not path:
            where = "''" if label is None else f"{label}="
            message = f"{where}: a path was expected, and nothing found; fill it in"
            raise SettingsError(message)
        if is_of_stdin(path):
            message = f"{path}: {NO_NUMBERS}"
            raise SettingsError(message)
    if [path for _, path in named].count("-") > 1:
        message = "-: standard input can be read once, and is named twice; name it once"
        raise SettingsError(message)


def _refuse_index(path: str, folders: list[str]) -> None:
    """
    Refuse to take folders for classes where one of them has an index, as TREC's have.

    Raises:
        SettingsError: that is so.
    """
    indexes = [index for index in (below(folder, "index") for folder in folders)
               if _is_index(index)]  # fmt: skip
    if indexes:
        whole = [index for index in indexes if index.endswith("/full/index")]
        raise SettingsError(
            f"{path}: folders that are classes were expected, and {indexes[0]} found, "
            f"which has labels and files; name that: {(whole or indexes)[0]}"
        )


def mode_of(path: str) -> int:
    """Return what kind of file a path is, as stat has it; 0 if it cannot be told."""
    try:
        return os.stat(path).st_mode
    except (OSError, ValueError):
        return 0


def _is_index(path: str) -> bool:
    if not stat.S_ISREG(mode_of(path)):
        return False
    try:
        with closing(open_path(path, path)) as stream:
            return labelled_format(stream.peek(HEAD), path) == "index"
    except SourceError:  # which is told where it is read
        return False


def labels(arguments: Sequence[str], options: Options) -> tuple[str, ...] | None:
    """
    Return the labels that training documents will have, sorted, reading only heads.

    None if some may come from inside: from a column, an index or a pipe. An argument
    that cannot be read adds none.

    Raises:
        SettingsError: a path is empty, or the standard input is named twice, or by the
            number of a document in it.
    """
    if options.label_column is not None:
        return None
    known: set[str] = set()
    named = named_paths(arguments, labelled=True)
    classes = meanings_of(named, options)
    for label, path in named:
        try:
            from_outside = label or _label_outside(path, options)
            if label is None and from_outside is not None:
                from_outside = classes.get(from_outside, from_outside)
        except SourceError:
            continue
        if from_outside is None:
            return None
        known.add(from_outside)
    return tuple(sorted(known))


def _label_outside(path: str, options: Options) -> str | None:
    """
    Return the label that a path gives, None if its contents do.

    Raises:
        SourceError: it cannot be read.
    """
    if path == "-" or options.format == "index":
        return None
    path, _ = split_number(path) or (path, 0)
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError) as error:
        raise cannot_read(path, error) from error
    if stat.S_ISDIR(mode):
        return folder_label(path)
    kind = options.format
    if kind == "auto" and stat.S_ISREG(mode):
        with closing(open_path(path, path)) as stream:
            kind = inspect(stream, path, options.max_bytes, is_label_wanted=True)
    is_known = kind in (ONE_DOCUMENT, "mail", "text", "mbox")
    return file_label(path) if is_known else None


def total_bytes(arguments: Sequence[str]) -> int | None:
    """
    Return how many bytes sources have; None if that is not known before they are read.

    It is not for the standard input, pipes, compressed files, and some documents of a
    file.
    """
    total = 0
    for _, path in named_paths(arguments, labelled=True):
        try:
            status = os.stat(path)
            is_folder = stat.S_ISDIR(status.st_mode)
            files = walk(path, None) if is_folder else [Unread(path, path)]
            for file in files:
                if isinstance(file, Unread):
                    if without_compression(file.path) != file.path:
                        return None
                    found = os.stat(file.path)
                    if not stat.S_ISREG(found.st_mode):
                        return None
                    total += found.st_size
        except (OSError, ValueError):
            return None
    return total
