"""
Header fields that say what a message is, added to it.

Bytes and a decision go in, bytes come out. Fields of the same names that came with the
message are forged, and are removed wherever they stand in its header. Nothing else
changes: line ends stay as they are, and what is broken stays broken.

A header is searched for what matters and not taken apart into its fields, of which a
message of 16 MiB may have millions.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Final, NamedTuple

from nbtext.errors import SettingsError
from nbtext.filtering.plain_header import FIELD as FIELD
from nbtext.filtering.plain_header import LONGEST
from nbtext.mail import looks_like_mail
from nbtext.scoring import Decision
from nbtext.scoring.figures import probability, signed

if TYPE_CHECKING:
    from nbtext.scoring.explanation import Reason

LONGEST_REASON: Final = 40
"""Maximum characters of a term in the field."""

_PLAIN: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")
"""What may stand outside quotes of a name that the sender chooses."""

_NAME: Final = re.compile(r"[!-9;-~]{1,64}")
_FIELD_NAME: Final = rb"[!-9;-~]{1,128}[ \t]*+:"
_REST: Final = rb"(?:[^\r\n]++|\n(?=[ \t])|\r(?=[\n \t])|(?!))*+[\r\n]?"
"""What follows up to the end of a field: a line end without a continuation, or a bare
CR, which others take for the end of a line."""

_FIELD_START: Final = re.compile(_FIELD_NAME)
_FIELD_REST: Final = re.compile(_REST)
_FIELDS: Final = re.compile(rb"(?:%b%b|(?!))*+" % (_FIELD_NAME, _REST))
_ANY_LINE: Final = rb"(?:[^\n]++|\n(?=[ \t])|(?!))*+\n"
"""A whole line, with the lines that continue it."""
_LINE: Final = re.compile(_ANY_LINE)
_LINES: Final = re.compile(rb"(?:%b|(?!))*+" % _ANY_LINE)
_WHOLE_LINES: Final = re.compile(rb"(?s:.*)\n(?=[^ \t\r])")
"""All lines before the last one that surely begins a field."""
_ENVELOPE: Final = re.compile(rb"(?:>?From [^\n]*+\n|(?!))*+")
_LATE_ENVELOPE: Final = re.compile(rb"[\r\n]*+(?:>?From [^\n]*+\n|(?!))*+")
_LAST_LINE: Final = re.compile(rb"\n(?=\r?\r?\n)")
"""The end of a header's last line, before an empty line."""
_SUBJECT: Final = re.compile(rb"(?:^|(?<=\r))subject[ \t]*+:", re.IGNORECASE | re.M)

PROBE: Final = 1 << 16
"""Bytes of the body in which a line end is looked for if there is none before."""
_STANDARD: Final = re.compile(
    "from|sender|reply-to|to|cc|bcc|message-id|in-reply-to|references|subject|comments"
    "|keywords|(?:orig-)?date|return-path|received|resent-.*|mime-version|content-.*",
    re.IGNORECASE,
)
"""The fields of RFC 5322 and of MIME (RFC 2045), which belong to the sender."""

_EMPTY: Final = (b"\n", b"\r\n", b"\r\r\n")


