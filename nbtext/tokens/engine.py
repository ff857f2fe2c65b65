"""
Which tokenizer is in use, the compiled or the plain one, and the keys it returns.

Fields of documents and a view go in, keys come out, the same from both. The choice is
made once, when the first document is read: the compiled extension, where there is one
that fits. Nothing outside the process has a say in it; `use` is for those who compare.
The keys of keyed models are of another kind, and computed by `nbtext.tokens.keyed`.
"""

from array import array
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from nbtext.settings.views import View
from nbtext.tokens import compiled
from nbtext.tokens.tokenizer import Field

Content: TypeAlias = list[Field] | memoryview
"""A document in one view: its fields, or the keys of its terms, 64-bit integers."""

if TYPE_CHECKING:
    Buffer: TypeAlias = bytes | memoryview | array[int]


class Engine(NamedTuple):
    """
    A tokenizer.

    Attributes:
        is_compiled: whether it is the compiled one.
        description: which it is and why, for whoever asks for versions.
    """

    is_compiled: bool
    description: str


COMPILED: Final = Engine(is_compiled=True, description="compiled")
PLAIN: Final = Engine(is_compiled=False, description="plain Python")


@cache
def best() -> Engine:
    """Return the compiled tokenizer if it fits, else the plain one."""
    reason = compiled.unfit()
    return PLAIN._replace(description=f"plain Python: {reason}") if reason else COMPILED


_in_use: Engine | None = None


def engine() -> Engine:
    """Return the tokenizer that is in use."""
    return _in_use or best()


def use(chosen: Engine | None) -> None:
    """Use a tokenizer from now on, in this process and its forks; None: the best."""
    global _in_use
    _in_use = chosen


def keys(view: View, content: Content, secret: str | None = None) -> Iterable[int]:
    """
    Return the key of each term of a document in one view, in any order.

    Raises:
        SecretError: the secret is not here.
    """
    if isinstance(content, memoryview):
        return content
    if secret is not None:
        from nbtext.tokens.keyed import keyed

        return keyed(secret).keys(view, content)
    if engine().is_compiled and view.kind == "text":
        found, _ = compiled.document_keys(view, [content])
        return memoryview(found).cast("Q")
    from nbtext.tokens import definition  # which the compiled one does without

    return definition.keys(view, content)


def document_keys(
    view: View, documents: Sequence[Content], secret: str | None = None
) -> "tuple[Buffer, Buffer]":
    """
    Return the keys of documents in one view.

    Returns:
        The keys, grouped by document, and where each document's begin among them, with
        the end: shapes (n_keys,) and (n_documents + 1,), 64-bit integers as the
        machine has them.

    Raises:
        SecretError: the secret is not here.
    """
    with_fields = [content for content in documents if isinstance(content, list)]
    is_mixed = len(with_fields) < len(documents)
    if view.kind != "text" and secret is None and not is_mixed:
        from nbtext.tokens import attributes  # only records of tables need it

        return attributes.document_keys(view, with_fields)
    if secret is None and engine().is_compiled and not is_mixed:
        return compiled.document_keys(view, with_fields)
    of_each = [_array_of(keys(view, content, secret)) for content in documents]
    starts = array("q", accumulate(map(len, of_each), initial=0))
    if len(of_each) == 1:  # which may be large
        return of_each[0], starts
    return memoryview(bytearray().join(of_each)).cast("Q"), starts


def _array_of(found: Iterable[int]) -> "memoryview | array[int]":
    """Return keys as an array of 64-bit integers."""
    return found if isinstance(found, memoryview) else array("Q", found)
