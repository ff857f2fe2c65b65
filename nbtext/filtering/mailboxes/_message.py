"""Messages in mailboxes, and their marks: flags and keywords."""

import os
import re
from collections.abc import Iterable
from typing import Final, NamedTuple, TypeAlias

from nbtext import wording
from nbtext.errors import SettingsError

SYSTEM: Final = {
    "draft": "D",
    "flagged": "F",
    "passed": "P",
    "replied": "R",
    "seen": "S",
    "trashed": "T",
}
"""The flags of a Maildir (cr.yp.to/proto/maildir.html), by name."""

_KEYWORD: Final = re.compile(r"""[!#$&'+,./0-9:;<=>?@A-Z\[^_`a-z|}~-]{1,64}""")
"""An IMAP keyword is an atom (RFC 9051, section 9, flag-keyword)."""

Identity: TypeAlias = tuple[int, int, int]


class Marks(NamedTuple):
    """
    The marks of a message.

    Attributes:
        letters: its system flags, of "DFPRST", in that order.
        keywords: its keywords, set by users and programs.
    """

    letters: str = ""
    keywords: tuple[str, ...] = ()

    def __or__(self, other: "Marks") -> "Marks":
        """Return the marks of both messages."""
        return Marks(
            "".join(sorted({*self.letters, *other.letters})),
            tuple(dict.fromkeys((*self.keywords, *other.keywords))),
        )

    def __str__(self) -> str:
        names = {letter: name for name, letter in SYSTEM.items()}
        return " ".join([*(names[letter] for letter in self.letters), *self.keywords])


UNMARKED: Final = Marks()


class Message(NamedTuple):
    """
    A message in a mailbox that has a file for each.

    Attributes:
        name: its path when it was listed.
        key: 16 bytes that identify it in this mailbox, whatever its flags.
        base: the constant part of its file's name.
        marks: its marks.
        is_new: whether no mail program has shown it yet.
        delivered: when it was delivered, in seconds, if its name says so.
        identity: inode, size and time in ns of its file, where another message may get
            its name once it is gone; None where no other ever does.
    """

    name: str
    key: bytes
    base: str
    marks: Marks
    is_new: bool
    delivered: float | None = None
    identity: Identity | None = None

    def delivery_time(self) -> float:
        """Return when it was delivered, in seconds, infinity if it is gone."""
        if self.delivered is not None:
            return self.delivered
        try:
            return os.stat(self.name).st_mtime
        except OSError:
            return float("inf")


def marks_of(names: Iterable[str]) -> Marks:
    """
    Return the marks with some names.

    Args:
        names: `seen` in any case, or `S`, and so on for system flags; anything else is
            a keyword.

    Raises:
        SettingsError: no keyword can have that name, or it is several flags.
    """
    marks = Marks()
    for name in names:
        plain = name.removeprefix("\\").lower()
        if plain in SYSTEM:
            marks |= Marks(SYSTEM[plain])
        elif name in SYSTEM.values():
            marks |= Marks(name)
        elif SYSTEM.keys() & {part.strip() for part in plain.split(",")}:
            flag = wording.named("names")
            message = f"{name!r}: one flag was expected; give {flag} once for each"
            raise SettingsError(message)
        elif _KEYWORD.fullmatch(name):
            marks |= Marks("", (name,))
        else:
            message = (
                f"{name!r}: a flag was expected ({', '.join(SYSTEM)}) or a keyword, "
                'which is printable ASCII without blanks and ( ) { % * " \\ ]'
            )
            raise SettingsError(message)
    return marks
