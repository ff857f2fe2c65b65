"""
How documents are read: the settings that a model is made with, and keeps.

Reading settings decide which tokens a document has. They are frozen values, stored in
the model; what is classified is read by the model's settings and no others. The
defaults, and what each of them is worth, are in docs/method.md.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from nbtext.constants import CODE_POINTS as CODE_POINTS
from nbtext.errors import SettingsError

Text: TypeAlias = Literal["headers", "raw", "body"]
"""Which text a view reads: header fields, the raw message, or the body."""

Alphabet: TypeAlias = Literal["fields", "words", "marks", "pattern", "ngrams"]
"""What is a token: whatever stands between separators, words, words and marks, the
matches of the pattern of the settings, or every five consecutive bytes."""

ALPHABETS: Final = ("fields", "words", "marks", "pattern", "ngrams")

Format: TypeAlias = Literal["mail", "text"]
"""How a document's bytes are taken apart."""

Column: TypeAlias = Literal[
    "occurrences", "documents", "weight",
    "level1", "level2", "level3", "level4", "level5", "level6", "level7", "level8",
    "logs", "weight_idf", "frozen_documents", "present", "sum", "squares",
]  # fmt: skip
"""What is counted for a term in a class; `weight` sums documents' vectors of ln(1 + n),
each scaled to unit Euclidean length, in units of 1/65535; `level2` counts the documents
in which the term occurs exactly twice; `logs` sums ln(1 + n) in units of 1/2048.
`weight_idf` sums documents' TF-IDF vectors at unit length, in units of 2^-24;
`frozen_documents` counts those documents of training by which the idf is frozen, and
none that was learnt or forgotten since. Of a column of numbers: how many are `present`,
their sum, and that of their squares (`nbtext.exact`)."""

Kind: TypeAlias = Literal["text", "value", "number"]
"""What a column of a table holds, and what a view of it sees: text, the names of
categories, or numbers."""

KEY_BITS: Final = 48
"""The bits of a term's key, which are the upper ones of the 64 that are mixed."""

UNIT: Final = 65535
"""The weight of the only term of a document; the largest that 16 bits hold."""

RAW_WORDS: Final = 1000
"""How many words of the raw message its view reads (docs/method.md)."""

MAIL_SIZE: Final = 1 << 20
"""The size of a mail is not counted beyond this; what follows is rarely text."""

NGRAMS_READ: Final = 3996
"""How many byte n-grams of a text are read: those of its first 4,000 bytes."""


PLAIN: Final[tuple[Column, ...]] = ("occurrences", "documents")
WEIGHTED: Final[tuple[Column, ...]] = (*PLAIN, "weight")
NUMBERS: Final[tuple[Column, ...]] = ("present", "sum", "squares")

LEVELS: Final[tuple[Column, ...]] = (
    "level1", "level2", "level3", "level4", "level5", "level6", "level7", "level8",
)  # fmt: skip
"""Columns of documents in which a term occurs exactly once, twice, and so on."""

LOGS: Final[Column] = "logs"
TFIDF: Final[Column] = "weight_idf"
FROZEN: Final[Column] = "frozen_documents"

COLUMNS: Final = (*WEIGHTED, *LEVELS, LOGS)
"""Columns that each text adds to by itself, in the order of the file; every view has
the first two."""

ORDER: Final = (*COLUMNS, TFIDF, FROZEN)
"""All columns of a view of text, in the order of the file; the last two go together,
and are made when all documents are counted."""

ATTRIBUTE_COLUMNS: Final[dict[Kind, tuple[Column, ...]]] = {
    "value": PLAIN,
    "number": NUMBERS,
}
"""The columns of a view of values, and of one of numbers."""


def in_order(columns: Iterable[str]) -> tuple[Column, ...]:
    """Return columns in the order of the file."""
    wanted = [*columns]
    return tuple(column for column in ORDER if column in wanted)


def levels_of(columns: Sequence[str]) -> list[int]:
    """Return the numbers of occurrences that columns tell apart, ascending."""
    return [level for level, name in enumerate(LEVELS, 1) if name in columns]


