"""
Flags and keywords of a message in an mbox, which are fields of its header.

`Status` has R for seen and O for old, `X-Status` the letters A (answered), F (flagged),
T (draft) and D (deleted), `X-Keywords` names separated by blanks, as Dovecot writes
them (doc.dovecot.org, "mbox Mailbox Format"). Nothing else in a message changes, except
that `X-IMAPbase` in the first message of the mbox names the keywords, and goes to the
next one if that leaves: in it IMAP servers, mutt and pine keep the UIDVALIDITY and the
last UID of the mbox.
"""

import re
from collections.abc import Iterable
from typing import Final

from nbtext.errors import SettingsError
from nbtext.filtering.mailboxes._content import LONGEST_HEADER
from nbtext.filtering.mailboxes._message import Marks
from nbtext.sources.mbox import END_OF_HEADER

STATUS: Final = {"S": "R"}
BASE: Final = rb"(?im)^X-IMAP(?:base)?[ \t]*:([^\r\n]*(?:\r?\n[ \t][^\r\n]*)*)"
"""The field with the numbers of a mailbox and the names of its keywords (IMAP)."""

_WHOLE: Final = rb"(?im)^X-(?:%b)[ \t]*:[^\n]*(?:\n[ \t][^\n]*)*(?:\n|\Z)"
BASES: Final = _WHOLE % b"IMAP|IMAPbase"
OF_PLACE: Final = _WHOLE % b"UID|IMAP|IMAPbase"
"""The fields with the number of a message, and with those of its mailbox."""

X_STATUS: Final = {"R": "A", "F": "F", "D": "T", "T": "D"}


def check_marks(marks: Marks) -> None:
    """
    Refuse marks that an mbox cannot store.

    Raises:
        SettingsError: there is one.
    """
    odd = {*marks.letters} - {*STATUS, *X_STATUS}
    if odd:
        shown = Marks("".join(sorted(odd)))
        raise SettingsError(f"an mbox cannot mark a message {shown}; name another flag")


def header_of(start: bytes) -> bytes | None:
    """
    Return the header of a message, without the blank line that ends it.

    Args:
        start: its first LONGEST_HEADER bytes, or all of it.

    Returns:
        None if it is longer.
    """
    found = re.search(END_OF_HEADER, start)
    if found is None:
        return start if len(start) < LONGEST_HEADER else None
    return start[: found.start() + (found.start() > 0 or start[:1] not in b"\r\n")]


def marked(header: bytes, marks: Marks) -> bytes:
    """Return a header to which marks are added."""
    for name, letters in ((b"Status", STATUS), (b"X-Status", X_STATUS)):
        added = [letters[flag].encode() for flag in marks.letters if flag in letters]
        header = _with(header, name, added, b"")
    keywords = [keyword.encode() for keyword in marks.keywords]
    return _with(header, b"X-Keywords", keywords, b" ")


def unplaced(header: bytes) -> bytes:
    """Return a header without numbers, which may be in use in another mbox."""
    return re.sub(OF_PLACE, b"", header)


def base_of(header: bytes) -> bytes:
    """Return the numbers of a mailbox and its keywords, empty if a header has none."""
    field = re.search(BASE, header)
    value = b" ".join(field[1].split()) if field else b""
    return value if re.match(rb"\d{1,10} \d{1,10}(?: |\Z)", value) else b""


def based(header: bytes, base: bytes) -> bytes:
    """Return the header of what is the first message of an mbox from now on."""
    if not base:
        return header
    return _with(re.sub(BASES, b"", header), b"X-IMAPbase", [base], b"")


def keywords_in(header: bytes) -> list[str]:
    """Return the keywords of a message."""
    fields = re.findall(rb"(?im)^X-Keywords[ \t]*:([^\r\n]*)", header)
    return b" ".join(fields).decode("utf-8", "surrogateescape").split()


def naming(header: bytes, keywords: Iterable[str]) -> bytes:
    """
    Return the header of an mbox's first message, to which names of keywords are added.

    Dovecot ignores an `X-Keywords` field with a keyword that is not named there. A
    header without this field, which no IMAP server has written to, is not changed.
    """
    field = re.search(BASE, header)
    if field is None:
        return header
    value = field[1].rstrip()
    names = [name.encode("utf-8", "surrogateescape") for name in keywords]
    missing = [name for name in names if name not in value.split()]
    return (
        header[: field.start(1)] + b" ".join([value, *missing]) + header[field.end(1) :]
    )


def _with(header: bytes, name: bytes, added: list[bytes], between: bytes) -> bytes:
    """Return a header with values added to a field, unless it has them."""
    field = re.search(rb"(?im)^" + name + rb"[ \t]*:[ \t]*([^\r\n]*)", header)
    old = field[1].rstrip() if field else b""
    known = old.split() if between else old
    missing = [value for value in added if value not in known]
    if not missing:
        return header
    value = between.join([*([old] if old else []), *missing])
    if field is not None:
        return header[: field.start(1)] + value + header[field.end(1) :]
    newline = b"\r\n" if b"\r\n" in header[:LONGEST_HEADER] else b"\n"
    if header and not header.endswith(b"\n"):
        header += newline
    return header + name + b": " + value + newline
