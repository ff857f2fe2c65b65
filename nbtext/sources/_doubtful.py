"""Folders and files that look like parts of a corpus, rather than like classes."""

# ruff: noqa: PTH119, PTH120 -- importing pathlib costs 10 ms, half a run on one message

import os
import re
import stat
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import closing

from nbtext import wording
from nbtext.document import Note
from nbtext.errors import SettingsError, SourceError, clipped, listed
from nbtext.sources._arguments import MOST_CLASSES, mode_of, named_paths
from nbtext.sources._inspect import HEAD, ONE_DOCUMENT, container_format, inspect
from nbtext.sources._labels import file_label, folder_label
from nbtext.sources._stream import open_path
from nbtext.sources._walk import below, class_folders, stray_files

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
_TABLES = ("csv", "tsv", "jsonl")
_LEAST_MESSAGES = 3
_LOOKED_AT = 3  # of the files
_UNLABELLED = {"unsup", "unlabeled", "unlabelled"}
"""Names of folders that are no classes."""

_WORD = re.compile(r"[^\W_]+")
_PART = re.compile(r"(part|fold|split|chunk|batch)[-_ ]?[0-9]+", re.IGNORECASE)


def warning(arguments: Sequence[str], *, is_told: bool = False) -> Note | None:
    """
    Say that the folders look like parts of a corpus rather than like classes.

    They do if all of them hold folders alone, and the same ones. One of them does if it
    holds folders that are called as the others are: `check/`, say, beside `spam/` and
    `ham/`. A single folder is one class only because a file lies beside the folders in
    it, and it may hold tables that have labels. And `unsup` is the name of no class.

    Args:
        arguments: the sources, as the user has named them.
        is_told: whether the user has told that each file holds many documents.

    Raises:
        SettingsError: they are parts by their names, too: `train/` and `test/`, with
            the same folders in each, or `part1/`, `part2/` and so on; or they are
            files of one document each, such as `spam/*.eml ham/*.eml`.
    """
    named = named_paths(arguments, labelled=True)
    if len(named) == 1 and named[0][0] is None:
        return _stray_file(named[0][1]) or _of_tables(named[0][1])
    if len(named) < 2 or any("=" in argument for argument in arguments):
        return None
    is_few = len(named) <= MOST_CLASSES
    paths = [path for _, path in named]
    if not is_told:
        _refuse_messages(paths)
    if is_few:
        _refuse_parts(paths)
        _refuse_numbered_parts(paths)
    return _parts(named) or ((_test_part(named) or _by_name(named)) if is_few else None)


def _stray_file(path: str) -> Note | None:
    """Say that a folder would stand for those in it but for files beside them."""
    files, folders = stray_files(path)
    if not files:
        return None
    file, *others = files
    more = f" and {len(others):,} more" if others else ""
    lie = "lie" if others else "lies"
    folders = _likely_classes(folders)
    shown = _typed(folders[:3]) + (" ..." if len(folders) > 3 else "")
    return Note(
        f"{path} is read as one class, because {file}{more} {lie} beside the folders "
        f"in it; if those are the classes, name them alone: {shown}",
        is_warning=True,
    )


def _of_tables(path: str) -> Note | None:
    """Say that a folder with tables in it is one class, whatever these hold."""
    tables = _tables_in(path)
    if not tables or len(tables) > MOST_CLASSES:
        return None
    first = next((name for name in tables if file_label(name) == "train"), tables[0])
    return Note(
        f"{path} is read as one class; if the tables in it have labels, name one: "
        f"{_typed([below(path, first)])}",
        is_warning=True,
    )


def _typed(arguments: list[str]) -> str:
    """Return arguments as a shell takes them."""
    import shlex  # of few folders, and of errors

    return shlex.join(arguments)


def _tables_in(path: str) -> list[str]:
    """Return the names of tables in a folder, sorted; none if it is no folder."""
    try:
        with os.scandir(path) as entries:
            return sorted(
                entry.name for entry in entries
                if container_format(entry.name) in _TABLES
                and not entry.name.startswith(".")
            )  # fmt: skip
    except (OSError, ValueError):
        return []


def are_parts(paths: Iterable[str]) -> bool:
    """Tell whether sources are called as parts of a corpus, so by no classes."""
    return all(file_label(path) in _OF_CORPUS for path in paths)


def _likely_classes(folders: list[str]) -> list[str]:
    """Return the folders that are classes: of parts of a corpus, those for training."""
    parts = [folder for folder in folders if os.path.basename(folder) in _OF_CORPUS]
    if len(parts) == len(folders):
        for part in parts:
            if os.path.basename(part).startswith("train"):
                folders = class_folders(part) or stray_files(part)[1] or folders
    return [one for one in folders if os.path.basename(one) not in _UNLABELLED]


def _refuse_messages(paths: list[str]) -> None:
    """
    Refuse files of which each is one document, and would be a class by its name.

    Those are three or more that are called `.eml`, or that lie in several folders, and
    with others in one. `spam.txt` beside `ham.txt` may well be two classes.

    Raises:
        SettingsError: that is so.
    """
    folders = Counter(map(os.path.dirname, paths))
    are_mails = all(path.lower().endswith(".eml") for path in paths)
    is_spread = len(folders) > 1 and len(folders) < len(paths) and all(folders)
    if len(paths) < _LEAST_MESSAGES or not (are_mails or is_spread):
        return
    if not all(map(_may_be_message, paths)) or not all(
        map(_is_one, paths[:_LOOKED_AT])
    ):
        return
    classes = _shown([*folders] if is_spread else ["spam/", "ham/"])
    ask = wording.call("", sources=classes)
    raise SettingsError(
        f"{_few(paths)}: classes were expected, and {len(paths):,} files of one "
        "document each found, of which each would be a class of its own; name the "
        f"folder of each class: `{ask}`, or write LABEL=PATH"
    )


