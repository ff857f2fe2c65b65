"""
Filtering while others deliver, read, move and remove mail, or filter it too.

Other processes use Python's `mailbox` as mail programs do. What was delivered and not
removed is there at the end, once, byte for byte; and all that is spam was moved.
"""

import fcntl
import mailbox
import os
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from random import Random
from time import sleep
from typing import Any

import pytest

from nbtext.filtering.rules import Rule
from nbtext.scoring.classifier import Classifier
from tests import filtered
from tests.filtered import plain
from tests.forking import ended, forked
from tests.waiting import PATIENCE

BOXES: dict[str, Any] = {**filtered.BOXES, "waiting mbox": mailbox.mbox}
"""The last one's mail comes from programs that wait for the lock of what they have
open; the library, where it removes or changes a message, would lose that itself."""

N_MESSAGES = 40

# a forked child of a process with threads may hang; this one has none of its own
pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


def message(writer: int, number: int) -> bytes:
    words = b"money winner" if number % 2 else b"lunch meeting"
    return b"Subject: %d.%d\nDate: today\n\n%s\n" % (writer, number, words)


@contextmanager
def opened(kind: str, path: Path) -> Iterator[Any]:
    """Open a mailbox as one should: again, if it was replaced meanwhile."""
    while True:
        box = BOXES[kind](path)
        if "mbox" not in kind:
            break
        with suppress(mailbox.ExternalClashError):
            box.lock()
            # what the library does not look at, and a program that rewrites must
            if path.stat().st_ino == os.fstat(box._file.fileno()).st_ino:
                break
            box.unlock()
        box.close()
        sleep(0.001)
    try:
        yield box
        try:
            box.flush()
        except mailbox.ExternalClashError:
            # all is written; but it wanted the new file's lock, and did not wait for it
            box._pending = box._pending_sync = False
    finally:
        if "mbox" in kind:
            box.unlock()
        box.close()


def deliver(kind: str, path: Path, writer: int) -> None:
    """Deliver messages one by one."""
    for number in range(N_MESSAGES):
        if kind == "waiting mbox":
            append(path, message(writer, number))
        else:
            while not added(kind, path, message(writer, number)):
                pass
        sleep(0.01)


def added(kind: str, path: Path, one: bytes) -> bool:
    """Add a message; False if another program has just taken its number."""
    try:
        with opened(kind, path) as box:
            box.add(one)
    except FileExistsError:
        return False
    return True


def append(path: Path, one: bytes) -> None:
    """Deliver as a program does that waits for the lock of a file it has open."""
    with path.open("ab") as file:
        fcntl.lockf(file, fcntl.LOCK_EX)
        file.write(b"From x@x.example Tue Feb  6 10:00:00 2024\n" + one + b"\n")
        file.flush()


def read(kind: str, path: Path, over: Path) -> None:
    """Mark messages as read, and move some away and back, as a client does."""
    random = Random(3)  # noqa: S311  a fixed seed, no secret
    while not over.exists():
        with suppress(KeyError, FileNotFoundError), opened(kind, path) as box:
            keys = list(box.iterkeys())
            if keys and kind == "maildir":
                there = path / box._lookup(random.choice(keys))
                base = there.name.partition(":2,")[0]
                there.rename(path / "cur" / f"{base}:2,{random.choice(['S', 'FS'])}")
            elif keys and kind == "mbox":
                key = random.choice(keys)
                shown = box[key]
                shown.set_flags(random.choice(["RO", "ROF", "O"]))
                box[key] = shown
        sleep(0.002)


def filter_once(folder: Path, kind: str, classifier: Classifier, memory: str) -> None:
    rule = Rule(0.5, str(folder / "junk"))
    inbox, seen = folder / "inbox", folder / memory
    filtered.filtered(classifier, inbox, rule, seen, wait=PATIENCE)


def filter_on(
    folder: Path, kind: str, classifier: Classifier, memory: str, over: Path
) -> None:
    while not over.exists():
        filter_once(folder, kind, classifier, memory)


@contextmanager
def at_work(*works: Callable[[], None]) -> Iterator[list[int]]:
    """Run functions in processes of their own, ended when we are done with them."""
    children = []
    try:
        for work in works:
            children.append(forked(work))
        yield children
    finally:
        for child in children:
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(child, 0)


def held(kind: str, path: Path) -> Counter[bytes]:
    with opened(kind, path) as box:
        texts = [box.get_bytes(key) for key in box.iterkeys()]
    return Counter(map(plain, texts))


@pytest.mark.parametrize(
    ("kind", "memories"),
    [*((kind, ("one", "two")) for kind in BOXES), ("maildir", ("one", "one"))],
)
def test_no_message_is_lost_whoever_is_at_work(
    tmp_path: Path, classifier: Classifier, kind: str, memories: tuple[str, str]
) -> None:
    for name in ("inbox", "junk"):
        with opened(kind, tmp_path / name):
            pass
    inbox = tmp_path / "inbox"
    over = tmp_path / "over"
    with at_work(
        partial(deliver, kind, inbox, 0),
        partial(deliver, kind, inbox, 1),
        partial(read, kind, inbox, over),
        *(
            partial(filter_on, tmp_path, kind, classifier, one, over)
            for one in memories
        ),
    ) as children:
        codes = [ended(child) for child in children[:2]]
        over.touch()  # when all is delivered
        codes += [ended(child) for child in children[2:]]
    for one in (*memories, *memories):  # what came into an old file is put back by
        filter_once(tmp_path, kind, classifier, one)  # a run that remembers the file

    everything = Counter(
        message(writer, number) for writer in (0, 1) for number in range(N_MESSAGES)
    )
    kept = Counter(one for one in everything if b"winner" not in one)
    assert codes == [0] * 5
    there = held(kind, inbox) + held(kind, tmp_path / "junk")
    assert +there == everything
    assert held(kind, inbox) == kept
