"""Values of options: what a text stands for, and which texts are refused."""

from typing import Final

import click

from nbtext.classes import quoted
from nbtext.cli._numbers import fraction_of, number_of
from nbtext.sources import is_delimiter

LARGEST_SIZE: Final = 1 << 50
"""Maximum size that an option takes, in bytes."""

LONGEST_WAIT: Final = 1e9
"""Maximum number of seconds that an option takes."""


def bytes_of(size: str) -> int:
    """Return a number of bytes, perhaps written with k, M or G (1024 each)."""
    text = size.strip()
    factor = {"k": 10, "m": 20, "g": 30}.get(text[-1:].lower(), 0)
    digits = (text[:-1] if factor else text).lstrip("0")
    if not (digits.isascii() and digits.isdigit()):
        message = f"{quoted(size)} is not a size such as 500k, 16M or 1048576."
        raise click.BadParameter(message)
    if len(digits) > 16 or int(digits) << factor > LARGEST_SIZE:
        message = (
            f"{quoted(size)} is more than {LARGEST_SIZE >> 30}G, the largest size."
        )
        raise click.BadParameter(message)
    return int(digits) << factor


def share_of(text: str) -> float:
    """Return a probability, from 0 to 1, perhaps written with a percent sign."""
    value = fraction_of(text)
    if not 0 <= value <= 1:
        message = (
            f"{quoted(text)} is not a probability from 0 to 1, such as 0.9 or 90%."
        )
        raise click.BadParameter(message)
    return value


def parameter_of(text: str) -> tuple[str, float]:
    """Return a parameter of an event model: its name and its value."""
    name, _, number = text.partition("=")
    value = number_of(number)
    if not name.isidentifier() or not 0 <= value < LONGEST_WAIT:
        message = f"{quoted(text)} is not a name and a number, such as min_evidence=1."
        raise click.BadParameter(message)
    return name, value


def names_of(text: str) -> tuple[str, ...]:
    """Return names with commas between them."""
    return tuple(filter(None, (name.strip() for name in text.split(","))))


def delimiter_of(text: str) -> str:
    """Return what is between two columns: one character, or a tab by its name."""
    found = "\t" if text in ("tab", "\\t") else text
    if not is_delimiter(found):
        message = f"{quoted(text)} is not one ASCII character, such as ';', nor 'tab'."
        raise click.BadParameter(message)
    return found


def seconds_of(text: str) -> float:
    """Return a number of seconds, zero or more."""
    value = number_of(text)
    if not 0 <= value < LONGEST_WAIT:
        message = f"{quoted(text)} is not a number of seconds."
        raise click.BadParameter(message)
    return value


def not_empty(
    _context: click.Context, _option: click.Parameter, path: str | None
) -> str | None:
    """Refuse an empty path, as an empty variable of the shell makes it."""
    if path is not None and not path:
        message = "it is empty; name a file, or leave it out."
        raise click.BadParameter(message)
    return path


def each_not_empty(
    context: click.Context, option: click.Parameter, paths: tuple[str, ...]
) -> tuple[str, ...]:
    """Refuse an empty path among several."""
    for path in paths:
        not_empty(context, option, path)
    return paths
