"""
What is to be done with the new messages of a mailbox, and what became of each.

Rules for classes and a mailbox go in; a job comes out, checked as far as that goes
before anything is done: whether there are such classes, whether messages can be moved
like that, and whether they can be marked so.
"""

from _blake2 import blake2b
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeAlias

from nbtext.document import Note, Unreadable
from nbtext.errors import SettingsError
from nbtext.filtering.mailboxes import Mailbox, Marks, check_marks, is_same, target_of
from nbtext.filtering.seen import Memory
from nbtext.scoring.classifying import Classifier
from nbtext.scoring.decide import Decision

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
    places: list[Mailbox] = []
    for label, rule in rules.items():
        if rule.target is not None:
            target = target_of(source, rule.target)
            if not is_same(target, source):  # where a message belongs, it stays
                known = (one for one in places if is_same(one, target))
                targets[label] = next(known, target)
                places.append(targets[label])
        check_marks(targets.get(label, source), rule.marks)
    return Job(source, rules, targets, hashed(8, source.place))


class Run(NamedTuple):
    """
    What decides about messages, and remembers it.

    Attributes:
        classifier: the model.
        memory: what was decided before.
        wanted: which messages are decided about.
        complain: told of each message that cannot be read.
    """

    classifier: Classifier
    memory: Memory
    wanted: Wanted
    complain: Complain


def hashed(size: int, *parts: str | bytes) -> bytes:
    """Return so many bytes that name a mailbox, or something in one."""
    data = b"\0".join(
        part if isinstance(part, bytes) else part.encode("utf-8", "surrogateescape")
        for part in parts
    )
    return blake2b(data, digest_size=size, person=b"nbtext mailbox").digest()


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
