"""
Whether the one column beside that of the text is the label, whatever it is called.

It is told by the first records, of a table or of JSON lines, as many as are looked at
however fast they come.
"""

from collections.abc import Iterator
from typing import TypeVar

from nbtext.document import Note
from nbtext.errors import clipped
from nbtext.sources._heading import LABEL_COLUMNS, TEXT_COLUMNS, beginning
from nbtext.sources._json_lines import bytes_of, json_records
from nbtext.sources._options import Options, Place
from nbtext.sources._table import Record, first_of

_Found = TypeVar("_Found")


def is_label_sought(place: Place, options: Options) -> bool:
    """Return whether a column of any name may be the label: the file's name is none."""
    if not place.labelled or place.is_label_given or place.is_part or options.columns:
        return False
    classes = options.model_classes
    return place.label not in classes if classes else place.is_alone


def may_hide_label(head: bytes, place: Place, options: Options) -> bool:
    """Return whether JSON lines that begin so may have a label beside the text."""
    if not is_label_sought(place, options):
        return False
    for record in json_records(iter(head.split(b"\n")), place.name):
        return not isinstance(record, dict) or _may_be([*record])
    return False


def beginning_beside(records: Iterator[_Found]) -> Iterator[_Found]:
    """Yield the first records, up to one by which another column may be the label."""
    columns: dict[str, None] = {}
    for record in beginning(records):
        yield record
        if isinstance(record, dict):
            columns |= dict.fromkeys(record)
            is_plain = not any(
                isinstance(value, list | dict) for value in record.values()
            )
            if not (is_plain and _may_be([*columns])):
                return


def label_beside(records: list[Record], classes: tuple[str, ...]) -> str | None:
    """
    Return the column that holds the label, None if that is unclear.

    Most of its values are classes of the model; or, if there is none, one in four
    repeats another.

    Args:
        records: the first ones.
        classes: those of the model; none if one is to be made.
    """
    columns = list(dict.fromkeys(name for record in records for name in record))
    if not _may_be(columns) or len(columns) < 2:
        return None
    column = columns[first_of(TEXT_COLUMNS, columns) == columns[0]]
    values = [
        bytes_of(record[column], classes) for record in records if column in record
    ]
    return column if _are_labels(values, classes) else None


def note_beside(column: str, name: str) -> Note:
    """Say that a column is read as the label."""
    return Note(
        f"{name}: the column {clipped(column)} was taken for the label, because it "
        f"repeats; if all are of one class, name that: LABEL={name}"
    )


def _may_be(columns: list[str]) -> bool:
    """Return whether there is a text, and at most one column more of no known name."""
    is_text = first_of(TEXT_COLUMNS, columns) is not None
    return is_text and len(columns) <= 2 and first_of(LABEL_COLUMNS, columns) is None


def _are_labels(values: list[bytes | None], classes: tuple[str, ...]) -> bool:
    """Tell whether values repeat as labels do; None is a value that is no text."""
    found = [value.strip() for value in values if value is not None]
    if len(found) < len(values):
        return False
    known = {name.encode("utf-8", "surrogateescape") for name in classes}
    if known:
        return 2 * sum(value in known for value in found) > len(found)
    return any(found) and 3 * len(found) >= max(12, 4 * len(set(found)))
