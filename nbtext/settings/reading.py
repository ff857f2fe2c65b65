"""
How documents are read: the settings that a model is made with, and keeps.

Reading settings decide which tokens a document has. They are frozen values, stored in
the model; what is classified is read by the model's settings and no others. The
defaults, and what each of them is worth, are in docs/method.md.
"""

from collections.abc import Collection, Mapping
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from nbtext import wording
from nbtext.constants import CODE_POINTS
from nbtext.errors import ModelVersionError, SettingsError
from nbtext.settings.columns import TFIDF, WEIGHTED, Column
from nbtext.settings.plain import any_map, list_of, map_of, shown
from nbtext.settings.views import (
    BODY,
    HEADERS,
    NGRAMS,
    RAW,
    THREES_BYTES,
    TOPIC,
    Field,
    View,
    _check_choices,
    attribute_views,
)

Format: TypeAlias = Literal["mail", "text"]
"""How a document's bytes are taken apart."""

KEY_BITS: Final = 48
"""The bits of a term's key, which are the upper ones of the 64 that are mixed."""

MAIL_SIZE: Final = 1 << 20
"""The size of a mail is not counted beyond this; what follows is rarely text."""

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
                message = f"the {name} is {shown(value)}, not 1 to {most} characters"
                raise SettingsError(message)


_KEYS: Final = ("format", "views", "codepoints", "ledger", "fields", "pattern")
_KEYS_OF_SOME: Final = ("secret", "idf_documents")
"""The keys of settings as plain values; the latter are there if they are not None."""


def _of_both(
    name: str, mine: dict[str, str], theirs: dict[str, str]
) -> tuple[str, str]:
    """Return a setting of each of two, which one of them need not have."""
    return mine.get(name, _in_words(None)), theirs.get(name, _in_words(None))


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
    def has_frozen_idf(self) -> bool:
        """Whether documents are weighed by an idf that training has frozen."""
        return self.idf_documents is not None

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
        for name in _KEYS_OF_SOME:
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
        found = map_of(plain, "the settings", _KEYS, _KEYS_OF_SOME)
        views = list_of(found["views"], "the views of the settings")
        fields = any_map(found["fields"], "the columns that are read")
        pattern = found["pattern"]
        if pattern is not None:
            pattern = Pattern(**map_of(pattern, "the pattern", Pattern._fields))
        settings = cls(
            **found
            | {
                "views": tuple(map(View.from_dict, views)),
                "fields": tuple(Field(*field) for field in fields.items()),
                "pattern": pattern,
            }
        )
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
        # of a view that one of them lacks, that is the difference
        shared = {one.name for one in self.views} & {one.name for one in other.views}
        mine, theirs = self._named(shared), other._named(shared)
        both = [(name, *_of_both(name, mine, theirs)) for name in mine | theirs]
        return "; ".join(
            f"{name}: {one} in one, {two} in the other"
            for name, one, two in both
            if one != two
        )

    def _named(self, views: Collection[str]) -> dict[str, str]:
        """Return each setting, and those of some views, by what a user may call it."""
        plain = self._asdict() | {"fields": dict(self.fields)}
        plain["views"] = [view.name for view in self.views]
        plain["pattern"] = self.pattern and " of version ".join(self.pattern)
        named = {_names()[name]: _in_words(value) for name, value in plain.items()}
        for view in self.views:
            if view.name not in views:
                continue
            for name, value in (view.as_dict() | {"threes": view.threes}).items():
                kind = _view_names().get(name, f"the setting {name}")
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


def check_code_points(name: str, plain: Any) -> None:
    """
    Refuse settings of another table of code points; what is no table is not looked at.

    Args:
        name: what the model is called.
        plain: what a file says are its settings.

    Raises:
        ModelVersionError: the model has other tokens than this nbtext.
    """
    of_tokens = plain.get("codepoints") if isinstance(plain, dict) else None
    is_number = type(of_tokens) is int and of_tokens.bit_length() <= 64
    if is_number and of_tokens != CODE_POINTS:
        message = (
            f"{name}: its tokens are those of table {of_tokens} of code points, "
            f"and this nbtext has table {CODE_POINTS}; train again, or upgrade nbtext "
            "if it is newer"
        )
        raise ModelVersionError(message)


MOST_DOCUMENTS: Final = 1 << 53
"""No model has as many documents."""


def _is_fingerprint(value: object) -> bool:
    """Return whether a value is the 16 bytes of a fingerprint in hexadecimal."""
    return type(value) is str and len(value) == 32 and not value.strip(HEXADECIMAL)


HEXADECIMAL: Final = "0123456789abcdef"


def default_settings(
    document_format: Format, n_classes: int, *, has_threes: bool = False
) -> Settings:
    """
    Return the settings that do best for a kind of document and so many classes.

    Args:
        document_format: how documents are taken apart.
        n_classes: how many classes there are.
        has_threes: whether texts of three classes and more have runs of three.
    """
    if document_format == "mail":
        settings = Settings("mail", (HEADERS, RAW, BODY))
        return settings if n_classes <= 2 else settings.counting(WEIGHTED)
    if n_classes > 2:
        ngrams = NGRAMS._replace(threes=THREES_BYTES if has_threes else None)
        return Settings("text", (TOPIC, ngrams)).counting(WEIGHTED)
    # with weights, so that any score can be chosen, and a third class be learnt
    return Settings("text", (BODY, NGRAMS)).counting(WEIGHTED)


def _names() -> Mapping[str, str]:
    """Return what settings are called in messages, and what sets them."""
    columns = map(
        wording.named, ("text_columns", "categorical_columns", "numeric_columns")
    )
    return {
        "format": f"what documents are read as ({wording.named('format')})",
        "views": f"the views ({wording.named('format')}, and whether there are two "
        "classes or more)",
        "codepoints": "the table of code points (the version of nbtext)",
        "ledger": f"the ledger ({wording.given(ledger=False)})",
        "fields": "the columns that are read ({}, {} and {})".format(*columns),
        "pattern": f"the pattern and the version of regex ({wording.named('pattern')})",
        "secret": f"the secret of its keys, by fingerprint ({wording.named('keyed')})",
        "idf_documents": "how many documents its idf rests on "
        f"({wording.named('score')} tfidf)",
    }


def _view_names() -> Mapping[str, str]:
    """Return what settings of views are called in messages, and what sets them."""
    switches = f"{wording.given(threes=True)}, {wording.given(threes=False)}"
    return {
        "pairs": f"pairs ({wording.named('ngrams')})",
        "alphabet": f"alphabet ({wording.named('alphabet')})",
        "columns": f"what is counted ({wording.named('score')}, and whether there are "
        "two classes or more)",
        "threes": f"runs of three characters ({switches}, and how many documents "
        "classes have)",
    }
