"""
Names of classes: those that resemble one another, and those that mailboxes give.

Used where a class is asked for that a model does not have, and where folders of mail
name classes.
"""

from collections.abc import Iterable
from types import MappingProxyType
from typing import Final

MOST_CLASSES: Final = 65_535
"""Maximum number of classes of a model."""

LEAST_SIMILARITY: Final = 0.7
"""Minimum similarity, from 0 to 1, of two names one of which may be misspelt."""

_SPAM: Final = ("spam", "junk", "bulk", "junk mail", "junk e-mail", "junk email",
                "bulk mail")  # fmt: skip
_HAM: Final = ("ham", "inbox", "maildir", "archive", "archives", "sent", "sent mail",
               "sent-mail", "sent items", "sent messages", "all mail")  # fmt: skip

FOLDERS: Final = MappingProxyType(
    dict.fromkeys(_SPAM, "spam") | dict.fromkeys(_HAM, "ham")
)
"""Class of the mail in the folders that mail programs make, by name in lower case."""


def quoted(name: str) -> str:
    r"""
    Return a name between quotes, for a message.

    `repr` would double the backslashes of `\xe4`, which stands for a byte, and write a
    byte of a path as `\udce4`. What is not printable is escaped where it is printed.
    """
    mark = '"' if "'" in name and '"' not in name else "'"
    return f"{mark}{name}{mark}"


def with_value(name: str, value: str) -> str:
    """Return a class and its number, for a message: `spam 45`, but `2024: 45`."""
    return f"{name}: {value}" if name[-1:].isdigit() else f"{name} {value}"


def meant_by(name: str) -> str | None:
    """Return the class of the mail in a folder of this name, None if it tells none."""
    return FOLDERS.get(name.lower())


def similar(label: str, classes: Iterable[str]) -> str | None:
    """Return the class whose name is most like another one, None if none is."""
    from difflib import get_close_matches  # here, because it takes 3 ms

    by_lower = {name.lower(): name for name in sorted(classes, reverse=True)}
    near = get_close_matches(label.lower(), by_lower, 1, LEAST_SIMILARITY)
    return by_lower[near[0]] if near else None


def alike(names: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Return pairs of names that are the same but for case, blanks or composition."""
    from unicodedata import normalize  # here, because few ask

    found: dict[str, str] = {}
    pairs = []
    for name in sorted(names):
        folded = " ".join(normalize("NFKC", name).casefold().split())
        if found.setdefault(folded, name) != name:
            pairs.append((found[folded], name))
    return tuple(sorted(pairs))


def note_on_alike(names: Iterable[str]) -> str:
    """Say that names are the same but for case, blanks or composition, if any are."""
    pairs = alike(names)
    if not pairs:
        return ""
    first, second = map(quoted, pairs[0])
    n_more = len(pairs) - 1
    rest = f" (and {n_more:,} pair{'s' * (n_more > 1)} more)" if n_more else ""
    return (
        f"the labels {first} and {second}{rest} are the same but for case, blanks, or "
        "how their characters are composed; if they are one class, write them in one "
        "way"
    )


def folder_of(label: str, classes: Iterable[str]) -> str | None:
    """Return the class that has the name of a folder of such mail, None if none has."""
    if meant_by(label) != label:
        return None
    return next((name for name in classes if meant_by(name) == label), None)


def meanings(names: Iterable[str]) -> dict[str, str]:
    """
    Return for the names of folders that stand for spam and ham which of them they are.

    Only where one of them is a folder of spam: `archive` beside `sports` is a topic.
    """
    known = {name: label for name in names if (label := meant_by(name)) is not None}
    if "spam" not in known.values():
        return {}
    return {name: label for name, label in known.items() if name != label}
