"""Messages moved from folder to folder, each a file; and what has become of each."""

import os
from collections.abc import Iterable
from typing import NamedTuple

from nbtext.errors import (
    BusyError,
    MailboxError,
    MissingSourceError,
    NbtextError,
    SourceError,
)
from nbtext.filtering.mailboxes._content import Content, read_content
from nbtext.filtering.mailboxes._message import Marks, Message
from nbtext.filtering.mailboxes._opening import Folder


class Task(NamedTuple):
    """
    What is to be done with a message.

    Attributes:
        message: which.
        target: where it goes, None to leave it where it is.
        marks: what it is marked with, in addition to what it is.
        is_again: whether a run that crashed may have begun this.
    """

    message: Message
    target: Folder | None
    marks: Marks
    is_again: bool = False


class Moved(NamedTuple):
    """
    What was done.

    Attributes:
        done: the messages of the tasks that were done, by their keys.
        error: what kept others from being done; if None, these were no longer there.
    """

    done: frozenset[bytes]
    error: NbtextError | None


def read_message(folder: Folder, message: Message, max_bytes: int) -> Content | None:
    """
    Read a message, wherever in its folder it is now; None if it is not there any more.

    Raises:
        SourceError: it cannot be read.

    """
    try:
        return read_content(message.name, max_bytes)
    except MissingSourceError:
        there = folder.now(message)
    if there is None:
        return None
    try:
        return read_content(there.name, max_bytes)
    except MissingSourceError as error:
        if os.path.islink(there.name):
            said = f"{there.name}: the link leads nowhere; mend or remove it"
            raise SourceError(said) from error
        return None


def move_all(source: Folder, tasks: Iterable[Task]) -> Moved:
    """
    Move and mark messages; durably, when this returns.

    What moves or changes meanwhile by another's doing is left alone.

    Args:
        source: where they are.
        tasks: what is to be done.

    """
    done: set[bytes] = set()
    settled: dict[int, Folder] = {}
    error: NbtextError | None = None
    try:
        for task in tasks:
            target = task.target
            if target is not None and id(target) not in settled:
                target.ensure()
                settled[id(target)] = target
            if _carried_out(source, task):
                done.add(task.message.key)
    except OSError as failure:
        where = failure.filename2 or failure.filename or source.path
        message = f"{where}: a message cannot be moved or marked: {failure.strerror}"
        error = MailboxError(f"{message}; it is where it was")
        error.__cause__ = failure
    except (MailboxError, BusyError) as failure:
        error = failure
    try:
        for folder in (*settled.values(), source):
            folder.settle()
    except OSError as failure:
        message = (
            f"{source.path}: what was moved may not outlast a crash of the machine"
        )
        raise MailboxError(f"{message}: {failure.strerror}") from failure
    except (MailboxError, BusyError) as failure:
        error = error or failure
    return Moved(frozenset(done), error)


def _carried_out(source: Folder, task: Task) -> bool:
    """Do one task, and return whether the message was there."""
    there = source.now(task.message)
    while there is not None:
        try:
            if task.target is None:
                source.mark(there, task.marks)
            else:
                marks = there.marks | task.marks
                task.target.take(there.name, there, marks, is_again=task.is_again)
        except FileNotFoundError:
            moved = source.now(task.message)
            if moved is None or moved.name == there.name:
                return False
            there = moved
        else:
            return True
    return False
