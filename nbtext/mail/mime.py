"""
A message or part goes in, its leaves come out: what is no multipart and no message.

Structure is RFC 2045 and 2046's, read tolerantly, because real spam is malformed:
missing boundaries are guessed, missing ends are where the data ends, and what was
declared to have parts but has none is text. Nothing here raises, and each level of
nesting costs time and memory in proportion to its size; the levels are bounded.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from nbtext.mail.encoded_words import readable
from nbtext.mail.headers import HEADER_BYTES, Field, Head, read_head, whole_characters
from nbtext.mail.parameters import parameter
from nbtext.mail.recognising import message_start
from nbtext.mail.transfer import decode_transfer, is_encoded


class Span(NamedTuple):
    """A message or part: bytes that are not copied, because parts have parts."""

    data: bytes
    start: int
    end: int

    def beginning(self, size: int) -> bytes:
        """Return its first bytes, at most so many; no character of UTF-8 is cut."""
        if self.end - self.start <= size:
            return self.data[self.start : self.end]
        end = whole_characters(self.data, self.start, self.start + size)
        return self.data[self.start : end]

    def pieces(self) -> Iterator[bytes]:
        """Yield its bytes in pieces of PIECE bytes."""
        for start in range(self.start, self.end, PIECE):
            yield self.data[start : min(start + PIECE, self.end)]


def whole(data: bytes) -> Span:
    """Return all of what holds a message."""
    return Span(data, 0, len(data))


PIECE = 1 << 16
"""Bytes of a part that are copied at a time."""


class Leaf(NamedTuple):
    """
    A part without parts.

    Attributes:
        subtype: "plain" or "html" or whatever text it is, None if it is no text.
        charset: as declared, None if it is not.
        span: if it is text, with its transfer encoding undone; else as it was sent.
    """

    subtype: str | None
    charset: str | None
    span: Span


class Tree:
    """
    What a walk over a message's parts has found, and how far it may go on.

    Attributes:
        parts_left: how many more parts may be read.
        header_left: how many more bytes of header blocks.
        messages_left: how many more messages may be decoded that were encoded whole.
        leaves: in the order of the message.
        part_fields: the fields of all parts below the top, in order.
    """

    __slots__ = ("header_left", "leaves", "messages_left", "part_fields", "parts_left")

    def __init__(self) -> None:
        self.parts_left = MOST_PARTS
        self.header_left = HEADER_BYTES
        self.messages_left = MOST_ENCODED
        self.leaves: list[Leaf] = []
        self.part_fields: list[Field] = []

    def read_head(
        self, part: Span, start: int | None = None, *, is_certain: bool = False
    ) -> Head:
        """
        Read the header of a message or part, within the bound on all of them.

        Args:
            part: the message or part.
            start: where its first field may begin, if not where the part does.
            is_certain: as in `nbtext.mail.headers.read_head`.
        """
        head = read_head(
            part.data,
            part.start if start is None else start,
            part.end,
            most=self.header_left,
            is_certain=is_certain,
        )
        self.header_left -= head.size
        return head


MOST_DEPTH = 16
"""How many levels of parts within parts are read."""

MOST_PARTS = 1000
"""How many parts are read, on all levels together."""

MOST_ENCODED = 2
"""
Maximum messages inside a message whose transfer encoding is undone.

