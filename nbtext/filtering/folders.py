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

    Args:
        source: the folder.
        rules: what is done with it.
        run: what filters it.
        report: receives what was found.

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
    for message in source.messages():
        report.names.append(message.key)
        if seen.knows_name(message.key) and not options.is_anew:
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
            if seen.knows(entry) and not options.is_anew:
                report.known += 1
                seen.finish(rules.folder, [entry])
                continue
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
    batch = [
        (message, content) for message, content in batch if message.name in decisions
    ]
    entries = [Entry(message.key, content.digest) for message, content in batch]
    decided = [
        (entry, decision, rules.action_of(decision))
        for entry, decision in zip(entries, decisions.values(), strict=True)
    ]
    if run.options.is_dry:
        for _, decision, action in decided:
            yield rules.outcome(decision, action, is_dry=True)
        return
    tasks = [  # two messages of one name, and one content, are two
        (entry, _task(message, decision, rules, run))
        for (message, _), (entry, decision, action) in zip(batch, decided, strict=True)
        if action != "stayed"
    ]
    run.seen.begin(rules.folder, [entry for entry, _ in tasks])
    moved = move_all(source, [task for _, task in tasks])
    left = {entry for entry, _ in tasks if entry.name not in moved.done}
    run.seen.finish(rules.folder, [entry for entry in entries if entry not in left])
    for entry, decision, action in decided:
        if entry not in left:
            yield rules.outcome(decision, action, is_dry=False)
        elif moved.error is None and entry.name not in moved.refused:
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
