"""
Rules: what is done with the new messages of a mailbox, and what became of each.

A mailbox and a rule for each class go in; `FilterRules` come out, checked before any
message is touched: whether the model has the classes, whether messages can be moved to
the targets, and whether they can carry the marks.
"""

from _blake2 import blake2b
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from nbtext import wording
from nbtext.document import Document, OnProblem
from nbtext.errors import MailboxError, UnknownClassError
from nbtext.filtering.mailboxes import (
    UNMARKED,
    Content,
    Mailbox,
    Marks,
    check_marks,
    check_owner,
    is_same,
    target_of,
)
from nbtext.filtering.seen import Entry, SeenMessages
from nbtext.scoring import Classifier, Decision
from nbtext.scoring.classifying import BATCH, MANY, readable_of
from nbtext.scoring.decide import CERTAIN, probability_of

Named = TypeVar("Named")
"""A message, or what it is called."""


class Rule(NamedTuple):
    """
    What happens to the messages of a class, if the model's policy decides for it.

    Attributes:
        least: how probable the class must be, as probabilities are told.
        target: where they go, as the user has it; None if they stay.
        marks: what they are marked with.
        before_cap: how probable it must be besides, before a prior, and before what is
            told is capped: such a threshold is a score that held-out documents had.
    """

    least: float
    target: str | None = None
    marks: Marks = UNMARKED
    before_cap: float = 0.0

    def is_met_by(self, decision: Decision) -> bool:
        """Return whether the class that was decided for is probable enough."""
        is_sure = decision.probability >= min(self.least, CERTAIN)
        least = min(self.before_cap, CERTAIN)
        return decision.label is not None and is_sure and before_cap(decision) >= least


def before_cap(decision: Decision) -> float:
    """Return how probable the label is before prior and cap; 0 if there is none."""
    if decision.label is None:
        return 0.0
    place = decision.classes.index(decision.label)
    return probability_of(decision.log_posterior[place])


class FilterOptions(NamedTuple):
    """
    Which messages are classified, and how.

    Attributes:
        max_bytes: maximum bytes of a message that are classified.
        wait: maximum seconds to wait for locks.
        since: earliest delivery, in seconds since the epoch; None for any.
        is_anew: whether messages that were classified before are classified again.
        is_dry: whether to change and to remember nothing.
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
        folder: the mailbox that it was in, as the user named it.
        decision: the decision.
        action: "moved", "flagged" or "stayed"; "would move" or "would flag"; "gone" if
            another program has moved or removed it meanwhile.
        target: the mailbox that it was moved to; None if it was not moved.
        marks: the marks that it was given.
    """

    folder: str
    decision: Decision
    action: str
    target: str | None
    marks: Marks


@dataclass
class FilterReport:
    """
    What was found in a mailbox.

    Attributes:
        left: how many more messages may be classified; None without a limit.
        known: number of messages that were classified before.
        older: number of messages delivered before `FilterOptions.since`.
        unreadable: number of messages that could not be read, nor classified therefore.
        gone: number of messages that another program took away before they were read.
        refused: why messages may not be moved or marked, one for each.
        is_unchanged: whether an mbox was not read, because nobody has written to it.
        is_whole: whether every message was looked at.
        names: the 16-byte names of the messages that are there.
    """

    left: int | None = None
    known: int = 0
    older: int = 0
    unreadable: int = 0
    gone: int = 0
    refused: list[MailboxError] = field(default_factory=list)
    is_unchanged: bool = False
    is_whole: bool = True
    names: list[bytes] = field(default_factory=list)


class FilterRules(NamedTuple):
    """
    What is done with the messages of a mailbox.

    Attributes:
        source: the mailbox.
        by_class: class to what happens to its messages.
        targets: class to the mailbox that its messages are moved to.
        folder: 8 bytes that name the source.
    """

    source: Mailbox
    by_class: Mapping[str, Rule]
    targets: Mapping[str, Mailbox]
    folder: bytes

    def action_of(self, decision: Decision) -> str:
        """Return what a decision leads to: "moved", "flagged" or "stayed"."""
        label = decision.label
        rule = None if label is None else self.by_class.get(label)
        if label is None or rule is None:
            return "stayed"
        if not rule.is_met_by(decision):
            return "stayed"
        if label in self.targets:
            return "moved"
        return "flagged" if rule.marks != UNMARKED else "stayed"

    def entry_of(self, digest: bytes) -> Entry:
        """Return what names a message of an mbox: its digest, for it has no name."""
        return Entry(hashed(16, self.folder, digest), digest)

    def growth_of(self, target: Mailbox) -> bytes:
        """Return 16 bytes that name a target which grows by messages of the source."""
        return hashed(16, self.source.place, target.place)

    def outcome(self, decision: Decision, action: str, *, is_dry: bool) -> Outcome:
        """Return what has become of a message, or would with `is_dry`."""
        if is_dry and action != "stayed":
            action = {"moved": "would move", "flagged": "would flag"}[action]
        path = self.source.path
        if action in ("stayed", "gone") or decision.label is None:
            return Outcome(path, decision, action, None, UNMARKED)
        target = self.targets.get(decision.label)
        name = None if target is None else target.path
        return Outcome(
            path, decision, action, name, self.by_class[decision.label].marks
        )


def rules_of(source: Mailbox, by_class: Mapping[str, Rule]) -> FilterRules:
    """
    Return what is done with a mailbox, checked before anything is done.

    Raises:
        SettingsError: messages of such a mailbox cannot be moved or marked like that,
            or we are root, and another user owns it or a target.
        SourceError: a target cannot be read, or is no mailbox.
    """
    check_owner(source)
    targets: dict[str, Mailbox] = {}
    places: list[Mailbox] = []
    for label, rule in by_class.items():
        if rule.target is not None:
            target = target_of(source, rule.target)
            check_owner(target)
            if not is_same(target, source):  # where a message belongs, it stays
                known = (one for one in places if is_same(one, target))
                targets[label] = next(known, target)
                places.append(targets[label])
        check_marks(targets.get(label, source), rule.marks)
    return FilterRules(source, by_class, targets, hashed(8, source.place))


class Run(NamedTuple):
    """What filters mailboxes."""

    classifier: Classifier
    seen: SeenMessages
    options: FilterOptions
    on_problem: OnProblem

    def decide(
        self, contents: Mapping[str, Content], report: FilterReport
    ) -> dict[str, Decision]:
        """
        Classify messages.

        One that takes too long to read, by the model's pattern, is reported and has no
        decision. `FilterOptions` limits decisions, so it does not count for the limit.

        Returns:
            The decisions, by the same names.
        """
        documents = [
            Document(name, (content.text,), is_mail=True, truncated=content.is_cut)
            for name, content in contents.items()
        ]
        batches = readable_of(documents, self.classifier.classify, self.on_problem)
        decisions = {one.name: one for batch in batches for one in batch}
        n_unreadable = len(documents) - len(decisions)
        report.unreadable += n_unreadable
        if report.left is not None:
            report.left += n_unreadable
        return decisions


def in_batches(
    messages: Iterable[tuple[Named, Content]], report: FilterReport
) -> Iterator[list[tuple[Named, Content]]]:
    """Gather messages to classify; a batch ends where no more of them may be."""
    batch: list[tuple[Named, Content]] = []
    size = 0
    for named, content in messages:
        batch.append((named, content))
        size += len(content.text)
        if size >= BATCH or len(batch) >= MANY or report.left == 0:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


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
        UnknownClassError: there is one.
    """
    for label in labels:
        if label not in classes:
            where = " or ".join(map(wording.named, ("target", "marks")))
            raise UnknownClassError(where, label, classes)
