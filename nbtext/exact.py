"""
Sums of floating-point numbers and of their squares, exact, as integers.

A finite 64-bit number is a multiple of 2^-1074, and its square one of 2^-2148. Counted
in these units numbers are integers, of any width. So sums of them add up and can be
taken away, bit for bit and in any order, whether they are 1e308 or the smallest number
above zero. Only the standard library is used.

A number is also a key, which is how it stands among the terms of a document: the 64
bits that IEEE 754 writes it with, read as an integer.
"""

from array import array
from collections.abc import Iterable, Sequence
from math import isfinite
from typing import Any, Final, TypeAlias

from nbtext.errors import NumberError
from nbtext.settings.columns import NUMBERS

SUM_BITS: Final = 1074
SQUARE_BITS: Final = 2 * SUM_BITS
"""Units are 2 to the negative of these: of numbers and their sums, and of squares."""

UNIT_BITS: Final = (0, SUM_BITS, SQUARE_BITS)
"""The same for each of the columns `NUMBERS`; how many there are is a plain integer."""

LARGEST: Final = ((1 << 53) - 1) << SUM_BITS + 1024 - 53
"""The largest finite number, in units."""

MOST_BITS: Final = 2 * 1024 + 64
"""No sum of so many squares as fit in a model is 2 to this, or more."""

MOST_MANTISSA: Final = (MOST_BITS + SQUARE_BITS) // 8 + 1
"""Maximum bytes of a mantissa in a file."""

Sums: TypeAlias = tuple[int, int, int]
"""How many numbers, the sum of them and that of their squares, each in its unit."""


def number_in(text: str) -> float:
    """
    Return the number that a text says.

    Raises:
        ValueError: it says none, or one that is infinite or too large.
    """
    # float() takes digits of other scripts too, and 1_000
    number = float(text) if text.isascii() and "_" not in text else float("nan")
    if not isfinite(number):
        message = f"{text!r:.80} is no finite number"
        raise ValueError(message)
    return number


def check_number(name: str, column: str, value: str) -> None:
    """
    Refuse a value of a record that is no finite number.

    Raises:
        NumberError: it is none.
    """
    try:
        number_in(value)
    except ValueError as error:
        raise NumberError(name, column, value) from error


def value_of(text: bytes) -> str:
    """Return an attribute of a record; white space around it is no part of it."""
    return text.decode("utf-8", "backslashreplace").strip()


def key_of(number: float) -> int:
    """Return the bits of a finite number; those of -0.0 are those of 0.0."""
    return array("Q", array("d", [number + 0.0]).tobytes())[0]


def number_of(key: int) -> float:
    """Return the number that has these bits, which need not be a finite one."""
    return array("d", array("Q", [key]).tobytes())[0]


def is_key(key: int) -> bool:
    """Return whether 64 bits are the key of a number."""
    number = number_of(key)
    return isfinite(number) and key_of(number) == key


def sums_of(keys: Iterable[int], counts: Iterable[int]) -> Sums:
    """
    Return the sums of numbers.

    Args:
        keys: the numbers, as `key_of` has them.
        counts: how often each of them is there; below zero to take it away.
    """
    present = total = squares = 0
    for key, count in zip(keys, counts, strict=True):
        # numerator / 2^shift, in lowest terms
        numerator, denominator = number_of(key).as_integer_ratio()
        shift = denominator.bit_length() - 1
        present += count
        total += count * numerator << SUM_BITS - shift
        squares += count * numerator * numerator << SQUARE_BITS - 2 * shift
    return present, total, squares


def as_sums(totals: Sequence[int]) -> Sums:
    """Return the totals of a column of numbers, which are its sums."""
    present, total, squares = totals
    return present, total, squares


def are_sums(sums: Sequence[int]) -> bool:
    """
    Return whether there can be numbers of these sums.

    There are no fewer than none of them, the square of their sum is at most as many
    times the sum of their squares (Cauchy and Schwarz), and the sums of no numbers are
    zero.
    """
    present, total, squares = sums
    if present <= 0:
        return not (present or total or squares)
    return squares >= 0 and total * total <= present * squares


def only_number(sums: Sequence[int]) -> dict[int, int]:
    """Return the number that these are the sums of, as a document has it, if it is."""
    present, total, _ = sums
    if present != 1 or abs(total) > LARGEST:
        return {}
    number = total / (1 << SUM_BITS)
    key = key_of(number)
    return {key: 1} if sums_of((key,), (1,)) == tuple(sums) else {}


def packed(sums: Sequence[int]) -> list[Any]:
    """
    Return sums as a model file has them.

    Returns:
        Each as an integer if it is one of 64 bits, else as [exponent, mantissa], the
        mantissa odd and in bytes.
    """
    return [_packed(value, bits) for value, bits in zip(sums, UNIT_BITS, strict=True)]


def _packed(value: int, unit_bits: int) -> int | list[Any]:
    whole = value >> unit_bits
    if whole << unit_bits == value and -1 << 63 <= whole < 1 << 63:
        return whole
    zeros = (value & -value).bit_length() - 1
    odd = value >> zeros
    # one bit more than the magnitude has, for the sign
    size = (odd if odd >= 0 else ~odd).bit_length() // 8 + 1
    return [zeros - unit_bits, odd.to_bytes(size, "big", signed=True)]


def unpacked(plain: Any) -> tuple[int, ...]:
    """
    Return sums from what `packed` gave, believing nothing.

    Raises:
        TypeError, ValueError: they are none, or written otherwise than `packed` does.
    """
    values = tuple(plain)
    if len(values) != len(NUMBERS):
        message = f"{len(NUMBERS)} sums of numbers were expected"
        raise ValueError(message)
    sums = tuple(map(_unpacked, values, UNIT_BITS))
    # an integer that is written in two ways would make two files of one model
    if packed(sums) != list(values):
        message = "a sum of numbers is not written in its shortest form"
        raise ValueError(message)
    return sums


def _unpacked(plain: Any, unit_bits: int) -> int:
    if type(plain) is int:
        return plain << unit_bits
    exponent, mantissa = plain
    is_wide = type(exponent) is int and type(mantissa) is bytes
    if not is_wide or not -unit_bits <= exponent <= MOST_BITS:
        message = "a sum of numbers is not [exponent, mantissa]"
        raise ValueError(message)
    if exponent + 8 * len(mantissa) > MOST_BITS or len(mantissa) > MOST_MANTISSA:
        message = "a sum of numbers is larger than any of 64-bit numbers"
        raise ValueError(message)
    odd = int.from_bytes(mantissa, "big", signed=True)
    return odd << int(exponent) + unit_bits
