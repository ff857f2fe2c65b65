"""Folders that mail programs make (Junk, INBOX) as the classes spam and ham."""

# ruff: noqa: PTH112 -- importing pathlib costs 10 ms

import os
from collections.abc import Mapping, Sequence

from nbtext.classes import meanings, meant_by
from nbtext.document import Note
from nbtext.sources._labels import file_label, folder_label
from nbtext.sources._numbered import split_number
from nbtext.sources._options import Options

Named = Sequence[tuple[str | None, str]]
"""The label that the user wrote, if any, and the path of each source."""


def meanings_of(named: Named, options: Options) -> dict[str, str]:
    """
    Return the classes that names of folders and files stand for, if not for themselves.

    A name that is a class of the model stands for that.

    Args:
        named: the sources; those that the user has given a label have that.
        options: whether they are to be compared with a model.
    """
    if options.label_column is not None:
        return {}
    names = [name for label, path in named if label is None for name in _name(path)]
    if options.model_classes:
        classes = options.model_classes
        known = {name: meant_by(name) or "" for name in names if name not in classes}
        return {name: label for name, label in known.items() if label in classes}
    written = [label for label, _ in named if label is not None]
    return meanings([*names, *(label for label in written if label == "spam")])


def note_of(classes: Mapping[str, str], named: Named) -> Note:
    """Say which classes names stand for, and how to have others."""
    by_class: dict[str, list[str]] = {}
    for name, label in classes.items():
        by_class.setdefault(label, []).append(name)
    shown = " and ".join(
        f"{', '.join(names)} for {label}" for label, names in by_class.items()
    )
    first = next(
        f"{name}={path}"
        for label, path in named
        if label is None
        for name in _name(path)
        if name in classes
    )
    return Note(f"taking {shown}; for a class of another name, write {first}")


def _name(path: str) -> tuple[str, ...]:
    """Return the label that a path gives by its name; none for the standard input."""
    if path == "-":
        return ()
    path, _ = split_number(path) or (path, 0)
    return (folder_label(path) if os.path.isdir(path) else file_label(path),)
