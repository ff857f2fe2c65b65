"""
Mailboxes filtered: what is new in them is decided about, and moved or marked.

A mailbox, rules and a model go in; one outcome a new message comes out. Whatever is
decided is remembered (`nbtext.decided`), before a message is moved and afterwards.
"""

from _blake2 import blake2b
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeAlias

from nbtext.classifying import BATCH, MANY, Classifier
from nbtext.decide import Decision
from nbtext.decided import NOTHING, Entry, Memory
from nbtext.document import Document, Note, Unreadable
from nbtext.errors import SettingsError, SourceError
from nbtext.mailboxes import (
    Carried,
    Content,
    Folder,
    Mailbox,
    Marks,
    Mbox,
    Message,
    Plan,
    Span,
    Task,
    carry_out,
    check_marks,
    move_all,
    read_message,
    target_of,
)

Complain: TypeAlias = Callable[[Unreadable | Note], None]
"""Told of each message that cannot be read."""

UNMARKED: Final = Marks()


class Rule(NamedTuple):
    """
    What happens to the messages of a class.

    Attributes:
        least: how probable the class must be, from 0 to 1.
        target: where they go, as the user has it; None if they stay.
        marks: what they are marked with.
    """

    least: float
    target: str | None = None
    marks: Marks = UNMARKED


class Wanted(NamedTuple):
    """
    Which messages are decided about, and how.

    Attributes:
        max_bytes: how much of a message is read for its classification.
        wait: how many seconds to wait for locks.
        since: only those delivered since, in seconds of the epoch.
        is_anew: whether also those that were decided about before.
        is_dry: whether to do nothing and to remember nothing.
    """

    max_bytes: int
    wait: float
    since: float | None = None
    is_anew: bool = False
    is_dry: bool = False


class Outcome(NamedTuple):
    """
    What became of a message.

    Attributes:
        folder: the mailbox that it was in, as the user has it.
        decision: what was decided.
        action: "moved", "flagged" or "stayed"; "would move" or "would flag"; "gone" if
            somebody else has moved or removed it meanwhile.
        target: where it was moved, if it was.
        marks: what it was marked with.
    """

    folder: str
    decision: Decision
    action: str
    target: str | None
    marks: Marks


@dataclass
class Account:
    """
    What was found.

    Attributes:
        left: how many more messages may be decided about, None without a limit.
        known: messages that were decided about before.
        older: those delivered before what is wanted.
        is_unchanged: whether an mbox was not read, since nobody has written to it.
        is_whole: whether every message was looked at.
        names: by what the messages are remembered that there are.
    """

    left: int | None = None
    known: int = 0
    older: int = 0
    is_unchanged: bool = False
    is_whole: bool = True
    names: list[bytes] = field(default_factory=list)


class Job(NamedTuple):
    """
    A mailbox to be filtered.

    Attributes:
        source: the mailbox.
        rules: class to what happens to its messages.
        targets: class to the mailbox that they go to.
        folder: 8 bytes that name the source.
    """

    source: Mailbox
    rules: Mapping[str, Rule]
    targets: Mapping[str, Mailbox]
    folder: bytes

    def action_of(self, decision: Decision) -> str:
        """Return what is to be done, in one word."""
        label = decision.label
        rule = None if label is None else self.rules.get(label)
        if label is None or rule is None or decision.probability < rule.least:
            return "stayed"
        if label in self.targets:
            return "moved"
        return "flagged" if rule.marks != UNMARKED else "stayed"

    def outcome(self, decision: Decision, action: str, *, is_dry: bool) -> Outcome:
        """Say what was done."""
        if is_dry and action != "stayed":
            action = {"moved": "would move", "flagged": "would flag"}[action]
        path = self.source.path
        if action in ("stayed", "gone") or decision.label is None:
            return Outcome(path, decision, action, None, UNMARKED)
        target = self.targets.get(decision.label)
        name = None if target is None else target.path
        return Outcome(path, decision, action, name, self.rules[decision.label].marks)


def job_of(source: Mailbox, rules: Mapping[str, Rule]) -> Job:
    """
    Return what is to be done with a mailbox, checked as far as that goes beforehand.

    Raises:
        SettingsError: messages of such a mailbox cannot be moved or marked like that.
        SourceError: a target cannot be read, or is no mailbox.

    """
    targets: dict[str, Mailbox] = {}
    places: dict[str, Mailbox] = {}
    for label, rule in rules.items():
        if rule.target is not None:
            target = target_of(source, rule.target)
            if target.place != source.place:  # where a message belongs, it stays
                targets[label] = places.setdefault(target.place, target)
        check_marks(targets.get(label, source), rule.marks)
    return Job(source, rules, targets, _hashed(8, source.place.encode(*PATHS)))


PATHS: Final = ("utf-8", "surrogateescape")


