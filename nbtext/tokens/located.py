"""
Where the terms of a document are: key to the text that is there.

A key does not tell its term, so a document is read again to show which of its tokens a
model's evidence is about. Tokens are those of `nbtext.tokens.definition`, as they are
written in the document and not as they are folded for their keys.
"""

from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple, TypeAlias

from nbtext.settings.views import View
from nbtext.tokens import attributes, definition, ngrams
from nbtext.tokens.tokenizer import Field, limit_of, tokens

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
    found: dict[int, Located] = {}
    left = {*keys}
    if not left:
        return found
    for place, key in zip(_places(view, fields), _keys(view, fields, secret)):  # noqa: B905  both end with the document
        if key in left:
            found[key] = place
            left.remove(key)
            if not left:
                break
    return found


def _keys(view: View, fields: list[Field], secret: str | None) -> Iterable[int]:
    """Return the key of each term, in the order of the definition."""
    if secret is None:
        return definition.defined_keys(view, fields)
    from nbtext.tokens.keyed import keyed

    return keyed(secret).defined_keys(view, fields)


def _places(view: View, fields: list[Field]) -> Iterator[Located]:
    """Yield where each term is, in the order of the definition."""
    if view.kind != "text":  # its term is the whole value
        for name, value, _ in attributes.terms(view, fields):
            yield Located(name, 0, (value,))
        return
    if view.alphabet == "ngrams":
        for start, ngram in enumerate(ngrams.ngrams(view, fields)):
            yield Located(view.text, start, ngram)
        return
    left = limit_of(view)
    start = 0
    for name, text in fields:
        start += 1  # so that nothing is next to a token of another field
        before: str | None = None
        for token in tokens(text, view.alphabet):
            if not left:
                return
            left -= 1
            start += 1
            if view.tokens:
                yield Located(name, start, (token,))
            if view.pairs and before is not None:
                yield Located(name, start - 1, (before, token))
            before = token
