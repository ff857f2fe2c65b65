"""Messages, each a file, moved from folder to folder; and which were moved."""

import errno
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import NamedTuple

from nbtext.errors import (
    FULL,
    REFUSED,
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
        message: the message.
        target: where it goes; None to leave it where it is.
        marks: marks that are added to its own.
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
        done: the names of the messages whose tasks were done.
        refused: why others may not be moved or marked, by their names.
        error: why the rest was not done; if None, those messages had disappeared.
    """

    done: frozenset[str]
    refused: Mapping[str, MailboxError]
    error: NbtextError | None


def read_message(folder: Folder, message: Message, max_bytes: int) -> Content | None:
    """
    Read a message, by whatever name it has now; None if it is no longer in its folder.

    Raises:
        SourceError: it cannot be read.
    """
    try:
        return read_content(message.name, max_bytes)
    except MissingSourceError:
        present = folder.now(message)
    if present is None:
        return None
    try:
        return read_content(present.name, max_bytes)
    except MissingSourceError as error:
        if os.path.islink(present.name):
            reason = f"{present.name}: the link leads nowhere; mend or remove it"
            raise SourceError(reason) from error
        return None


def move_all(source: Folder, tasks: Iterable[Task]) -> Moved:
    """
    Move and mark messages, durably.

    Messages that another program moves or changes meanwhile are left alone. One that we
    may not move, as it is another user's, or mark, as it has two names, does not
    keep others waiting. Marks that an MH folder cannot keep are not done.
    """
    done: set[str] = set()
    marked: set[str] = set()
    refused: dict[str, MailboxError] = {}
    settled: dict[int, Folder] = {}
    error: NbtextError | None = None
    task: Task | None = None
    try:
        for task in tasks:
            try:
                target = task.target
                if target is not None and id(target) not in settled:
                    target.ensure()
                    settled[id(target)] = target
                if _carried_out(source, task):
                    done.add(task.message.name)
                    if target is None:
                        marked.add(task.message.name)
            except (PermissionError, FileExistsError) as failure:
                refused[task.message.name] = _told(source, task, failure)
    except OSError as failure:
        error = _told(source, task, failure)
        error.__cause__ = failure
    except (MailboxError, BusyError, SourceError) as failure:
        error = failure
    for folder in (*settled.values(), source):
        try:
            folder.settle()
        except OSError as failure:
            message = (
                f"{source.path}: what was moved may not outlast a crash of the machine"
            )
            raise MailboxError(f"{message}: {failure.strerror}") from failure
        except (MailboxError, BusyError, SourceError) as failure:
            error = error or failure
            if folder is source:
                done -= marked
    return Moved(frozenset(done), refused, error)


def _told(source: Folder, task: Task | None, failure: OSError) -> MailboxError:
    """Say which message could not be moved or marked, where it is, and what to do."""
    if task is None:  # nothing was to be done
        return MailboxError(f"{source.path}: {failure.strerror}; no message is lost")
    target, name = task.target, task.message.name
    with suppress(OSError, SourceError):  # the folder itself may be out of reach
        present = source.now(task.message)
        name = name if present is None else present.name
    what = "marked" if target is None else f"moved to {target.path}"
    where = failure.filename2 or failure.filename
    reason = f"{failure.strerror} ({where})" if where else failure.strerror
    advice = "mend that"
    if failure.errno in FULL:
        advice = "make room there"
    elif failure.errno in REFUSED:
        folders = [box.path for box in (source, target) if box is not None]
        advice = f"see who may write to {' and '.join(folders)}"
    elif failure.errno == errno.EEXIST:
        advice = "give one of these two another name"
    stays = "it is still there" if os.path.lexists(name) else "no message is lost"
    return MailboxError(
        f"{name}: the message cannot be {what}: {reason}; {stays}; {advice}, and run "
        "this again"
    )


def _carried_out(source: Folder, task: Task) -> bool:
    """Do one task, and return whether the message was there."""
    present = source.now(task.message)
    while present is not None:
        try:
            if task.target is None:
                source.mark(present, task.marks)
            else:
                marks = present.marks | task.marks
                task.target.take(present.name, present, marks, is_again=task.is_again)
        except FileNotFoundError:
            renamed = source.now(task.message)
            if renamed is None or renamed.name == present.name:
                return False
            present = renamed
        else:
            return True
    return False
