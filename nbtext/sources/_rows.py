"""
JSON lines and tables: a record a document, its columns chosen by name or by number.

What goes in is a stream, what comes out a document for each record, or what is wrong
with it, called by the source's name and the record's number from 1.
"""

import re
from collections.abc import Generator, Iterator, Mapping
from itertools import chain

from nbtext import wording
from nbtext.document import Document, Item, Note, Pause, Unreadable
from nbtext.errors import SettingsError, SourceError, clipped, listed
from nbtext.exact import check_number, value_of
from nbtext.sources._column_notes import (
    note_beside,
    note_files,
    note_names,
    note_unread,
)
from nbtext.sources._csv import csv_records
from nbtext.sources._heading import (
    LABEL_COLUMNS,
    TEXT_COLUMNS,
    beginning,
    other_separator,
    size_of,
)
from nbtext.sources._inspect import HEAD, LABELLED_LINES
from nbtext.sources._json_lines import bytes_of, encoded, json_records
from nbtext.sources._labels import printable
from nbtext.sources._lines import BLANK, BadRecord, Line, line_end, lines
from nbtext.sources._options import Options, Place
from nbtext.sources._stream import Stream
from nbtext.sources._table import (
    Record,
    columns_listed,
    first_of,
    named,
    no_text,
    tsv_records,
)
from nbtext.sources._text_lines import text_records
from nbtext.sources.beside import (
    beginning_beside,
    is_label_sought,
    label_beside,
)
from nbtext.sources.guess import MOST_BYTES, ROWS, ColumnGuess, by_column
from nbtext.sources.json_array import array_records, is_json_array

_LEAST_LONGEST = 2**20
_LINE_SLACK = 2**16

_SAID = re.compile(rb"(?:\xef\xbb\xbf)?sep=([^\r\n])[\r\n]", re.IGNORECASE)
"""A first line that says what is between the columns, as spreadsheets have it."""

_NO_RECORDS = Pause, Note  # a union would be made for each row

_ADD = "name another, add it or remove the row"
_UNMARKED = "no label before the text; write __label__CLASS there or remove the line"


class _NoColumnError(Exception):
    """An object lacks a column: which, and what to do, are its arguments."""


def row_items(
    stream: Stream, kind: str, place: Place, options: Options
) -> Iterator[Item]:
    """
    Yield a document, or what is wrong with it, for each record.

    The label is that of the column the user named; else the one given for the source
    as a whole; else that of one of `LABEL_COLUMNS`, if the first record has one;
    else the one of the file's name.

    Raises:
        SourceError: the columns that are asked for, or a label, are not there.
        SettingsError: a model reads other columns than are asked for, or labels are to
            be what is read.
    """
    named = options  # by the user
    options = options.for_table()
    if options.label_column in options.read_columns:
        names = [wording.named(name) for name in ("label_column", "text_columns")]
        raise SettingsError(
            f"column {options.label_column} cannot hold both the label and what is "
            f"read to tell it; name another {' or '.join(names)}"
        )
    has_columns = kind != "lines" or not options.read_columns
    if not has_columns:
        options = _without_columns(options, place.name)
    number = 0
    label_column = options.label_column
    is_first = True
    records = _records(
        stream, kind, options,
        has_label=place.is_label_given, needs_label=place.labelled,
    )  # fmt: skip
    guess = options.guess
    is_guessed = guess is not None and not options.read_columns and guess.is_wanted
    is_sought = kind != "lines" and is_label_sought(place, named)
    if is_sought or is_guessed:
        first = beginning(records) if is_guessed else beginning_beside(records, named)
        begun = yield from _without_pauses(first)
        rows = [found for found in begun if isinstance(found, Mapping)]
        if is_sought:
            # for a model, the label is none of the columns that it reads
            of_label = options if options.model_classes else named
            label_column = label_beside(rows, place.name, of_label)
            columns = by_column(rows)
            if label_column and (len(columns) > 2 or not options.model_classes):
                known = bool(options.model_classes)
                yield note_beside(label_column, place.name, columns, is_known=known)
        for note_of in (note_names, note_unread, note_files) if is_guessed else ():
            note = note_of(rows, label_column, place.name)
            if note is not None:
                yield note
        records = chain(begun, records)
    if guess is not None and is_guessed:
        records = _guessed(records, guess, place, options, label_column)
    for record in records:
        if isinstance(record, _NO_RECORDS):
            yield record
            continue
        number += 1
        if record is BLANK:
            continue
        name = f"{place.name}:{number}"
        if isinstance(record, BadRecord):
            error = SourceError(f"{name}: {record.reason}")
            yield Unreadable(name, error)
            continue
        if is_first and not label_column and not place.is_label_given:
            label_column = first_of(LABEL_COLUMNS, record)
        if is_first and guess is not None:
            if has_columns:
                options = options.for_table()  # whose columns are guessed, perhaps
            if place.name in guess.notes:
                yield Note(guess.notes[place.name])
        is_first = False
        label = place.label
        if place.labelled and not (label or label_column):
            raise SourceError(
                f"{place.name}: no column label, class, category or target to learn "
                f"from{_having(record)}; name another with "
                f"{wording.named('label_column')}, or write LABEL={place.name}"
            )
        try:
            if label_column:
                is_asked = place.labelled or options.label_column is not None
                label = _label(
                    record, name, label_column,
                    classes=options.model_classes,
                    is_needed=place.labelled, is_asked=is_asked,
                    absent=_UNMARKED if kind == "lines" else None,
                )  # fmt: skip
            document = _document(record, name, label, options)
            yield document if has_columns else document._replace(columns=())
        except _NoColumnError as error:
            lacking, advice = error.args
            if number == 1:  # of others each would be a reason of its own
                lacking += _having(record)
            yield Unreadable(name, SourceError(f"{name}: no {lacking}; {advice}"))
        except SourceError as error:
            yield Unreadable(name, error)


