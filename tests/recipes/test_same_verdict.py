"""Real mail is the same to a model before delivery and where it was delivered."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.recipes.conftest import Home, field

if TYPE_CHECKING:
    from tests.recipes.conftest import Program, Same
    from tests.recipes.servers import Dovecot

CORPUS = Path(__file__).parents[3] / "shared" / "corpora" / "spamassassin"
STEP = 25
"""One mail of so many is delivered, about 240 in all."""

ENVELOPE = re.compile(rb"\AFrom .*\n(?:>From .*\n)*")
OF_LMTP = re.compile(
    rb"\AReturn-Path:.*\nDelivered-To:.*\nReceived: .*\n(?:[ \t].*\n)*?.*for <.*\n"
)
"""What Dovecot's LMTP server puts before a message."""

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.recipes,
    pytest.mark.skipif(not CORPUS.is_dir(), reason=f"{CORPUS} is not there"),
]


def mails() -> Iterator[tuple[Path, bytes]]:
    """Mails with the headers that they had on the wire, without an mbox's line."""
    for path in sorted(CORPUS.rglob("*.*"))[::STEP]:
        yield path, ENVELOPE.sub(b"", path.read_bytes())


def test_procmail_changes_nothing_that_counts(
    home: Home, debian: "Program", same: "Same"
) -> None:
    procmail = debian("procmail")
    home.maildir("Maildir")
    recipe = home.recipe("procmail.md", "~/.procmailrc")
    procmailrc = home.write(".procmailrc", recipe)
    for path, message in mails():
        done = home.run(procmail, "-m", f"HOME={home.path}", procmailrc, stdin=message)

        assert done.status == 0, path
        (arrived,) = (one for one in home.path.glob("Maildir/**/new/*"))
        same.assert_same(message, arrived.read_bytes())
        assert field_is_right(arrived.read_bytes(), message, same), path
        arrived.unlink()


def test_dovecot_adds_its_lines_and_changes_nothing(
    dovecot: "Dovecot", same: "Same"
) -> None:
    for path, message in mails():
        dovecot.deliver(message)

        inside = dovecot.home.path / "Maildir"
        (arrived,) = (one for one in inside.glob("**/new/*"))
        stored = arrived.read_bytes()
        assert OF_LMTP.match(stored), path
        same.assert_same(message, OF_LMTP.sub(b"", stored))
        assert field_is_right(stored, stored, same), path
        arrived.unlink()


def test_imap_changes_nothing(dovecot: "Dovecot", same: "Same") -> None:
    inside = dovecot.home.path / "Maildir"
    for path, message in mails():
        dovecot.append("INBOX", message)

        (arrived,) = (*inside.glob("new/*"), *inside.glob("cur/*"))
        same.assert_same(message, arrived.read_bytes())
        assert field(arrived.read_bytes()) is None, path
        arrived.unlink()


def field_is_right(arrived: bytes, seen: bytes, same: "Same") -> bool:
    """Return whether our field says what the model says of a message."""
    return field(arrived) == same.field_of(seen)
