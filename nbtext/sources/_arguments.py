"""The arguments together: the paths they name, and what is known before reading."""

# ruff: noqa: PTH116, PTH119 -- importing pathlib costs 10 ms, half a run on one message

import os
import re
import stat
from collections.abc import Sequence
from contextlib import closing
from typing import Final

from nbtext.document import Note, Unread
from nbtext.errors import SettingsError, SourceError, listed
from nbtext.sources._failures import cannot_read
from nbtext.sources._inspect import HEAD, ONE_DOCUMENT, inspect, labelled_format
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
from nbtext.sources._walk import below, class_folders, stray_files, walk

_OF_CORPUS = {
    "train",
    "training",
    "test",
    "testing",
    "dev",
    "val",
    "valid",
    "validation",
}
_UNLABELLED = {"unsup", "unlabeled", "unlabelled"}
"""Names of folders that are no classes."""

_PART = re.compile(r"(part|fold|split|chunk|batch)[-_ ]?[0-9]+", re.IGNORECASE)

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


def _is_index(path: str) -> bool:
    if not stat.S_ISREG(_mode(path)):
        return False
    try:
        with closing(open_path(path, path)) as stream:
            return labelled_format(stream.peek(HEAD), path) == "index"
    except SourceError:  # which is told where it is read
        return False


def warning(arguments: Sequence[str]) -> Note | None:
    """
    Say that the folders look like parts of a corpus rather than like classes.

    They do if all of them hold folders alone, and the same ones: `train/` and `test/`,
    say, with a folder a class in each. One of them does if it holds folders that are
    called as the others are: `check/`, say, beside `spam/` and `ham/`. A single folder
    is one class only because a file lies beside the folders in it. And some names are
    those of no class: `unsup`, or `part1`, `part2` and so on.
    """
    named = named_paths(arguments, labelled=True)
    if len(named) == 1 and named[0][0] is None:
        return _stray_file(named[0][1])
    if len(named) < 2 or any("=" in argument for argument in arguments):
        return None
    is_few = len(named) <= MOST_CLASSES
    return _parts(named) or (_test_part(named) if is_few else None) or _by_name(named)


def _stray_file(path: str) -> Note | None:
    """Say that a folder would stand for those in it but for files beside them."""
    files, folders = stray_files(path)
    if not files:
        return None
    file, *others = files
    more = f" and {len(others):,} more" if others else ""
    lie = "lie" if others else "lies"
    folders = _likely_classes(folders)
    shown = " ".join([*folders[:3], "..."] if len(folders) > 3 else folders)
    return Note(
        f"{path} is read as one class, because {file}{more} {lie} beside the folders "
        f"in it; if those are the classes, name them alone: {shown}",
        is_warning=True,
    )


def _likely_classes(folders: list[str]) -> list[str]:
    """Return the folders that are classes: of parts of a corpus, those for training."""
    parts = [folder for folder in folders if os.path.basename(folder) in _OF_CORPUS]
    if len(parts) == len(folders):
        for part in parts:
            if os.path.basename(part).startswith("train"):
                folders = class_folders(part) or stray_files(part)[1] or folders
    return [one for one in folders if os.path.basename(one) not in _UNLABELLED]


def _by_name(named: list[tuple[str | None, str]]) -> Note | None:
    """Say that folders have names of what is no class."""
    labels = [folder_label(path) for _, path in named]
    if len(named) > 2 and all(map(_PART.fullmatch, labels)):
        return Note(
            f"the classes are {listed(labels)}, which are called like parts of a "
            "corpus; if the names of the files tell the labels, list those of each "
            "class: --files-from spam=spam.list --files-from ham=ham.list",
            is_warning=True,
        )
    for (_, path), label in zip(named, labels, strict=True):
        if label in _UNLABELLED and stat.S_ISDIR(_mode(path)):
            others = " ".join(other for _, other in named if other != path)
            return Note(
                f"{path} is read as the class {label}; if its documents have no label, "
                f"name the others alone: {others}",
                is_warning=True,
            )
    return None


def _mode(path: str) -> int:
    try:
        return os.stat(path).st_mode
    except (OSError, ValueError):
        return 0


def _test_part(named: list[tuple[str | None, str]]) -> Note | None:
    """Say that one of the folders holds folders called like the others beside it."""
    labels = {path: folder_label(path) for _, path in named}
    for _, path in named:
        found = class_folders(path)
        names = [folder_label(folder) for folder in found]
        others = [other for other in labels if other != path]
        if names and {labels[other] for other in others} == set(names):
            shown = " and ".join(names)
            return Note(
                f"{path} is read as the class {labels[path]}, but holds the folders "
                f"{shown}, as there are beside it; if it is for testing, name the "
                f"others alone: {' '.join(others)}",
                is_warning=True,
            )
    return None


def _parts(named: list[tuple[str | None, str]]) -> Note | None:
    names: list[str] = []
    for _, path in named:
        found = [os.path.basename(folder) for folder in class_folders(path)]
        if not found or (names and found != names):
            return None
        names = found
    classes = " and ".join(folder_label(path) for _, path in named)
    shown = ", ".join([*names[:3], "..."] if len(names) > 3 else names)
    inside = " ".join(below(path, "*") for _, path in named)
    text = f"the classes are {classes}, and each of them holds the folders {shown}"
    return Note(
        f"{text}; if those are the classes, name {named[0][1]} alone, or all of them: "
        f"{inside}",
        is_warning=True,
    )


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
