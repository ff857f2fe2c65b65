"""Views: the ways to see a document, each of which a model counts apart."""

from typing import Any, Final, Literal, NamedTuple, TypeAlias

from nbtext.errors import SettingsError
from nbtext.settings.columns import (
    ATTRIBUTE_COLUMNS,
    FROZEN,
    ORDER,
    TFIDF,
    UNWEIGHTED,
    Column,
    Kind,
    in_order,
)
from nbtext.settings.plain import any_map, list_of, map_of, shown

Text: TypeAlias = Literal["headers", "raw", "body"]
"""Which text a view reads: header fields, the raw message, or the body."""

Alphabet: TypeAlias = Literal["fields", "words", "marks", "pattern", "ngrams"]
"""What is a token: whatever stands between separators, words, words and marks, the
matches of the pattern of the settings, or every five consecutive bytes."""

ALPHABETS: Final = ("fields", "words", "marks", "pattern", "ngrams")

RAW_WORDS: Final = 1000
"""How many words of the raw message its view reads (docs/method.md)."""

NGRAM_BYTES: Final = 4000
"""Of how many bytes of a text byte n-grams are read."""

THREES_BYTES: Final = 128
"""In how many of its first bytes runs of three characters begin, if they are terms."""

RESERVED_NAMES: Final = ("ledger", "undo", "amounts", "texts", "checksums")
"""Names that no view may have: other arrays of a model file begin with them."""


class View(NamedTuple):
    """
    One way to see a document; a model counts each view apart.

    Attributes:
        name: what the view is called, unique in its settings.
        text: which text it reads.
        alphabet: what a token is.
        tokens: whether single tokens are terms.
        pairs: whether adjacent tokens of a field are terms together.
        fold_tokens: whether single tokens are folded to lower case.
        fold_pairs: whether the tokens of a pair are.
        fields: whether a field's name is part of its terms.
        limit: how many tokens of a document are read, of n-grams how many bytes; None
            for all.
        columns: what is counted for each (term, class).
        kind: what it sees. A view of values or of numbers sees one column of a table;
            nothing but its name, its columns and the field is of any meaning then.
        field: that column, empty in a view of text.
        threes: of n-grams, in how many of the first bytes runs of three characters
            begin, which are terms too; None for no such runs.
    """

    name: str
    text: Text
    alphabet: Alphabet
    tokens: bool = True
    pairs: bool = False
    fold_tokens: bool = False
    fold_pairs: bool = True
    fields: bool = False
    limit: int | None = None
    columns: tuple[Column, ...] = UNWEIGHTED
    kind: Kind = "text"
    field: str = ""
    threes: int | None = None

    def column(self, name: Column) -> int:
        """Return the place of a column among the view's."""
        return self.columns.index(name)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for msgpack and JSON."""
        plain = self._asdict() | {"columns": list(self.columns)}
        if self.kind != "text":
            return {name: plain[name] for name in ATTRIBUTE_KEYS}
        del plain["kind"], plain["field"]
        if self.threes is None:
            del plain["threes"]
        return plain

    @classmethod
    def from_dict(cls, plain: Any) -> "View":
        """
        Rebuild a view from what `as_dict` gave, believing nothing.

        Raises:
            SettingsError: a part is missing, unknown, or not of its kind.
        """
        found = any_map(plain, "a view")
        what = f"the view {shown(found.get('name'))}"
        is_of_text = "kind" not in found
        keys, others = (TEXT_KEYS, ("threes",)) if is_of_text else (ATTRIBUTE_KEYS, ())
        found = map_of(found, what, keys, others)
        parts = {"columns": (*list_of(found["columns"], f"the columns of {what}"),)}
        if is_of_text:
            return cls(**(found | parts))
        _check_choices({f"kind of {what}": (found["kind"], (*ATTRIBUTE_COLUMNS,))})
        return cls(text="body", alphabet="words", **(found | parts))

    def check(self) -> None:
        """
        Refuse what no nbtext would have written.

        Raises:
            SettingsError: a value is not one of those that its kind has.
        """
        name: object = self.name  # from a file it may be anything
        is_name = isinstance(name, str) and name.isidentifier()
        if not is_name or name in RESERVED_NAMES:
            message = f"a view cannot be called {shown(self.name)}"
            raise SettingsError(message)
        if self.kind != "text":
            self._check_attribute()
            return
        flags = ("tokens", "pairs", "fold_tokens", "fold_pairs", "fields")
        _check_choices(
            {
                f"{name}.text": (self.text, ("headers", "raw", "body")),
                f"{name}.alphabet": (self.alphabet, ALPHABETS),
            }
            | {f"{name}.{flag}": (getattr(self, flag), (True, False)) for flag in flags}
        )
        columns = self.columns
        if columns[:2] != UNWEIGHTED or columns != in_order(columns):
            message = (
                f"the setting {name}.columns is {columns!r:.200}, expected "
                f"{UNWEIGHTED}, and perhaps others in the order {ORDER[2:]}"
            )
            raise SettingsError(message)
        if (TFIDF in columns) != (FROZEN in columns):
            message = f"the view {name} has one of {TFIDF} and {FROZEN}, not both"
            raise SettingsError(message)
        for bound in ("limit", "threes"):
            most = getattr(self, bound)
            if most is not None and not (type(most) is int and most > 0):
                message = f"the setting {name}.{bound} is {shown(most)}, not a number"
                raise SettingsError(message)
        if not (self.tokens or self.pairs):
            message = f"the view {name} has neither tokens nor pairs"
            raise SettingsError(message)
        if self.alphabet == "ngrams" and (self.pairs or self.fields):
            message = f"the view {name} of n-grams has pairs or names of fields"
            raise SettingsError(message)
        if self.alphabet != "ngrams" and self.threes is not None:
            message = f"the view {name} has the setting threes, and no n-grams"
            raise SettingsError(message)

    def _check_attribute(self) -> None:
        """Refuse a view of a column that no nbtext would have written."""
        _check_choices({f"{self.name}.kind": (self.kind, (*ATTRIBUTE_COLUMNS,))})
        columns = ATTRIBUTE_COLUMNS[self.kind]
        _check_choices({f"{self.name}.columns": (self.columns, (columns,))})
        if type(self.field) is not str or not self.field:
            message = f"the setting {self.name}.field is {self.field!r:.80}, not a name"
            raise SettingsError(message)


ATTRIBUTE_KEYS: Final = ("name", "kind", "field", "columns")
"""The keys of a view of values or numbers, as plain values."""

TEXT_KEYS: Final = tuple(
    name for name in View._fields if name not in ("kind", "field", "threes")
)
"""The keys of a view of text; `threes` is one only where there are such runs."""


def _check_choices(found: dict[str, tuple[object, tuple[object, ...]]]) -> None:
    """Refuse a value that is none of those allowed, by the setting's name."""
    for name, (value, allowed) in found.items():
        if not any(value == one and type(value) is type(one) for one in allowed):
            message = f"the setting {name} is {shown(value)}, expected one of {allowed}"
            raise SettingsError(message)