def _without_pauses(
    records: Iterator[Record | BadRecord | Note | Pause],
) -> Generator[Pause, None, list[Record | BadRecord | Note]]:
    """Yield the pauses, and return the others."""
    begun: list[Record | BadRecord | Note] = []
    for found in records:
        if isinstance(found, Pause):
            yield found
        else:
            begun.append(found)
    return begun


def _guessed(
    records: Iterator[Record | BadRecord | Note | Pause],
    guess: ColumnGuess,
    place: Place,
    options: Options,
    label: str | None,
) -> Iterator[Record | BadRecord | Note | Pause]:
    """Yield the records of a table, once it is guessed what its columns hold."""
    begun: list[Record | BadRecord | Note | Pause] = []
    rows: list[Record] = []
    size = 0
    for record in records:
        begun.append(record)
        if isinstance(record, Pause | Note | BadRecord):
            continue
        rows.append(record)
        size += size_of(record)
        is_text = first_of(TEXT_COLUMNS, record)
        if is_text or len(rows) == ROWS or size > MOST_BYTES:
            break
    if rows and not first_of(TEXT_COLUMNS, rows[-1]):
        label = label or first_of(LABEL_COLUMNS, rows[0])
        guess.take(place.name, rows, {label, options.id_column})
    yield from begun
    yield from records


def _records(
    stream: Stream,
    kind: str,
    options: Options,
    *,
    has_label: bool,
    needs_label: bool,
) -> Iterator[Record | BadRecord | Note | Pause]:
    longest = max(options.max_bytes, _LEAST_LONGEST) + _LINE_SLACK
    if kind == "jsonl":
        if is_json_array(stream.peek(HEAD)):
            return array_records(stream, longest)
        return json_records(lines(stream, longest), stream.name)
    if kind == "lines":
        return text_records(lines(stream, longest), keeps_blank=not needs_label)
    head = stream.peek(HEAD)
    of_stream = lines(stream, longest, line_end(head))
    separator = options.separator
    if kind == "csv":
        said = _SAID.match(head)
        if said:
            of_stream = _without_first(of_stream)
        if separator is None and not (said or _has_comma(head)):
            head = stream.peek(HEAD, waits=needs_label)
        separator = separator or (
            said[1] if said else _separator(head, longest, options)
        )
    records = (
        tsv_records(of_stream)
        if separator is None
        else csv_records(of_stream, longest, separator)
    )
    return named(
        records,
        stream.name,
        options,
        separator or b"\t",
        is_labelled=kind == LABELLED_LINES,
        has_label=has_label,
        needs_label=needs_label,
    )


def _without_columns(options: Options, name: str) -> Options:
    """
    Return how lines of text are read, of which each is a text like that of a file.

    Raises:
        SourceError: columns of another kind are to be read.
    """
    others = (*options.categorical_columns, *options.numeric_columns)
    if others:
        formats = wording.given(format=wording.Blank("csv, tsv or jsonl"))
        raise SourceError(
            f"{name}: lines of text found, where the columns "
            f"{listed([*map(clipped, options.read_columns)])} are to be read; give "
            f"them as a table or as JSON ({formats})"
        )
    return options._replace(text_columns=())


