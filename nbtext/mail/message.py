"""
The bytes of a mail go in, what the three views of it read comes out.

docs/method.md says what the views are: H reads the headers field by field, R
the words of the raw message, B the decoded text. Any bytes at all are a mail, if a
strange one: nothing here raises. Each view reads a bounded part of a message; beyond
that it is only searched for its structure and hashed, so that the memory is little more
than the message itself and its text parts without transfer encoding.
"""

from _blake2 import blake2b  # hashlib would load OpenSSL too, for 2 ms
from collections.abc import Iterable, Iterator
from io import BytesIO
from typing import NamedTuple

from nbtext.byte_order import as_utf8
from nbtext.mail.charsets import decode
from nbtext.mail.encoded_words import readable
from nbtext.mail.fields import SPECIAL_FIELDS, field_text
from nbtext.mail.headers import Field, Head
from nbtext.mail.markup import html_text
from nbtext.mail.mime import (
    PIECE,
    Leaf,
    Span,
    Tree,
    walk,
    whole,
)
from nbtext.mail.recognising import TELL_TALE_FIELDS, looks_like_mail, message_start

RAW_BYTES = 8_192
"""How much of a message view R may read; a thousand words are mostly in less."""

BODY_BYTES = 1 << 20
"""
Maximum bytes of text parts, without transfer encoding, that view B reads.

The largest of 15,000 real mails has half of that (docs/serving.md); what is longer is
rarely text that somebody wrote.
"""

MAX_HEADER_CHARS = 65_536
"""How many characters of names and texts `Mail.headers` may hold."""

_SURELY_SHORT = MAX_HEADER_CHARS // 8
"""
Messages of so many bytes cannot have more header text than that.

The text of a field with its shares of `has` and of the names is at most seven times as
long as what it was read from (a part's field without a value, `a:`, is `part.a`).
"""

DIGEST_SIZE = 16

_IDENTIFYING_FIELDS = ("from", "to", "date", "subject", "message-id")


class Mail(NamedTuple):
    """
    A message as the views read it.

    Attributes:
        headers: (name, text) of the top level's visible fields in order, of the
            synthetic fields `has` and `hops`, and of the parts' fields (`part.` before
            the name). Names are in lower case.
        raw: the visible fields' lines, unfolded, Received without dates, and the body
            as it was sent; at most RAW_BYTES.
        body: the decoded text of each text part, without tags, from BODY_BYTES at most.
        digest: DIGEST_SIZE bytes that name the message wherever it is kept; see
            `_digest`.
        is_typical: whether it has at least two of the fields that mail has, as
            `looks_like_mail` asks.
    """

    headers: list[tuple[str, str]]
    raw: bytes
    body: list[str]
    digest: bytes
    is_typical: bool


def read_mail(data: bytes) -> Mail:
    """Read a message: any bytes, with any line ends, behind an mbox line or not."""
    data = _as_sent(data)
    head, tree = _taken_apart(data)
    headers = _header_view(head, tree.part_fields)
    texts = [leaf for leaf in tree.leaves if leaf.subtype]
    return Mail(
        headers=_bounded(headers) if len(data) > _SURELY_SHORT else headers,
        raw=_raw_view(data, head),
        body=list(_body_view(texts)),
        digest=_digest(data, head, tree.leaves),
        is_typical=len(TELL_TALE_FIELDS & head.first_values.keys()) > 1,
    )


def text_parts(data: bytes) -> list[tuple[str, str]]:
    """List a message's text parts as (subtype, text with its tags)."""
    data = _as_sent(data)
    _, tree = _taken_apart(data)
    return [
        (leaf.subtype, decode(leaf.span.beginning(len(data)), leaf.charset))
        for leaf in tree.leaves
        if leaf.subtype
    ]


def _as_sent(data: bytes) -> bytes:
    """
    Return a message with line feeds for line ends.

    One that was saved as UTF-16 (`>` of PowerShell) is read as the UTF-8 that it was.
    """
    return _with_line_feeds(as_utf8(data))


def _with_line_feeds(data: bytes) -> bytes:
    """Make every line end a line feed."""
    if b"\r" not in data:
        return data
    if len(data) <= PIECE:
        return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    lines = BytesIO()
    for piece in _pieces_with_line_feeds(data, 0, len(data)):
        lines.write(piece)
    return lines.getvalue()


def _pieces_with_line_feeds(data: bytes, start: int, end: int) -> Iterator[bytes]:
    """Yield bytes in pieces, with a line feed for every line end."""
    for piece_start in range(start, end, PIECE):
        piece_end = min(piece_start + PIECE, end)
        piece = data[piece_start:piece_end]
        if piece.endswith(b"\r") and data.startswith(b"\n", piece_end, end):
            piece = piece[:-1]  # the line feed is in the next piece
        yield _with_line_feeds(piece)


def _taken_apart(data: bytes) -> tuple[Head, Tree]:
    """Read the header of a message, which may still be one if it begins badly; walk."""
    tree = Tree()
    message = whole(data)
    start = message_start(data)
    head = tree.read_head(message, start)
    if not head.names and looks_like_mail(data):
        head = tree.read_head(message, start, is_certain=True)
    walk(message, head, tree)
    return head, tree


