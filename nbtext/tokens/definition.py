"""
The terms of a document in one view, and their keys, whatever its tokens are.

`nbtext.tokens.attributes` specifies views of values and numbers, `nbtext.tokens.ngrams`
those of byte n-grams, `nbtext.tokens.tokenizer` all others. This module chooses by the
view's kind and alphabet.
"""

from collections.abc import Iterable, Iterator

from nbtext.settings.views import View
from nbtext.tokens import attributes, ngrams, tokenizer
from nbtext.tokens.tokenizer import Field


def terms(view: View, fields: list[Field]) -> Iterator[tuple[str, str, str | None]]:
    """Yield the terms of a document: field, token, and a pair's second token."""
    if view.kind != "text":
        return attributes.terms(view, fields)
    if view.alphabet == "ngrams":
        return ngrams.terms(view, fields)
    return tokenizer.terms(view, fields)


def defined_keys(view: View, fields: list[Field]) -> Iterable[int]:
    """Return the key of each of the `terms`, in their order: the definition."""
    if view.kind != "text":
        return attributes.keys(view, fields)
    if view.alphabet == "ngrams":
        return ngrams.defined_keys(view, fields)
    return tokenizer.defined_keys(view, fields)


def keys(view: View, fields: list[Field]) -> Iterable[int]:
    """Return the same keys in another order, sooner."""
    if view.kind != "text":
        return attributes.keys(view, fields)
    if view.alphabet == "ngrams":
        return ngrams.keys(view, fields)
    return tokenizer.keys(view, fields)
