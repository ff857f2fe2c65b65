"""What a message says, whatever mail programs keep in its header."""

import os
from pathlib import Path

import pytest

from nbtext.errors import SourceError
from nbtext.filtering.mailboxes._content import (
    LARGEST,
    STATE_FIELDS,
    Gathered,
    read_content,
)
from nbtext.mail.message import read_mail

MAIL = b"Subject: a b\nTo: c\n\nd\n"


@pytest.mark.parametrize("name", STATE_FIELDS)
def test_what_mailboxes_keep_is_neither_evidence_nor_content(name: str) -> None:
    field = f"{name}: 17 kept\n folded\n".encode()
    kept = MAIL.replace(b"To:", field + b"To:")

    assert read_mail(kept) == read_mail(MAIL)
    assert digest_of(kept) == digest_of(MAIL)


def test_a_file_that_no_mail_can_be_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "1.a"
    with path.open("wb") as file:
        file.truncate(LARGEST + 1)  # takes no room, and seconds to read

    with pytest.raises(SourceError, match="1,073,741,824 is the most of a message"):
        read_content(str(path), 1 << 20)


def test_what_is_added_to_a_file_meanwhile_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "1.a"
    path.write_bytes(MAIL)
    read = os.read

    def growing(descriptor: int, size: int) -> bytes:
        with path.open("ab") as file:
            file.write(MAIL)
        return read(descriptor, size)

    monkeypatch.setattr(os, "read", growing)

    assert read_content(str(path), 1 << 20).text == MAIL


def digest_of(text: bytes) -> bytes:
    gathered = Gathered(len(text))
    gathered.add(text)
    return gathered.content().digest
