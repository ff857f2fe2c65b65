"""
The header block of a message or part goes in, fields and their readable text come out.

The block is text read as Latin-1, so that every byte is kept and nothing fails; what
is not ASCII is decoded field by field (`nbtext.mail.encoded_words`). Folding is
RFC 5322's (section 2.2.3), read as it is written rather than as it should be.
"""

import re
from typing import NamedTuple, TypeAlias

Field: TypeAlias = tuple[str, str]
"""A field's name in lower case, and its value as it stands or as it is read."""

INVISIBLE_FIELDS = frozenset({
    "content-length", "delivered-to", "envelope-to", "lines", "status", "x-bogosity",
    "x-envelope-to", "x-gmail-labels", "x-imap", "x-imapbase", "x-keywords", "x-label",
    "x-offlineimap", "x-original-to", "x-status", "x-text-classification", "x-tuid",
    "x-uid", "x-uidl", "x-uuid",
})  # fmt: skip
"""
Fields that are no evidence: written after delivery, by mailboxes and other filters.

A message must give the same tokens when it is learnt from a mailbox as when it arrives,
and another filter's verdict, if learnt, would be all that is believed
(docs/method.md; `INVISIBLE_PREFIXES` belongs to it).
"""

INVISIBLE_PREFIXES = (
    "x-antivirus",
    "x-barracuda",
    "x-crm114-",
    "x-dspam-",
    "x-getmail-",
    "x-gm-",
    "x-mailscanner",
    "x-mozilla-",
    "x-nbtext",  # our own
    "x-popfile-",
    "x-spam-",
    "x-spambayes-",
    "x-virus",
)
"""How further invisible fields' names begin."""

HEADER_BYTES = 1 << 18
"""
Maximum bytes of the header blocks of a message and its parts whose fields are read.

Four times what view H keeps, because fields that it does not see count here, too. What
follows is only searched for the fields that decide what the rest of a message is.
"""

DECIDING_BYTES = 1 << 13
"""Maximum bytes of the value of such a field."""

_FIELD_START = re.compile(rb"[!-9;-~]{1,128}[ \t]*+:(?!//)")

_DECIDING_FIELD = re.compile(
    rb"^(content-transfer-encoding|content-type|date|from|message-id|mime-version"
    rb"|received|return-path|subject|to)(?:[ \t]|\n(?=[ \t])|(?!))*+:",
    re.IGNORECASE | re.MULTILINE,
)

_ENVELOPE_LINE = ("From ", ">From ")


class Head(NamedTuple):
    """
    What precedes the body of a message or part.

    Names, values and lines are in parallel, a place for each visible field in order.

    Attributes:
        names: in lower case.
        values: as they stand behind the colon, unfolded, read as Latin-1. A Received
            field has lost its date, which no view reads.
        lines: the whole fields, in the same state.
        first_values: each name, in order, and the first value it has.
        strays: lines among the fields that are none, but text.
        body_start: where in the bytes the body begins.
        is_plain: whether all is ASCII without encoded words, which is quicker to read.
        size: how many bytes of the block were read.
        deciding: if that is not all of it, where the fields that decide are: the name
            of each and the place of its first value in the bytes. Else None.
    """

    names: list[str]
    values: list[str]
    lines: list[str]
    first_values: dict[str, str]
    strays: list[str]
    body_start: int
    is_plain: bool
    size: int = 0
    deciding: dict[str, slice] | None = None


def read_head(
    data: bytes,
    start: int,
    end: int,
    *,
    most: int = HEADER_BYTES,
    is_certain: bool = False,
) -> Head:
    r"""
    Read the fields up to the first empty line.

    Args:
        data: what holds a message or part; its line ends are `\n`.
        start: where its first field may begin.
        end: where the message or part ends.
        most: how many bytes of the block are read.
        is_certain: whether there are fields even if the first line is none; otherwise
            such a message is all body.
    """
    if data.startswith(b"\n", start, end):
        return _no_fields(start + 1)
    if not is_certain and not _FIELD_START.match(data, start, end):
        return _no_fields(start)
    empty_line = _EMPTY_LINE.search(data, start, end)
    if empty_line:
        block_end, body_start = empty_line.span()
    else:
        block_end = body_start = end
    if block_end - start > most:
        return _read_long_block(data, start, block_end, most, body_start)
    return _read_block(data[start:block_end].decode("latin-1"), body_start)