class AddedField(NamedTuple):
    """
    What is added to a message: a field, others behind it, a tag in the subject.

    Attributes:
        field: the name of the field.
        value: its value, printable ASCII; a line feed and a space where it is folded.
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


def added_by(
    decision: Decision,
    field: str = FIELD,
    tag: str = "",
    reasons: "Sequence[Reason]" = (),
) -> AddedField:
    """
    Return the field that tells a decision.

    Args:
        decision: the decision.
        field: the name of the field.
        tag: what to put before the subject; empty for nothing.
        reasons: what to tell of what it rests on, a line each.

    Raises:
        SettingsError: no field can have that name, or no subject that tag.
    """
    lines = [told(decision), *map(printable_reason, reasons)]
    check_field(field, tag)
    return AddedField(field, ",\n ".join(lines), tag)


def told(decision: Decision) -> str:
    """Return what our field tells of a decision but for reasons, printable ASCII."""
    label = printable_label(decision)
    return f"{label}, probability={probability(decision.probability)}"


def printable_label(decision: Decision) -> str:
    """Return the label as printable ASCII, on one line."""
    return _printable_name(decision.label if decision.label is not None else "unsure")


@lru_cache(maxsize=256)
def _printable_name(label: str) -> str:
    return _printable(label)


def printable_reason(reason: "Reason") -> str:
    """
    Return a reason as printable ASCII, on one line: -0.52 subject "free money".

    Nothing in it is the sender's to choose but what stands between the quotes, where
    quotes and backslashes have a backslash before them.
    """
    where = reason.field if _PLAIN.fullmatch(reason.field) else reason.view
    text = _printable(reason.text).replace('"', '\\"')
    if len(text) > LONGEST_REASON:  # not within what one backslash begins
        text = text[:LONGEST_REASON].rstrip("\\") + "..."
    return f'{signed(reason.contribution, 2)} {where} "{text}"'


def _printable(text: str) -> str:
    """Return a text as printable ASCII, on one line; backslashes are doubled."""
    return "".join(
        letter if " " <= letter < "\x7f" else repr(letter)[1:-1]
        for letter in ascii(text)[1:-1]
    )


@lru_cache(maxsize=8)  # it is the same for each message
def check_field(field: str, tag: str) -> None:
    """
    Refuse a field and a tag that no message can have.

    Raises:
        SettingsError: no field can have that name, or no subject that tag.
    """
    if not _NAME.fullmatch(field):
        message = f"the field name {field!r} is not printable ASCII without a colon"
        raise SettingsError(message)
    if _STANDARD.fullmatch(field):
        message = (
            f"the field name {field!r} is one of mail itself, whose own field "
            "would be removed; choose another, such as X-NBText"
        )
        raise SettingsError(message)
    if not (tag.isascii() and (tag.isprintable() or not tag)):
        message = f"the subject tag {tag!r} is not printable ASCII"
        raise SettingsError(message)


def with_added(message: bytes, added: AddedField) -> bytes:
    """
    Return a message with the added fields in its header.

    They are its last fields, but stand before the first line that is no field, at which
    a strict reader takes the header to end.
    """
    return b"".join(pieces_with_added(message, added))


def pieces_with_added(
    message: bytes, added: AddedField, *, goes_on: bool = False
) -> list[bytes | memoryview]:
    """
    Return the same in pieces to be joined; the body is not copied.

    Args:
        message: the message, or its beginning.
        added: what is added.
        goes_on: whether there is more of it. If its header does not end in what there
            is, an empty line ends it there, since fields of ours may be in the rest.
    """
    fields = added.fields
    if not added.tag and (plain := _plain_end(message, added.family, fields)):
        lines = _lines_of(fields, b"\n")
        return [message[:plain], lines, memoryview(message)[plain:]]
    start, end = _header(message)
    is_endless = goes_on and start < end == len(message)
    if is_endless:
        whole = _WHOLE_LINES.match(message, start)
        end = whole.end() if whole else start
    place = _place(message, start, end)
    subject = _SUBJECT.search(message, start, end) if added.tag else None
    places = sorted({place, subject.end()} if subject else {place})
    header, offsets = _without_forged(message, start, end, added, places)
    newline = _line_end(message[:start], header, message[end : end + PROBE])
    if added.tag and not subject:
        fields = (*fields, ("Subject", added.tag))
    texts = {place: _lines_of(fields, newline)}
    if subject:
        texts[subject.end()] = b" " + added.tag.encode()
    for where, offset in zip(reversed(places), reversed(offsets), strict=True):
        header[offset:offset] = texts[where]
    if is_endless or (start == end and not message.startswith(_EMPTY, end)):
        header += newline  # all of it is body, and no part of our fields
    return [message[:start], bytes(header), memoryview(message)[end:]]


def _lines_of(fields: Sequence[tuple[str, str]], newline: bytes) -> bytes:
    """Return fields as lines of a header."""
    lines = "".join([f"{name}: {value}\n" for name, value in fields]).encode()
    return lines.replace(b"\n", newline)


def _plain_end(message: bytes, family: str, fields: Sequence[tuple[str, str]]) -> int:
    """
    Return where a header ends to which fields are only added, as most mail has it.

    It is whole fields with line feeds, none of them ours; 0 if it is not.
    """
    field, line = _plain_patterns(family, tuple([name for name, _ in fields]))
    envelope = _ENVELOPE.match(message, 0, LONGEST)
    first = field.match(message, envelope.end() if envelope else 0, LONGEST)
    last = line.search(message, first.end(), LONGEST) if first else None
    if not last or message.find(b"\r", 0, last.end()) >= 0:
        return 0
    return last.end() if message.startswith(b"\n", last.end()) else 0


@lru_cache(maxsize=8)
def _plain_patterns(
    family: str, names: tuple[str, ...]
) -> tuple[re.Pattern[bytes], re.Pattern[bytes]]:
    """Compile what begins a field of others, and what ends a line before none."""
    ours = "|".join(map(re.escape, filter(None, (family, *names)))).encode()
    field = rb"(?!(?i:%b))%b" % (ours, _FIELD_NAME)
    return re.compile(field), re.compile(rb"\n(?![ \t]|%b)" % field)


def _header(message: bytes) -> tuple[int, int]:
    """
    Return where a message's fields begin and end; the same place if it has none.

    They may begin behind empty lines, as they are read there, too (`nbtext.mail.mime`).
    """
    envelope = _ENVELOPE.match(message)
    start = front = envelope.end() if envelope else 0
    if not start and message.startswith((b"\n", b"\r")):
        envelope = _LATE_ENVELOPE.match(message)
        start = envelope.end() if envelope else 0
    is_header = _FIELD_START.match(message, start) or looks_like_mail(message)
    if start == len(message) or not is_header or message.startswith(_EMPTY, start):
        return front, front
    last = _LAST_LINE.search(message, start)
    return start, last.end() if last else len(message)


def _place(message: bytes, start: int, end: int) -> int:
    """Return before which byte of a header fields are added."""
    good = _FIELDS.match(message, start, end)
    lines = _LINES.match(message, start, good.end() if good else start)
    place = lines.end() if lines else start
    if place == start and message.startswith((b" ", b"\t"), start, end):
        # they would be continued there
        first = _LINE.match(message, start, end)
        return first.end() if first else start
    return place


def _without_forged(
    message: bytes, start: int, end: int, added: AddedField, places: list[int]
) -> tuple[bytearray, list[int]]:
    """
    Return a header without the fields that have names of ours.

    Args:
        message: what begins with the header.
        start: where its fields begin.
        end: where they end.
        added: what has the names.
        places: sorted places in the message, each where a field begins or stays.

    Returns:
        The rest of the header, and where in it the places are.
    """
    kept, offsets = bytearray(), []
    waiting = iter([*places, len(message) + 1])
    place = next(waiting)
    here = start
    for forged_start, forged_end in chain(
        _forged(message, start, end, added), [(end, end)]
    ):
        while place <= forged_start:
            offsets.append(len(kept) + place - here)
            place = next(waiting)
        kept += memoryview(message)[here:forged_start]
        here = forged_end
        if kept.endswith(b"\r") and message.endswith(b"\n", forged_start, here):
            # the end of a line of which something in front of a bare CR stays
            is_crlf = message.endswith(b"\r\n", forged_start, here)
            kept[-1:] = b"\r\n" if is_crlf else b"\n"
    return kept, offsets


def _forged(
    message: bytes, start: int, end: int, added: AddedField
) -> Iterator[tuple[int, int]]:
    """Yield where each field begins and ends that has a name of ours."""
    name, later = _patterns(added.family, tuple(name for name, _ in added.fields))
    here = start
    while True:
        if not name.match(message, here, end):
            found = later.search(message, here, end)
            if not found:
                return
            here = found.start() + 1
        rest = _FIELD_REST.match(message, here, end)
        begin, here = here, rest.end() if rest else end
        yield begin, here


@lru_cache(maxsize=8)
def _patterns(
    family: str, names: tuple[str, ...]
) -> tuple[re.Pattern[bytes], re.Pattern[bytes]]:
    """Compile what matches a name of ours and its colon, here or in a later line."""
    ours = [re.escape(name) for name in names]
    if family:
        ours.append(re.escape(family) + f"[!-9;-~]{{0,{128 - len(family)}}}")
    pattern = rf"(?:{'|'.join(ours)})[ \t]*+:".encode()
    later = re.compile(rb"[\r\n]" + pattern, re.IGNORECASE)
    return re.compile(pattern, re.IGNORECASE), later


def _line_end(*pieces: bytes | bytearray) -> bytes:
    """Return what ends the first line of a message."""
    for piece in pieces:
        end = piece.find(b"\n")
        if end >= 0:
            return b"\r\n" if piece[max(end - 1, 0) : end] == b"\r" else b"\n"
    return b"\n"
