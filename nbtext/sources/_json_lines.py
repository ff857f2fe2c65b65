"""
JSON lines: an object on each line goes in, a record comes out, and its values as bytes.

Values stay as they are written: bytes that are not UTF-8, and digits of numbers.
"""

import re
import shlex
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from nbtext.document import Pause
from nbtext.errors import SourceError, clipped, listed
from nbtext.sources._heading import TEXT_COLUMNS
from nbtext.sources._lines import BadRecord, Line
from nbtext.sources._table import Record

if TYPE_CHECKING:
    from json import JSONDecoder

_NOT_AN_OBJECT = BadRecord(
    'an object was expected, as in {"text": "..."}; '
    "an array is made into lines by jq -c '.[]'"
)

_OVER_SEVERAL = (
    "JSON over several lines found, where JSON lines were expected, an object on each "
    "line, or one array of objects; `jq -c .` makes lines of it"
)

_PLAIN = re.compile(r"[A-Za-z_]\w*", re.ASCII)  # jq takes it without quotes


def json_records(
    lines: Iterator[Line], source: str
) -> Iterator[Record | BadRecord | Pause]:
    """
    Yield the object on each line; a blank line is none.

    Raises:
        SourceError: they are no JSON lines, but JSON over several lines.
    """
    is_first = True
    begun: BadRecord | None = None  # the first, if more may belong to it
    for line in lines:
        if not isinstance(line, bytes):
            yield line
            continue
        if not line or line.isspace():
            continue
        record = _json_record(line)
        if begun is not None:
            if isinstance(record, BadRecord) and not line.lstrip().startswith(b"{"):
                raise SourceError(f"{source}: {_OVER_SEVERAL}")
            yield begun
            begun = None
        elif is_first and isinstance(record, BadRecord) and _is_begun(line):
            begun = record
        if begun is None:
            yield record
        is_first = False
    if begun is not None:
        yield begun


def _json_record(line: bytes) -> Record | BadRecord:
    """Return the object on a line, or what is wrong with it."""
    try:
        value = parsed(line)
    except (ValueError, RecursionError) as error:
        return BadRecord(f"not JSON ({error}); mend or remove the line")
    return object_of(value)


def parsed(text: bytes) -> Any:
    """
    Return what JSON says: numbers as they are written, 1.10 and not 1.1.

    Bytes that are not UTF-8 come out again as they are (PEP 383). NaN and Infinity,
    which are no JSON, stand for values that are missing.

    Raises:
        ValueError: it is no JSON.
        RecursionError: it has too many brackets inside one another.
    """
    said = text.decode("utf-8", "surrogateescape")
    if said.startswith("\ufeff"):  # of a file that was joined to others
        raise ValueError("a byte order mark within, which should be removed")
    return _decoder().decode(said)


@cache
def _decoder() -> "JSONDecoder":
    """Return what reads JSON: making it takes as long as many lines do."""
    from json import JSONDecoder

    return JSONDecoder(parse_float=str, parse_int=str, parse_constant=_no_value)


def object_of(value: Any) -> Record | BadRecord:
    """Return a value of JSON if it is one document; else what is wrong with it."""
    if not isinstance(value, dict):
        return _NOT_AN_OBJECT
    first = next(iter(value.values()), None)
    if not isinstance(first, list | dict):  # as most have it
        return value
    return _of_arrays(value) or _of_columns(value) or value


def _of_arrays(record: dict[str, Any]) -> BadRecord | None:
    """Say how documents are taken out of an object that holds them in arrays."""
    for values in record.values():
        if not (isinstance(values, list) and values):
            return None
        if not isinstance(values[0], list | dict):
            return None
    key, values = next(iter(record.items()))
    is_pair = isinstance(values[0], list)
    fields = " | {text: .[0], label: .[1]}" if is_pair else ""
    ask = shlex.quote(f".{_of_jq(key)}[]{fields}")
    shown = listed([*map(clipped, record)])
    return BadRecord(
        f"one document was expected, and arrays of them found ({shown}); `jq -c {ask}` "
        "makes lines of one"
    )


def _of_columns(record: dict[str, Any]) -> BadRecord | None:
    """Say how rows are made of an object that holds a table by its columns."""
    first = next(iter(record.values()))
    kind, size = type(first), len(first)
    for values in record.values():
        if not (type(values) is kind and len(values) == size > 1):
            return None
    if len(record) < 2 or not any(name in record for name in TEXT_COLUMNS):
        return None
    key = next(iter(record))
    ask = shlex.quote(f"(.{_of_jq(key)} | keys_unsorted[]) as $k | map_values(.[$k])")
    return BadRecord(
        f"one document was expected, and the columns of {size:,} found "
        f"({listed([*map(clipped, record)])}); `jq -c {ask}` makes lines of the rows "
        "(pandas: to_json(FILE, orient='records'))"
    )


def _of_jq(key: str) -> str:
    """Return a key as jq has it behind a dot."""
    return key if _PLAIN.fullmatch(key) else f'"{clipped(key)}"'


def _no_value(_name: str) -> None:
    """Return what stands for a number that is none."""


def _is_begun(line: bytes) -> bool:
    """Return whether a line is an object without its end."""
    import json

    text = line.decode("utf-8", "surrogateescape").strip()
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return text.startswith("{") and error.pos >= len(text)
    except (ValueError, RecursionError):
        return False
    return False


def bytes_of(value: Any, classes: tuple[str, ...] = ()) -> bytes | None:
    """
    Return the value of a column as bytes; a number as it is written, null as nothing.

    A boolean, which JSON has in one spelling, is the one of the classes that is that
    word in any case, such as `True`; else it is `true` or `false`. A list or an object
    is None.
    """
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return encoded(value)
    if value is None:
        return b""
    if isinstance(value, bool):
        word = "true" if value else "false"
        same = [name for name in classes if name.lower() == word]
        return (same[0] if len(same) == 1 else word).encode()
    return None


def encoded(value: str) -> bytes:
    r"""
    Return the UTF-8 of a string of JSON.

    A lone surrogate, such as "\ud800", is no character: it becomes U+FFFD, and not
    bytes that would make the whole text look as if it were not UTF-8.
    """
    try:
        return value.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        units = value.encode("utf-16-le", "surrogatepass")
        return units.decode("utf-16-le", "replace").encode()
