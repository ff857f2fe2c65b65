"""
A Maildir: a file for each message, in new/ until it is shown, then in cur/.

The format is described in cr.yp.to/proto/maildir.html, its folders in Courier's
Maildir++. There is no lock. Mail programs rename messages at any moment, for each flag,
and move and remove them; so a message is looked up again by the constant part of its
name, and one that has disappeared is no error.
"""

import os
import re
from _blake2 import blake2b
from collections.abc import Iterator
from typing import Final

from nbtext.errors import MailboxError
from nbtext.files import make_durable, make_file, make_folder, rename_exclusively
from nbtext.filtering.mailboxes._keywords import FILE as KEYWORDS
from nbtext.filtering.mailboxes._keywords import LETTERS, keywords_in, letters_for
from nbtext.filtering.mailboxes._message import UNMARKED, Marks, Message
from nbtext.filtering.mailboxes._transfer import (
    fresh_name,
    is_same,
    move,
    names_in,
    remove_abandoned,
    remove_copied,
)

SHOWN: Final = ("new", "cur")
STAGING: Final = "tmp"
FOLDER_FILE: Final = "maildirfolder"
"""A file that marks a Maildir as a folder of the Maildir around it."""

_INFO: Final = re.compile(r"[:;!]2,")
_ADDED: Final = re.compile(r",(?:[SWU]=\d+|FMD5=[0-9a-f]+)")
"""What servers and synchronisers add to a name: sizes, and the number in a folder."""

_PLACE: Final = re.compile(r",(?:U=\d+|FMD5=[0-9a-f]+)")
"""The part of that which belongs to the folder: elsewhere it is another's number."""

_TIME: Final = re.compile(r"\d{9,11}(?=\.)")
_UNNAMED: Final = " "
"""Prefix of a letter that stands for no keyword; no keyword has a blank in it."""

_UNTOUCHED: Final = frozenset("DT")
"""Flags of messages that are left alone: drafts, and what is trashed."""