HEADERS: Final = View(
    name="headers", text="headers", alphabet="fields", fold_tokens=True, fields=True
)
RAW: Final = View(
    name="raw",
    text="raw",
    alphabet="words",
    tokens=False,
    pairs=True,
    fold_pairs=False,
    limit=RAW_WORDS,
)
BODY: Final = View(name="body", text="body", alphabet="marks", pairs=True)
TOPIC: Final = View(
    name="body", text="body", alphabet="marks", pairs=True, fold_tokens=True
)
NGRAMS: Final = View(
    name="ngrams", text="body", alphabet="ngrams", fold_tokens=True, limit=NGRAM_BYTES
)


class Field(NamedTuple):
    """
    A column of tables that a model reads.

    Attributes:
        column: its name, or its number from 1 where tables have no heading.
        kind: what it holds.
    """

    column: str
    kind: Kind = "text"

    def check(self) -> None:
        """
        Refuse what no nbtext would have written.

        Raises:
            SettingsError: the column has no name, or the kind is unknown.
        """
        column: object = self.column  # from a file it may be anything
        if not (isinstance(column, str) and column):
            message = f"the setting fields has the column {shown(column)}, not a name"
            raise SettingsError(message)
        kinds = ("text", *ATTRIBUTE_COLUMNS)
        _check_choices({f"fields.{self.column}": (self.kind, kinds)})


def attribute_views(fields: tuple[Field, ...]) -> tuple[View, ...]:
    """Return a view of each column of values or numbers, in their order."""
    attributes = [field for field in fields if field.kind != "text"]
    return tuple(
        View(
            name=name,
            text="body",
            alphabet="words",
            columns=ATTRIBUTE_COLUMNS[kind],
            kind=kind,
            field=column,
        )
        for name, (column, kind) in zip(_names_of(attributes), attributes, strict=True)
    )


def _names_of(attributes: list[Field]) -> list[str]:
    """
    Return what the views of columns are called: as the columns, as far as can be.

    What no name has, as a space, is an underscore: `home city` is `home_city`. A column
    whose name then is no name, or already that of another view, goes by its kind and
    number.
    """
    taken = {*RESERVED_NAMES, *(view.name for view in (HEADERS, RAW, BODY, NGRAMS))}
    columns = {field.column for field in attributes}
    names: list[str] = []
    for number, (column, kind) in enumerate(attributes, 1):
        letters = (one if one.isascii() and one.isalnum() else "_" for one in column)
        name = "".join(letters).strip("_")  # so none is called as below
        is_free = name not in taken and (name == column or name not in columns)
        if not (name.isidentifier() and is_free):
            name = f"_{kind}{number}"
        taken.add(name)
        names.append(name)
    return names
