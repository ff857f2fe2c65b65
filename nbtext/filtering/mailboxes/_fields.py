"""
What mail programs keep in the header of a message in an mbox: its flags and keywords.

`Status` has R for seen and O for old, `X-Status` the letters A (answered), F (flagged),
T (draft) and D (deleted), `X-Keywords` names with blanks between, as Dovecot has them
(doc.dovecot.org, "mbox Mailbox Format"). Nothing else in the message changes, but that
`X-IMAPbase` in the first message of the mbox names the keywords.
"""

import re
from collections.abc import Iterable
from typing import Final

from nbtext.errors import SettingsError
from nbtext.filtering.mailboxes._content import END_OF_HEADER, LONGEST_HEADER
from nbtext.filtering.mailboxes._message import Marks

STATUS: Final = {"S": "R"}
BASE: Final = rb"(?im)^X-IMAP(?:base)?[ \t]*:([^\r\n]*(?:\r?\n[ \t][^\r\n]*)*)"
"""Where IMAP servers keep the numbers of a mailbox, and the names of its keywords."""

OF_PLACE: Final = (
    rb"(?im)^X-(?:UID|IMAP|IMAPbase)[ \t]*:[^\n]*(?:\n[ \t][^\n]*)*(?:\n|\Z)"
)
"""Where they keep the number of a message, and those of its mailbox."""

X_STATUS: Final = {"R": "A", "F": "F", "D": "T", "T": "D"}


def check_marks(marks: Marks) -> None:
    """
    Refuse marks that an mbox has no place for.

    Raises:
        SettingsError: there are such.

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
    """Return a header that says what a message is marked with, in addition."""
    for name, letters in ((b"Status", STATUS), (b"X-Status", X_STATUS)):
        added = [letters[one].encode() for one in marks.letters if one in letters]
        header = _with(header, name, added, b"")
    return _with(header, b"X-Keywords", [one.encode() for one in marks.keywords], b" ")


def unplaced(header: bytes) -> bytes:
    """Return a header without numbers of its mbox, which are others' in the next."""
    return re.sub(OF_PLACE, b"", header)


def keywords_in(header: bytes) -> list[str]:
    """Return the keywords that a message is marked with."""
    fields = re.findall(rb"(?im)^X-Keywords[ \t]*:([^\r\n]*)", header)
    return b" ".join(fields).decode("utf-8", "surrogateescape").split()


def naming(header: bytes, keywords: Iterable[str]) -> bytes:
    """
    Return the header of an mbox's first message that names its keywords.

    Dovecot takes no keyword from `X-Keywords` that is not named there, nor any other
    one beside it. Where no such field is, no IMAP server has been, and it stays so.
    """
    field = re.search(BASE, header)
    if field is None:
        return header
    value = field[1].rstrip()
    names = [one.encode("utf-8", "surrogateescape") for one in keywords]
    missing = [one for one in names if one not in value.split()]
    return (
        header[: field.start(1)] + b" ".join([value, *missing]) + header[field.end(1) :]
    )


def _with(header: bytes, name: bytes, added: list[bytes], between: bytes) -> bytes:
    """Return a header in whose field there is something more, if it is not there."""
    field = re.search(rb"(?im)^" + name + rb"[ \t]*:[ \t]*([^\r\n]*)", header)
    there = field[1].rstrip() if field else b""
    known = there.split() if between else there
    missing = [one for one in added if one not in known]
    if not missing:
        return header
    value = between.join([*([there] if there else []), *missing])
    if field is not None:
        return header[: field.start(1)] + value + header[field.end(1) :]
    newline = b"\r\n" if b"\r\n" in header[:LONGEST_HEADER] else b"\n"
    if header and not header.endswith(b"\n"):
        header += newline
    return header + name + b": " + value + newline
