"""How sources are to be read: what a user may force, name and bound."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from nbtext.errors import SettingsError, clipped, listed
from nbtext.settings.views import Field

if TYPE_CHECKING:
    from nbtext.settings.columns import Kind
    from nbtext.sources.guess import ColumnGuess

FORMATS = (
    "auto",
    "mail",
    "text",
    "mbox",
    "maildir",
    "mh",
    "jsonl",
    "csv",
    "tsv",
    "lines",
    "index",
)
"""What may be forced: `mail` and `text` make every file one document of that kind."""


_OF_PROGRAMS = ("model_fields", "model_classes", "guess")
"""Fields of options that no user sets: commands take them from a model."""


def is_delimiter(text: str) -> bool:
    """Return whether a text can stand between the columns of a table."""
    return len(text) == 1 and text.isascii() and text not in '"\r\n'


def is_unicode(name: str) -> bool:
    """Return whether a name has no byte in it that is no part of UTF-8 (PEP 383)."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


class Options(NamedTuple):
    """
    What the user says about the sources.

    Attributes:
        format: one of `FORMATS`; "auto" goes by inspection.
        label_column: the column that holds the label, by name or by number from 1.
        text_columns: the columns of text to read, in this order, by name or by number.
        categorical_columns: those of categories.
        numeric_columns: those of numbers.
        id_column: the column whose value is a row's identity, by name or by number.
        max_bytes: the size at which a document is cut, in bytes.
        delimiter: the one ASCII character between the columns of a table, None to go by
            inspection; fields may be quoted, as in CSV.
        model_fields: returns the columns that a model reads, if it was trained on
            named ones, and what they hold; called before a table is read, and never for
            anything else.
        guess: takes in what the columns of a table seem to hold, where none is named;
            None if that is not to be guessed.
        model_classes: the classes of the model that labels are compared with; empty if
            one is to be made.

    If all the columns that are given are numbers, a table has no header line.
    """

    format: str = "auto"
    label_column: str | None = None
    text_columns: tuple[str, ...] = ()
    categorical_columns: tuple[str, ...] = ()
    numeric_columns: tuple[str, ...] = ()
    id_column: str | None = None
    max_bytes: int = 16 * 2**20
    delimiter: str | None = None
    model_fields: Callable[[], tuple[Field, ...]] = tuple  # of none
    model_classes: tuple[str, ...] = ()
    guess: "ColumnGuess | None" = None

    def __repr__(self) -> str:
        """Say what differs from the defaults, of what a user sets."""
        defaults = self._field_defaults
        changed = [
            f"{name}={value!r}"
            for name, value in zip(self._fields, self, strict=True)
            if name not in _OF_PROGRAMS and value != defaults[name]
        ]
        return f"Options({', '.join(changed)})"

    @property
    def fields(self) -> tuple[Field, ...]:
        """
        The columns that the user wants to be read, and what they hold.

        Raises:
            SettingsError: a column is named twice.
        """
        kinds: dict[str, Kind] = {}
        named: dict[Kind, tuple[str, ...]] = {
            "text": self.text_columns,
            "value": self.categorical_columns,
            "number": self.numeric_columns,
        }
        for kind, names in named.items():
            for name in names:
                if name in kinds:
                    raise SettingsError(f"the column {name} is named twice")
                if not is_unicode(name):
                    message = f"the name of the column {name!r} is not UTF-8; rename it"
                    raise SettingsError(message)
                kinds[name] = kind
        return tuple(map(Field._make, kinds.items()))

    @property
    def read_columns(self) -> tuple[str, ...]:
        """The names of the same columns."""
        return (*self.text_columns, *self.categorical_columns, *self.numeric_columns)

    @property
    def expects_table(self) -> bool:
        """Whether anything is asked for that only tables and JSON lines have."""
        of_records = (self.label_column, self.id_column, self.delimiter)
        return bool(self.read_columns) or any(map(bool, of_records))

    def for_model(
        self, fields: tuple[Field, ...], classes: tuple[str, ...]
    ) -> "Options":
        """Return the same options for a model that reads these columns of tables."""
        return self._replace(model_fields=lambda: fields, model_classes=classes)

    def for_table(self) -> "Options":
        """
        Return the same options, with the columns that the model reads.

        Raises:
            SettingsError: other columns are named than the model reads, or they hold
                something else in it.
        """
        fields, named = self.model_fields(), self.fields
        if not fields:
            return self
        if named and sorted(named) != sorted(fields):
            raise SettingsError(
                f"the model reads the columns {_listed(fields)}, and {_listed(named)} "
                "was asked for; leave the options out, or train a model on those "
                "columns"
            )
        return self._replace(
            text_columns=_of_kind("text", fields),
            categorical_columns=_of_kind("value", fields),
            numeric_columns=_of_kind("number", fields),
        )

    @property
    def separator(self) -> bytes | None:
        """The byte between the columns of a table, None to go by inspection."""
        return None if self.delimiter is None else self.delimiter.encode()

    def check(self) -> None:
        """
        Refuse what makes no sense.

        Raises:
            TypeError: columns are one string, whose letters would be columns, a column
                is no string, or the size is no whole number.
            ValueError: the format is unknown, the size is below one byte, or the
                delimiter is none.
        """
        for name in ("text_columns", "categorical_columns", "numeric_columns"):
            columns = getattr(self, name)
            is_right = isinstance(columns, tuple | list)
            if not (is_right and all(isinstance(column, str) for column in columns)):
                message = f"{name}: expected a tuple of names, found {columns!r:.80}"
                raise TypeError(message)
        for name in ("label_column", "id_column", "delimiter"):
            value = getattr(self, name)
            if not isinstance(value, str | None):
                message = f"{name}: expected a str, such as '1', found {value!r:.80}"
                raise TypeError(message)
        delimiter = self.delimiter
        if delimiter is not None and not is_delimiter(delimiter):
            message = f"delimiter must be one ASCII character, not {delimiter!r}"
            raise ValueError(message)
        if self.format not in FORMATS:
            raise ValueError(f"format must be one of {FORMATS}, not {self.format!r}")
        if isinstance(self.max_bytes, bool) or not isinstance(self.max_bytes, int):
            message = (
                f"max_bytes: expected a whole number, found {self.max_bytes!r:.80}"
            )
            raise TypeError(message)
        if self.max_bytes < 1:
            raise ValueError(f"max_bytes must be at least 1, not {self.max_bytes}")

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column that the user named."""
        named = (self.label_column, *self.read_columns, self.id_column)
        return tuple(column for column in named if column is not None)


def _listed(fields: tuple[Field, ...]) -> str:
    """Return columns and what they hold, for a message."""
    from nbtext.sources.guess import KINDS  # of errors and guesses alone

    return listed([f"{clipped(name)} {KINDS[kind]}" for name, kind in fields])


def _of_kind(kind: "Kind", fields: tuple[Field, ...]) -> tuple[str, ...]:
    return tuple(field.column for field in fields if field.kind == kind)


class Place(NamedTuple):
    """
    Where a document lies and what that says of its label.

    Attributes:
        name: the path as the user gave it, continued below a folder; `-` for stdin.
        label: from `LABEL=PATH`, the folder, or the file's name; None on stdin.
        is_label_given: whether the user or a folder gave it; a file's name gives way
            to a column that is called label.
        labelled: whether a document without a label is of no use.
        meanings: the classes that names of folders and files stand for, if not for
            themselves.
        by_number: whether documents of it are asked for by their numbers: then each
            that cannot be read is named.
        is_alone: whether nothing else is read, or only parts of a corpus, such as
            train.csv and test.csv, so that its name can be no class.
        is_part: whether it is a part of a source that others read, too.
    """

    name: str
    label: str | None = None
    is_label_given: bool = False
    labelled: bool = False
    meanings: Mapping[str, str] = MappingProxyType({})
    by_number: bool = False
    is_alone: bool = False
    is_part: bool = False

    def named(self, label: str, *, is_given: bool = False) -> "Place":
        """Return it with the label that the name of a folder or file stands for."""
        return self._replace(
            label=self.meanings.get(label, label), is_label_given=is_given
        )
