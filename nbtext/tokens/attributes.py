"""
The attributes of a record: the columns that hold no text, but a category or a number.

A document of a table and the settings of a model go in; out comes for each view what it
sees. A view of values has one term of a document, the value; its key is that of a token
that is the whole value, not folded. A view of numbers has one as well: its key is the
64 bits of the number (`nbtext.exact`), which is not looked up, but summed. An attribute
that is empty has no term.
"""

from array import array
from collections.abc import Iterator, Sequence
from itertools import accumulate

from nbtext import wording
from nbtext.document import Document
from nbtext.errors import SourceError
from nbtext.exact import check_number, number_in, value_of
from nbtext.settings.columns import Kind
from nbtext.settings.reading import Settings
from nbtext.settings.views import View
from nbtext.tokens.tokenizer import KEY_SHIFT, Field, token_hash


def in_order(document: Document, settings: Settings) -> Document:
    """
    Return a record with the columns that a model reads, in the order of the model.

    Raises:
        SourceError: it lacks one of them.
    """
    names = settings.column_names
    if document.columns == names:
        return document
    # a document that is no record has texts, and no columns
    texts = dict(zip(document.columns, document.texts, strict=False))
    missing = [name for name in names if name not in texts]
    if missing:
        formats = wording.given(format=wording.Blank("csv, tsv or jsonl"))
        raise SourceError(
            f"{document.name}: no column {missing[0]}; the model reads the columns "
            f"{', '.join(names)} of tables and JSON lines ({formats})"
        )
    return document._replace(columns=names, texts=tuple(map(texts.__getitem__, names)))


def of_kind(document: Document, settings: Settings, kind: Kind) -> Document:
    """Return a record, in the order of the model, with the columns of one kind."""
    fields = zip(settings.fields, document.texts, strict=True)
    chosen = [(field.column, text) for field, text in fields if field.kind == kind]
    return document._replace(
        columns=tuple(name for name, _ in chosen),
        texts=tuple(text for _, text in chosen),
    )


def attribute_fields(document: Document, settings: Settings) -> list[list[Field]]:
    """
    Return for each view of an attribute its column and value, none if it is empty.

    White space around a value is no part of it.

    Raises:
        NumberError: a number is none, or not a finite one.
    """
    texts = dict(zip(document.columns, document.texts, strict=True))
    found: list[list[Field]] = []
    for _, view in settings.attributes:
        value = value_of(texts[view.field])
        if value and view.kind == "number":
            check_number(document.name, view.field, value)
        found.append([(view.field, value)] if value else [])
    return found


def terms(view: View, fields: list[Field]) -> Iterator[tuple[str, str, str | None]]:
    """Yield the term of a document in the view of an attribute, if it has one."""
    for name, value in fields:
        shown = repr(number_in(value) + 0.0) if view.kind == "number" else value
        yield name, shown, None


def document_keys(
    view: View, documents: Sequence[list[Field]]
) -> "tuple[array[int], array[int]]":
    """Return the keys of documents as `nbtext.tokens.engine.document_keys` does."""
    starts = array("q", accumulate(map(len, documents), initial=0))
    values = [value for fields in documents for _, value in fields]
    found = array("Q")
    if view.kind == "number":
        # 0.0 is added, because -0.0 is written with other bits
        numbers = array("d", [number_in(value) + 0.0 for value in values])
        found.frombytes(numbers.tobytes())
    else:
        hashes = {value: token_hash(value) >> KEY_SHIFT for value in {*values}}
        found.extend(map(hashes.__getitem__, values))
    return found, starts


def keys(view: View, fields: list[Field]) -> "array[int]":
    """Return the key of each value."""
    return document_keys(view, [fields])[0]
