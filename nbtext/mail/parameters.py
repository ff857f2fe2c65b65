"""The parameters of a Content-Type field (RFC 2045 section 5.1, RFC 2231)."""

import re
from functools import cache


@cache
def _parameter(name: str) -> re.Pattern[str]:
    """Compile the pattern of a parameter, when one is asked for."""
    return re.compile(
        rf"""[;\s]{name}(\*\d*+|(?!))?+\*?\s*+=\s*+(?:"((?:[^"\\]|\\.|(?!))*+)"?+|([^\s;]*+))""",
        re.IGNORECASE | re.ASCII,
    )


def parameter(declared: str, name: str) -> str | None:
    """
    Find a parameter of a Content-Type field, None if it is not there.

    Values in several pieces (`boundary*0=`, RFC 2231 section 3) are put together, and
    a charset given for the value itself (`charset*=us-ascii'en'utf-8`) is dropped.
    """
    if "=" not in declared:
        return None
    found = _parameter(name).search(declared)
    if not found:
        return None
    star, quoted, bare = found.groups()
    if star and star != "*":
        pieces = _parameter(name).findall(declared)
        return "".join([_unquoted(quoted) or bare for _, quoted, bare in pieces])
    value = _unquoted(quoted) if quoted is not None else bare
    return value.rpartition("'")[2] if star else value


def _unquoted(quoted: str) -> str:
    """Undo the backslashes of a quoted string."""
    return re.sub(r"\\(.)", r"\1", quoted) if "\\" in quoted else quoted


def without_boundary(declared: str) -> str:
    """Remove the boundary from a Content-Type value: no two messages share one."""
    if "boundary" not in declared.lower():
        return declared
    return _parameter("boundary").sub("", declared)
