"""
What a run that crashed had begun: found done, or forgotten, by the next one.

A record of a message that is about to be moved does not say whether it was. If the
message is in its mailbox still, it is classified again. If it is not, the targets are
searched for it: only what is seen there was moved, and is known when its user moves it
back. Anything else is forgotten, and if it appears once more, it is new.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Final

from nbtext.errors import MissingSourceError, SourceError
from nbtext.filtering.mailboxes import Folder, Mailbox, Mbox, read_content
from nbtext.filtering.rules import FilterRules, Run
from nbtext.filtering.seen import NOTHING, Begun, Entry

SLACK: Final = 86_400.0
"""Seconds by which the clock of a file system may lag behind that of the system."""


def settle(rules: FilterRules, run: Run) -> None:
    """
    Find out what became of messages that earlier runs had begun to move.

    Raises:
        SourceError: the mailbox, or a target, cannot be read.
        BusyError: one is locked.
        MemoryFileError: it cannot be remembered.
    """
    begun = run.seen.begun_in(rules.folder)
    if not begun:
        return
    there = _names_in(rules, run)
    gone = {name: one for name, one in begun.items() if name not in there}
    if not gone:
        return
    moved = _digests_in(rules.targets.values(), gone, run)
    entries = [Entry(name, one.content) for name, one in gone.items()]
    run.seen.finish_begun(rules.folder, [e for e in entries if e.content in moved])
    run.seen.drop(rules.folder, [e for e in entries if e.content not in moved])
    if len(gone) == len(begun):
        # no copy of these is half moved, and the targets may grow again from anywhere
        names = {rules.growth_of(target) for target in rules.targets.values()}
        grown = [name for name in names if run.seen.appending_to(name) is not None]
        run.seen.finish(rules.folder, [Entry(name, NOTHING) for name in grown])
    run.seen.sync()


def _names_in(rules: FilterRules, run: Run) -> set[bytes]:
    """Return the names of the messages in the mailbox itself."""
    if not isinstance(rules.source, Mbox):
        return {message.key for message in rules.source.messages()}
    digests = _digests_in_mbox(rules.source, run)
    return {rules.entry_of(digest).name for digest in digests}


def _digests_in(
    targets: Iterable[Mailbox], gone: Mapping[bytes, Begun], run: Run
) -> set[bytes]:
    """Return the digests of messages in targets that may have come by a move."""
    since = min(begun.when for begun in gone.values()) - SLACK
    found: set[bytes] = set()
    for target in {one.place: one for one in targets}.values():
        with suppress(MissingSourceError):  # it is yet to be made
            if isinstance(target, Mbox):
                found.update(_digests_in_mbox(target, run))
            else:
                found.update(_digests_in_folder(target, since))
    return found


def _digests_in_mbox(mbox: Mbox, run: Run) -> Iterator[bytes]:
    with mbox.opened(run.options.wait) as snapshot:
        for span in snapshot.spans(0):
            yield span.content.digest


def _digests_in_folder(folder: Folder, since: float) -> Iterator[bytes]:
    """Yield the digests of messages whose files were changed or renamed since then."""
    for message in folder.messages():
        with suppress(OSError, SourceError):  # not there any more, or unreadable
            if os.lstat(message.name).st_ctime >= since:
                yield read_content(message.name, 0).digest
