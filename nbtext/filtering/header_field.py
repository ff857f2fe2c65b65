"""
A message passed through: every byte as it came, and fields that say what it is.

Bytes and a decision go in, bytes come out. Fields of our own names that came with the
message are somebody else's word and are taken out, wherever they stand in its header;
nothing else changes, neither line ends nor what is broken.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from nbtext.errors import SettingsError
from nbtext.mail.message import looks_like_mail
from nbtext.scoring.decide import Decision, probability

FIELD: Final = "X-NBText"
"""The field's name, unless the user wants another."""

_NAME: Final = re.compile(r"[!-9;-~]{1,64}")
_FIELD_START: Final = re.compile(rb"[!-9;-~]{1,128}[ \t]*+:")
_ENVELOPE: Final = (b"From ", b">From ")
_EMPTY: Final = (b"\n", b"\r\n", b"\r\r\n")


class Mark(NamedTuple):
    """
    What is put into a message.

    Attributes:
        field: the name of the field.
        value: what it says, printable ASCII.
        tag: what is put before the subject, empty for nothing.
        more: the names and values of fields that follow it.
        family: fields whose names begin so are taken out too, in lower case; none if
            it is empty.
    """

    field: str
    value: str
    tag: str = ""
    more: tuple[tuple[str, str], ...] = ()
    family: str = ""

    @property
    def fields(self) -> tuple[tuple[str, str], ...]:
        """Return names and values of all fields that are put in."""
        return ((self.field, self.value), *self.more)


class _Field(NamedTuple):
    """A header field with its continuation lines, or a line that is none."""

    start: int
    end: int
    name: bytes


def mark_of(decision: Decision, field: str = FIELD, tag: str = "") -> Mark:
    """
    Return what says in a message what was decided about it.

    Args:
        decision: the decision.
        field: the name of the field.
        tag: what to put before the subject, empty for nothing.

    Raises:
        SettingsError: no field can have that name, or no subject that tag.

    """
    said = f"{printable_label(decision)}, probability="
    return checked(Mark(field, said + probability(decision.probability), tag))


def printable_label(decision: Decision) -> str:
    """Return the label as printable ASCII, on one line."""
    label = decision.label if decision.label is not None else "unsure"
    return "".join(
        letter if " " < letter < "\x7f" or letter == " " else repr(letter)[1:-1]
        for letter in ascii(label)[1:-1]
    )


def checked(mark: Mark) -> Mark:
    """
    Return a mark that can be put into a message.

    Raises:
        SettingsError: no field can have that name, or no subject that tag.

    """
    if not _NAME.fullmatch(mark.field):
        message = (
            f"the field name {mark.field!r} is not printable ASCII without a colon"
        )
        raise SettingsError(message)
    if not (mark.tag.isascii() and (mark.tag.isprintable() or not mark.tag)):
        message = f"the subject tag {mark.tag!r} is not printable ASCII"
        raise SettingsError(message)
    return mark


def marked(message: bytes, mark: Mark) -> bytes:
    """Return a message with our fields as the last ones of its header."""
    end, fields = _header(message)
    start = fields[0].start if fields else end
    ours = {name.lower().encode() for name, _ in mark.fields}
    family = mark.family.encode()
    kept = [
        field
        for field in fields
        if not (field.name in ours or (family and field.name.startswith(family)))
    ]
    pieces = [message[field.start : field.end] for field in kept]
    newline = _line_end([message[:start], *pieces, message[end:]])
    added = b"".join(
        f"{name}: {value}".encode() + newline for name, value in mark.fields
    )
    if mark.tag:
        place = next((n for n, one in enumerate(kept) if one.name == b"subject"), None)
        if place is None:
            added += b"Subject: " + mark.tag.encode() + newline
        else:
            name, colon, value = pieces[place].partition(b":")
            pieces[place] = name + colon + b" " + mark.tag.encode() + value
    is_bad = bool(kept) and not kept[0].name
    if is_bad and not pieces[0].startswith((b" ", b"\t")):
        pieces.insert(0, added)  # without a field in front it might be no header
    else:
        # a message that ends in its header, without a line end, keeps that end
        is_open = bool(pieces) and not pieces[-1].endswith(b"\n")
        pieces.insert(len(pieces) - is_open, added)
    if not fields and not message.startswith(_EMPTY, end):
        pieces.append(newline)  # all of it is body, and no part of our fields
    return b"".join([message[:start], *pieces, message[end:]])


def _header(message: bytes) -> tuple[int, list[_Field]]:
    """Return where a message's header ends, and its fields."""
    start = 0
    while message.startswith(_ENVELOPE, start) and message.find(b"\n", start) > 0:
        start = _next_line(message, start)
    is_header = _FIELD_START.match(message, start) or looks_like_mail(message)
    if not is_header or message.startswith(_EMPTY, start):
        return start, []
    fields = list(_fields(message, start))
    return fields[-1].end, fields


def _fields(message: bytes, start: int) -> Iterator[_Field]:
    """Yield the fields of a header, up to the first empty line."""
    while start < len(message) and not message.startswith(_EMPTY, start):
        end = _next_line(message, start)
        while message.startswith((b" ", b"\t"), end):
            end = _next_line(message, end)
        name = _FIELD_START.match(message, start, end)
        yield _Field(start, end, name[0][:-1].rstrip().lower() if name else b"")
        start = end


def _next_line(message: bytes, start: int) -> int:
    end = message.find(b"\n", start)
    return len(message) if end < 0 else end + 1


def _line_end(pieces: list[bytes]) -> bytes:
    """Return what ends the first line of a message."""
    for piece in pieces:
        end = piece.find(b"\n")
        if end >= 0:
            return b"\r\n" if piece[max(end - 1, 0) : end] == b"\r" else b"\n"
    return b"\n"
