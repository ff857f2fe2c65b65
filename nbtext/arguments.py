"""
Arguments of the library, checked: paths, sources, labels, documents and numbers.

A string is a sequence of strings, and a document from `read_documents` is a sequence of
its fields. Where a list of them is expected, one of them is a mistake that would
otherwise pass: its letters would be learnt.
"""

import operator
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias, TypeVar

from nbtext.document import AnyDocument, Document

Argument = TypeVar("Argument")

AnyPath: TypeAlias = str | os.PathLike[str]
"""A path, as a string or as `pathlib` has it."""


def path_of(path: AnyPath) -> str:
    """
    Return a path as a string.

    Raises:
        TypeError: it is none.
    """
    found = os.fspath(path) if isinstance(path, os.PathLike) else path
    if not isinstance(found, str):
        opened = hasattr(found, "classify")
        advice = (
            "; give the path of the model, and not what is opened" if opened else ""
        )
        message = f"a path is a str or a Path, not {type(found).__name__}{advice}"
        raise TypeError(message)
    return found


def instance_of(name: str, value: Argument, type_: type[Argument]) -> Argument:
    """
    Return an argument as it is.

    Raises:
        TypeError: it is of another type; what to write is said, if it is a dictionary.
    """
    if isinstance(value, type_):
        return value
    expected = type_.__name__
    message = f"{name}: expected {expected}(...), found {value!r:.80}"
    if isinstance(value, dict):
        message += f"; write {expected}(**{value!r:.80})"
    raise TypeError(message)


def sources_of(sources: Sequence[AnyPath]) -> list[str]:
    """
    Return sources as strings.

    Raises:
        TypeError: they are one path, or none, or no paths.
    """
    is_one = isinstance(sources, str | bytes | os.PathLike)
    listed = [*sources] if is_listing(sources) and not is_one else []
    if not listed:
        found = f"{sources!r:.200}"
        if _is_table(sources):
            found = f"{type(sources).__name__}; save it, and name the file"
        message = f"sources: expected a list of one or more, found {found}"
        raise TypeError(message)
    return [path_of(source) for source in listed]


def documents_of(documents: Iterable[AnyDocument]) -> Iterable[AnyDocument]:
    """
    Return documents as they are.

    Raises:
        TypeError: they are a single one, or no list of them.
    """
    kind = type(documents).__name__
    if isinstance(documents, str | bytes | bytearray | memoryview | Document):
        message = f"documents: expected a list of them, found one {kind}; write [it]"
        raise TypeError(message)
    if not is_listing(documents):
        message = f"documents: expected a list of them, found {kind}"
        raise TypeError(message + _advice_on_listing(documents))
    return documents


def pairs_of(
    pairs: Iterable[tuple[str, AnyDocument]],
) -> Iterable[tuple[str, AnyDocument]]:
    """
    Return pairs of a label and a document as they are.

    Raises:
        TypeError: they are no list.
    """
    if not is_listing(pairs):
        found = type(pairs).__name__
        message = f"expected a list of pairs of a label and a document, found {found}"
        raise TypeError(message + _advice_on_pairs(pairs))
    return pairs


def is_listing(value: object) -> bool:
    """
    Return whether something can be gone through, and yields what it is made of.

    A mapping yields its keys, a message of `email` the names of its header fields, and
    a table of pandas those of its columns.
    """
    is_named = isinstance(value, Mapping) or hasattr(value, "as_bytes")
    return isinstance(value, Iterable) and not is_named and not _is_table(value)


def _is_table(value: object) -> bool:
    """Return whether something is a table of pandas, polars or the like."""
    return hasattr(value, "columns")


def _advice_on_listing(value: object) -> str:
    """Return what to write where a list of documents belongs, if known."""
    if isinstance(value, Mapping):
        return "; write it.values()"
    if isinstance(value, os.PathLike):
        return "; write read_documents([it])"
    if hasattr(value, "as_bytes"):
        return "; write [it.as_bytes()], or the bytes that it was read from"
    if _is_table(value):
        return "; name the column of it that has the texts: it['text']"
    return ""


def _advice_on_pairs(value: object) -> str:
    """Return what to write where pairs belong, if known."""
    return "; write zip(it['label'], it['text'])" if _is_table(value) else ""


def label_of(label: str, what: str = "a label") -> str:
    """
    Return a label as it is.

    Raises:
        TypeError: it is no string.
        ValueError: it is empty.
    """
    if not isinstance(label, str):
        message = f"{what} is a str, not {type(label).__name__}"
        raise TypeError(message)
    if not label:
        message = (
            f"{what} is the name of a class, and this one is empty; name the class"
        )
        raise ValueError(message)
    return label


def text_of(name: str, text: str) -> str:
    """
    Return an argument that is a text as it is.

    Raises:
        TypeError: it is none.
    """
    if not isinstance(text, str):
        kind = type(text).__name__
        message = f"{name}: expected a str, found {text!r:.80} ({kind})"
        raise TypeError(message)
    return text


def pair_of(pair: Any, number: int) -> tuple[str, AnyDocument]:
    """
    Return a label and a document.

    Args:
        pair: what was given for them.
        number: which pair it is, from 1.

    Raises:
        TypeError: it is something else.
        ValueError: the label is empty.
    """
    match pair:
        case (label, document) if not isinstance(pair, Document):
            return label_of(label, f"the label of document {number}"), document
    message = (
        f"document {number}: expected pairs of a label and a document, "
        f"found {pair!r:.80}"
    )
    raise TypeError(message)


def decider_of(name: str, model: Any, *, alone: bool = False) -> Any:
    """
    Return a model as it is.

    Args:
        name: that of the argument.
        model: what was given for it.
        alone: whether it must be a single one, not several that decide together.

    Raises:
        TypeError: it is none that is open, but the path of one, or something else; or
            it is several.
    """
    if hasattr(model, "classify"):
        if alone and hasattr(model, "parts"):
            message = f"{name}: expected one model, found {model!r:.80}"
            raise TypeError(message)
        return model
    advice = ""
    if isinstance(model, str | os.PathLike):
        advice = f"; open it with load({os.fspath(model)!r:.80})"
    message = f"{name}: expected what `load` returns, found {model!r:.80}{advice}"
    raise TypeError(message)


MOST: Final = (1 << 63) - 1
"""The largest number that is taken, unless there is less."""


MOST_FOLDS: Final = 1000
"""Maximum number of folds: each is a model, and a pass over all documents."""


def count_of(name: str, number: int, *, least: int, most: int = MOST) -> int:
    """
    Return how many there shall be of something.

    Raises:
        TypeError: it is no whole number; True is none, though Python counts with it.
        ValueError: it is out of that range.
    """
    kind = type(number).__name__
    message = f"{name}: expected a whole number, found {number!r:.80} ({kind})"
    if isinstance(number, bool):
        raise TypeError(message)
    try:
        found = operator.index(number)
    except TypeError as error:
        raise TypeError(message) from error
    if not least <= found <= most:
        range_ = f"{least:,} or more" if most == MOST else f"{least:,} to {most:,}"
        raise ValueError(f"{name}: expected {range_}, found {found:,}")
    return found


def seconds_of(name: str, seconds: float) -> float:
    """
    Return how many seconds to wait.

    Raises:
        TypeError: it is no number.
        ValueError: it is below 0, or NaN, by which no deadline would ever come.
    """
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        kind = type(seconds).__name__
        message = f"{name}: expected seconds, found {seconds!r:.80} ({kind})"
        raise TypeError(message)
    if not seconds >= 0:
        raise ValueError(f"{name}: expected seconds, 0 or more, found {seconds!r}")
    return seconds
