"""
Tables: the fields of a record get the names of their columns.

Where there is no header line the columns are called 1, 2 and so on, or label and text
where there are two and no others are named. So the code that makes documents of records
need not know of headers.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any, NamedTuple, TypeAlias

from nbtext import wording
from nbtext.document import Note, Pause
from nbtext.errors import SourceError, clipped, listed
from nbtext.sources._csv import Fields
from nbtext.sources._heading import (
    LABEL_COLUMNS,
    SEPARATORS,
    TEXT_COLUMNS,
    beginning,
    is_heading,
    is_label_last,
    is_wide_heading,
    other_separator,
)
from nbtext.sources._lines import BadRecord, Line
from nbtext.sources._options import Options
from nbtext.sources.guess import kind_of

NUMBERS = "if the first line is no heading, give all columns by number, from 1"

_HEADING = (
    "the model reads columns by their names; if the first line is no heading, put one "
    "before it"
)

_MOST_NEAR = 1000  # columns among which one of nearly that name is looked for
_JOINED = 2**12  # fields at once: `bytes.join` takes 80 bytes for each
_CONTROL = re.compile(r"[\0-\b\x0e-\x1f]")
"""What no heading has, and most that is no text."""


Record: TypeAlias = Mapping[str, Any]
"""A row: bytes from a table, what `json.loads` gives from JSON lines."""


def first_of(names: tuple[str, ...], columns: Record | list[str]) -> str | None:
    """Return the first of the names that is a column, if any is."""
    for name in names:  # which takes half as long as a generator, for each row
        if name in columns:
            return name
    return None


def tsv_records(lines: Iterator[Line]) -> Iterator[Fields | BadRecord | Pause]:
    """
    Yield the fields of each line; nothing is quoted, and a blank line is none.

    A short line behind a quote that is not closed is told apart from other short ones:
    the table has quotes, around line breaks.
    """
    n_columns = 0
    is_open = False
    for line in lines:
        if not isinstance(line, bytes):
            yield line
        elif plain := line.removesuffix(b"\r"):
            fields = plain.split(b"\t")
            n_columns = n_columns or len(fields)
            is_odd = plain.count(b'"') % 2 == 1
            if is_open and len(fields) < n_columns:
                yield _goes_on()
                is_open = not is_odd
            else:
                yield fields
                is_open = is_odd and fields[-1][:1] == b'"'


def named(
    records: Iterator[Fields | BadRecord | Pause],
    name: str,
    options: Options,
    separator: bytes,
    *,
    is_labelled: bool = False,
    has_label: bool = False,
    needs_label: bool = False,
) -> Iterator[Record | BadRecord | Note | Pause]:
    """
    Give the fields the names of their columns.

    What a record has beyond them belongs to the last one, with what separated it, if
    that is the text: a text with a stray comma is whole. Of any other it is not known
    what belongs where, and it is a bad record, unless there is nothing in it.

    Args:
        records: the fields, of which the first may be a header line.
        name: what the user may call the table.
        options: the columns asked for.
        separator: what was between the fields.
        is_labelled: whether a label and a text are all there is, if there is no header.
        has_label: whether the documents have one, so that none is looked for unasked.
        needs_label: whether documents without one are of no use. Then nobody waits for
            an answer to a row before the next one is sent, and what columns hold does
            not depend on how fast rows come.

    Raises:
        SourceError: a column that is needed is not there, or there are several of its
            name.
    """
    for first in records:
        if isinstance(first, list):
            break
        yield first
    else:
        return
    begun: list[Fields | BadRecord | Pause] = [first]
    waits = needs_label and _is_told_by_rows(first, options)
    for record in beginning(records):
        if waits and isinstance(record, Pause):
            yield record
            continue
        begun.append(record)
        if not isinstance(record, list) and not waits:  # a pause, or a bad record
            break
    head = _head(
        begun,
        name,
        options,
        separator,
        is_labelled=is_labelled,
        has_label=has_label,
        needs_label=needs_label,
    )
    if head.note is not None:
        yield head.note
    columns = head.columns
    found = first_of(TEXT_COLUMNS, columns)
    texts = options.text_columns if options.read_columns else (found,)
    ends_in_text = columns[-1] in texts
    if found is None and _can_guess(options) and not options.read_columns:
        # as when it is read once more, with the columns that have been guessed
        n_columns = len(columns)
        last = [
            separator.join(fields[n_columns - 1 :])
            for fields in begun[head.is_heading :]
            if isinstance(fields, list) and len(fields) >= n_columns
        ]
        ends_in_text = n_columns > 2 and kind_of(last) == "text"
    for fields in chain(begun[head.is_heading :], records):
        if not isinstance(fields, list):
            yield fields
            continue
        if head.is_padded:
            fields = _unpadded(fields)
        surplus = len(fields) - len(columns)
        if surplus > 0 and ends_in_text:
            rest = fields[len(columns) - 1 :]
            parts = (rest[n : n + _JOINED] for n in range(0, len(rest), _JOINED))
            text = separator.join(map(separator.join, parts))
            fields = [*fields[: len(columns) - 1], text]
        elif surplus > 0 and any(map(bytes.strip, fields[len(columns) :])):
            yield _surplus(len(fields), columns, separator)
            continue
        yield dict(zip(columns, fields, strict=False))


def _is_told_by_rows(first: Fields, options: Options) -> bool:
    """Return whether only the rows below tell what the columns hold."""
    fields = _unpadded(first)
    names = [*map(_column, fields)]
    if options.columns or first_of(TEXT_COLUMNS, names):
        return False
    return len(fields) == 2 or (len(fields) > 2 and _can_guess(options))


def _surplus(n_fields: int, columns: list[str], separator: bytes) -> BadRecord:
    """Say that a record has more fields than there are columns."""
    mark = SEPARATORS.get(separator, repr(separator.decode("utf-8", "replace")))
    return BadRecord(
        f"{n_fields} fields found, where {len(columns)} columns were expected; put "
        f"quotes around a field with {mark} in it, or remove the row"
    )


def _heading_note(rows: list[Fields], name: str, options: Options) -> Note | None:
    """Say that a first line that looks like a heading was read as a document."""
    if options.label_column is None:
        return None
    texts = options.read_columns[:1]
    beside = texts or ("2" if int(options.label_column) == 1 else "1",)
    places = [int(column) - 1 for column in (options.label_column, *beside)]
    pairs = [[row[n] for n in places] for row in rows if len(row) > max(places)]
    if len(pairs) < 2 or not is_heading(pairs[0], pairs[1:]):
        return None
    line = b", ".join(pairs[0]).decode("utf-8", "replace")
    names = tuple(rows[0][n].decode("utf-8", "replace") for n in places)
    ask = wording.given(label_column=names[0], text_columns=names[1:] if texts else ())
    return Note(
        f"{name}: the first line ({line}) was read as a document, because columns are "
        f"numbered; if it is a heading, name them: {ask}"
    )


class _Head(NamedTuple):
    """
    What the beginning of a table says.

    Attributes:
        columns: their names.
        is_heading: whether the first record says them.
        is_padded: whether empty fields at the end of a record are no columns.
        note: what the user should know, if that is not certain.
    """

    columns: list[str]
    is_heading: bool
    is_padded: bool = False
    note: Note | None = None


def _head(
    begun: list[Fields | BadRecord | Pause],
    name: str,
    options: Options,
    separator: bytes,
    *,
    is_labelled: bool,
    has_label: bool,
    needs_label: bool,
) -> _Head:
    """
    Tell the names of the columns from the first records.

    Raises:
        SourceError: a column that is needed is not there, or there are several of its
            name.
    """
    rows = [fields for fields in begun if isinstance(fields, list)]
    asked = options.columns
    if asked and all(column.isdecimal() for column in asked):
        columns = _numbers(rows[0])
        _check(columns, name, options, is_named=False)
        return _Head(columns, False, note=_heading_note(rows, name, options))
    other = other_separator(rows, asked) if separator == b"," else None
    if other is not None:
        raise SourceError(
            f"{name}: commas were expected between the columns, and "
            f"{SEPARATORS[other]} found; leave {wording.named('delimiter')} out"
        )
    first = rows[0] if asked else _unpadded(rows[0])
    columns = [_column(field) for field in first]
    if not asked and not first_of(TEXT_COLUMNS, columns):
        if len(first) == 1:
            return _Head(["text"], False)
        if len(first) == 2:
            is_padded = len(first) < len(rows[0])
            is_alone = len(begun) == 1
            head = _of_two(
                first,
                [*map(_unpadded, rows[1:])],
                name,
                separator,
                options.model_classes,
                is_alone=is_alone,
                needs_label=needs_label,
            )
            return head._replace(is_padded=is_padded)
        if is_labelled:
            return _Head(["label", "text"], False)
        is_known = has_label or first_of(LABEL_COLUMNS, columns)
        if needs_label and not is_known and _can_guess(options):
            first = rows[0]
            if not is_wide_heading(first, rows[1:]):
                return _Head(_numbers(first), False)
    _check(columns, name, options, has_label=has_label)
    return _Head(columns, True)


def _numbers(fields: Fields) -> list[str]:
    """Return the names of columns that no heading names."""
    return [str(number) for number in range(1, len(fields) + 1)]


def _can_guess(options: Options) -> bool:
    """Return whether columns of any name may be read."""
    return options.guess is not None and options.guess.is_wanted


def _of_two(
    first: Fields,
    others: list[Fields],
    name: str,
    separator: bytes,
    classes: tuple[str, ...],
    *,
    is_alone: bool,
    needs_label: bool,
) -> _Head:
    """Tell which of two columns is the label, and whether they have a heading."""
    names = [_column(field) for field in first]
    columns = ["label", "text"]
    is_last = not first_of(LABEL_COLUMNS, names) and is_label_last(
        first, others, classes
    )
    if is_last:
        columns.reverse()
        first, others = first[::-1], [fields[::-1] for fields in others]
    is_known = first[0].strip().decode("utf-8", "replace") in classes
    is_found = False if is_known else is_heading(first, others)
    if first_of(LABEL_COLUMNS, names):
        if is_found and names[0] not in LABEL_COLUMNS:
            columns.reverse()
        return _Head(columns, bool(is_found))
    if is_found is False or is_alone:
        is_said = is_last and not is_known
        return _Head(columns, False, note=_last_note(name) if is_said else None)
    first = first[::-1] if is_last else first
    line = separator.join(first).decode("utf-8", "replace")
    if is_found:
        order = "a text and a label" if is_last else "a label and a text"
        was = f"taken for a heading, of {order}; if it is a document, number"
        names = ["1", "2"]
    else:
        was = "read as a document; if it is a heading, name"
    label, text = reversed(names) if is_last else names
    of_label = {"label_column": label} if needs_label else {}
    ask = wording.given(**of_label, text_columns=(text,))
    columns_of = "the columns" if needs_label else "the column"
    note = f"{name}: the first line, {line!r}, was {was} {columns_of}: {ask}"
    return _Head(columns, bool(is_found), note=Note(note))


def _last_note(name: str) -> Note:
    """Say that the second of two columns is read as the label."""
    ask = wording.given(label_column="1", text_columns=("2",))
    return Note(
        f"{name}: the second column was taken for the label, because it repeats and "
        f"the first does not; to have it otherwise: {ask}"
    )


def _unpadded(fields: Fields) -> Fields:
    """Leave out the empty fields at the end of a record, but for the first two."""
    end = len(fields)
    while end > 2 and not fields[end - 1].strip():
        end -= 1
    return fields[:end]


def _check(
    columns: list[str],
    name: str,
    options: Options,
    *,
    is_named: bool = True,
    has_label: bool = False,
) -> None:
    """
    Refuse a table without what is to be read of it, or with two columns that may be.

    Raises:
        SourceError: a column that is needed is not there, or there are several of its
            name.
    """
    places: dict[str, list[str]] = {}
    for number, column in enumerate(columns, 1):
        places.setdefault(column, []).append(str(number))
    for column in options.columns:
        if column not in places:
            message = f"{name}: no column {column} ({columns_listed(columns)})"
            near = None if options.model_fields() else _near(column, columns)
            if near is not None:
                message += f"; did you mean {clipped(near)}?"
            elif is_named:
                message += f"; {_HEADING if options.model_fields() else NUMBERS}"
            raise SourceError(message)
    text = first_of(TEXT_COLUMNS, columns)
    unasked = [
        None if options.read_columns else text,
        None if options.label_column or has_label else first_of(LABEL_COLUMNS, columns),
    ]
    if _can_guess(options) and not (options.read_columns or text):
        unasked += places  # of which any may be read, but those without a name
    for column in (*options.columns, *filter(None, unasked)):
        if len(places[column]) > 1:
            raise SourceError(
                f"{name}: one column {column} was expected, and columns "
                f"{listed(places[column])} are called so; rename all but one"
            )
    is_read = options.read_columns or text
    if not is_read and not _can_guess(options):
        lacking, ask = no_text()
        raise SourceError(f"{name}: no {lacking} ({columns_listed(columns)}); {ask}")


def no_text() -> tuple[str, str]:
    """Return what a record lacks of which no column is read, and what to do."""
    ask = wording.named("text_columns")
    return "column text, body, content or message", f"name another with {ask}"


def _goes_on() -> BadRecord:
    """Return what is wrong with such a line of a table without quoting."""
    ask = wording.given(format="csv", delimiter="\t")
    return BadRecord(
        "a row was expected, and a line found that goes on with a quoted field of the "
        f"one before; read the table with {ask}, which has quotes"
    )


def _near(name: str, columns: list[str]) -> str | None:
    """Return the column whose name is nearly that, if there is one."""
    from difflib import get_close_matches  # of errors alone

    folded = {column.casefold(): column for column in columns[:_MOST_NEAR]}
    near = get_close_matches(name.casefold(), folded, 1)
    return folded[near[0]] if near else None


def columns_listed(columns: list[str]) -> str:
    """Say which columns there are, in few words even if it is no table."""
    if any(map(_CONTROL.search, columns)):
        return "its first line is no text; is it a table?"
    return f"there are {listed([*map(clipped, columns)])}"


def _column(field: bytes) -> str:
    """Return a column's name; those that are looked for unasked in lower case."""
    name = field.decode("utf-8", "backslashreplace").strip()
    is_default = name.lower() in (*TEXT_COLUMNS, *LABEL_COLUMNS)
    return name.lower() if is_default else name
