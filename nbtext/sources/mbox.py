"""
An mbox file taken apart into its messages, as a stream (RFC 4155 and its variants).

A message begins at the start of the file or after a blank line, with a line of "From ",
a sender and a date; that line is not part of it, nor is the blank line at its end. The
date is asked for because bodies have paragraphs that begin with "From " (RFC 4155,
appendix A, leaves this to the reader). Lines `>From `, `>>From ` lose one `>`, as in
the variant called mboxrd. Content-Length is often wrong, and believed only where a
message begins behind it, or the file ends (`nbtext.sources._content_length`): programs
that write it leave lines of "From " in bodies as they are.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from nbtext.document import Document, Note, Pause
from nbtext.sources._content_length import Opening, Part, with_content_length
from nbtext.sources._stream import Stream

_DAY = rb"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6},?[ \t]{1,9}"
_MONTH = rb"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}[ \t]{1,9}"
_TIME = rb"\d{1,2}:\d\d(?::\d\d)?"
_ZONE = rb"(?:[ \t]{1,9}[A-Z+-][\w+-]{0,8}){0,2}"
_DATE = b"".join(
    [
        b"(?:",
        _DAY + _MONTH + rb"\d{1,2}[ \t]{1,9}" + _TIME + _ZONE + rb"[ \t]{1,9}\d{4}",
        b"|",  # the order of a Date header, which some programs write
        _DAY + rb"\d{1,2}[ \t]{1,9}" + _MONTH + rb"\d{4}[ \t]{1,9}" + _TIME,
        rb")\b",
    ]
)
# All of it is bounded, so that a long line costs no more than many short ones, and a
# piece of LONGEST_SEPARATOR bytes has all of it. The line feed at its end is not taken,
# because the next separator may begin with it.
_FROM_LINE = rb"From [^\n]{0,255}?" + _DATE + rb"[^\n]{0,127}(?=\n)"
LONGEST_SEPARATOR = 512

STDIN = "-"
"""The name of the standard input."""

# Compiling these takes a millisecond, so it is done only where there is an mbox.
_SEPARATOR = rb"\n\r?\n" + _FROM_LINE
_QUOTED_FROM = rb"(?m)^>(?=>*From )"
_INTERNAL_DATA = (
    rb"(?im)^X-IMAP:",
    rb"(?im)^Subject:[^\r\n]*FOLDER INTERNAL DATA[ \t]*\r?$",
    rb"(?im)^Subject[ \t]*:",
)
"""Fields that it has once each."""
_RECEIVED = rb"(?im)^(?:Received|Return-Path|Delivered-To)[ \t]*:"
END_OF_HEADER = rb"\n\r?\n|\A\r?\n"
_HEADER = rb"From |[!-9;-~]+[ \t]*(?::|\Z)"  # a delivered mail may have two From lines


def is_mbox(head: bytes) -> bool:
    """Tell whether the bytes begin with the line that begins a message."""
    return _opening(head) is not None


def may_become_mbox(head: bytes) -> bool:
    """Tell whether all that a file has may be a part of such a line."""
    is_short = len(head) < LONGEST_SEPARATOR and b"\n" not in head
    return is_short and bool(head) and head[:5] == b"From "[: len(head)]


def is_header(text: bytes) -> bool:
    """Tell whether a message, which may be cut, begins with a header line."""
    return re.match(_HEADER, text) is not None


def are_internal_data(head: bytes) -> bool:
    """
    Tell whether an mbox begins with what UW IMAP and Dovecot keep as its first message.

    They make it where it lies. What a sender made to look like that was received, and
    has a field that says so.

    Args:
        head: that message, with its "From " line or without; it may be cut.
    """
    header = re.split(END_OF_HEADER, head, maxsplit=1)[0]
    if re.search(_RECEIVED, header):
        return False
    return all(len(re.findall(field, header)) == 1 for field in _INTERNAL_DATA)


def item_of(
    name: str, label: str | None, number: int, text: bytes, is_cut: bool
) -> Document | Note:
    """
    Return a message of an mbox, or a note if it is none but internal data.

    What is piped is asked about, whatever it looks like.

    Args:
        name: the mbox.
        label: its class, if it is known.
        number: which of its messages this is, from 1.
        text: the message.
        is_cut: whether there was more of it.
    """
    place = f"{name}:{number}"
    if number == 1 and name != STDIN and are_internal_data(text):
        return Note(f"{place}: internal data of a mail server, no message: left out")
    return Document(place, (text,), label, is_mail=True, truncated=is_cut)


def messages(stream: Stream, max_bytes: int) -> Iterator[tuple[bytes, bool] | Pause]:
    """
    Yield each message, cut at `max_bytes`, and whether there was more of it.

    What comes before the first "From " line is a message too, unless it is blank. The
    last message is left out if it may be incomplete (`Stream.is_whole`).
    """
    is_message = False
    message = _Message(max_bytes)
    for part in split(stream.peek(LONGEST_SEPARATOR), stream.chunks()):
        if isinstance(part, Pause):
            yield part
        elif isinstance(part, bytes):
            message.add(part)
        else:
            if is_message or not message.is_blank():
                yield message.text(), message.is_cut
            message = _Message(max_bytes)
            is_message = True
    if stream.is_whole and (is_message or not message.is_blank()):
        yield without_blank_end(message.text()), message.is_cut


def split(head: bytes, chunks: Iterable[bytes | Pause]) -> Iterator[Part]:
    """
    Take an mbox apart; the parts, joined, are its bytes.

    Args:
        head: its first LONGEST_SEPARATOR bytes, or all of them.
        chunks: all of them, and pauses, which are handed on.

    Yields:
        What begins each message, then its bytes in pieces. The blank line that ends
        the last message of all is among them.
    """
    return with_content_length(_split(head, chunks))


def _split(head: bytes, chunks: Iterable[bytes | Pause]) -> Iterator[Part]:
    """Take an mbox apart wherever a message may begin."""
    opening = _opening(head)
    separators = re.compile(_SEPARATOR)
    # The window holds one line feed more than the text, at `start - 1`: a separator
    # begins with the end of the line before it, and the first line has none.
    window = b"\n"
    start = 1
    if opening is not None:
        yield Opening(b"", opening[0] + b"\n")
    skipped = 0 if opening is None else opening.end() + 1
    for chunk in chunks:
        if isinstance(chunk, Pause):
            yield chunk
            continue
        window += chunk
        if skipped:
            if len(window) <= skipped:
                continue
            window, skipped = window[skipped:], 0
        for separator in separators.finditer(window, start - 1):
            yield window[start : separator.start() + 1]
            blank, _, line = separator[0][1:].partition(b"\n")
            yield Opening(blank + b"\n", line + b"\n")
            start = separator.end() + 1
        keep = max(start - 1, len(window) - LONGEST_SEPARATOR)
        yield window[start:keep]
        window, start = window[keep:], max(start - keep, 0)
    yield window[start:]


class Piece(NamedTuple):
    """
    A message of an mbox as it lies there, or a part of it.

    Attributes:
        text: its bytes, with the line that begins it and the empty one behind it.
        is_first: whether the message begins with it.
        is_last: whether the message ends with it.
    """

    text: bytes
    is_first: bool = True
    is_last: bool = True


def pieces(head: bytes, chunks: Iterable[bytes], most: int) -> Iterator[Piece]:
    """
    Take an mbox apart without losing a byte of it.

    Args:
        head: what it begins with.
        chunks: all of it.
        most: about how many bytes a first piece has; messages that are longer have
            others, as they come.

    Yields:
        Pieces, at least one; joined, they are the mbox.
    """
    kept: list[bytes] = []
    is_first, n_messages = True, 0
    for part in split(head[:LONGEST_SEPARATOR], chunks):
        if isinstance(part, Opening):
            kept.append(part.blank)
            if any(kept) or not is_first:
                yield Piece(b"".join(kept), is_first)
                n_messages += 1
            kept, is_first = [part.line], True
        elif isinstance(part, bytes):
            kept.append(part)
        if not is_first or sum(map(len, kept)) > most:
            yield Piece(b"".join(kept), is_first, is_last=False)
            kept, is_first = [], False
    if any(kept) or not (is_first and n_messages):
        yield Piece(b"".join(kept), is_first)


class _Message:
    """The pieces of a message, as many of them as are to be kept."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._pieces: list[bytes] = []
        self._size = 0

    @property
    def is_cut(self) -> bool:
        return self._size > self._max_bytes

    def add(self, piece: bytes) -> None:
        if not self.is_cut:
            self._pieces.append(piece)
            self._size += len(piece)

    def is_blank(self) -> bool:
        return not any(piece.strip() for piece in self._pieces)

    def text(self) -> bytes:
        """Return the message as it was before it was put into an mbox."""
        return unquoted(b"".join(self._pieces)[: self._max_bytes])


def unquoted(text: bytes) -> bytes:
    """Return a message with one `>` less before each quoted "From "."""
    return re.sub(_QUOTED_FROM, b"", text) if b">From " in text else text


def _opening(head: bytes) -> re.Match[bytes] | None:
    return re.match(_FROM_LINE, head) if head.startswith(b"From ") else None


def without_blank_end(text: bytes) -> bytes:
    """Take away the blank line that ends the last message, and the whole file."""
    for blank in (b"\n", b"\r\n"):
        if text == blank or text.endswith(b"\n" + blank):
            return text.removesuffix(blank)
    return text
