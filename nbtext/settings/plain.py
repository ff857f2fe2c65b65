"""
Plain values of a file, of which nothing is believed: maps and lists, and their parts.

What is read goes in and comes out as it is, or is refused by what it is called, what
was expected and what was found. A key that is not known is that of another nbtext, and
may change what the others mean: it has an error of its own.
"""

from collections.abc import Collection, Sequence
from typing import Any

from nbtext.errors import SettingsError, UnknownKeyError


def map_of(
    plain: Any, what: str, keys: Sequence[str], others: Collection[str] = ()
) -> dict[str, Any]:
    """
    Return a map that has some keys, and no others than it may have.

    Args:
        plain: what should be one.
        what: what it is called.
        keys: those that it has.
        others: those that it may have.

    Raises:
        UnknownKeyError: it has another key.
        SettingsError: it is none, or lacks a key.
    """
    found = any_map(plain, what)
    unknown = sorted(map(shown, found.keys() - {*keys, *others}))
    if unknown:
        raise UnknownKeyError(what, unknown[0])
    for key in keys:
        if key not in found:
            message = f"{what}: expected the keys {', '.join(keys)}; found no {key}"
            raise SettingsError(message)
    return found


def any_map(plain: Any, what: str) -> dict[str, Any]:
    """
    Return a map with any keys that are texts.

    Raises:
        SettingsError: it is none.
    """
    if type(plain) is not dict:
        raise unexpected(what, "a map", plain)
    for key in plain:
        if type(key) is not str:
            raise unexpected(f"a key of {what}", "a text", key)
    return plain


def list_of(plain: Any, what: str, length: int | None = None) -> list[Any]:
    """
    Return a list, of so many values if that is known.

    Raises:
        SettingsError: it is none, or has more or fewer.
    """
    if type(plain) is not list:
        raise unexpected(what, "a list", plain)
    if length is not None and len(plain) != length:
        message = f"{what}: expected {length:,} values, found {len(plain):,}"
        raise SettingsError(message)
    return plain


def unexpected(what: str, expected: str, found: Any) -> SettingsError:
    """Return what to raise where something else was expected."""
    return SettingsError(f"{what}: expected {expected}, found {shown(found)}")


def shown(value: Any) -> str:
    """Return a value as a message shows it, however large it is."""
    if type(value) is dict:
        return f"a map of {len(value):,} keys"
    if type(value) in (list, tuple):
        return f"a list of {len(value):,} values"
    if type(value) is int and value.bit_length() > 64:  # to print it may be refused
        return "a number of more than 64 bits"
    if type(value) in (str, bytes):
        value = value[:80]
    return repr(value)
