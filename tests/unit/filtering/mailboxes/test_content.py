"""What a message says, whatever mail programs keep in its header."""

import pytest

from nbtext.filtering.mailboxes._content import STATE_FIELDS, Gathered
from nbtext.mail.message import read_mail

MAIL = b"Subject: a b\nTo: c\n\nd\n"


@pytest.mark.parametrize("name", STATE_FIELDS)
def test_what_mailboxes_keep_is_neither_evidence_nor_content(name: str) -> None:
    field = f"{name}: 17 kept\n folded\n".encode()
    kept = MAIL.replace(b"To:", field + b"To:")

    assert read_mail(kept) == read_mail(MAIL)
    assert digest_of(kept) == digest_of(MAIL)


def digest_of(text: bytes) -> bytes:
    gathered = Gathered(len(text))
    gathered.add(text)
    return gathered.content().digest