RFC 2045 section 6.4 allows none, and each of them is a copy of what it holds.
"""


_WHOLE_MESSAGES = frozenset({"message/rfc822", "message/global", "message/news"})

_TYPE = re.compile(r"\s*+([\w.+-]++/[\w.+-]++)")

_LIKE_DELIMITER = re.compile(rb"\n--([^\s-][^\n]*+)")

_HTML_START = re.compile(rb"\s*+<(?:html|!doctype html)", re.IGNORECASE)


def walk(
    part: Span,
    head: Head,
    tree: Tree,
    depth: int = MOST_DEPTH,
    default_type: str = "text/plain",
) -> None:
    r"""
    Add the leaves of a message or part to the tree.

    Args:
        part: the message or part, whose line ends are `\n`.
        head: what was read from it.
        tree: what to add to.
        depth: how many levels there may be below this one.
        default_type: the media type if none is declared.
    """
    if head.strays:
        strays = "\n".join(head.strays).encode("latin-1")
        tree.leaves.append(Leaf("plain", None, whole(strays)))

    declared = head.first_values.get("content-type", "")
    known_type, charset = _content_type(declared)
    media_type = known_type or default_type
    if media_type.startswith("multipart/"):
        if _walk_parts(_parts(part, head, declared), tree, depth, media_type):
            return
        known_type = None  # without parts, all of it is text
        media_type = "text/plain"

    body = part._replace(start=head.body_start)
    if not media_type.startswith(("text/", "message/")):
        tree.leaves.append(Leaf(None, None, body))
        return
    encoding = head.first_values.get("content-transfer-encoding", "")
    if media_type in _WHOLE_MESSAGES:
        _walk_message(body, encoding, tree, depth)
        return
    if is_encoded(encoding):
        data, start, end = body
        body = whole(decode_transfer(data, encoding, start, end))
    subtype = media_type.partition("/")[2]
    if not known_type and _HTML_START.match(*body):
        subtype = "html"
    tree.leaves.append(Leaf(subtype, charset, body))


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


def _parts(part: Span, head: Head, declared: str) -> Iterator[Span]:
    """Split a multipart's body at its declared boundary, or at what looks like one."""
    # the line end that a delimiter begins with
    start = max(head.body_start - 1, part.start)
    boundary = (parameter(declared, "boundary") or "").encode("latin-1").rstrip()
    if not boundary:
        guessed = _LIKE_DELIMITER.search(part.data, start, part.end)
        boundary = guessed[1].rstrip() if guessed else b""
    return split_parts(part._replace(start=start), boundary)


def _walk_parts(parts: Iterator[Span], tree: Tree, depth: int, media_type: str) -> bool:
    """Walk a multipart's parts within the bounds; tell whether there were any."""
    is_digest = media_type == "multipart/digest"
    default_type = "message/rfc822" if is_digest else "text/plain"
    has_parts = False
    for part in parts:
        has_parts = True
        if not depth or not tree.parts_left:
            break
        tree.parts_left -= 1
        head = tree.read_head(part)
        tree.part_fields += zip(head.names, head.values, strict=True)
        walk(part, head, tree, depth - 1, default_type)
    return has_parts


def _walk_message(message: Span, encoding: str, tree: Tree, depth: int) -> None:
    """Walk a message inside the message; its subject is text like any other."""
    if not depth or not tree.parts_left:
        return
    tree.parts_left -= 1
    if is_encoded(encoding) and tree.messages_left:
        tree.messages_left -= 1
        data, start, end = message
        message = whole(decode_transfer(data, encoding, start, end))
    head = tree.read_head(message, message_start(*message))
    for name, value in zip(head.names, head.values, strict=True):
        if name == "subject":
            subject = readable(value).encode()
            tree.leaves.append(Leaf("plain", "utf-8", whole(subject)))
        elif name.startswith("content-"):
            tree.part_fields.append((name, value))
    walk(message, head, tree, depth - 1)


def split_parts(body: Span, boundary: bytes) -> Iterator[Span]:
    """
    Split a multipart's body at its delimiter lines.

    What comes before the first and after the closing delimiter is no part. A line that
    only begins like a delimiter belongs to another multipart, or to the text.

    Args:
        body: the body, from the line end before it.
        boundary: without the leading hyphens; if empty there are no parts.
    """
    if not boundary:
        return
    data, start, end = body
    delimiter = b"\n--" + boundary
    part_start = -1
    at = data.find(delimiter, start, end)
    while at >= 0:
        after = at + len(delimiter)
        line_end = data.find(b"\n", after, end)
        if line_end < 0:
            line_end = end
        rest = data[after:line_end].strip()
        if not rest or rest == b"--":
            if part_start >= 0:
                yield Span(data, part_start, max(at, part_start))
            if rest:
                return
            part_start = line_end + 1
        at = data.find(delimiter, after, end)
    if part_start >= 0:
        yield Span(data, min(part_start, end), end)
