"""
A mailbox that has a file for each message, filtered in batches.

A batch is decided about, what is to be moved or marked is remembered as begun, then it
is moved, and then all of the batch is remembered as decided.
"""

from collections.abc import Iterator

from nbtext.document import Document, Unreadable
from nbtext.errors import SourceError
from nbtext.filtering.mailboxes import (
    Content,
    Folder,
    Mbox,
    Message,
    Task,
    move_all,
    read_message,
)
from nbtext.filtering.rules import Account, Job, Outcome, Run
from nbtext.filtering.seen import Entry
from nbtext.scoring.classifying import BATCH, MANY
from nbtext.scoring.decide import Decision


def filter_folder(
    source: Folder, job: Job, run: Run, account: Account
) -> Iterator[Outcome]:
    """
    Decide about the new messages of a folder, and move and mark them.

    Args:
        source: the folder.
        job: what is to be done.
        run: what decides.
        account: is told what was found.

    Raises:
        SourceError: it cannot be read.
        MailboxError: one of the mailboxes cannot be changed.
        BusyError: others have had one locked all the time.
        MemoryFileError: what was decided cannot be remembered.

    """
    batch: list[tuple[Message, Content]] = []
    size = 0
    for message, content in _new_messages(source, job, run, account):
        batch.append((message, content))
        size += len(content.text)
        if size >= BATCH or len(batch) >= MANY:
            yield from _deal_with(source, batch, job, run)
            batch, size = [], 0
    if batch:
        yield from _deal_with(source, batch, job, run)


def _new_messages(
    source: Folder, job: Job, run: Run, account: Account
) -> Iterator[tuple[Message, Content]]:
    """Yield what is to be decided about, and count the rest."""
    memory, wanted = run.memory, run.wanted
    for message in source.messages():
        account.names.append(message.key)
        if memory.knows_name(message.key) and not wanted.is_anew:
            account.known += 1
        elif account.left == 0:
            account.is_whole = False
        elif wanted.since is not None and source.delivered(message) < wanted.since:
            account.older += 1
        else:
            content = _read(source, message, run)
            if content is None:
                continue
            entry = Entry(message.key, content.digest)
            if memory.knows(entry) and not wanted.is_anew:
                account.known += 1
                memory.finish(job.folder, [entry])
                continue
            if account.left is not None:
                account.left -= 1
            yield message, content


def _read(source: Folder, message: Message, run: Run) -> Content | None:
    try:
        return read_message(source, message, run.wanted.max_bytes)
    except SourceError as error:
        run.complain(Unreadable(message.name, error))
        return None


def _deal_with(
    source: Folder, batch: list[tuple[Message, Content]], job: Job, run: Run
) -> Iterator[Outcome]:
    """Decide about a batch of messages, and do what follows from it."""
    documents = [
        Document(one.name, (content.text,), is_mail=True, truncated=content.is_cut)
        for one, content in batch
    ]
    decisions = run.classifier.classify(documents)
    entries = [Entry(message.key, content.digest) for message, content in batch]
    decided = list(zip(entries, decisions, map(job.action_of, decisions), strict=True))
    if run.wanted.is_dry:
        for _, decision, action in decided:
            yield job.outcome(decision, action, is_dry=True)
        return
    tasks = {
        entry: _task(message, decision, job, run)
        for (message, _), (entry, decision, action) in zip(batch, decided, strict=True)
        if action != "stayed"
    }
    run.memory.begin(job.folder, tasks)
    moved = move_all(source, tasks.values())
    left = {entry for entry in tasks if entry.name not in moved.done}
    run.memory.finish(job.folder, [one for one in entries if one not in left])
    for entry, decision, action in decided:
        if entry not in left:
            yield job.outcome(decision, action, is_dry=False)
        elif moved.error is None:
            yield job.outcome(decision, "gone", is_dry=False)
    if moved.error is not None:
        raise moved.error


def _task(message: Message, decision: Decision, job: Job, run: Run) -> Task:
    label = decision.label or ""
    target = job.targets.get(label)
    return Task(
        message,
        None if target is None or isinstance(target, Mbox) else target,
        job.rules[label].marks,
        is_again=run.memory.is_begun(message.key),
    )