class Filter:
    """
    What decides about messages, and remembers it.

    Attributes:
        classifier: the model.
        memory: what was decided before.
        wanted: which messages are decided about.
        complain: told of each message that cannot be read.
    """

    def __init__(
        self,
        classifier: Classifier,
        memory: Memory,
        wanted: Wanted,
        complain: Complain,
    ) -> None:
        self.classifier = classifier
        self.memory = memory
        self.wanted = wanted
        self.complain = complain

    def run(self, job: Job, account: Account) -> Iterator[Outcome]:
        """
        Decide about the new messages of a mailbox, and move and mark them.

        Args:
            job: what is to be done.
            account: is told what was found.

        Raises:
            SourceError: the mailbox cannot be read.
            MailboxError: one of the mailboxes cannot be changed.
            BusyError: others have had one locked all the time.
            MemoryFileError: what was decided cannot be remembered.

        """
        if isinstance(job.source, Mbox):
            return self._filter_mbox(job.source, job, account)
        return self._filter_folder(job.source, job, account)

    def _filter_folder(
        self, source: Folder, job: Job, account: Account
    ) -> Iterator[Outcome]:
        batch: list[tuple[Message, Content]] = []
        size = 0
        for message, content in self._new_messages(source, job, account):
            batch.append((message, content))
            size += len(content.text)
            if size >= BATCH or len(batch) >= MANY:
                yield from self._deal_with(source, job, batch)
                batch, size = [], 0
        if batch:
            yield from self._deal_with(source, job, batch)

    def _new_messages(
        self, source: Folder, job: Job, account: Account
    ) -> Iterator[tuple[Message, Content]]:
        """Yield what is to be decided about, and count the rest."""
        wanted, memory = self.wanted, self.memory
        for message in source.messages():
            account.names.append(message.key)
            if memory.knows_name(message.key) and not wanted.is_anew:
                account.known += 1
                continue
            if account.left == 0:
                account.is_whole = False
                continue
            if wanted.since is not None and source.delivered(message) < wanted.since:
                account.older += 1
                continue
            try:
                content = read_message(source, message, wanted.max_bytes)
            except SourceError as error:
                self.complain(Unreadable(message.name, error))
                continue
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

    def _deal_with(
        self, source: Folder, job: Job, batch: list[tuple[Message, Content]]
    ) -> Iterator[Outcome]:
        """Decide about a batch of messages, and do what follows from it."""
        decisions = self.classifier.classify([
            Document(message.name, (content.text,), None, True, content.is_cut)
            for message, content in batch
        ])  # fmt: skip
        actions = list(map(job.action_of, decisions))
        if self.wanted.is_dry:
            for decision, action in zip(decisions, actions, strict=True):
                yield job.outcome(decision, action, is_dry=True)
            return
        entries = [Entry(message.key, content.digest) for message, content in batch]
        tasks = {
            entry: self._task(job, message, decision)
            for entry, (message, _), decision, action in zip(
                entries, batch, decisions, actions, strict=True
            )
            if action != "stayed"
        }
        self.memory.begin(job.folder, tasks)
        moved = move_all(source, tasks.values())
        self.memory.finish(
            job.folder,
            [one for one in entries if one not in tasks or one.name in moved.done],
        )
        for entry, decision, action in zip(entries, decisions, actions, strict=True):
            if entry in tasks and entry.name not in moved.done:
                if moved.error is not None:
                    continue
                action = "gone"
            yield job.outcome(decision, action, is_dry=False)
        if moved.error is not None:
            raise moved.error

    def _task(self, job: Job, message: Message, decision: Decision) -> Task:
        label = decision.label or ""
        target = job.targets.get(label)
        is_again = self.memory.is_begun(message.key)
        marks = job.rules[label].marks
        return Task(
            message, None if isinstance(target, Mbox) else target, marks, is_again
        )

    def _filter_mbox(
        self, source: Mbox, job: Job, account: Account
    ) -> Iterator[Outcome]:
        if not self.wanted.is_dry:
            for mbox in (source, *job.targets.values()):
                if isinstance(mbox, Mbox):
                    mbox.clean_up(self.wanted.wait)
        seen: set[bytes] = set()
        acted: list[tuple[Entry, Decision, str]] = []
        with source.opened(self.wanted.wait) as snapshot:
            key = snapshot.key
            if self.memory.knows_name(key) and not self.wanted.is_anew:
                account.is_unchanged = True
                return
            spans = snapshot.spans(self.wanted.max_bytes)
            for batch in self._new_spans(spans, job, account, seen):
                yield from self._decide(source, job, batch, acted)
        if acted:
            carried = self._carry_out(source, job, acted)
            key = carried.key
            account.is_whole = account.is_whole and carried.digests <= seen
            yield from self._told(job, carried, acted)
        if account.is_whole and not (account.older or self.wanted.is_dry):
            self.memory.finish(job.folder, [Entry(key, NOTHING)])
            account.names.append(key)

    def _new_spans(
        self, spans: Iterator[Span], job: Job, account: Account, seen: set[bytes]
    ) -> Iterator[list[tuple[int, Span]]]:
        """Yield what is to be decided about, numbered, in batches; count the rest."""
        batch: list[tuple[int, Span]] = []
        size = 0
        for number, span in enumerate(spans, 1):
            entry = _entry_of(job, span.content.digest)
            account.names.append(entry.name)
            if self.memory.knows(entry) and not self.wanted.is_anew:
                account.known += 1
                seen.add(entry.content)
                continue
            if account.left == 0:
                account.is_whole = False
                continue
            since, delivered = self.wanted.since, span.delivered
            if since is not None and delivered is not None and delivered < since:
                account.older += 1
                continue
            if account.left is not None:
                account.left -= 1
            seen.add(entry.content)
            batch.append((number, span))
            size += len(span.content.text)
            if size >= BATCH or len(batch) >= MANY:
                yield batch
                batch, size = [], 0
        if batch:
            yield batch

    def _decide(
        self,
        source: Mbox,
        job: Job,
        batch: list[tuple[int, Span]],
        acted: list[tuple[Entry, Decision, str]],
    ) -> Iterator[Outcome]:
        """Decide about a batch of messages, and put by what is to be moved or marked."""
        decisions = self.classifier.classify([
            Document(
                f"{source.path}:{number}",
                (span.content.text,),
                None,
                True,
                span.content.is_cut,
            )
            for number, span in batch
        ])  # fmt: skip
        stayed = []
        for (_, span), decision in zip(batch, decisions, strict=True):
            entry = _entry_of(job, span.content.digest)
            action = job.action_of(decision)
            if self.wanted.is_dry:
                yield job.outcome(decision, action, is_dry=True)
            elif action == "stayed":
                stayed.append(entry)
                yield job.outcome(decision, action, is_dry=False)
            else:
                acted.append((entry, decision, action))
        if not self.wanted.is_dry:
            self.memory.finish(job.folder, stayed)

    def _carry_out(
        self, source: Mbox, job: Job, acted: list[tuple[Entry, Decision, str]]
    ) -> Carried:
        """Move and mark messages of an mbox, in one go."""
        memory = self.memory
        moves: dict[bytes, Mbox] = {}
        marks: dict[bytes, Marks] = {}
        pairs: dict[str, bytes] = {}
        for entry, decision, _ in acted:
            label = decision.label or ""
            target = job.targets.get(label)
            if isinstance(target, Mbox):
                moves[entry.content] = target
                pairs[target.place] = _pair_of(source, target)
            if job.rules[label].marks != UNMARKED:
                marks[entry.content] = job.rules[label].marks

        def begin(starts: Mapping[str, int]) -> None:
            named = {pairs[place]: start for place, start in starts.items()}
            memory.begin_appending(job.folder, named)

        memory.begin(job.folder, [entry for entry, _, _ in acted])
        plan = Plan(
            moves, marks, lambda to: memory.appending_to(_pair_of(source, to)), begin
        )
        carried = carry_out(source, plan, self.wanted.wait)
        done = [
            entry
            for entry, _, _ in acted
            if carried.moved[entry.content] or carried.marked[entry.content]
        ]
        ended = [Entry(pair, NOTHING) for pair in pairs.values()]
        memory.finish(job.folder, [*ended, *done])
        memory.sync()
        return carried

    def _told(
        self, job: Job, carried: Carried, acted: list[tuple[Entry, Decision, str]]
    ) -> Iterator[Outcome]:
        left = carried.moved + carried.marked
        for entry, decision, action in acted:
            is_done = left[entry.content] > 0
            left[entry.content] -= 1
            yield job.outcome(decision, action if is_done else "gone", is_dry=False)


def _entry_of(job: Job, digest: bytes) -> Entry:
    """Return how a message of an mbox is remembered: it has no name there."""
    return Entry(_hashed(16, job.folder + digest), digest)


def _pair_of(source: Mbox, target: Mbox) -> bytes:
    both = f"{source.place}\0{target.place}"
    return _hashed(16, both.encode(*PATHS))


def _hashed(size: int, data: bytes) -> bytes:
    return blake2b(data, digest_size=size, person=b"nbtext folder").digest()


def check_classes(labels: Iterable[str], classes: tuple[str, ...]) -> None:
    """
    Refuse classes that the model does not have.

    Raises:
        SettingsError: there is one.

    """
    for label in labels:
        if label not in classes:
            message = f"{label}: the model's classes are {', '.join(classes)}"
            raise SettingsError(message)
