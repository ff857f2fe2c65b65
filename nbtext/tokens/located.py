"""
Where the terms of a document are: key to the text that is there.

A key does not tell its term, so a document is read again to show which of its tokens a
model's evidence is about. Tokens are those of `nbtext.tokens.definition`, as they are
written in the document and not as they are folded for their keys.
"""

from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple, TypeAlias

from nbtext.settings.views import View
from nbtext.tokens import attributes, compiled, definition, ngrams
from nbtext.tokens.engine import engine
from nbtext.tokens.tokenizer import Field, tokens_sooner

Parts: TypeAlias = tuple[str, ...] | bytes
"""The tokens of a term, or the bytes of an n-gram."""


class Located(NamedTuple):
    """
    Where a term first occurs.

    Attributes:
        field: the name of the field.
        start: the number of its first token in the document, or of its first byte.
        parts: its tokens, or its bytes, as they are in the document.
    """

    field: str
    start: int
    parts: Parts

    @property
    def text(self) -> str:
        """Return the term as a text; bytes of cut characters are lone surrogates."""
        return text_of(self.parts)


def text_of(parts: Parts) -> str:
    """Return tokens with a space between them, or bytes as characters."""
    if isinstance(parts, bytes):
        return parts.decode("utf-8", "surrogateescape")
    return " ".join(parts)


def located(
    view: View, fields: list[Field], keys: Collection[int], secret: str | None = None
) -> dict[int, Located]:
    """
    Return where terms first occur in a document, those that do.

    Args:
        view: what is read.
        fields: the document.
        keys: the terms that are looked for.
        secret: the fingerprint of the secret that keys are made with, if one is.

    Raises:
        SecretError: the secret is not here.
    """
    left = {*keys}
    numbers: dict[int, int] = {}  # of first occurrences, in the order of the definition
    for number, key in enumerate(_keys(view, fields, secret) if left else ()):
        if key in left:
            numbers[number] = key
            left.remove(key)
            if not left:
                break
    return {numbers[number]: place for number, place in _places(view, fields, numbers)}


def _keys(view: View, fields: list[Field], secret: str | None) -> Iterable[int]:
    """Return the key of each term, in the order of the definition."""
    if secret is not None:
        from nbtext.tokens.keyed import keyed

        return keyed(secret).defined_keys(view, fields)
    if view.kind == "text" and engine().is_compiled:
        found, _ = compiled.document_keys(view, [fields])
        return memoryview(found).cast("Q")
    return definition.defined_keys(view, fields)


def _places(
    view: View, fields: list[Field], numbers: Collection[int]
) -> Iterator[tuple[int, Located]]:
    """Yield where terms are, those of some numbers in the order of the definition."""
    if view.kind != "text":  # its term is the whole value
        for number, (name, value, _) in enumerate(attributes.terms(view, fields)):
            if number in numbers:
                yield number, Located(name, 0, (value,))
    elif view.alphabet == "ngrams":
        data = ngrams.normalised(view, fields) if numbers else b""
        for number in numbers:
            start, ngram = ngrams.at(view, data, number)
            yield number, Located(view.text, start, ngram)
    elif numbers:
        yield from _places_of_tokens(view, fields, numbers, max(numbers))


def _places_of_tokens(
    view: View, fields: list[Field], numbers: Collection[int], last: int
) -> Iterator[tuple[int, Located]]:
    """Yield where tokens and pairs are, those of some numbers, up to the last one."""
    number = start = 0
    for name, text in fields:
        start += 1  # so that nothing is next to a token of another field
        before: str | None = None
        for token in tokens_sooner(text, view.alphabet):
            start += 1
            if view.tokens:
                if number in numbers:
                    yield number, Located(name, start, (token,))
                number += 1
            if view.pairs and before is not None:
                if number in numbers:
                    yield number, Located(name, start - 1, (before, token))
                number += 1
            if number > last:
                return
            before = token
