"""
For each real message that `email` parses without a defect, both find the same text.

Compared is the text of the text parts before tags are removed, line ends normalised and
white space at the ends aside (whose line end the last one is, is a matter of taste).
Both use the same `decode`, because charsets are repaired on purpose; what it does has
its own tests.
"""

import email
from collections.abc import Iterator
from email.message import Message
from pathlib import Path

import pytest

from nbtext.mail.charsets import decode
from nbtext.mail.encoded_words import readable
from nbtext.mail.message import RAW_BYTES, read_mail, text_parts

CORPORA = Path(__file__).parents[3] / "shared" / "corpora"

REPORTS = {"delivery-status", "disposition-notification", "external-body", "partial"}

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(not CORPORA.is_dir(), reason="shared/corpora is absent"),
]


def messages(corpus: str) -> Iterator[tuple[str, bytes]]:
    for path in sorted((CORPORA / corpus).rglob("*")):
        if path.is_file():
            data = path.read_bytes().replace(b"\r\n", b"\n").replace(b"\r", b"\n")
            if data.startswith(b"From ") and data.count(b"\n\nFrom ") > 1:
                for n, message in enumerate(data.split(b"\n\nFrom ")):
                    yield f"{path}:{n}", message if n == 0 else b"From " + message
            else:
                yield str(path), data


def text_of(part: Message) -> str:
    payload = part.get_payload(decode=True)
    data = payload if isinstance(payload, bytes) else b""
    return decode(data, part.get_content_charset())


def expected_parts(message: Message) -> list[tuple[str, str]]:
    return [
        (part.get_content_subtype().split()[0], text_of(part))  # "plain charset=…"
        for part in message.walk()
        if part.get_content_maintype() == "text"
    ]


def normalised(parts: list[tuple[str, str]]) -> list[tuple[str, str]]:
    stripped = [(subtype, with_line_feeds(text).strip()) for subtype, text in parts]
    return [(subtype, text) for subtype, text in stripped if text]


def with_line_feeds(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def without_deliberate_differences(
    found: list[tuple[str, str]], message: Message
) -> list[tuple[str, str]]:
    """
    Take back what nbtext does on purpose and `email` does not.

    * The subject of a message inside the message is text.
    * Delivery and disposition reports are text, where `email` makes messages of them.
    * Text of no declared type is HTML if it begins like HTML.
    """
    subtype_of_text = None if "content-type" in message else "plain"
    kept = [
        (subtype_of_text or subtype, text)
        for subtype, text in found
        if subtype not in REPORTS
    ]
    for part in list(message.walk())[1:]:
        subject = ("plain", readable(part["subject"] or ""))
        if subject in kept:
            kept.remove(subject)  # the first: it precedes what may say the same
    return kept


@pytest.mark.parametrize(
    ("corpus", "n_without_defects"),
    [("spamassassin", 5900), ("mail-misc", 700), ("nazario", 430)],
)
def test_email_and_nbtext_find_the_same_text(
    corpus: str, n_without_defects: int
) -> None:
    n_compared = 0
    different = []
    for name, data in messages(corpus):
        message = email.message_from_bytes(data)
        expected = normalised(expected_parts(message))
        if message.keys() and not any(part.defects for part in message.walk()):
            n_compared += 1
            found = without_deliberate_differences(
                normalised(text_parts(data)), message
            )
            if found != expected:
                different.append(name)

    assert different == []
    assert n_compared > n_without_defects


def test_every_file_of_the_corpora_is_read() -> None:
    for corpus in ("spamassassin", "mail-misc", "nazario"):
        for path in sorted((CORPORA / corpus).rglob("*")):
            if path.is_file():
                mail = read_mail(path.read_bytes())

                assert len(mail.raw) <= RAW_BYTES
