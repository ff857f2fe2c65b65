"""
Tables: the fields of a record get the names of their columns.

Where there is no header line the columns are called 1, 2 and so on, or label and text
where there are two and nothing else was asked for; so whoever takes the documents out
of the records need not know of headers.
"""

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from nbtext.document import Pause
from nbtext.errors import SourceError
from nbtext.sources._csv import Fields
from nbtext.sources._lines import BadRecord, Line
from nbtext.sources._options import Options

TEXT_COLUMNS = ("text", "body", "content", "message")
LABEL_COLUMNS = ("label", "class", "category")
"""What the columns are called that are read when the user names none."""

NO_TEXT = "no column text, body, content or message; name another with --text-column"

Record: TypeAlias = Mapping[str, Any]
"""A row: bytes from a table, what `json.loads` gives from JSON lines."""


def first_of(names: tuple[str, ...], columns: Record | list[str]) -> str | None:
    """Return the first of the names that is a column, if any is."""
    return next((name for name in names if name in columns), None)


def tsv_records(lines: Iterator[Line]) -> Iterator[Fields | BadRecord | Pause]:
    """Yield the fields of each line; nothing is quoted, and a blank line is none."""
    for line in lines:
        if not isinstance(line, bytes):
            yield line
        elif plain := line.removesuffix(b"\r"):
            yield plain.split(b"\t")


def named(
    records: Iterator[Fields | BadRecord | Pause],
    name: str,
    options: Options,
    separator: bytes,
    *,
    is_labelled: bool = False,
) -> Iterator[Record | BadRecord | Pause]:
    """
    Give the fields the names of their columns.

    What a record has beyond them belongs to the last one, with what separated it: a
    text with a stray comma is whole.

    Args:
        records: the fields, of which the first may be a header line.
        name: what the user may call the table.
        options: the columns asked for.
        separator: what was between the fields.
        is_labelled: whether a label and a text are all there is, if there is no header.

    Raises:
        SourceError: a column that is needed is not there.
    """
    columns: list[str] = []
    for fields in records:
        if not isinstance(fields, list):
            yield fields
            continue
        if not columns:
            columns, is_header = _columns(fields, name, options, is_labelled)
            if is_header:
                continue
        if len(fields) > len(columns):
            last = len(columns) - 1
            fields = [*fields[:last], separator.join(fields[last:])]
        yield dict(zip(columns, fields, strict=False))


def _columns(
    first: Fields, name: str, options: Options, is_labelled: bool
) -> tuple[list[str], bool]:
    """
    Return the names of the columns, and whether the first record says them.

    Raises:
        SourceError: a column that is needed is not there.
    """
    asked = options.columns
    if asked and all(column.isdecimal() for column in asked):
        columns = [str(number) for number in range(1, len(first) + 1)]
        is_header = False
    else:
        columns = [_column(field) for field in first]
        is_header = True
        is_plain = not asked and not first_of(TEXT_COLUMNS, columns)
        if is_plain and len(first) == 1:
            return ["text"], False
        if is_plain and (len(first) == 2 or is_labelled):
            return ["label", "text"], False
    found = ", ".join(columns)
    for column in asked:
        if column not in columns:
            raise SourceError(f"{name}: no column {column}; name one of these: {found}")
    if not options.text_columns and not first_of(TEXT_COLUMNS, columns):
        raise SourceError(f"{name}: {NO_TEXT} (there are {found})")
    return columns, is_header


def _column(field: bytes) -> str:
    """Return a column's name; those that are looked for unasked in lower case."""
    name = field.decode("utf-8", "backslashreplace").strip()
    is_default = name.lower() in (*TEXT_COLUMNS, *LABEL_COLUMNS)
    return name.lower() if is_default else name
