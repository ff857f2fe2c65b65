"""
Mailboxes filtered: what is new in them is decided about, and moved or marked.

A mailbox, rules and a model go in; one outcome a new message comes out. Whatever is
decided is remembered (`nbtext.filtering.seen`), before a message is moved and
afterwards. An mbox is decided about from end to end and then rewritten once; other
mailboxes are dealt with in `nbtext.filtering.folders`.
"""

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from nbtext.document import Document
from nbtext.filtering.folders import filter_folder
from nbtext.filtering.mailboxes import Carried, Marks, Mbox, Plan, Span, carry_out
from nbtext.filtering.rules import UNMARKED, Account, Job, Outcome, Run, hashed
from nbtext.filtering.seen import NOTHING, Entry
from nbtext.scoring.classifying import BATCH, MANY
from nbtext.scoring.decide import Decision

ACTED: Final = ("moved", "flagged")


class _Decided(NamedTuple):
    entry: Entry
    decision: Decision
    action: str


def filter_mailbox(job: Job, run: Run, account: Account) -> Iterator[Outcome]:
    """
    Decide about the new messages of a mailbox, and move and mark them.

    Args:
        job: what is to be done.
        run: what decides.
        account: is told what was found.

    Raises:
        SourceError: the mailbox cannot be read.
        MailboxError: one of the mailboxes cannot be changed.
        BusyError: others have had one locked all the time.
        MemoryFileError: what was decided cannot be remembered.

    """
    if isinstance(job.source, Mbox):
        return _filter_mbox(job.source, job, run, account)
    return filter_folder(job.source, job, run, account)


def _filter_mbox(
    source: Mbox, job: Job, run: Run, account: Account
) -> Iterator[Outcome]:
    is_dry = run.wanted.is_dry
    if not is_dry:
        for mbox in (source, *job.targets.values()):
            if isinstance(mbox, Mbox):
                mbox.clean_up(run.wanted.wait)
    seen: set[bytes] = set()
    acted: list[_Decided] = []
    stayed: list[Entry] = []
    with source.opened(run.wanted.wait) as snapshot:
        key = snapshot.key
        if run.memory.knows_name(key) and not run.wanted.is_anew:
            account.is_unchanged = True
            return
        spans = snapshot.spans(run.wanted.max_bytes)
        for batch in _new_spans(spans, job, run, account, seen):
            for one in _decide(source, batch, job, run):
                if one.action in ACTED and not is_dry:
                    acted.append(one)
                else:
                    stayed.append(one.entry)
                    yield job.outcome(one.decision, one.action, is_dry=is_dry)
    if not is_dry:  # not before, lest a copy further down be taken for an old one
        run.memory.finish(job.folder, stayed)
    if acted:
        carried = _carry_out(source, acted, job, run)
        key = carried.key
        account.is_whole = account.is_whole and carried.digests <= seen
        yield from _told(carried, acted, job)
    if account.is_whole and not (account.older or is_dry):
        run.memory.finish(job.folder, [Entry(key, NOTHING)])
        account.names.append(key)


def _new_spans(
    spans: Iterator[Span], job: Job, run: Run, account: Account, seen: set[bytes]
) -> Iterator[list[tuple[int, Span]]]:
    """Yield what is to be decided about, numbered, in batches; count the rest."""
    batch: list[tuple[int, Span]] = []
    size = 0
    for number, span in enumerate(spans, 1):
        if not _is_wanted(span, job, run, account, seen):
            continue
        batch.append((number, span))
        size += len(span.content.text)
        if size >= BATCH or len(batch) >= MANY:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _is_wanted(
    span: Span, job: Job, run: Run, account: Account, seen: set[bytes]
) -> bool:
    entry = _entry_of(job, span)
    account.names.append(entry.name)
    since = run.wanted.since
    if run.memory.knows(entry) and not run.wanted.is_anew:
        account.known += 1
        seen.add(entry.content)
        return False
    if account.left == 0:
        account.is_whole = False
        return False
    if since is not None and (span.delivered or since) < since:
        account.older += 1
        return False
    if account.left is not None:
        account.left -= 1
    seen.add(entry.content)
    return True


def _decide(
    source: Mbox, batch: list[tuple[int, Span]], job: Job, run: Run
) -> list[_Decided]:
    """Decide about a batch of messages."""
    decisions = run.classifier.classify([
        Document(
            f"{source.path}:{number}",
            (span.content.text,),
            is_mail=True,
            truncated=span.content.is_cut,
        )
        for number, span in batch
    ])  # fmt: skip
    return [
        _Decided(_entry_of(job, span), decision, job.action_of(decision))
        for (_, span), decision in zip(batch, decisions, strict=True)
    ]


def _carry_out(source: Mbox, acted: list[_Decided], job: Job, run: Run) -> Carried:
    """Move and mark messages of an mbox, in one go."""
    memory = run.memory
    moves: dict[bytes, Mbox] = {}
    marks: dict[bytes, Marks] = {}
    for one in acted:
        label = one.decision.label or ""
        target = job.targets.get(label)
        if isinstance(target, Mbox):
            moves[one.entry.content] = target
        if job.rules[label].marks != UNMARKED:
            marks[one.entry.content] = job.rules[label].marks

    def begin(starts: Mapping[str, int]) -> None:
        named = {hashed(16, source.place, place): n for place, n in starts.items()}
        memory.begin_appending(job.folder, named)

    def left(target: Mbox) -> int | None:
        return memory.appending_to(hashed(16, source.place, target.place))

    memory.begin(job.folder, [one.entry for one in acted])
    carried = carry_out(source, Plan(moves, marks, left, begin), run.wanted.wait)
    done = carried.moved + carried.marked
    places = {target.place for target in moves.values()}
    ended = [Entry(hashed(16, source.place, place), NOTHING) for place in places]
    finished = [one.entry for one in acted if done[one.entry.content]]
    memory.finish(job.folder, [*ended, *finished])
    memory.sync()
    return carried


def _told(carried: Carried, acted: list[_Decided], job: Job) -> Iterator[Outcome]:
    left = carried.moved + carried.marked
    for one in acted:
        is_done = left[one.entry.content] > 0
        left[one.entry.content] -= 1
        action = one.action if is_done else "gone"
        yield job.outcome(one.decision, action, is_dry=False)


def _entry_of(job: Job, span: Span) -> Entry:
    """Return how a message of an mbox is remembered: it has no name there."""
    digest = span.content.digest
    return Entry(hashed(16, job.folder, digest), digest)