def _no_fields(body_start: int) -> Head:
    """Say that all is body."""
    return Head([], [], [], {}, [], body_start, is_plain=True)


def _read_long_block(
    data: bytes, start: int, end: int, most: int, body_start: int
) -> Head:
    """Read the beginning of a block; of the rest only the fields that decide."""
    cut = whole_characters(data, start, start + most)
    last_line = data.rfind(b"\n", start, cut) + 1
    if last_line and not _HAS_NAME.match(data, last_line, cut):
        cut = last_line  # half a name would be a line that is no field
    head = _read_block(data[start:cut].decode("latin-1"), body_start)
    deciding: dict[str, slice] = {}
    for found in _DECIDING_FIELD.finditer(data, start, end):
        name = found[1].decode("ascii").lower()
        if name in deciding:
            continue
        deciding[name] = place = slice(found.end(), _field_end(data, found.end(), end))
        if name not in head.first_values:
            value = data[place][:DECIDING_BYTES].decode("latin-1")
            head.first_values[name] = _FOLD.sub("", value)
    return head._replace(deciding=deciding)


def whole_characters(data: bytes, start: int, end: int) -> int:
    """Move an end back so that it does not cut a character of UTF-8 in two."""
    for place in range(end, max(end - 4, start), -1):
        if place >= len(data) or data[place] & 0xC0 != 0x80:
            return place
    return end


def _field_end(data: bytes, start: int, end: int) -> int:
    """Find where a field ends, with the lines that continue it."""
    found = _LINE_END.search(data, start, end)
    return found.start() if found else end


_HAS_NAME = re.compile(rb"[ \t]|[^:\n]*+:")

_LINE_END = re.compile(rb"\n(?![ \t])")


_EMPTY_LINE = re.compile(rb"\n\n")  # in less time than bytes.find

_FOLD = re.compile(r"\n(?=[ \t])")


def _read_block(block: str, body_start: int) -> Head:
    """Tell visible fields from stray lines; invisible ones are left out."""
    names: list[str] = []
    values: list[str] = []
    lines: list[str] = []
    strays: list[str] = []
    first_values: dict[str, str] = {}
    for line in _FOLD.sub("", block).split("\n"):
        written_name, colon, value = line.partition(":")
        name = _NAMES[written_name] if colon else None
        if name:
            if name == "received" and ";" in value:
                value = value[: value.rfind(";")]  # the date is behind it
                line = f"{written_name}:{value}"
            names.append(name)
            values.append(value)
            lines.append(line)
            if name not in first_values:
                first_values[name] = value
        elif name is None and line and not line.startswith(_ENVELOPE_LINE):
            strays.append(line)
    # Half of the headers have no "?", which is much quicker to see than "=?".
    is_plain = block.isascii() and not ("?" in block and "=?" in block)
    return Head(
        names, values, lines, first_values, strays, body_start, is_plain, len(block)
    )


class _FieldNames(dict[str, str | None]):
    """
    What precedes a line's first colon -> the field's name in lower case.

    "" if the field is invisible, None if this is no name. Names are few and come again
    in each message, so they are looked at once.
    """

    def __missing__(self, written: str) -> str | None:
        if len(written) >= _LONGEST_NAME:
            return None
        if len(self) >= _MOST_NAMES:
            self.clear()  # somebody makes them up
        self[written] = name = _field_name(written)
        return name


_LONGEST_NAME = 128
_MOST_NAMES = 4096

_NAMES = _FieldNames()


def _field_name(written: str) -> str | None:
    """Give a field's name in lower case, "" if it is invisible, None if it is none."""
    name = written.rstrip().lower()
    if not name or " " in name or "\t" in name:
        return None
    is_invisible = name in INVISIBLE_FIELDS or name.startswith(INVISIBLE_PREFIXES)
    return "" if is_invisible else name
