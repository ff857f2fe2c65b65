"""What is said of columns of a table that nobody has named: notes, from its rows."""

import os
from collections.abc import Collection, Sequence

from nbtext import wording
from nbtext.document import Note
from nbtext.errors import clipped, listed
from nbtext.sources._heading import LABEL_COLUMNS, TEXT_COLUMNS
from nbtext.sources._json_lines import bytes_of
from nbtext.sources._table import Record, first_of
from nbtext.sources.beside import is_named_so
from nbtext.sources.guess import by_column, kind_of

_MOST = 100  # columns in which names of labels are looked for
_FIRST = 3  # rows of which a column of names of files has one each
_LONGEST_PATH = 1024  # bytes


def note_beside(
    column: str, name: str, columns: Collection[str], *, is_known: bool
) -> Note:
    """
    Say that a column is read as the label.

    Args:
        column: the one.
        name: what the user may call the table.
        columns: all of them.
        is_known: whether it holds classes that a model has.
    """
    why = "holds classes of the model" if is_known else "repeats"
    was = f"the column {clipped(column)} was taken for the label, because it {why}"
    if len(columns) == 2:
        return Note(f"{name}: {was}; if all are of one class, name that: LABEL={name}")
    heading = "has no heading, and " if column.isdecimal() else ""
    ask = wording.named("label_column")
    return Note(f"{name}: {heading}{was}; to have another one, name it: {ask}")


def note_unread(records: Sequence[Record], label: str | None, name: str) -> Note | None:
    """
    Say that there is text beside the column that is read unasked, such as a title.

    Args:
        records: the first ones.
        label: the column of the label; None for one of `LABEL_COLUMNS`.
        name: what the user may call the table.
    """
    columns = by_column(records)
    text = first_of(TEXT_COLUMNS, columns)
    label = label or first_of(LABEL_COLUMNS, columns)
    others = [
        column for column, values in columns.items()
        if column not in ("", text, label) and kind_of(values) == "text"
    ]  # fmt: skip
    if text is None or not others:
        return None
    were = "is text, too, and is" if len(others) == 1 else "are text, too, and are"
    ask = wording.given(text_columns=(*others, text))
    return Note(
        f"{name}: {listed([*map(clipped, others)])} {were} not read; to read it all: "
        f"{ask}"
    )


def note_names(records: Sequence[Record], label: str | None, name: str) -> Note | None:
    """
    Say that a column names the labels, if these are numbers: `label_text`, say.

    Args:
        records: the first ones.
        label: the column of the label; None for one of `LABEL_COLUMNS`.
        name: what the user may call the table.
    """
    first = records[0] if records else {}
    label = label or first_of(LABEL_COLUMNS, first)
    if label is None:
        return None
    for column in [*first][:_MOST]:
        if column == label or not is_named_so(column):
            continue
        pairs = {(bytes_of(one.get(label)), bytes_of(one.get(column)))
                 for one in records}  # fmt: skip
        numbers, names = {one for one, _ in pairs}, {other for _, other in pairs}
        if (
            len(pairs) == len(numbers) == len(names) > 1
            and all(number is not None and number.isdigit() for number in numbers)
            and not any(other is None or other.isdigit() for other in names)
        ):
            ask = wording.given(label_column=column)
            return Note(f"{name}: {clipped(column)} names the labels: {ask}")
    return None


def note_files(records: Sequence[Record], label: str | None, name: str) -> Note | None:
    """
    Warn of a column with names of files: they are read as texts, and none is opened.

    Args:
        records: the first ones.
        label: the column of the label; None for one of `LABEL_COLUMNS`.
        name: what the user may call the table.
    """
    if not records:
        return None
    first = records[:_FIRST]
    label = label or first_of(LABEL_COLUMNS, first[0])
    text = first_of(TEXT_COLUMNS, first[0])
    for column in [text] if text else [*first[0]][:_MOST]:
        values = [bytes_of(one.get(column)) for one in first]
        if column != label and all(map(_is_file, values)):
            ask = wording.given(format="index")
            return Note(
                f"{name}: {clipped(column)} has names of files, and these are read as "
                "texts, not what is in the files; to read that, write LABEL PATH on "
                f"each line: {ask}",
                is_warning=True,
            )
    return None


def _is_file(value: bytes | None) -> bool:
    """Return whether a value of a column is the name of a file that is there."""
    if not value or len(value) > _LONGEST_PATH or b"\0" in value:
        return False
    return os.path.isfile(value)  # noqa: PTH113  pathlib takes no bytes
