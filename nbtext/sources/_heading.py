"""
What the beginning of a table tells: whether it has a heading, and what separates it.

A heading that has a known name in it is one. Of two columns with other names, as the
`v1,v2` of Kaggle's spam.csv, the rows below tell: labels are used again and again, and
what heads their column is not among them.
"""

import re
from collections.abc import Iterator
from typing import TypeVar

from nbtext.document import Pause
from nbtext.sources._csv import Fields

TEXT_COLUMNS = ("text", "body", "content", "message")
LABEL_COLUMNS = ("label", "class", "category", "target")
"""What the columns are called that are read when the user names none."""

_LOOKED_AT = 100  # records
_LOOKED_AT_BYTES = 2**20
SEPARATORS = {b";": "semicolons", b"\t": "tabs", b"|": "bars"}
"""What may separate columns beside commas."""

_NAME = re.compile(r"[^\W\d][\w.-]{0,30}(?: [\w.-]{1,30}){0,2}")
"""One to three words, and no number."""

_WIDE_NAME = re.compile(r"[^\W\d][^\d\s,;|]{0,30}(?:[ /][^\s,;|]{1,30}){0,3}")
"""One to four words, with any marks, as in `Spam/Ham` or `Is it spam?`."""

_Row = TypeVar("_Row")


def beginning(rows: Iterator[_Row]) -> Iterator[_Row]:
    """Yield the first rows, as many as are looked at; pauses do not count."""
    n_rows = size = 0
    for row in rows:
        yield row
        if isinstance(row, Pause):
            continue
        n_rows += 1
        size += size_of(row)
        if n_rows == _LOOKED_AT or size > _LOOKED_AT_BYTES:
            return


def size_of(row: object) -> int:
    """Return how many bytes a row has, about: of JSON, what is in lists, too."""
    size = 0
    left = [row]
    while left:
        value = left.pop()
        size += 1
        if isinstance(value, bytes | str):
            size += len(value)
        elif isinstance(value, dict):
            left += [*value, *value.values()]
        elif isinstance(value, list):
            left += value
    return size


def is_heading(first: Fields, others: list[Fields]) -> bool | None:
    """
    Tell whether the first record of two fields is a heading; None if that is unclear.

    It is none if its first field is found below. Else it is one if it has a column that
    is one of `LABEL_COLUMNS`, or if both are short names and the first fields
    below occur twice each, on average; a few records say nothing.
    """
    labels = [record[0].strip() for record in others]
    if first[0].strip() in labels:
        return False
    names = [field.decode("utf-8", "replace").strip() for field in first]
    if any(name.lower() in LABEL_COLUMNS for name in names):
        return True
    if not all(map(_NAME.fullmatch, names)):
        return False
    return True if len(labels) >= max(4, 2 * len(set(labels))) else None


def is_wide_heading(first: Fields, others: list[Fields]) -> bool:
    """
    Tell whether the first record of three fields or more is a heading.

    It is none if a field of it is a number or a sentence, or is found below in a column
    that repeats.
    """
    for n, field in enumerate(first):
        below = [record[n].strip() for record in others if len(record) > n]
        name = field.decode("utf-8", "replace").strip()
        if name and field.strip() in below and len(below) >= 2 * len({*below}):
            return False
        if name and not _NAME.fullmatch(name) and not _WIDE_NAME.fullmatch(name):
            return False
    return True


def is_label_last(
    first: Fields, others: list[Fields], classes: tuple[str, ...]
) -> bool:
    """
    Tell whether of two fields the second is the label, though no heading says so.

    Labels are used again and again, and most texts are not, and have several words. Few
    records say nothing, but where all texts have several words and all labels one: then
    the label is the first, unless there is a model, which has such classes.

    Args:
        first: the first record, which may be a heading.
        others: some after it.
        classes: those of the model; none if one is to be made.
    """
    rows = [[field.strip() for field in record] for record in (first, *others)]
    rows = [row for row in rows if len(row) == 2]
    known = {name.encode("utf-8", "surrogateescape") for name in classes}
    n_first, n_second = (sum(row[n] in known for row in rows) for n in (0, 1))
    if n_first != n_second:
        return n_second > n_first
    are_clear = all(len(row[0].split()) > 1 == len(row[1].split()) for row in rows)
    least = 2 if are_clear else 4
    rows = rows[1:]
    texts, labels = {row[0] for row in rows}, {row[1] for row in rows}
    n_sentences = sum(len(text.split()) > 1 for text in texts)
    return 2 * n_sentences > len(rows) >= max(least, 2 * len(labels))


def other_separator(records: list[Fields], wanted: tuple[str, ...]) -> bytes | None:
    """
    Return what separates the columns if commas do not: semicolons, for instance.

    Args:
        records: the first records, taken apart at commas.
        wanted: the columns that the user named.
    """
    known = {*TEXT_COLUMNS, *LABEL_COLUMNS, *map(str.lower, wanted)}
    for separator in SEPARATORS:
        parts = [record[0].split(separator) for record in records]
        heads = {part.decode("utf-8", "replace").strip().lower() for part in parts[0]}
        is_known = len(heads) > 1 and not heads.isdisjoint(known)
        is_throughout = len(parts) >= 3 and (
            all(map(_is_label_first, parts))
            or all(_is_label_first(part[::-1]) for part in parts)
        )
        if len(records[0]) == 1 and (is_known or is_throughout):
            return separator
    return None


def _is_label_first(parts: list[bytes]) -> bool:
    return len(parts) > 1 and len(parts[0]) <= 64 and len(parts[0].split()) == 1
