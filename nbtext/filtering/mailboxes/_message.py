"""What mailboxes are asked about and give: messages, and what they are marked with."""

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

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


class Marks(NamedTuple):
    """
    What a message is marked with.

    Attributes:
        letters: its system flags, of "DFPRST", in that order.
        keywords: the names that users and programs have given it.
    """

    letters: str = ""
    keywords: tuple[str, ...] = ()

    def __or__(self, other: "Marks") -> "Marks":
        """Return the marks of both."""
        return Marks(
            "".join(sorted({*self.letters, *other.letters})),
            tuple(dict.fromkeys((*self.keywords, *other.keywords))),
        )

    def __str__(self) -> str:
        names = {letter: name for name, letter in SYSTEM.items()}
        return " ".join([*(names[letter] for letter in self.letters), *self.keywords])


class Message(NamedTuple):
    """
    A message in a mailbox that has a file for each.

    Attributes:
        name: its path, as far as it was there when it was listed.
        key: 16 bytes that name it in this mailbox, whatever its flags.
        base: the part of its file's name that stays.
        marks: what it is marked with.
        is_new: whether no mail program has shown it yet.
        delivered: when it was delivered, in seconds, if its name says so.
    """

    name: str
    key: bytes
    base: str
    marks: Marks
    is_new: bool
    delivered: float | None = None


def marks_of(names: Iterable[str]) -> Marks:
    """
    Return the marks that a user has named.

    Args:
        names: `seen` or `S` and so on for system flags, in any case; anything else is a
            keyword.

    Raises:
        SettingsError: no keyword can have that name.

    """
    marks = Marks()
    for name in names:
        plain = name.removeprefix("\\").lower()
        if plain in SYSTEM:
            marks |= Marks(SYSTEM[plain])
        elif name in SYSTEM.values():
            marks |= Marks(name)
        elif _KEYWORD.fullmatch(name):
            marks |= Marks("", (name,))
        else:
            message = (
                f"{name!r}: a flag was expected ({', '.join(SYSTEM)}) or a keyword, "
                'which is printable ASCII without blanks and ( ) { % * " \\ ]'
            )
            raise SettingsError(message)
    return marks