def _without_first(of_stream: Iterator[Line]) -> Iterator[Line]:
    """Leave out the first line."""
    for line in of_stream:
        if isinstance(line, bytes):
            break
        yield line
    yield from of_stream


def _separator(head: bytes, longest: int, options: Options) -> bytes:
    """Tell from the beginning of a table what is between its columns."""
    if _has_comma(head):
        return b","
    head = head.removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n")
    first = beginning(csv_records(iter(head.split(line_end(head))), longest))
    rows = [fields for fields in first if isinstance(fields, list)]
    found = other_separator(rows, options.columns) if rows else None
    return found or b","


def _has_comma(head: bytes) -> bool:
    """Return whether there is a comma in the first line that is not blank."""
    head = head.removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n")
    return b"," in head.partition(line_end(head))[0]


def _document(
    record: Record, name: str, label: str | None, options: Options
) -> Document:
    """
    Take the texts out of a record.

    Raises:
        _NoColumnError: it is an object that lacks one of them.
        SourceError: it is a row that lacks one of them, or that is not a text.
    """
    columns = options.read_columns
    if not columns:
        column = first_of(TEXT_COLUMNS, record)
        if column is None:
            if _is_row(record):
                raise SourceError(f"{name}: {_ended('its text')}")
            raise _NoColumnError(*no_text())
        columns = (column,)
    most = options.max_bytes
    texts = [_text(record, name, column) for column in columns]
    if options.numeric_columns:
        _check_numbers(dict(zip(columns, texts, strict=True)), name, options)
    identity = None
    if options.id_column:
        identity = printable(_text(record, name, options.id_column)) or None
    return Document(
        name,
        tuple([text[:most] for text in texts]),
        label,
        truncated=max(map(len, texts)) > most,
        identity=identity,
        columns=columns,
    )


def _check_numbers(texts: dict[str, bytes], name: str, options: Options) -> None:
    """
    Refuse numbers here, in the order of the records, and not where they are counted.

    Raises:
        NumberError: one is none.
    """
    for column in options.numeric_columns:
        value = value_of(texts[column][: options.max_bytes])
        if value:
            check_number(name, column, value)


def _label(
    record: Record,
    name: str,
    column: str,
    *,
    classes: tuple[str, ...],
    is_needed: bool,
    is_asked: bool,
    absent: str | None,
) -> str | None:
    """
    Return the label that a record carries.

    Args:
        record: what has it.
        name: what the record is called.
        column: where the label is.
        classes: those of the model, if there is one.
        is_needed: whether a record without one is of no use.
        is_asked: whether somebody has asked for labels; else what is no text is none.
        absent: what to say where it carries none, if it is no row.

    Raises:
        SourceError: it carries none, and it is needed.
    """
    if not is_asked and isinstance(record.get(column), list | dict):
        return None
    if column in record or is_needed:
        label = printable(_text(record, name, column, classes).strip())
        if label:
            return label
    if is_needed:
        absent = absent or f"no label in column {column}; fill it in or remove the row"
        raise SourceError(f"{name}: {absent}")
    return None


def _text(
    record: Record, name: str, column: str, classes: tuple[str, ...] = ()
) -> bytes:
    """
    Return a column's value as bytes; a number as it is written, null as nothing.

    Raises:
        _NoColumnError: there is no such column.
        SourceError: the row ends before it, or it holds a list or an object.
    """
    if column not in record:
        if _is_row(record):
            raise SourceError(f"{name}: {_ended(f'column {column}')}")
        raise _NoColumnError(f"column {column}", _ADD)
    value = record[column]
    if isinstance(value, bytes):  # of tables all are
        return value
    text = encoded(value) if isinstance(value, str) else bytes_of(value, classes)
    if text is None:
        raise SourceError(
            f"{name}: a text was expected in column {column}, "
            f"and a JSON {'list' if isinstance(value, list) else 'object'} found; "
            "name another column"
        )
    return text


def _having(record: Record) -> str:
    """Say in brackets which columns a record has, if any."""
    return f" ({columns_listed([*record])})" if record else ""


def _is_row(record: Record) -> bool:
    """Return whether a record is of a table; then it has every column but the last."""
    return any(isinstance(field, bytes) for field in record.values())


def _ended(where: str) -> str:
    return f"the row ends before {where}; fill it in or remove it"