LONGEST_PATTERN: Final = 1000
"""Maximum code points of a pattern."""
LONGEST_VERSION: Final = 40
"""Maximum code points of a version."""


class Pattern(NamedTuple):
    """
    What a token is in the views whose alphabet is "pattern".

    Attributes:
        expression: a regular expression; its matches are the tokens.
        version: of the `regex` package that the model was made with; another one may
            know other characters.
    """

    expression: str
    version: str

    def check(self) -> None:
        """
        Refuse what no nbtext would have written.

        Raises:
            SettingsError: a part is empty, too long or no text.

        """
        for name, value, most in (
            ("pattern", self.expression, LONGEST_PATTERN),
            ("version of the pattern", self.version, LONGEST_VERSION),
        ):
            if type(value) is not str or not 0 < len(value) <= most:
                message = f"the {name} is {value!r:.80}, not 1 to {most} characters"
                raise SettingsError(message)


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
        limit: how many tokens of a document are read, None for all.
        columns: what is counted for each (term, class).
        kind: what it sees. A view of values or of numbers sees one column of a table;
            nothing but its name, its columns and the field is of any meaning then.
        field: that column, empty in a view of text.
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
    columns: tuple[Column, ...] = PLAIN
    kind: Kind = "text"
    field: str = ""

    def column(self, name: Column) -> int:
        """Return the place of a column among the view's."""
        return self.columns.index(name)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for msgpack and JSON."""
        plain = self._asdict() | {"columns": list(self.columns)}
        if self.kind != "text":
            return {name: plain[name] for name in ATTRIBUTE_KEYS}
        del plain["kind"], plain["field"]
        return plain

    @classmethod
    def from_dict(cls, plain: Any) -> "View":
        """
        Rebuild a view from what `as_dict` gave, believing nothing.

        Raises:
            KeyError, TypeError: a part is missing, unknown, or not of its kind.

        """
        columns = (*plain["columns"],)
        if "kind" in plain:
            if plain.keys() != {*ATTRIBUTE_KEYS}:
                message = f"a view of a column has other keys than {ATTRIBUTE_KEYS}"
                raise TypeError(message)
            return cls(text="body", alphabet="words", **(plain | {"columns": columns}))
        if "field" in plain:
            message = "a view of text has the key 'field'"
            raise TypeError(message)
        return cls(**(plain | {"columns": columns}))

    def check(self) -> None:
        """
        Refuse what no nbtext would have written.

        Raises:
            SettingsError: a value is not one of those that its kind has.

        """
        name = str(self.name)
        if not name.isidentifier() or name in RESERVED_NAMES:
            message = f"a view cannot be called {self.name!r}"
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
        if columns[:2] != PLAIN or columns != in_order(columns):
            message = (
                f"the setting {name}.columns is {columns!r:.200}, expected "
                f"{PLAIN}, and perhaps others in the order {ORDER[2:]}"
            )
            raise SettingsError(message)
        if (TFIDF in columns) != (FROZEN in columns):
            message = f"the view {name} has one of {TFIDF} and {FROZEN}, not both"
            raise SettingsError(message)
        limit = self.limit
        if limit is not None and not (type(limit) is int and limit > 0):
            message = f"the setting {name}.limit is {limit!r}, not a number"
            raise SettingsError(message)
        if not (self.tokens or self.pairs):
            message = f"the view {name} has neither tokens nor pairs"
            raise SettingsError(message)
        if self.alphabet == "ngrams" and (self.pairs or self.fields):
            message = f"the view {name} of n-grams has pairs or names of fields"
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


def _check_choices(found: dict[str, tuple[object, tuple[object, ...]]]) -> None:
    """Refuse a value that is none of those allowed, by the setting's name."""
    for name, (value, allowed) in found.items():
        if not any(value == one and type(value) is type(one) for one in allowed):
            message = f"the setting {name} is {value!r}, expected one of {allowed}"
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
    name="body", text="body", alphabet="words", pairs=True, fold_tokens=True
)
NGRAMS: Final = View(
    name="ngrams", text="body", alphabet="ngrams", fold_tokens=True, limit=NGRAMS_READ
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
            message = f"the setting fields has the column {column!r}, not a name"
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


_NAMES: Final = {
    "format": "what documents are read as (--format)",
    "views": "the views (--format, and whether there are two classes or more)",
    "codepoints": "the table of code points (the version of nbtext)",
    "ledger": "the ledger (--no-ledger)",
    "fields": "the columns that are read (--text-column, --categorical-column and "
    "--numeric-column)",
    "pattern": "the pattern and the version of regex (--pattern)",
    "secret": "the secret of its keys, by fingerprint (--keyed)",
    "idf_documents": "how many documents its idf rests on (train --score tfidf)",
}
_VIEW_NAMES: Final = {
    "pairs": "pairs (--ngrams)",
    "alphabet": "alphabet (--alphabet)",
    "columns": "what is counted (--score, and whether there are two classes or more)",
}


def _in_words(value: Any) -> str:
    if isinstance(value, dict):
        kinds = {"text": "", "value": " (a category)", "number": " (a number)"}
        value = [f"{name}{kinds[kind]}" for name, kind in value.items()]
    if isinstance(value, list):
        return ", ".join(value) or "none by name"
    if value is None or isinstance(value, bool):
        return {None: "none", True: "yes", False: "no"}[value]
    return str(value)


class Settings(NamedTuple):
    """
    Everything that decides which counts a document leaves behind.

    Attributes:
        format: whether documents are mail or plain text.
        views: in which they are seen, in the order that the model stores.
        codepoints: the version of the table of code points.
        ledger: whether each document is entered in the ledger.
        fields: the columns of tables that are read, in this order; if there are none,
            the column called text, body, content or message. Those of values and of
            numbers have a view each, behind the views of text.
        pattern: what a token is in the views whose alphabet is "pattern"; None if there
            are no such views.
        secret: the fingerprint of the secret that keys and digests are made with, as
            hexadecimal digits; None if anybody can compute them.
        idf_documents: by how many documents the idf of TF-IDF weights is frozen; None
            if there are no such weights.
    """

    format: Format
    views: tuple[View, ...]
    codepoints: int = CODE_POINTS
    ledger: bool = True
    fields: tuple[Field, ...] = ()
    pattern: Pattern | None = None
    secret: str | None = None
    idf_documents: int | None = None

    @property
    def column_names(self) -> tuple[str, ...]:
        """The names of the columns that are read."""
        return tuple(field.column for field in self.fields)

    @property
    def has_attributes(self) -> bool:
        """Whether columns of values or numbers are read."""
        return bool(self.views) and self.views[-1].kind != "text"

    @property
    def n_texts(self) -> int:
        """How many views see text: the first ones."""
        return len(self.views) - len(self.attributes)

    @property
    def attributes(self) -> tuple[tuple[int, View], ...]:
        """The views of values and of numbers, each with its number."""
        return tuple(
            (number, view)
            for number, view in enumerate(self.views)
            if view.kind != "text"
        )

    def reading(self, fields: tuple[Field, ...]) -> "Settings":
        """Return the same settings, for columns of tables; these read text alone."""
        kinds = [field.kind for field in fields]
        has_text = "text" in kinds or not fields
        return self._replace(
            views=(*(self.views if has_text else ()), *attribute_views(fields)),
            fields=fields,
            pattern=self.pattern if has_text else None,
        )

    def of_text(self) -> "Settings":
        """Return the settings without attributes; there may be no view left."""
        return self._replace(
            views=tuple(view for view in self.views if view.kind == "text"),
            fields=tuple(field for field in self.fields if field.kind == "text"),
        )

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for msgpack and JSON."""
        plain = self._asdict()
        plain["views"] = [view.as_dict() for view in self.views]
        plain["pattern"] = self.pattern and self.pattern._asdict()
        plain["fields"] = dict(self.fields)
        for name in ("secret", "idf_documents"):
            if plain[name] is None:
                del plain[name]
        return plain

    @classmethod
    def from_dict(cls, plain: Any) -> "Settings":
        """
        Rebuild settings from what `as_dict` gave, believing nothing.

        Raises:
            SettingsError: a part is missing, unknown, or not of its kind.

        """
        try:
            pattern = plain["pattern"]
            parts = {
                "views": tuple(View.from_dict(view) for view in plain["views"]),
                "fields": tuple(Field(*field) for field in plain["fields"].items()),
                "pattern": None if pattern is None else Pattern(**pattern),
            }
            settings = cls(**(plain | parts))
        except (TypeError, KeyError, AttributeError) as error:
            message = f"the settings are not complete: {error}"
            raise SettingsError(message) from error
        settings.check()
        return settings

    def counting(self, columns: tuple[Column, ...]) -> "Settings":
        """Return the same settings, with the same columns counted in each view."""
        views = tuple(
            view._replace(columns=columns) if view.kind == "text" else view
            for view in self.views
        )
        return self._replace(views=views)

    def difference(self, other: "Settings") -> str:
        """Say in what two settings differ, with the options that decide it."""
        mine, theirs = self._named(), other._named()
        names = [name for name in mine if name in theirs]
        return "; ".join(
            f"{name}: {mine[name]} in one, {theirs[name]} in the other"
            for name in names
            if mine[name] != theirs[name]
        )

    def _named(self) -> dict[str, str]:
        """Return each setting by what a user may call it."""
        plain = self.as_dict()
        plain["views"] = [view.name for view in self.views]
        plain["pattern"] = self.pattern and " of version ".join(self.pattern)
        plain["secret"] = self.secret
        named = {_NAMES[name]: _in_words(value) for name, value in plain.items()}
        for view in self.views:
            for name, value in view.as_dict().items():
                kind = _VIEW_NAMES.get(name, f"the setting {name}")
                named[f"{kind} of the view {view.name}"] = _in_words(value)
        return named

    def check(self) -> None:
        """
        Refuse what no nbtext would have written.

        Raises:
            SettingsError: a value is not one of those that its kind has.

        """
        _check_choices(
            {
                "format": (self.format, ("mail", "text")),
                "codepoints": (self.codepoints, (CODE_POINTS,)),
                "ledger": (self.ledger, (True, False)),
            }
        )
        for field in self.fields:
            field.check()
        if len(dict(self.fields)) < len(self.fields):
            message = f"the columns {', '.join(self.column_names)} are not distinct"
            raise SettingsError(message)
        for view in self.views:
            view.check()
        self._check_attributes()
        names = [view.name for view in self.views]
        has_matches = any(view.alphabet == "pattern" for view in self.views)
        if has_matches != (self.pattern is not None):
            message = "a pattern and views of its matches go together; one is missing"
            raise SettingsError(message)
        if self.pattern is not None:
            self.pattern.check()
        if self.secret is not None and not _is_fingerprint(self.secret):
            message = f"the setting secret is {self.secret!r:.80}, not a fingerprint"
            raise SettingsError(message)
        self._check_idf()
        if not names or len(set(names)) < len(names):
            message = f"the views {names} are not one or more distinct names"
            raise SettingsError(message)

    def _check_idf(self) -> None:
        """Refuse TF-IDF weights without the number of documents of their idf."""
        documents: object = self.idf_documents  # from a file it may be anything
        is_weighed = any(TFIDF in view.columns for view in self.views)
        is_number = type(documents) is int and 0 < documents < MOST_DOCUMENTS
        if not (is_number if is_weighed else documents is None):
            message = f"the setting idf_documents is {documents!r:.80}, expected " + (
                "a number of documents" if is_weighed else "none"
            )
            raise SettingsError(message)

    def _check_attributes(self) -> None:
        """Refuse other views of columns than those of the fields, or out of place."""
        kinds = [field.kind for field in self.fields]
        wanted = [field for field in self.fields if field.kind != "text"]
        n_texts = max(len(self.views) - len(wanted), 0)
        views = [(view.field, view.kind) for view in self.views[n_texts:]]
        are_texts = all(view.kind == "text" for view in self.views[:n_texts])
        has_text = not wanted or "text" in kinds
        if views != wanted or not are_texts or (wanted and (n_texts > 0) != has_text):
            message = (
                "the views are not one of each column of values and numbers, behind "
                "those of text"
            )
            raise SettingsError(message)


MOST_DOCUMENTS: Final = 1 << 53
"""No model has as many documents."""


def _is_fingerprint(value: object) -> bool:
    """Return whether a value is the 16 bytes of a fingerprint in hexadecimal."""
    return type(value) is str and len(value) == 32 and not value.strip(HEXADECIMAL)


HEXADECIMAL: Final = "0123456789abcdef"

Counting: TypeAlias = str
"""What a term that occurs n times counts: one of COUNTINGS."""

OCCURRENCES: Final = "occurrences"
ONCE: Final = "once"
LOG: Final = "log"
MIN: Final = "min:"

COUNTINGS: Final = (
    OCCURRENCES,
    ONCE,
    LOG,
    *(f"{MIN}{most}" for most in range(2, len(LEVELS) + 2)),
)
"""A term that occurs n times counts n, 1, ln(1 + n), or min(n, K)."""


Parameters: TypeAlias = tuple[tuple[str, float], ...]

SHARES: Final = "shares"
UNIFORM: Final = "uniform"
NO_PRIOR: Final = "none"
DIRICHLET: Final = "dirichlet:"
"""Class priors; a Dirichlet prior's number of documents follows its name."""

SKIP: Final = "skip"
UNK: Final = "unk"
"""What becomes of terms that a model does not know."""


class Scoring(NamedTuple):
    """
    How counts become a score: deciding settings, which may differ from file to file.

    Attributes:
        score: the name of the event model; nbtext.scoring.models has them.
        smoothing: what is added to every count, in the units of the model's formula.
        counting: what a term that occurs n times counts, one of COUNTINGS.
        parameters: the event model's own numbers, each with its name, sorted by name.
        calibrated: whether the posterior is fitted to held-out scores; otherwise it is
            the event model's own.
        class_prior: what a textbook's score takes for P(class): the "shares" of the
            documents, "dirichlet:A" with A documents more in each class, "uniform", or
            "none", which leaves it out.
        unknown: what a document's terms count that no class knows: nothing ("skip"), or
            as one term ("unk") that is learnt from those that were seen once.
        attributes: the numbers by which columns of values and of numbers are scored,
            each with its name, sorted by name; none where there are no such columns.
    """

    score: str
    smoothing: float
    counting: Counting = "occurrences"
    parameters: Parameters = ()
    calibrated: bool = True
    class_prior: str = SHARES
    unknown: str = SKIP
    attributes: Parameters = ()

    def attribute(self, name: str) -> float:
        """
        Return one of the numbers by which attributes are scored.

        Raises:
            KeyError: there is none of this name; check_scoring refuses such a scoring.

        """
        return dict(self.attributes)[name]

    def parameter(self, name: str) -> float:
        """
        Return one of the event model's own numbers.

        Raises:
            KeyError: there is none of this name; check_scoring refuses such a scoring.

        """
        return dict(self.parameters)[name]

    def with_parameters(self, **values: float) -> "Scoring":
        """Return the same scoring with other numbers under these names."""
        parameters = tuple(sorted((dict(self.parameters) | values).items()))
        return self._replace(parameters=parameters)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for msgpack and JSON."""
        plain = self._asdict() | {"parameters": dict(self.parameters)}
        if self.class_prior == SHARES:
            del plain["class_prior"]
        if self.unknown == SKIP:
            del plain["unknown"]
        if self.attributes:
            plain["attributes"] = dict(self.attributes)
        else:
            del plain["attributes"]
        return plain

    def of_scores(self) -> dict[str, Any]:
        """
        Return as plain values what decides scores of text.

        Calibration has no part in that, and attributes have none: what they say is
        added to what is made of the scores.
        """
        plain = self.as_dict()
        plain.pop("attributes", None)
        del plain["calibrated"]
        return plain

    @classmethod
    def from_dict(cls, plain: Any) -> "Scoring":
        """
        Rebuild a scoring from what `as_dict` gave, believing nothing.

        Whether there is an event model of this name is not known here.

        Raises:
            SettingsError: a part is missing, unknown, or out of its range.

        """
        try:
            numbers = {"parameters": plain["parameters"]}
            if "attributes" in plain:
                numbers["attributes"] = plain["attributes"]
            parts = {name: tuple(sorted(of.items())) for name, of in numbers.items()}
            scoring = cls(**(plain | parts))
        except (TypeError, KeyError, AttributeError) as error:
            message = f"the scoring is not complete: {error}"
            raise SettingsError(message) from error
        scoring.check()
        return scoring

    def check(self) -> None:
        """
        Refuse what cannot be scored with.

        Raises:
            SettingsError: a value is unknown or out of its range.

        """
        if not (type(self.score) is str and self.score.isidentifier()):
            message = f"the score is {self.score!r}, expected the name of one"
            raise SettingsError(message)
        check_counting(self.counting)
        if type(self.calibrated) is not bool:
            message = f"calibrated is {self.calibrated!r}, expected yes or no"
            raise SettingsError(message)
        if self.class_prior not in (SHARES, UNIFORM, NO_PRIOR):
            dirichlet_documents(self.class_prior)
        if self.unknown not in (SKIP, UNK):
            message = f"unknown is {self.unknown!r:.80}, expected {SKIP} or {UNK}"
            raise SettingsError(message)
        check_range("smoothing", self.smoothing, SMALLEST, LARGEST)
        for name, value in (*self.parameters, *self.attributes):
            if type(name) is not str or not name.isidentifier():
                message = f"a parameter is called {name!r}, expected a name"
                raise SettingsError(message)
            check_range(name, value, 0, LARGEST)


def check_counting(counting: object) -> None:
    """
    Refuse what is no way to count occurrences.

    Raises:
        SettingsError: that is so.

    """
    if counting not in COUNTINGS:
        message = (
            f"counting is {counting!r:.80}, expected {OCCURRENCES}, {ONCE}, {LOG}, or "
            f"{COUNTINGS[3]} to {COUNTINGS[-1]}"
        )
        raise SettingsError(message)


def dirichlet_documents(class_prior: object) -> float:
    """
    Return how many documents a Dirichlet prior adds to each class.

    Raises:
        SettingsError: it is no class prior, or its number is out of its range.

    """
    number = 0.0
    if type(class_prior) is str and class_prior.startswith(DIRICHLET):
        try:
            number = float(class_prior.removeprefix(DIRICHLET))
        except ValueError:
            number = 0.0
    if not SMALLEST <= number <= LARGEST:  # nor is NaN
        message = (
            f"the class prior is {class_prior!r:.80}, expected {SHARES}, {UNIFORM}, "
            f"{NO_PRIOR}, or {DIRICHLET}A with A from {SMALLEST} to {LARGEST}"
        )
        raise SettingsError(message)
    return number


SMALLEST: Final = 1e-9
LARGEST: Final = 1e9
"""The range of what may be added."""


def check_range(name: str, value: object, least: float, most: float) -> None:
    """
    Refuse what is no number of a range.

    Raises:
        SettingsError: that is so.

    """
    if type(value) not in (float, int) or not least <= value <= most:  # type: ignore[operator]
        message = f"{name} is {value!r}, expected {least} to {most}"
        raise SettingsError(message)


def default_settings(document_format: Format, n_classes: int) -> Settings:
    """Return the settings that do best for a kind of document and so many classes."""
    if document_format == "mail":
        settings = Settings("mail", (HEADERS, RAW, BODY))
        return settings if n_classes <= 2 else settings.counting(WEIGHTED)
    if n_classes > 2:
        return Settings("text", (TOPIC, NGRAMS)).counting(WEIGHTED)
    # with weights, so that any score can be chosen, and a third class be learnt
    return Settings("text", (BODY, NGRAMS)).counting(WEIGHTED)