def _body_view(texts: list[Leaf]) -> Iterator[str]:
    """Yield the text of each text part, as long as there is room."""
    room = BODY_BYTES
    for leaf in texts:
        if not room:
            return
        data = leaf.span.beginning(room)
        room -= len(data)
        text = decode(data, leaf.charset)
        yield html_text(text) if leaf.subtype == "html" else text


def _raw_view(data: bytes, head: Head) -> bytes:
    """Join the visible lines, undated, and as much of the body as there is room for."""
    lines = head.lines + head.strays if head.strays else head.lines
    visible = "\n".join(lines).encode("latin-1")
    room = RAW_BYTES - len(visible) - len(b"\n\n")
    body = data[head.body_start : head.body_start + max(room, 0)]
    return b"\n\n".join((visible, body))[:RAW_BYTES] if visible else body


def _header_view(head: Head, part_fields: list[Field]) -> list[Field]:
    """Make readable text of the fields, and of what they are."""
    names = head.names
    reader = str.strip if head.is_plain else readable
    headers = list(zip(names, map(reader, head.values), strict=True))
    special = SPECIAL_FIELDS
    for place in [place for place, name in enumerate(names) if name in special]:
        name, text = headers[place]
        headers[place] = (name, special[name](text))
    if names:  # of nothing there is nothing to say
        headers.append(("has", " ".join(head.first_values)))
        headers.append(("hops", f"received={names.count('received')}"))
    headers += [
        (f"part.{name}", field_text(name, value)) for name, value in part_fields
    ]
    return headers


def _bounded(headers: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Cut the headers to MAX_HEADER_CHARS."""
    if sum([len(name) + len(text) for name, text in headers]) <= MAX_HEADER_CHARS:
        return headers
    room = MAX_HEADER_CHARS
    kept = []
    for name, text in headers:
        room -= len(name)
        if room <= 0:
            break
        kept.append((name, text[:room]))
        room -= len(kept[-1][1])
    return kept


def _digest(data: bytes, head: Head, leaves: list[Leaf]) -> bytes:
    """
    Name a message by what no transport and no mailbox changes.

    BLAKE2b, DIGEST_SIZE bytes, over these pieces joined:

    * the values of the first From, To, Date, Subject and Message-ID, in that order,
      unfolded, as bytes without any blanks (folding may add some), a line feed
      between them; a field that is missing is empty;
    * for each text part, its data without transfer encoding, each line end a line
      feed, without white space at the end;
    * for each other leaf, its data as sent, without any white space.

    Before each leaf's piece stand a line feed, its length in decimal and a colon.

    If there is nothing in all of them, which would make one message of many, the
    visible fields follow, but for Received, as bytes without blanks, a line feed before
    each.
    """
    hashed = blake2b(digest_size=DIGEST_SIZE)
    is_empty = True
    for piece in _identity(data, head):
        is_empty = is_empty and not piece.strip(b"\n")
        hashed.update(piece)
    for leaf in leaves:
        size, pieces = _stable(leaf)
        hashed.update(b"\n%d:" % size)
        for piece in pieces:
            is_empty = is_empty and not piece.strip(b"\n")
            hashed.update(piece)
    if is_empty:
        named = zip(head.names, head.lines, strict=True)
        fields = [line for name, line in named if name != "received"]
        said = "".join(f"\n{line}" for line in fields).encode("latin-1")
        hashed.update(said.translate(None, _BLANKS))
    return hashed.digest()


_BLANKS = b" \t\v\f\r"


def _identity(data: bytes, head: Head) -> Iterator[bytes]:
    """Yield, in pieces, the values of the fields that name a message."""
    if head.deciding is None:
        values = [head.first_values.get(name, "") for name in _IDENTIFYING_FIELDS]
        yield "\n".join(values).encode("latin-1").translate(None, _BLANKS)
        return
    # the values are in the bytes, where no bound has cut them
    for number, name in enumerate(_IDENTIFYING_FIELDS):
        if number:
            yield b"\n"
        place = head.deciding.get(name, slice(0, 0))
        for piece in Span(data, place.start, place.stop).pieces():
            yield piece.translate(None, _BLANKS + b"\n")


def _stable(leaf: Leaf) -> tuple[int, Iterable[bytes]]:
    """Return the size of a part's stable bytes, and these, in pieces if it is large."""
    data, start, end = leaf.span
    if end - start > PIECE:
        in_pieces = _stable_text if leaf.subtype else _stable_data
        return sum(map(len, in_pieces(leaf))), in_pieces(leaf)
    data = data[start:end]
    if leaf.subtype:
        data = _with_line_feeds(data).rstrip()
    else:
        data = data.translate(None, _BLANKS + b"\n")
    return len(data), (data,)


def _stable_text(leaf: Leaf) -> Iterator[bytes]:
    """Yield a text part in pieces, with line feeds and no white space at the end."""
    data, start, end = leaf.span
    end = _stripped_end(data, start, end)
    return _pieces_with_line_feeds(data, start, end)


def _stripped_end(data: bytes, start: int, end: int) -> int:
    """Find where data ends but for white space."""
    while start < end:
        piece_start = max(start, end - PIECE)
        stripped = data[piece_start:end].rstrip()
        if stripped:
            return piece_start + len(stripped)
        end = piece_start
    return end


def _stable_data(leaf: Leaf) -> Iterator[bytes]:
    """Yield a part that is no text in pieces, without white space."""
    for piece in leaf.span.pieces():
        yield piece.translate(None, _BLANKS + b"\n")
