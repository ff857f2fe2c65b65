"""
What happens to a mail on its way leaves its digest alone, and it can be forgotten.

On the mail of ../shared/corpora: headers that are added when it is delivered, sorted or
read, other line ends, and the line that mbox puts before it.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from nbtext.document import Document
from nbtext.learning import LearnRequest
from nbtext.mail.message import read_mail
from nbtext.store import compact
from tests.build import learnt

if TYPE_CHECKING:
    from tests.conftest import Truth

CORPORA = Path(__file__).parents[3] / "shared" / "corpora"
EVERY = 7
"""So manieth message is looked at."""

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(not CORPORA.is_dir(), reason="shared/corpora is absent"),
]

ADDED = (
    b"Return-Path: <bounce@relay.example>\n"
    b"Delivered-To: reader@inbox.example\n"
    b"Received: from relay.example (relay.example [192.0.2.1])\n"
    b"\tby inbox.example with ESMTP id 4711; Tue, 6 Feb 2024 10:00:00 +0000\n"
    b"X-Spam-Status: Yes, score=7.1 required=5.0\n"
    b"X-Spam-Flag: YES\n"
    b"X-Bogosity: Spam, tests=bogofilter\n"
    b"X-NBText: spam 0.98\n"
    b"Status: RO\n"
)


def messages() -> list[Path]:
    folder = CORPORA / "spamassassin"
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    chosen = [path for path in found if path.name != "cmds"][::EVERY]
    # one has carriage returns that end no line: who converts its line ends changes it
    return [path for path in chosen if b"\r" not in bare(path)]


def bare(path: Path) -> bytes:
    """Return a message with LF line ends, without mbox's line."""
    contents = path.read_bytes().replace(b"\r\n", b"\n")
    if contents.startswith(b"From "):
        contents = contents.partition(b"\n")[2]
    return contents


def delivered(contents: bytes) -> bytes:
    return ADDED + contents


def with_crlf(contents: bytes) -> bytes:
    return contents.replace(b"\n", b"\r\n")


def in_mbox(contents: bytes) -> bytes:
    return b"From someone@example.org Tue Feb  6 10:00:00 2024\n" + contents


def all_of_it(contents: bytes) -> bytes:
    return with_crlf(in_mbox(delivered(contents)))


@pytest.mark.parametrize("change", [delivered, with_crlf, in_mbox, all_of_it])
def test_the_digest_of_a_mail_stays_the_same(change: Callable[[bytes], bytes]) -> None:
    paths = messages()
    other = [
        path
        for path in paths
        if read_mail(bare(path)).digest != read_mail(change(bare(path))).digest
    ]

    assert len(paths) > 100
    assert other == []


def documents(change: Callable[[bytes], bytes] | None = None) -> Iterator[Document]:
    for path in messages():
        contents = bare(path)
        yield Document(str(path), (change(contents) if change else contents,))


@pytest.mark.parametrize("is_compacted", [False, True])
def test_what_was_learnt_before_it_was_delivered_is_forgotten_exactly(
    tmp_path: Path, truth: "Truth", is_compacted: bool
) -> None:
    path = str(tmp_path / "m.nbt")
    first = [Document("first", (b"From: a@x.example\nSubject: first\n\nfirst\n",))]
    for label in ("ham", "spam"):
        learnt(LearnRequest(path, label, create=True, format="mail"), first)
    before = truth.stored(tmp_path / "m.nbt")
    added = learnt(LearnRequest(path, "ham"), documents())
    if is_compacted:
        compact(path)

    taken = learnt(LearnRequest(path, None), documents(all_of_it))

    n_added = sum(result.outcome == "learnt" for result in added)
    assert n_added > 100
    assert sum(result.outcome == "forgotten" for result in taken) == n_added
    assert truth.stored(tmp_path / "m.nbt") == before
