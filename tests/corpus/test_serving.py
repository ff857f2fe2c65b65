"""Every mail of the corpora is served: the verdict of classify, and every byte back."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from nbtext import train
from nbtext.document import Document
from nbtext.policy import PolicyOverrides
from nbtext.scoring.classifier import Classifier
from nbtext.scoring.model import load_model
from nbtext.serving.handlers import Handler, HandlerOptions
from nbtext.serving.spamd import Request

CORPORA = Path(__file__).parents[3] / "shared" / "corpora"
OURS = re.compile(
    rb"X-NBText: \w+, probability=0\.\d{4}\r?\n(?:X-Spam-Flag: YES\r?\n"
    rb"X-Spam-Level: \*+\r?\n)?X-Spam-Status: (Yes|No), score=(\S+) required=5\.0 "
    rb"tests=\w+,\w+\r?\nX-Spam-Checker-Version: nbtext \S+\r?\n"
)
THEIRS = re.compile(rb"(?im)^X-(?:Spam-[^\s:]*|NBText)[ \t]*:.*\n?(?:[ \t].*\n?)*")
BATCH = 16

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(not CORPORA.is_dir(), reason=f"{CORPORA} is not there"),
]


def messages() -> Iterator[list[bytes]]:
    batch: list[bytes] = []
    for name in ("spamassassin", "mail-misc"):
        for path in sorted((CORPORA / name).rglob("*")):
            if path.is_file() and path.stat().st_size < 1 << 20:
                batch.append(path.read_bytes())
            if len(batch) == BATCH:
                yield batch
                batch = []


def bodies(handler: Handler, verb: str, batch: list[bytes]) -> Iterator[bytes]:
    requests = [Request(verb, (1, 5), body=message) for message in batch]
    for answer in handler.classify(requests):
        head, _, body = bytes(answer.response).partition(b"\r\n\r\n")
        assert head.startswith(b"SPAMD/1.1 0 EX_OK\r\n")
        yield body


def without_ours(message: bytes) -> bytes:
    """Take the fields out of the header that only we may write, by another way."""
    header = re.match(rb"(?s).*?(?:\n(?=\r{0,2}\n)|\Z)", message)
    end = header.end() if header else 0
    return THEIRS.sub(b"", message[:end]) + message[end:]


def test_every_mail_is_served_as_it_is_classified(tmp_path: Path) -> None:
    path = tmp_path / "m.nbt"
    root = CORPORA / "spamassassin"
    train([f"ham={root / 'easy_ham'}", f"spam={root / 'spam'}"], str(path))
    handler = Handler(
        HandlerOptions(str(path), "spam", "ham", PolicyOverrides(), 1 << 20, 1.0),
        print,
        print,
    )
    classifier = Classifier(load_model(str(path)))
    classifier.arrange([])
    count = 0
    for batch in messages():
        decisions = classifier.classify([Document("-", (one,)) for one in batch])
        processed = list(bodies(handler, "PROCESS", batch))
        headers = list(bodies(handler, "HEADERS", batch))
        rows = zip(batch, decisions, processed, headers, strict=True)
        for message, decision, whole, header in rows:
            (ours,) = OURS.finditer(whole)
            is_spam = decision.label == "spam"
            assert (ours[1] == b"Yes", float(ours[2]) >= 5) == (is_spam, is_spam)
            rest = whole[: ours.start()] + whole[ours.end() :]
            # a text without a header has an empty line more, which ends ours
            shorter = whole[: ours.start()] + re.sub(
                rb"\A\r?\n", b"", whole[ours.end() :]
            )
            assert without_ours(message) in (without_ours(rest), without_ours(shorter))
            assert whole.startswith(header)
            count += 1
    assert count > 6_000
