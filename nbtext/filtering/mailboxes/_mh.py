"""
An MH folder: a file for each message, whose name is a number (mh-mail(5)).

A new message gets the number after the highest. The marks of messages are in the
folder's sequences, which are changed when the messages are in their places.
"""

import os
from _blake2 import blake2b
from collections.abc import Iterator
from contextlib import suppress

from nbtext.files import make_durable, make_folder
from nbtext.filtering.mailboxes._message import UNMARKED, Marks, Message
from nbtext.filtering.mailboxes._sequences import (
    FLAGS,
    UNSEEN,
    Sequences,
    change,
    is_sequence,
    sequences_in,
)
from nbtext.filtering.mailboxes._transfer import (
    FRESH,
    fresh_name,
    identity_of,
    is_same,
    move,
    names_in,
    put_back,
    remove_abandoned,
    remove_copied,
)
from nbtext.sources import SEQUENCES, cannot_read


class MH:
    """
    An MH folder.

    Attributes:
        path: where it is, as the user wrote it.
        place: the same without symbolic links.
    """

    kind = "mh"

    def __init__(self, path: str) -> None:
        self.path = path.rstrip("/") or "/"
        self.place = os.path.realpath(path)
        self._sequences: Sequences | None = None
        self._marked: dict[int, tuple[Message, Marks]] = {}
        self._taken: dict[int, Marks] = {}
        self._next = 0

    def messages(self) -> Iterator[Message]:
        """
        Yield every message, in the order of their numbers.

        Raises:
            SourceError: the folder cannot be read, or not be entered.
        """
        for number in self._numbers():
            message = self._message(number)
            if message is not None:
                yield message

    def restore(self) -> None:
        """
        Give messages their numbers again that a crash has left without one.

        They were copied to another file system, and about to be removed.

        Raises:
            SourceError: the folder cannot be read.
        """
        for name in names_in(self.path):
            number, _, rest = name.partition(".")
            if is_number(number) and FRESH.match(rest):
                with suppress(OSError):  # it is still there for the next run
                    put_back(f"{self.path}/{name}", f"{self.path}/{number}")
        remove_abandoned(self.path, ".")

    def now(self, message: Message) -> Message | None:
        """
        Return a message with its present marks, None if it is no longer here.

        Raises:
            SourceError: the folder cannot be read, or not be entered.
            OSError: its sequences cannot be read.
        """
        number = _number_of(message)
        present = self._message(number)
        if present is None or present.key != message.key:
            return None
        if self._sequences is None:
            self._sequences = sequences_in(self.path, self._numbers())
        sequences = self._sequences
        letters = [
            letter
            for letter, name in FLAGS.items()
            if number in sequences.get(name, ())
        ]
        is_new = number in sequences.get(UNSEEN, ())
        if not is_new:
            letters.append("S")
        return present._replace(marks=Marks("".join(sorted(letters))), is_new=is_new)

    def take(self, path: str, message: Message, marks: Marks, *, is_again: bool) -> str:
        """
        Move a message into this folder, and return its new path.

        Args:
            path: where it is.
            message: the message, as it is listed there.
            marks: its marks here.
            is_again: whether a crash may have left a copy of it here.

        Raises:
            FileNotFoundError: it is not there.
            OSError: it cannot be moved; it is where it was.
        """
        if is_again:
            copied = self._copy_of(path)
            if copied is not None:
                return remove_copied(path, copied, message.identity)
        if not self._next:
            self._next = max(self._numbers(), default=0) + 1
        while True:
            number = self._next
            self._next += 1
            target = f"{self.path}/{number}"
            try:
                staging = f"{self.path}/.{fresh_name()}"
                move(path, target, staging, message.identity)
            except FileExistsError:
                continue
            self._taken[number] = marks
            return target

    def mark(self, message: Message, marks: Marks) -> str:
        """Add marks to a message, and return its path."""
        self._marked[_number_of(message)] = message, marks
        return message.name

    def settle(self) -> None:
        """
        Make durable what was moved, and update the sequences.

        Raises:
            MailboxError: the sequences cannot be written.
            OSError: the folder cannot be made durable.
        """
        make_durable(self.path)
        self._sequences = None
        self._next = 0
        taken, self._taken = self._taken, {}
        marked, self._marked = self._marked, {}

        def do(sequences: Sequences) -> None:
            for number, marks in taken.items():
                if "S" not in marks.letters:
                    sequences.setdefault(UNSEEN, set()).add(number)
            for number, marks in taken.items():
                _mark(sequences, number, marks)
            for number, (message, marks) in marked.items():
                present = self._message(number)
                if present is not None and present.key == message.key:
                    _mark(sequences, number, marks)

        if taken or marked or os.path.exists(f"{self.path}/{SEQUENCES}"):
            change(self.path, self._numbers, do)

    def ensure(self) -> None:
        """
        Make the folder if it is missing, for its owner alone.

        Raises:
            OSError: it cannot be made.
        """
        if make_folder(self.path):
            make_durable(os.path.dirname(self.path) or ".")
        remove_abandoned(self.path, ".")

    def _numbers(self) -> list[int]:
        names = names_in(self.path)
        return sorted(int(name) for name in names if is_number(name))

    def _message(self, number: int) -> Message | None:
        path = f"{self.path}/{number}"
        try:
            status = os.lstat(path)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise cannot_read(path, error) from error
        identity = identity_of(status)
        text = f"{number}\0{identity}\0".encode() + os.fsencode(self.place)
        key = blake2b(text, digest_size=16, person=b"nbtext message").digest()
        return Message(
            name=path,
            key=key,
            base=f"{int(status.st_mtime)}.N{key.hex()}.nbtext",  # for a Maildir
            marks=UNMARKED,
            is_new=False,
            delivered=status.st_mtime,
            identity=identity,
        )

    def _copy_of(self, path: str) -> str | None:
        """Return a copy of a message whose original was not removed yet."""
        original = os.stat(path)
        for number in reversed(self._numbers()):
            candidate = f"{self.path}/{number}"
            status = os.lstat(candidate)
            is_alike = (status.st_size, status.st_mtime_ns) == (
                original.st_size,
                original.st_mtime_ns,
            )
            if is_alike and is_same(candidate, path):
                return candidate
        return None


def is_number(name: str) -> bool:
    """Return whether a file of that name is a message."""
    return name.isascii() and name.isdigit() and len(name) < 11 and name[0] != "0"


def _number_of(message: Message) -> int:
    return int(message.name.rpartition("/")[2])


def _mark(sequences: Sequences, number: int, marks: Marks) -> None:
    for letter, name in FLAGS.items():
        if letter in marks.letters:
            sequences.setdefault(name, set()).add(number)
    if "S" in marks.letters:
        sequences.get(UNSEEN, set()).discard(number)
    for name in filter(is_sequence, marks.keywords):
        sequences.setdefault(name, set()).add(number)
