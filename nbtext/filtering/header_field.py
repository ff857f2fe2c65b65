"""
Header fields that say what a message is, added to it.

Bytes and a decision go in, bytes come out. Fields of the same names that came with the
message are forged, and are removed wherever they stand in its header. Nothing else
changes: line ends stay as they are, and what is broken stays broken.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from nbtext.errors import SettingsError
from nbtext.mail import looks_like_mail
from nbtext.scoring import Decision
from nbtext.scoring.decide import probability

FIELD: Final = "X-NBText"
"""The name of the field, unless the user names another."""

_NAME: Final = re.compile(r"[!-9;-~]{1,64}")
_FIELD_START: Final = re.compile(rb"[!-9;-~]{1,128}[ \t]*+:")
_BARE_CR: Final = re.compile(rb"\r(?![\n \t])")
_STANDARD: Final = re.compile(
    "from|sender|reply-to|to|cc|bcc|message-id|in-reply-to|references|subject|comments"
    "|keywords|(?:orig-)?date|return-path|received|resent-.*|mime-version|content-.*",
    re.IGNORECASE,
)
"""The fields of RFC 5322 and of MIME (RFC 2045), which belong to the sender."""

_ENVELOPE: Final = (b"From ", b">From ")
_EMPTY: Final = (b"\n", b"\r\n", b"\r\r\n")


class AddedField(NamedTuple):
    """
    What is added to a message: a field, others behind it, a tag in the subject.

    Attributes:
        field: the name of the field.
        value: its value, printable ASCII.
        tag: put before the subject; empty for none.
        more: the names and values of fields that follow.
        family: prefix, in lower case, of the names of other fields that are removed;
            empty for none.
    """

    field: str
    value: str
    tag: str = ""
    more: tuple[tuple[str, str], ...] = ()
    family: str = ""

    @property
    def fields(self) -> tuple[tuple[str, str], ...]:
        """Return the names and values of all fields that are added."""
        return ((self.field, self.value), *self.more)


class _Field(NamedTuple):
    """
    A header field with its continuation lines, or a line that is no field.

    Attributes:
        start: where it begins in the message.
        end: where it ends.
        name: its name in lower case; empty if it is no field.
        text: its bytes.
        line: where the line begins in which it begins; less than `start` behind a bare
            CR.
    """

    start: int
    end: int
    name: bytes
    text: bytes
    line: int


def added_by(decision: Decision, field: str = FIELD, tag: str = "") -> AddedField:
    """
    Return the field that tells a decision.

    Args:
        decision: the decision.
        field: the name of the field.
        tag: what to put before the subject; empty for nothing.

    Raises:
        SettingsError: no field can have that name, or no subject that tag.

    """
    label = printable_label(decision)
    value = f"{label}, probability={probability(decision.probability)}"
    return checked(AddedField(field, value, tag))


def printable_label(decision: Decision) -> str:
    """Return the label as printable ASCII, on one line."""
    label = decision.label if decision.label is not None else "unsure"
    return "".join(
        letter if " " < letter < "\x7f" or letter == " " else repr(letter)[1:-1]
        for letter in ascii(label)[1:-1]
    )


def checked(added: AddedField) -> AddedField:
    """
    Return an added field, if a message can have it.

    Raises:
        SettingsError: no field can have that name, or no subject that tag.

    """
    if not _NAME.fullmatch(added.field):
        message = (
            f"the field name {added.field!r} is not printable ASCII without a colon"
        )
        raise SettingsError(message)
    if _STANDARD.fullmatch(added.field):
        message = (
            f"the field name {added.field!r} is one of mail itself, whose own field "
            "would be removed; choose another, such as X-NBText"
        )
        raise SettingsError(message)
    if not (added.tag.isascii() and (added.tag.isprintable() or not added.tag)):
        message = f"the subject tag {added.tag!r} is not printable ASCII"
        raise SettingsError(message)
    return added


def with_added(message: bytes, added: AddedField) -> bytes:
    """
    Return a message with the added fields in its header.

    They are its last fields, but stand before the first line that is no field, at which
    a strict reader takes the header to end.
    """
    end, fields = _header(message)
    start = fields[0].start if fields else end
    kept = _without_forged(message, fields, added)
    newline = _line_end([message[:start], *(one.text for one in kept), message[end:]])
    lines = b"".join(
        f"{name}: {value}".encode() + newline for name, value in added.fields
    )
    pieces = [field.text for field in kept]
    if added.tag:
        place = next((n for n, one in enumerate(kept) if one.name == b"subject"), None)
        if place is None:
            lines += b"Subject: " + added.tag.encode() + newline
        else:
            name, colon, value = pieces[place].partition(b":")
            pieces[place] = name + colon + b" " + added.tag.encode() + value
    pieces.insert(_place_among(kept), lines)
    if not fields and not message.startswith(_EMPTY, end):
        pieces.append(newline)  # all of it is body, and no part of our fields
    return b"".join([message[:start], *pieces, message[end:]])


def _without_forged(
    message: bytes, fields: list[_Field], added: AddedField
) -> list[_Field]:
    """Return the fields of a header but for those that have names of ours."""
    kept: list[_Field] = []
    for field in fields:
        if not _is_forged(field, added):
            kept.append(field)
        elif kept and kept[-1].line == field.line and field.text.endswith(b"\n"):
            # the end of a line of which something in front of a bare CR stays
            text = kept[-1].text.removesuffix(b"\r")
            ending = b"\r\n" if field.text.endswith(b"\r\n") else b"\n"
            kept[-1] = kept[-1]._replace(text=text + ending)
    return kept


def _place_among(fields: list[_Field]) -> int:
    """Return before which field those that are added stand."""
    bad = next((n for n, field in enumerate(fields) if not field.name), len(fields))
    places = [
        n
        for n, field in enumerate(fields)
        if (n == 0 or fields[n - 1].line != field.line)
        # our fields would be continued there
        and not field.text.startswith((b" ", b"\t"))
    ]
    # a message that ends in its header, without a line end, keeps that end
    if not fields or fields[-1].text.endswith(b"\n"):
        places.append(len(fields))
    before = [place for place in places if place <= bad]
    return before[-1] if before else next(iter(places), 0)


def _is_forged(field: _Field, added: AddedField) -> bool:
    """Return whether a field of a message has the name of one that we add."""
    family = added.family.encode()
    if family and field.name.startswith(family):
        return True
    return field.name in [name.lower().encode() for name, _ in added.fields]


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
        here = start
        # others take a bare CR for the end of a line
        for found in _BARE_CR.finditer(message, start, end):
            yield _field(message, here, found.end(), start)
            here = found.end()
        if here < end:
            yield _field(message, here, end, start)
        start = end


def _field(message: bytes, start: int, end: int, line: int) -> _Field:
    name = _FIELD_START.match(message, start, end)
    text = message[start:end]
    return _Field(
        start, end, name[0][:-1].rstrip().lower() if name else b"", text, line
    )


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
