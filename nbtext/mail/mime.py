"""
A message or part goes in, its leaves come out: what is no multipart and no message.

Structure is RFC 2045 and 2046's, read tolerantly, because real spam is malformed:
missing boundaries are guessed, missing ends are where the data ends, and what was
declared to have parts but has none is text. Nothing here raises, and each level of
nesting costs time and memory in proportion to its size; the levels are bounded.
"""

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import NamedTuple

from nbtext.mail.headers import Field, Head, read_head, readable
from nbtext.mail.transfer import decode_transfer


class Leaf(NamedTuple):
    """
    A part without parts.

    Attributes:
        subtype: "plain" or "html" or whatever text it is, None if it is no text.
        charset: as declared, None if it is not.
        data: if it is text, with its transfer encoding undone; else as it was sent.
    """

    subtype: str | None
    charset: str | None
    data: bytes


class Tree:
    """
    What a walk over a message's parts has found, and how far it may go on.

    Attributes:
        parts_left: how many more parts may be read.
        leaves: in the order of the message.
        part_fields: the fields of all parts below the top, in order.
        is_cut: whether a bound on depth or number of parts left something out.
    """

    __slots__ = ("is_cut", "leaves", "part_fields", "parts_left")

    def __init__(self, parts_left: int) -> None:
        self.parts_left = parts_left
        self.leaves: list[Leaf] = []
        self.part_fields: list[Field] = []
        self.is_cut = False


_WHOLE_MESSAGES = frozenset({"message/rfc822", "message/global", "message/news"})

_TYPE = re.compile(r"\s*+([\w.+-]++/[\w.+-]++)")

_LIKE_DELIMITER = re.compile(rb"\n--([^\s-][^\n]*+)")

_HTML_START = re.compile(rb"\s*+<(?:html|!doctype html)", re.IGNORECASE)


def walk(
    data: bytes, head: Head, tree: Tree, depth: int, default_type: str = "text/plain"
) -> None:
    r"""
    Add the leaves of a message or part to the tree.

    Args:
        data: the message or part, whose line ends are `\n`.
        head: what was read from it.
        tree: what to add to.
        depth: how many levels there may be below this one.
        default_type: the media type if none is declared.
    """
    if head.strays:
        strays = "\n".join(head.strays).encode("latin-1")
        tree.leaves.append(Leaf("plain", None, strays))

    declared = head.first_values.get("content-type", "")
    known_type, charset = _content_type(declared)
    media_type = known_type or default_type
    if media_type.startswith("multipart/"):
        parts = _parts(data, head.body_start, declared)
        if _walk_parts(parts, tree, depth, media_type):
            return
        known_type = None  # without parts, all of it is text
        media_type = "text/plain"

    body = data[head.body_start :]
    if media_type.startswith(("text/", "message/")):
        encoding = head.first_values.get("content-transfer-encoding")
        if encoding:
            body = decode_transfer(body, encoding)
        if media_type in _WHOLE_MESSAGES:
            _walk_message(body, tree, depth)
            return
        subtype = media_type.partition("/")[2]
        if not known_type and _HTML_START.match(body):
            subtype = "html"
        tree.leaves.append(Leaf(subtype, charset, body))
    else:
        tree.leaves.append(Leaf(None, None, body))


def _content_type(declared: str) -> tuple[str | None, str | None]:
    """Give the media type and the charset of a Content-Type field, if it has them."""
    if len(declared) > _LONGEST_REMEMBERED:
        return _read_content_type(declared)
    return _remembered_content_type(declared)


def _read_content_type(declared: str) -> tuple[str | None, str | None]:
    known = _TYPE.match(declared)
    return (known[1].lower() if known else None), parameter(declared, "charset")


_LONGEST_REMEMBERED = 128
"""Longer declarations name a boundary, as a rule, and do not come again."""

_remembered_content_type = lru_cache(maxsize=1024)(_read_content_type)


def _parts(data: bytes, body_start: int, declared: str) -> Iterator[bytes]:
    """Split a multipart's body at its declared boundary, or at what looks like one."""
    start = max(body_start - 1, 0)  # the line end that a delimiter begins with
    boundary = (parameter(declared, "boundary") or "").encode("latin-1").rstrip()
    if not boundary:
        guessed = _LIKE_DELIMITER.search(data, start)
        boundary = guessed[1].rstrip() if guessed else b""
    return split_parts(data, start, boundary)


def _walk_parts(
    parts: Iterator[bytes], tree: Tree, depth: int, media_type: str
) -> bool:
    """Walk a multipart's parts within the bounds; tell whether there were any."""
    is_digest = media_type == "multipart/digest"
    default_type = "message/rfc822" if is_digest else "text/plain"
    has_parts = False
    for part in parts:
        has_parts = True
        if not depth or not tree.parts_left:
            tree.is_cut = True
            break
        tree.parts_left -= 1
        head = read_head(part)
        tree.part_fields += zip(head.names, head.values, strict=True)
        walk(part, head, tree, depth - 1, default_type)
    return has_parts


def _walk_message(message: bytes, tree: Tree, depth: int) -> None:
    """Walk a message inside the message; its subject is text like any other."""
    if not depth or not tree.parts_left:
        tree.is_cut = True
        return
    tree.parts_left -= 1
    head = read_head(message, message_start(message))
    for name, value in zip(head.names, head.values, strict=True):
        if name == "subject":
            subject = readable(value).encode()
            tree.leaves.append(Leaf("plain", "utf-8", subject))
        elif name.startswith("content-"):
            tree.part_fields.append((name, value))
    walk(message, head, tree, depth - 1)


_ENVELOPE = re.compile(rb"\n*+(?:>?From [^\n]*+(?:\n|\Z))*+")


def message_start(data: bytes) -> int:
    """Find where the first field begins: after empty and mbox `From ` lines."""
    if data.startswith((b"From ", b">From ", b"\n")):
        envelope = _ENVELOPE.match(data)
        return envelope.end() if envelope else 0
    return 0


def split_parts(data: bytes, start: int, boundary: bytes) -> Iterator[bytes]:
    """
    Split a multipart's body at its delimiter lines.

    What comes before the first and after the closing delimiter is no part. A line that
    only begins like a delimiter belongs to another multipart, or to the text.

    Args:
        data: what holds the body.
        start: the line end just before the body.
        boundary: without the leading hyphens; if empty there are no parts.
    """
    if not boundary:
        return
    delimiter = b"\n--" + boundary
    part_start = -1
    at = data.find(delimiter, start)
    while at >= 0:
        after = at + len(delimiter)
        line_end = data.find(b"\n", after) % (len(data) + 1)  # -1 becomes the end
        rest = data[after:line_end].strip()
        if not rest or rest == b"--":
            if part_start >= 0:
                yield data[part_start : max(at, part_start)]
            if rest:
                return
            part_start = line_end + 1
        at = data.find(delimiter, after)
    if part_start >= 0:
        yield data[part_start:]


@cache
def _parameter(name: str) -> re.Pattern[str]:
    """Compile the pattern of a parameter, when one is asked for."""
    return re.compile(
        rf"""[;\s]{name}(\*\d*+)?+\*?\s*+=\s*+(?:"((?:[^"\\]|\\.)*+)"?+|([^\s;]*+))""",
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
