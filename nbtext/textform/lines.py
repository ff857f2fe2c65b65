"""
The text form of a model, line by line: bytes go in, JSON objects come out.

docs/text-form.md is the specification. Nothing is trusted: a line has a largest
length, and its values are checked one by one. Every refusal names the line, what was
expected there, and what was found.
"""

import re
from collections.abc import KeysView, Mapping
from json import JSONDecodeError, JSONDecoder, dumps
from typing import Any, BinaryIO, Final, NoReturn

from nbtext.errors import TextFormError
from nbtext.settings.reading import KEY_BITS

FORMAT: Final = "nbtext model as text"
VERSION: Final = 1

LONGEST: Final = 1 << 25
"""A line's largest length, in bytes."""

SHORT: Final = 1 << 20
MOST_PARTS: Final = 1 << 20
"""A line that is not short, in bytes, has no more objects and lists than this: they
take far more memory than text does."""

OF_OTHER: Final = "load it with the nbtext that dumped it, or a newer one"
"""What to do with what this nbtext does not know, and another may."""

SHOWN: Final = 200
"""So much of what was found is shown, in characters."""

BOM: Final = b"\xef\xbb\xbf"

_is_hexadecimal = re.compile("[0-9a-f]*").fullmatch


KEY_DIGITS: Final = KEY_BITS // 4
"""Number of hexadecimal digits of a key."""

NUMBER_DIGITS: Final = 16
"""The same of a number, which is the key of a view of numbers."""


class TextLines:
    """
    The lines of a text form.

    Attributes:
        name: what the text is called.
        number: how many lines were read.
    """

    def __init__(self, stream: BinaryIO, name: str) -> None:
        self.name = name
        self.number = 0
        self._stream = stream
        self._decode = JSONDecoder(
            object_pairs_hook=_object, parse_constant=_constant
        ).decode

    def take(self, expected: str) -> dict[str, Any]:
        """
        Return the next line.

        Raises:
            TextFormError: there is none, or it is no JSON object.
        """
        line = self._stream.readline(LONGEST + 1)
        self.number += 1
        if not line:
            raise self.error(expected, "the end; was the text cut off?")
        if len(line) > LONGEST:
            raise self.error(f"at most {LONGEST:,} bytes", "a longer line")
        if len(line) > SHORT and line.count(b"{") + line.count(b"[") > MOST_PARTS:
            parts = f"at most {MOST_PARTS:,} objects and lists"
            raise self.error(parts, "a line of more")
        if self.number == 1:
            line = line.removeprefix(BOM)
        try:
            value = self._decode(line.decode())
        except (ValueError, RecursionError) as error:
            raise self.error(expected, _why_not_json(line, error)) from error
        if type(value) is not dict:
            raise self.error("a JSON object", shown(value))
        return value

    def finish(self) -> None:
        """
        Refuse whatever follows.

        Raises:
            TextFormError: there is a line more.
        """
        if self._stream.read(1):
            self.number += 1
            raise self.error("the end", "another line; load one model at a time")

    def error(
        self, expected: str, found: str, number: int | None = None
    ) -> TextFormError:
        """Return what to raise about the line that was read last, or another one."""
        number = self.number if number is None else number
        return TextFormError(self.name, number, expected, _cut(found))

    def error_of_other(self, expected: str, found: str) -> TextFormError:
        """Return what to raise about the last line, if another nbtext may know it."""
        return TextFormError(self.name, self.number, expected, _cut(found), OF_OTHER)

    def check_keys(
        self,
        plain: Any,
        names: KeysView[str],
        what: str,
        *,
        may_be_other: bool = False,
    ) -> None:
        """
        Refuse an object that has other keys than it should.

        Args:
            plain: what should be an object.
            names: its keys.
            what: what it is called.
            may_be_other: whether those of another nbtext may be more.

        Raises:
            TextFormError: it has, or is no object.
        """
        if type(plain) is not dict:
            raise self.error(f"an object as {what}", shown(plain))
        if plain.keys() == names:
            return
        missing = [name for name in names if name not in plain]
        unknown = [name for name in plain if name not in names]
        expected = f"{what} to have the keys {', '.join(names)}"
        if missing:
            raise self.error(expected, f"none called {missing[0]}")
        error = self.error_of_other if may_be_other else self.error
        raise error(expected, f"another one, {shown(unknown[0])}")

    def place(self, value: Any, places: Mapping[str, int], what: str) -> int:
        """
        Return which of several names a value is.

        Raises:
            TextFormError: it is none of them.
        """
        place = places.get(value) if type(value) is str else None
        if place is None:
            raise self.error(f"{what} of the first line", shown(value))
        return place

    def digits(self, value: Any, width: int, what: str) -> int:
        """
        Return the number that hexadecimal digits stand for.

        Raises:
            TextFormError: they are something else, or more or fewer.
        """
        is_text = type(value) is str and len(value) == width
        if not is_text or not _is_hexadecimal(value):
            raise self.error(f"{what} as {width} digits of 0-9a-f", shown(value))
        return int(value, 16)

    def whole(self, value: Any, low: int, high: int, what: str) -> int:
        """
        Return a whole number.

        Raises:
            TextFormError: it is something else, or out of its range.
        """
        if type(value) is not int or not low <= value <= high:
            raise self.error(f"{what} as a number from {low} to {high}", shown(value))
        return value


def keys_of(*names: str) -> KeysView[str]:
    """Return names as the keys of an object: in this order, quickly compared."""
    return dict.fromkeys(names).keys()


def shown(value: Any) -> str:
    """Return a value as a message shows it."""
    if type(value) is dict:
        return "an object" if value else "an empty object"
    if type(value) is list:
        return "a list" if value else "an empty list"
    if type(value) is str:
        return dumps(value[:SHOWN])
    if type(value) is int and value.bit_length() > 64:  # str() takes time, or refuses
        return "a number with more than 19 digits"
    return dumps(value)


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    plain = dict(pairs)
    if len(plain) < len(pairs):
        message = "a key stands twice in an object"
        raise ValueError(message)
    return plain


def _constant(name: str) -> NoReturn:
    message = f"{name} is no JSON"
    raise ValueError(message)


def _why_not_json(line: bytes, error: Exception) -> str:
    if not line.strip():
        return "an empty line"
    if isinstance(error, UnicodeDecodeError):
        return f"bytes that are not UTF-8 (byte {error.start + 1} of the line)"
    if isinstance(error, JSONDecodeError):
        return f"what is no JSON ({error.msg} at character {error.pos + 1})"
    if isinstance(error, RecursionError):
        return "objects or lists in one another too deeply"
    if "int_max_str_digits" in str(error):  # advice for programmers
        return "a number with thousands of digits"
    return f"what cannot be read ({error})"
