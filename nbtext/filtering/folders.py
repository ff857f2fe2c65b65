"""
A mailbox that has a file for each message, filtered in batches.

A batch is classified; what is to be moved or marked is remembered as begun; then it is
moved; and then the whole batch is remembered as done.
"""

from collections.abc import Iterator

from nbtext.document import Unreadable
from nbtext.errors import MailboxError, SourceError
from nbtext.filtering.mailboxes import (
    Content,
    Folder,
    Mbox,
    Message,
    Task,
    move_all,
    read_message,
)
from nbtext.filtering.rules import FilterReport, FilterRules, Outcome, Run, in_batches
from nbtext.filtering.seen import Entry
from nbtext.scoring import Decision


def filter_folder(
    source: Folder, rules: FilterRules, run: Run, report: FilterReport
) -> Iterator[Outcome]:
    """
    Classify the new messages of a folder, and move and mark them.

    Raises:
        SourceError: it cannot be read.
        MailboxError: one of the mailboxes cannot be changed.
        BusyError: another program has had one locked all the time.
        MemoryFileError: what was seen cannot be remembered.
    """
    for batch in in_batches(_new_messages(source, rules, run, report), report):
        yield from _deal_with(source, batch, rules, run, report)
    if report.refused:
        first, n_more = report.refused[0], len(report.refused) - 1
        raise MailboxError(f"{first} (and {n_more:,} more)" if n_more else f"{first}")


def _new_messages(
    source: Folder, rules: FilterRules, run: Run, report: FilterReport
) -> Iterator[tuple[Message, Content]]:
    """Yield the messages to classify, and count the others."""
    seen, options = run.seen, run.options
    new: set[bytes] = set()  # whatever became of another message of the same key
    for message in source.messages():
        report.names.append(message.key)
        is_anew = options.is_anew or message.key in new
        if seen.knows_name(message.key) and not is_anew:
            report.known += 1
        elif report.left == 0:
            report.is_whole = False
        elif options.since is not None and message.delivery_time() < options.since:
            report.older += 1
        else:
            content = _read(source, message, run, report)
            if content is None:
                continue
            entry = Entry(message.key, content.digest)
            if seen.knows(entry) and not is_anew:
                report.known += 1
                seen.finish(rules.folder, [entry])
                continue
            new.add(message.key)
            if report.left is not None:
                report.left -= 1
            yield message, content


def _read(
    source: Folder, message: Message, run: Run, report: FilterReport
) -> Content | None:
    """Read a message; count one that is gone, or cannot be read."""
    try:
        content = read_message(source, message, run.options.max_bytes)
    except SourceError as error:
        run.on_problem(Unreadable(message.name, error))
        report.unreadable += 1
        return None
    report.gone += content is None
    return content


def _deal_with(
    source: Folder,
    batch: list[tuple[Message, Content]],
    rules: FilterRules,
    run: Run,
    report: FilterReport,
) -> Iterator[Outcome]:
    """Classify a batch of messages, and do what follows from that."""
    contents = {message.name: content for message, content in batch}
    decisions = run.decide(contents, report)
    decided = [
        (message, Entry(message.key, content.digest), decision)
        for message, content in batch
        if (decision := decisions.get(message.name)) is not None
    ]
    if run.options.is_dry:
        for decision in decisions.values():
            yield rules.outcome(decision, rules.action_of(decision), is_dry=True)
        return
    begun = [one for one in decided if rules.action_of(one[2]) != "stayed"]
    tasks = [_task(message, decision, rules, run) for message, _, decision in begun]
    run.seen.begin(rules.folder, [entry for _, entry, _ in begun])
    moved = move_all(source, tasks)
    left = {m.name: entry.name for m, entry, _ in begun if m.name not in moved.done}
    unfinished = {*left.values()}  # of two messages of one key, one may be left
    known = [entry for _, entry, _ in decided if entry.name not in unfinished]
    run.seen.finish(rules.folder, known)
    for message, _, decision in decided:
        if message.name not in left:
            yield rules.outcome(decision, rules.action_of(decision), is_dry=False)
        elif moved.error is None and message.name not in moved.refused:
            yield rules.outcome(decision, "gone", is_dry=False)
    report.refused += moved.refused.values()
    if moved.error is not None:
        raise moved.error


def _task(message: Message, decision: Decision, rules: FilterRules, run: Run) -> Task:
    label = decision.label or ""
    target = rules.targets.get(label)
    return Task(
        message,
        None if target is None or isinstance(target, Mbox) else target,
        rules.by_class[label].marks,
        is_again=run.seen.is_begun(message.key),
    )