class Maildir:
    """
    A Maildir.

    Attributes:
        path: where it is, as the user wrote it.
        place: the same without symbolic links.
    """

    kind = "maildir"

    def __init__(self, path: str) -> None:
        self.path = path.rstrip("/") or "/"
        self.place = os.path.realpath(path)
        self._hashed = blake2b(
            os.fsencode(self.place) + b"\0", digest_size=16, person=b"nbtext message"
        )
        self._keywords: dict[str, str] | None = None
        self._index: dict[str, Message] | None = None

    def messages(self) -> Iterator[Message]:
        """
        Yield every message except drafts and trashed ones, oldest names first.

        Raises:
            SourceError: a folder of it cannot be read.
        """
        for name, part in sorted(self._names()):
            message = self._message(part, name)
            if not _UNTOUCHED & {*message.marks.letters}:
                yield message

    def now(self, message: Message) -> Message | None:
        """Return a message with its present marks, None if it is no longer here."""
        if os.path.lexists(message.name):
            return message
        return self._listed().get(message.base)

    def take(self, path: str, message: Message, marks: Marks, *, is_again: bool) -> str:
        """
        Move a message into this Maildir, and return its new path.

        Args:
            path: where it is.
            message: the message, as it is listed there.
            marks: its marks here.
            is_again: whether a crash may have left a copy of it here.

        Raises:
            FileNotFoundError: it is not there.
            OSError: it cannot be moved; it is where it was.
        """
        bases = _bases_for(message)
        copied = self._copy_of(path, bases) if is_again else None
        if copied is not None:
            return remove_copied(path, copied, message.identity)
        # taken with other flags is taken: Dovecot removes one of two links of one name
        free = (base for base in bases if base not in self._listed())
        base = next(free, None) or fresh_name()
        while True:
            target = self._path_of(base, marks, is_new=message.is_new)
            try:
                staging = f"{self.path}/{STAGING}/{fresh_name()}"
                move(path, target, staging, message.identity)
            except FileExistsError:
                base = fresh_name()
            else:
                self._listed()[base] = message._replace(
                    name=target, base=base, identity=None
                )
                return target

    def mark(self, message: Message, marks: Marks) -> str:
        """
        Add marks to a message, and return its path.

        Raises:
            FileExistsError: it has the name that it gets, besides its own.
            FileNotFoundError: it is not there.
            MailboxError: no letter is left for a keyword.
            OSError: it cannot be renamed.
        """
        whole = message.marks | marks
        without = {*marks.keywords} - letters_for(self.path, marks.keywords).keys()
        if without:
            text = (
                f"{self.path}: all 26 keywords of this Maildir are in use, and "
                f"{', '.join(sorted(without))} is none of them; remove some from "
                f"{KEYWORDS}"
            )
            raise MailboxError(text)
        target = self._path_of(message.base, whole, is_new=False)
        if target != message.name:
            try:
                rename_exclusively(message.name, target)
            except FileExistsError:
                if os.path.samefile(message.name, target):  # it is being renamed
                    raise
                # another message of its name: Dovecot, too, gives one a fresh name
                target = self._path_of(fresh_name(), whole, is_new=False)
                rename_exclusively(message.name, target)
        return target

    def settle(self) -> None:
        """Make durable what was moved to this Maildir, or out of it."""
        self._index = self._keywords = None
        for part in SHOWN:
            make_durable(f"{self.path}/{part}")

    def ensure(self) -> None:
        """
        Make the missing parts of it, for its owner alone.

        Raises:
            OSError: it cannot be made.
        """
        parent = os.path.dirname(self.path) or "."
        for path in (self.path, *(f"{self.path}/{part}" for part in (*SHOWN, STAGING))):
            make_folder(path)
        remove_abandoned(f"{self.path}/{STAGING}")
        marker = f"{self.path}/{FOLDER_FILE}"
        is_folder = os.path.basename(self.path).startswith(".") and all(
            os.path.isdir(f"{parent}/{part}") for part in SHOWN
        )
        if is_folder and not os.path.exists(marker):
            make_file(marker)
        make_durable(self.path)
        make_durable(parent)

    def _listed(self) -> dict[str, Message]:
        """Return all messages by the constant parts of their names, as last listed."""
        if self._index is None:
            listed = (self._message(part, name) for name, part in self._names())
            self._index = {message.base: message for message in listed}
        return self._index

    def _copy_of(self, path: str, bases: tuple[str, ...]) -> str | None:
        """Return a copy of a message whose original was not removed yet."""
        found = (self._listed().get(base) for base in bases)
        names = (message.name for message in found if message is not None)
        return next((name for name in names if is_same(name, path)), None)

    def _names(self) -> Iterator[tuple[str, str]]:
        """Yield the name of every file, and which part it is in."""
        for part in SHOWN:
            names = names_in(f"{self.path}/{part}")
            yield from ((name, part) for name in names if name[0] != ".")

    def _message(self, part: str, name: str) -> Message:
        base, _, flags = name.partition(":2,")
        if not flags and not name.endswith(":2,") and _INFO.search(name):
            base, flags = _INFO.split(name, 1)
        hashed = self._hashed.copy()
        hashed.update(os.fsencode(_ADDED.sub("", base) if "," in base else base))
        found = _TIME.match(base)
        return Message(
            name=f"{self.path}/{part}/{name}",
            key=hashed.digest(),
            base=base,
            marks=self._marks(flags) if flags else UNMARKED,
            is_new=part == "new",
            delivered=float(found[0]) if found else None,
        )

    def _marks(self, flags: str) -> Marks:
        letters = "".join(sorted({*flags} - {*LETTERS}))
        keyword_letters = sorted({*flags} & {*LETTERS})
        if not keyword_letters:
            return Marks(letters)
        if self._keywords is None:
            try:
                self._keywords = keywords_in(self.path)
            except OSError:
                self._keywords = {}
        names = (self._keywords.get(one, _UNNAMED + one) for one in keyword_letters)
        return Marks(letters, tuple(names))

    def _path_of(self, base: str, marks: Marks, *, is_new: bool) -> str:
        if is_new and not (marks.letters or marks.keywords):
            return f"{self.path}/new/{base}"
        names = [name for name in marks.keywords if not name.startswith(_UNNAMED)]
        letters = {name[1:] for name in marks.keywords if name.startswith(_UNNAMED)}
        letters.update(letters_for(self.path, names).values())
        return f"{self.path}/cur/{base}:2,{marks.letters}{''.join(sorted(letters))}"


def _bases_for(message: Message) -> tuple[str, str]:
    """Return the names that a message may get elsewhere, the same after a crash."""
    base = _PLACE.sub("", message.base) or message.base
    return base, f"{int(message.delivered or 0)}.N{message.key.hex()}.nbtext"