def _shown(sources: list[str]) -> list[str]:
    """Return sources to name in a call, of many the first."""
    return [*sources[:3], wording.Blank("...")] if len(sources) > 3 else sources


def _may_be_message(path: str) -> bool:
    return container_format(path) is None and stat.S_ISREG(mode_of(path))


def _is_one(path: str) -> bool:
    """Tell whether a file holds one document, by what it begins with."""
    try:
        with closing(open_path(path, path)) as stream:
            kind = inspect(stream, path, HEAD, is_label_wanted=True)
    except SourceError:  # which is told where it is read
        return False
    return kind == ONE_DOCUMENT


def _refuse_parts(paths: list[str]) -> None:
    """
    Refuse parts of a corpus that hold the same folders, which are its classes.

    Raises:
        SettingsError: that is so.
    """
    if not all(map(_is_of_corpus, map(folder_label, paths))):
        return
    inside = {path: class_folders(path) or stray_files(path)[1] for path in paths}
    names = [set(map(folder_label, folders)) for folders in inside.values()]
    shared = sorted(set.intersection(*names) - _UNLABELLED)
    if len(shared) < 2:
        return
    first, *others = sorted(paths, key=lambda path: not _is_to_train_on(path))
    is_whole = len(others) == 1 and _are_all_classes(others[0], inside[others[0]])
    measuring = wording.call("evaluate", sources=others[:1])
    test = f"; `{measuring}` measures a model of it" if is_whole else ""
    whole = _are_all_classes(first, inside[first])
    classes = [first] if whole else _shown([below(first, name) for name in shared])
    ask = wording.call("", sources=classes)
    raise SettingsError(
        f"{listed(paths)}: folders that are classes were expected, and parts of a "
        f"corpus found, which have the same folders ({_few(shared)}); if those are the "
        f"classes, take one part: `{ask}`{test}; to have a part for a class, name it: "
        f"{_typed([f'LABEL={first}'])}"
    )


def _is_of_corpus(label: str) -> bool:
    """Tell whether a name is that of a part, such as `20news-bydate-train`."""
    return not _OF_CORPUS.isdisjoint(_WORD.findall(label.lower()))


def _is_to_train_on(path: str) -> bool:
    return "train" in folder_label(path).lower()


def _are_all_classes(path: str, folders: list[str]) -> bool:
    """Tell whether a folder by itself stands for the classes in it."""
    names = set(map(folder_label, folders))
    return class_folders(path) == folders and names.isdisjoint(_UNLABELLED)


def _refuse_numbered_parts(paths: list[str]) -> None:
    """
    Refuse `part1/`, `part2/` and so on, in which names of files may tell the class.

    Raises:
        SettingsError: that is so.
    """
    labels = [*map(folder_label, paths)]
    inside = [class_folders(path) for path in paths]
    if all(len(parts) > 2 and _are_numbered(parts) for parts in inside):
        parts = _few([*map(folder_label, inside[0])])
        raise SettingsError(
            f"{_few(labels)}: folders that are classes were expected, and found in "
            f"each of them parts of a corpus ({parts}); name one: {_typed(paths[:1])}"
        )
    if len(paths) < 3 or not _are_numbered(paths):
        return
    above = os.path.dirname(paths[0].rstrip("/"))
    is_whole = sorted(paths) == class_folders(above or ".")
    where = _typed([above] if is_whole else paths)
    begin = "spmsg" if any(map(_has_spam_of_ling_spam, paths)) else "BEGINNING"
    reading = wording.call("", lists=("spam=spam.list", "ham=ham.list"))
    raise SettingsError(
        f"{_few(labels)}: folders that are classes were expected, and parts of a "
        "corpus found; if the names of the files tell the labels, list those of each "
        f"class: `find {where} -name '{begin}*' > spam.list; find {where} -type f ! "
        f"-name '{begin}*' > ham.list; {reading}`; to have a part for a class, name "
        f"it: {_typed([f'LABEL={paths[0]}'])}"
    )


def _are_numbered(paths: list[str]) -> bool:
    """Tell whether all are called `part1`, `part2` and so on."""
    return all(map(_PART.fullmatch, map(folder_label, paths)))


def _has_spam_of_ling_spam(path: str) -> bool:
    try:
        with os.scandir(path) as entries:
            return any(entry.name.startswith("spmsg") for entry in entries)
    except OSError:  # which is told where it is read
        return False


def _few(names: list[str]) -> str:
    """Return the first names, for a message."""
    shown = [*map(clipped, names[:3])]
    return ", ".join([*shown, "..."] if len(names) > 3 else shown)


def _by_name(named: list[tuple[str | None, str]]) -> Note | None:
    """Say that folders have names of what is no class."""
    labels = [folder_label(path) for _, path in named]
    for (_, path), label in zip(named, labels, strict=True):
        if label in _UNLABELLED and stat.S_ISDIR(mode_of(path)):
            others = _typed([other for _, other in named if other != path])
            return Note(
                f"{path} is read as the class {label}; if its documents have no label, "
                f"name the others alone: {others}",
                is_warning=True,
            )
    return None


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
                f"others alone: {_typed(others)}",
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
    shown = _few(names)
    inside = " ".join(f"{_typed([below(path, '')])}*" for _, path in named)
    text = f"the classes are {classes}, and each of them holds the folders {shown}"
    first = _typed([named[0][1]])
    return Note(
        f"{text}; if those are the classes, name {first} alone, or all of them: "
        f"{inside}",
        is_warning=True,
    )
