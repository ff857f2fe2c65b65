"""
The tail of a model, the tables behind the first, as one table of changes in memory.

A key is looked up in it once, however many tables there are. It is for a process that
keeps tables (`nbtext.store.reuse`): with one table more, the changes that are known are
taken over, and only that table is read. Others look a few keys up in each table, which
takes less than to read all of them.
"""

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import Final, NamedTuple, TypeAlias

from nbtext.scoring.stored_view import Entry, Stored, StoredView
from nbtext.store import ModelFile, StoredTable
from nbtext.store.reuse import are_kept
from nbtext.store.schema import term_arrays

MOST_TERMS: Final = 1 << 17
"""Maximum terms of a tail that is kept in memory, with repeats; about 40 MB."""

MOST_KEPT: Final = 8
"""Maximum number of files whose tails are kept."""

Columns: TypeAlias = tuple[int, ...]

Changes: TypeAlias = dict[int, dict[str, Columns]]
"""Key to class to the columns that are added."""


class ChangesView(Stored):
    """Changes of one view, as a model looks them up."""

    is_signed = True

    def __init__(
        self, by_key: Mapping[int, Mapping[str, Columns]], place_of: Mapping[str, int]
    ) -> None:
        """
        Take the changes.

        Args:
            by_key: key to class to the columns that are added.
            place_of: the places of the model's classes; others are passed over.
        """
        self._by_key = by_key
        self._place_of = place_of

    @property
    def keys(self) -> Collection[int]:
        """Return the terms that change."""
        return self._by_key.keys()

    def found(self, keys: Collection[int]) -> dict[int, list[Entry]]:
        """Return the counts of those terms that are here, in the order of the keys."""
        return {
            key: [
                (self._place_of[label], columns)
                for label, columns in self._by_key[key].items()
                if label in self._place_of
            ]
            for key in keys
            if key in self._by_key
        }


class TailView(Stored):
    """
    The tail of a file in one view, added up when a term is first looked up in it.

    The compiled engine has it in a table of its own, and asks for nothing here.
    """

    is_signed = True

    def __init__(self, file: ModelFile, view: int, place_of: Mapping[str, int]) -> None:
        """
        Add up nothing yet.

        Args:
            file: an open model file, for which `keeps_tail` holds.
            view: the place of the view.
            place_of: the places of the model's classes; others are passed over.
        """
        self._file = file
        self._view = view
        self._place_of = place_of

    def found(self, keys: Collection[int]) -> dict[int, list[Entry]]:
        """Return the counts of those terms that are here, in the order of the keys."""
        return self._changes.found(keys)

    @cached_property
    def _changes(self) -> ChangesView:
        return ChangesView(changes_of_tail(self._file)[self._view], self._place_of)


class _Tail(NamedTuple):
    """The tables of a tail, and for each view of terms their sum."""

    tables: tuple[StoredTable, ...]
    views: tuple[Changes, ...]


_TAILS: Final[dict[str, _Tail]] = {}
"""The tails that are kept, by the path of the model."""


def keeps_tail(file: ModelFile) -> bool:
    """Return whether this process has the tail of a file in memory."""
    tail = file.tables[1:]
    n_terms = sum(sum(table.header.terms) for table in tail)
    return bool(tail) and are_kept(file.path) and n_terms <= MOST_TERMS


def changes_of_tail(file: ModelFile) -> tuple[Changes, ...]:
    """
    Return the sum of the tables behind the first, for each view.

    Raises:
        NotAModelError: one of them is damaged.
    """
    tail = file.tables[1:]
    known = _TAILS.get(file.path)
    n_known, views = _known(tail, known) if known else (0, ())
    if n_known == len(tail):
        return views
    # those who have opened the file before look terms up in what they have
    views = tuple(map(dict, views or ({} for _ in file.settings.views)))
    for table in tail[n_known:]:
        _add_table(file.path, table, views)
    while len(_TAILS) >= MOST_KEPT and file.path not in _TAILS:
        _TAILS.pop(next(iter(_TAILS)), None)
    _TAILS[file.path] = _Tail(tail, views)
    return views


def _known(
    tail: Sequence[StoredTable], known: _Tail
) -> tuple[int, tuple[Changes, ...]]:
    """Return how many tables of a tail were added up before, and their sum."""
    n_known = len(known.tables)
    is_beginning = n_known <= len(tail) and all(
        here is there for here, there in zip(tail, known.tables, strict=False)
    )
    return (n_known, known.views) if is_beginning else (0, ())


def _add_table(path: str, table: StoredTable, views: Sequence[Changes]) -> None:
    """Add what a table changes; dictionaries of a term are not changed but replaced."""
    classes = table.header.classes
    places = tuple(range(len(classes)))
    for view, changes in zip(table.header.settings.views, views, strict=True):
        if view.kind == "number":  # which has no terms
            continue
        stored = StoredView(path, table, term_arrays(view), places)
        for key, entries in stored.everything().items():
            by_class = dict(changes.get(key, {}))
            for class_, columns in entries:
                before = by_class.get(classes[class_])
                by_class[classes[class_]] = (
                    columns if before is None else (*map(int.__add__, before, columns),)
                )
            changes[key] = by_class
