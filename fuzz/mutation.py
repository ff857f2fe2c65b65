"""
Models changed at random: bytes, values of headers, elements of arrays, whole tables.

What is changed is most often made to fit again (`fuzz.forge`), and sometimes not.
"""

from collections.abc import Callable
from copy import deepcopy
from random import Random
from typing import Any, Final, TypeAlias

from fuzz import forge
from fuzz.forge import Table

ChangeBytes: TypeAlias = Callable[[bytes, int], bytes]
"""libFuzzer's own mutation: bytes, and how many there may be."""

JUNK: Final[tuple[Any, ...]] = (
    *(None, True, False, -1, 0, 1, 2, 7, 255, 256, 65535, 1 << 31, 1 << 62),
    *((1 << 63) - 1, 1 << 63, (1 << 64) - 1, -(1 << 63), 0.0, 1.5, -1e300),
    *(float("nan"), float("inf"), "", "x", "ham", "spam", "?", "\0", b"", b"x"),
    *([], [[]], [0], [[0, "ham", 1]], {}, {"x": None}, {"ham": -1}),
)

EDGES: Final = (0, 1, 2, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, (1 << 31) - 1, (1 << 63) - 1)

KINDS: Final = ("u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8")


def mutated(data: bytes, size: int, seed: int, change_bytes: ChangeBytes) -> bytes:
    """
    Return a model file that differs from another.

    Args:
        data: the other.
        size: how many bytes there may be.
        seed: the same seed makes the same change.
        change_bytes: libFuzzer's own mutation.
    """
    choice = Random(seed)  # noqa: S311  no secret
    tables = forge.taken_apart(data)
    if not tables or choice.random() < 0.1:
        return bytes(change_bytes(data, size))
    try:
        made = _forged(tables, choice, change_bytes)
    except (ValueError, TypeError, LookupError, OverflowError, ZeroDivisionError):
        made = b""  # nonsense that cannot be written, such as integers of 65 bits
    return made if 0 < len(made) <= size else bytes(change_bytes(data, size))


def _forged(tables: list[Table], choice: Random, change_bytes: ChangeBytes) -> bytes:
    for _ in range(choice.choice((1, 1, 1, 2, 3, 5))):
        tables = _changed(tables, choice, change_bytes)
    if choice.random() < 0.5:
        tables = forge.with_offsets(tables)
    return forge.put_together(tables)


def _changed(
    tables: list[Table], choice: Random, change_bytes: ChangeBytes
) -> list[Table]:
    """Change one thing about some tables."""
    if choice.random() < 0.15:
        return _rearranged(tables, choice)
    place = choice.randrange(len(tables))
    table = Table(deepcopy(tables[place].header), list(tables[place].arrays))
    if choice.random() < 0.5 or not table.arrays:
        _change_value(table.header, choice, change_bytes)
    else:
        if choice.random() < 0.3:
            _change_row(table, choice)
        else:
            _change_array(table, choice, change_bytes)
        if choice.random() < 0.9:
            table = forge.with_lengths(table)
    return [*tables[:place], table, *tables[place + 1 :]]


def _rearranged(tables: list[Table], choice: Random) -> list[Table]:
    """Repeat, drop or move a table."""
    place = choice.randrange(len(tables))
    rest = tables[:place] + tables[place + 1 :]
    if choice.random() < 0.3 and rest:
        return rest
    if choice.random() < 0.5:
        rest = tables
    where = choice.randint(0, len(rest))
    return [*rest[:where], tables[place], *rest[where:]]


def _change_value(
    header: dict[Any, Any], choice: Random, change_bytes: ChangeBytes
) -> None:
    """Change a value somewhere in a header, each level as likely as the others."""
    holder: Any = header
    while True:
        places = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
        place = choice.choice(places)
        value = holder[place]
        if not (isinstance(value, dict | list) and value) or choice.random() < 0.1:
            break
        holder = value
    deed = choice.random()
    if deed < 0.1:
        del holder[place]
    elif deed < 0.2 and isinstance(holder, list):
        holder.insert(choice.randint(0, len(holder)), deepcopy(value))
    else:
        holder[place] = _other_value(value, choice, change_bytes)


def _other_value(value: Any, choice: Random, change_bytes: ChangeBytes) -> Any:
    if choice.random() < 0.3:
        return choice.choice(JUNK)
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        edge = choice.choice((*EDGES, value, value))
        return choice.choice((edge, -edge, value + 1, value - 1, value + edge))
    if isinstance(value, float):
        return choice.choice((-value, value * 1e9, value * 1e-9, float("nan"), 1))
    if isinstance(value, str):
        encoded = value.encode("utf-8", "surrogatepass")
        return change_bytes(encoded, 40).decode("utf-8", "replace")
    if isinstance(value, bytes):
        return bytes(change_bytes(value, 40))
    if isinstance(value, list):
        return choice.sample(value, len(value))
    return choice.choice(JUNK)


def _change_row(table: Table, choice: Random) -> None:
    """Repeat or drop a row of arrays that belong together, such as the ledger's."""
    names = [str(name).rpartition(".")[0] for name, _, _ in table.header["arrays"]]
    widths = [int(kind[1]) for _, kind, _ in table.header["arrays"]]
    lengths = [
        len(one) // width for one, width in zip(table.arrays, widths, strict=True)
    ]
    chosen = choice.choice([place for place, length in enumerate(lengths) if length])
    row = choice.randrange(lengths[chosen])
    is_dropped = choice.random() < 0.5
    for place, array in enumerate(table.arrays):
        if (names[place], lengths[place]) == (names[chosen], lengths[chosen]):
            start, end = row * widths[place], (row + 1) * widths[place]
            rest = array[end:] if is_dropped else array[start:]
            table.arrays[place] = array[: start if is_dropped else end] + rest


def _change_array(table: Table, choice: Random, change_bytes: ChangeBytes) -> None:
    """Change the elements of an array, how many there are, or their type."""
    place = choice.randrange(len(table.arrays))
    array, specification = table.arrays[place], table.header["arrays"][place]
    width = int(specification[1][1])
    deed = choice.random()
    if deed < 0.1:
        specification[1] = choice.choice(KINDS)
        width = int(specification[1][1])
    elif deed < 0.3:
        array = bytes(change_bytes(array, len(array) + 64))
    elif deed < 0.4:
        array += array[: choice.randint(1, 4) * width] or bytes(width)
    elif deed < 0.5:
        array = array[: choice.randint(0, len(array) // width) * width]
    elif array:
        where = choice.randrange(len(array) // width) * width
        mask = (1 << 8 * width) - 1
        value = choice.choice(EDGES)
        value = choice.choice((value, ~value, choice.getrandbits(64))) & mask
        element = value.to_bytes(width, "little")
        if choice.random() < 0.3:
            other = choice.randrange(len(array) // width) * width
            element = array[other : other + width]
        array = array[:where] + element + array[where + width :]
    table.arrays[place] = array[: len(array) // width * width]
