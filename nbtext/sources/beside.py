"""
Which column is the label, where none is called so.

Of two columns it is the one beside the text. In training, and for a model, it may be
one of several: the one that repeats as labels do, or that holds the classes of the
model. It is told by the first records, of a table or of JSON lines, as many as are
looked at however fast they come. Where several columns may be it, none is guessed.
"""

import re
from collections.abc import Iterator, Sequence
from typing import TypeVar

from nbtext import wording
from nbtext.errors import SourceError, clipped, listed
from nbtext.sources._heading import LABEL_COLUMNS, TEXT_COLUMNS, beginning
from nbtext.sources._json_lines import bytes_of, json_records
from nbtext.sources._options import Options, Place
from nbtext.sources._table import Record, first_of
from nbtext.sources.guess import LACKING, by_column, is_date, kind_of

_LABEL_WORDS = {
    *LABEL_COLUMNS, "labels", "classes", "categories", "targets", "sentiment", "intent",
    "topic", "emotion", "polarity", "genre", "spam", "ham",
}  # fmt: skip
"""Words in the names of columns that tell which of several is the label."""

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")

_LONGEST = 64  # bytes of a label
_MOST_WORDS = 4
_LEAST = 4  # rows that say something
_DECIMAL = re.compile(rb"[+-]?\d*\.\d+(?:[eE][+-]?\d+)?")

_Found = TypeVar("_Found")


def is_label_sought(place: Place, options: Options) -> bool:
    """Return whether a column of any name may be the label: the file's name is none."""
    is_given = place.is_label_given or options.label_column is not None
    if not place.labelled or is_given or place.is_part:
        return False
    if options.columns and not _are_several_told(options):
        return False
    classes = options.model_classes
    return place.label not in classes if classes else place.is_alone


def may_hide_label(head: bytes, place: Place, options: Options) -> bool:
    """Return whether JSON lines that begin so may have a label beside the text."""
    if not is_label_sought(place, options):
        return False
    for record in json_records(iter(head.split(b"\n")), place.name):
        return not isinstance(record, dict) or _may_be([*record], options)
    return False


def beginning_beside(records: Iterator[_Found], options: Options) -> Iterator[_Found]:
    """Yield the first records, up to one by which another column may be the label."""
    columns: dict[str, None] = {}
    for record in beginning(records):
        yield record
        if isinstance(record, dict):
            columns |= dict.fromkeys(record)
            is_plain = _are_several_told(options) or not any(
                isinstance(value, list | dict) for value in record.values()
            )
            if not (is_plain and _may_be([*columns], options)):
                return


def label_beside(records: Sequence[Record], name: str, options: Options) -> str | None:
    """
    Return the column that holds the label, None if none does.

    Most of its values are classes of the model; or, if there is none, one in four
    repeats another. Of several columns such a one is the label if it is the only one,
    or the only one whose name says so.

    Args:
        records: the first ones.
        name: what the user may call the table.
        options: the columns that are read for something else, and the model's classes.

    Raises:
        SourceError: in training, several columns may be the label.
    """
    found_in = by_column(records)
    columns = [*found_in]
    if not _may_be(columns, options) or len(columns) < 2:
        return None
    values = {
        column: [bytes_of(value, options.model_classes) for value in found]
        for column, found in found_in.items()
    }
    text = first_of(TEXT_COLUMNS, columns)
    if len(columns) == 2 and text is not None and not options.read_columns:
        column = columns[text == columns[0]]
        return column if _are_labels(values[column], options.model_classes) else None
    others = {
        column: found for column, found in values.items()
        if column and column != text and column not in options.columns
    }  # fmt: skip
    if options.model_classes:
        known = [
            column for column, found in others.items()
            if _are_labels(found, options.model_classes)
        ]  # fmt: skip
        return known[0] if len(known) == 1 else None
    return _one_of(others, len(records), name, text, options)


def _one_of(
    others: dict[str, list[bytes | None]],
    n_records: int,
    name: str,
    text: str | None,
    options: Options,
) -> str | None:
    """
    Return the one column that repeats as labels do, or whose name says that it is it.

    Nearly all records have it: others would not be read. One whose name says so stands
    in the way of others even if it has empty values, or so many others that few of the
    first ones are the same.

    Raises:
        SourceError: there are several.
    """
    least = (1 - LACKING) * n_records
    may_be = [
        column for column, found in others.items()
        if len(found) >= least and _repeat(found)
    ]  # fmt: skip
    named = [column for column in may_be if is_named_so(column)]
    if may_be and not named:
        may_be[:0] = [
            column for column, found in others.items()
            if is_named_so(column) and _repeat(_filled(found), times=1)
        ]  # fmt: skip
    texts = [*options.read_columns] or ([text] if text else [])
    known = {*may_be}
    texts = texts or [
        column for column, found in others.items()
        if column not in known and kind_of(found) == "text"
    ]  # fmt: skip
    for found in (named, may_be):
        if len(found) == 1 and texts:
            return found[0]
    if len(may_be) < 2 or not texts:
        return None
    likely = [column for column in named or may_be if len({*others[column]}) > 1]
    first = (likely or named or may_be)[0]
    ask = wording.given(label_column=first, text_columns=tuple(texts))
    shown = listed([*map(clipped, may_be)])
    raise SourceError(
        f"{name}: the columns {shown} repeat as labels do, and one of them was "
        f"expected to; name it, for instance: {ask}"
    )


def _are_several_told(options: Options) -> bool:
    """Return whether one of more than two columns may be taken for the label."""
    return options.guess is not None or bool(options.model_classes)


def _may_be(columns: list[str], options: Options) -> bool:
    """Return whether one of the columns may be the label though none is called so."""
    if first_of(LABEL_COLUMNS, columns) is not None:
        return False
    is_text = first_of(TEXT_COLUMNS, columns) is not None
    return _are_several_told(options) or (is_text and len(columns) <= 2)


def _filled(values: Sequence[bytes | None]) -> list[bytes | None]:
    """Return the values that are not empty."""
    return [value for value in values if value is None or value.strip()]


def _repeat(values: Sequence[bytes | None], times: int = 2) -> bool:
    """Tell whether values are few and short, and no dates or fractions."""
    found = [value.strip() for value in values if value is not None]
    distinct = {*found}
    if len(found) < len(values) or len(found) < max(_LEAST, times * len(distinct)):
        return False
    if len(found) == len(distinct):
        return False
    return not any(
        not value
        or len(value) > _LONGEST
        or len(value.split()) > _MOST_WORDS
        or _DECIMAL.fullmatch(value)
        or is_date(value.decode("utf-8", "replace"))
        for value in distinct
    )


def is_named_so(column: str) -> bool:
    """Tell whether a word in a column's name says that it holds labels."""
    return not _LABEL_WORDS.isdisjoint(map(str.lower, _WORD.findall(column)))


def _are_labels(values: list[bytes | None], classes: tuple[str, ...]) -> bool:
    """Tell whether values repeat as labels do; None is a value that is no text."""
    found = [value.strip() for value in values if value is not None]
    if len(found) < len(values):
        return False
    known = {name.encode("utf-8", "surrogateescape") for name in classes}
    if known:
        return 2 * sum(value in known for value in found) > len(found)
    return any(found) and 3 * len(found) >= max(12, 4 * len(set(found)))
