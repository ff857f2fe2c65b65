"""
Messages of an mbox whose length is in their header: the variants mboxcl and mboxcl2.

Programs that write the field Content-Length leave lines that begin with "From " in a
body as they are. It is often wrong, as where a body was changed since, or a sender
wrote it. So it is believed only if it says more than where the next message may begin,
and a message begins right behind it, or the file ends there, as mutt and Dovecot do.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple, TypeAlias

from nbtext.document import Pause

LONGEST_HEADER: Final = 1 << 18
"""Maximum bytes of a header in which the field is looked for."""

MOST_HELD: Final = 1 << 24
"""Maximum bytes that are held until it is known whether a length is right."""

MOST_DIGITS: Final = 12
"""Maximum digits of a length."""

CRLF: Final = b"\r\n"
"""The longest blank line."""

_HEADER_END: Final = rb"\n\r?\n"


class Opening(NamedTuple):
    """
    The line that begins a message.

    Attributes:
        blank: the blank line before it, which ends the message before.
        line: the line itself, with its end.
    """

    blank: bytes
    line: bytes


Part: TypeAlias = Opening | bytes | Pause
"""What begins a message, a piece of one, or a pause of what is read."""


def with_content_length(parts: Iterable[Part]) -> Iterator[Part]:
    """
    Take back the openings that are in the body of a message by its right length.

    Each byte is held once at most: where a length turns out to be wrong, what was held
    for it stays taken apart as it was.

    Args:
        parts: an mbox, taken apart wherever a message may begin; joined, its bytes.
    """
    message = _Message()
    held: list[Opening | bytes] = []
    n_held = 0
    for part in parts:
        if isinstance(part, Pause):
            yield part
            continue
        opening = part if isinstance(part, Opening) else None
        if held and opening and message.ends_at(n_held, opening.blank):
            yield b"".join(map(_joined, held))
            held, n_held = [], 0
        elif held or (opening and message.may_go_on(opening)):
            held.append(part)
            n_held += len(_joined(part))
            if n_held > MOST_HELD or message.is_beyond(n_held):
                yield from held
                held, n_held, message = [], 0, _Message(is_known=True)
            continue
        if isinstance(part, Opening):
            message = _Message()
        else:
            message.add(part)
        yield part
    if held and message.ends_at(n_held, CRLF, is_end=True):
        yield b"".join(map(_joined, held))
    else:
        yield from held


def _joined(part: Opening | bytes) -> bytes:
    return part if isinstance(part, bytes) else part.blank + part.line


class _Message:
    """
    How much of a message has gone by, and how long its header says that its body is.

    Attributes:
        is_known: whether its length is known, or known not to be found.
    """

    def __init__(self, *, is_known: bool = False) -> None:
        """Begin one, or go on with one whose beginning has gone by."""
        self.is_known = is_known
        self._header = b"\n"  # so that each field, and an empty header, follows one
        self._n_body = 0
        self._length: int | None = None

    def add(self, piece: bytes) -> None:
        """Take in a piece of it."""
        if self.is_known:
            self._n_body += len(piece)
            return
        start = max(len(self._header) - 2, 0)
        self._header += piece
        end = re.compile(_HEADER_END).search(self._header, start)
        if end is not None:
            self._length = _length_in(self._header[: end.start() + 1])
            self._n_body = len(self._header) - end.end()
        self.is_known = end is not None or len(self._header) > LONGEST_HEADER
        if self.is_known:
            self._header = b""

    def may_go_on(self, opening: Opening) -> bool:
        """Return whether its body is longer than to where another may begin."""
        return self._length is not None and self._length > self._n_body + len(
            opening.blank
        )

    def is_beyond(self, n_held: int) -> bool:
        """Return whether more of it was held than its length and a blank line."""
        n_body = self._n_body + n_held
        return self._length is not None and n_body > self._length + len(CRLF)

    def ends_at(self, n_held: int, blank: bytes, *, is_end: bool = False) -> bool:
        """
        Return whether its body ends where another message begins, or the file ends.

        Args:
            n_held: how much more of it there is than has gone by.
            blank: the blank line between them, which may be counted.
            is_end: whether it is the file that ends, with the blank line or without.
        """
        if self._length is None:
            return False
        rest = self._length - self._n_body - n_held
        return -len(blank) <= rest <= 0 if is_end else rest in (0, len(blank))


def _length_in(header: bytes) -> int | None:
    """
    Return the length that a header gives; None if it gives none, or several.

    Args:
        header: it, behind a line feed.
    """
    # a regular expression takes longer than all that is done here for a message
    fields = header.lower().split(b"\ncontent-length:")[1:]
    values = {field.partition(b"\n")[0].strip() for field in fields}
    value = values.pop() if len(values) == 1 else b""
    return int(value) if value.isdigit() and len(value) <= MOST_DIGITS else None
