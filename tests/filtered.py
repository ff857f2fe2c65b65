"""Mailboxes filtered by the library, for tests of what becomes of their messages."""

import mailbox
from pathlib import Path
from typing import Any, Final

import pytest

from nbtext.filtering.mailbox import filter_mailbox
from nbtext.filtering.mailboxes import open_mailbox
from nbtext.filtering.rules import (
    FilterOptions,
    FilterReport,
    Outcome,
    Rule,
    Run,
    rules_of,
)
from nbtext.filtering.seen_file import open_seen
from nbtext.scoring.classifier import Classifier

BOXES: Final[dict[str, Any]] = {
    "maildir": mailbox.Maildir,
    "mh": mailbox.MH,
    "mbox": mailbox.mbox,
}


def filtered(
    classifier: Classifier, source: Path, spam: Rule, memory: Path, *, wait: float = 5
) -> list[Outcome]:
    """Filter a mailbox once, and return what became of its messages."""
    rules = rules_of(open_mailbox(str(source)), {"spam": spam})
    wanted = FilterOptions(max_bytes=1 << 20, wait=wait)
    with open_seen(str(memory), wait=wait) as seen:
        run = Run(classifier, seen, wanted, _refuse)
        return list(filter_mailbox(rules, run, FilterReport()))


def _refuse(one: object) -> None:
    pytest.fail(f"a message could not be read: {one}")


def plain(one: bytes) -> bytes:
    """Return a message without what Python's library writes of its state."""
    lines = one.splitlines(keepends=True)
    return b"".join(line for line in lines if b"Status:" not in line)
