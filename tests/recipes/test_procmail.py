"""docs/recipes/procmail.md, with the procmail of Debian."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from nbtext.document import Document
from nbtext.sources import Options, documents
from tests.recipes.conftest import DEMO, SURE_SPAM, Done, Home, field

if TYPE_CHECKING:
    from tests.recipes.conftest import Program, Same

pytestmark = pytest.mark.recipes

PASS, MBOX, ASK = (
    "~/.procmailrc",
    "~/.procmailrc, with mbox",
    "~/.procmailrc, without a field",
)
INBOX, JUNK = "Maildir", "Maildir/.Junk"

Deliver = Callable[[Home, str, bytes], Done]


@pytest.fixture
def deliver(debian: "Program") -> Deliver:
    """Give a message to procmail, with one of the recipes."""
    procmail = debian("procmail")

    def deliver(home: Home, title: str, message: bytes) -> Done:
        path = home.write(".procmailrc", home.recipe("procmail.md", title))
        (home.path / "mail").mkdir(exist_ok=True)
        (home.path / "Maildir").mkdir(exist_ok=True)
        # -m leaves the system's mailbox alone; root's home would be that in /etc/passwd
        done = home.run(procmail, "-m", f"HOME={home.path}", path, stdin=message)
        assert done.status == 0, done.err
        return done

    return deliver


@pytest.mark.parametrize("title", [PASS, ASK])
def test_spam_is_filed_and_ham_is_not(
    home: Home, deliver: Deliver, title: str, spam: bytes, ham: bytes
) -> None:
    deliver(home, title, spam)
    deliver(home, title, ham)

    assert [len(home.messages(one)) for one in (INBOX, JUNK)] == [1, 1]
    if title == ASK:
        assert (home.messages(INBOX), home.messages(JUNK)) == ([ham], [spam])
    else:
        (filed,) = home.messages(JUNK)
        assert (field(filed) or "").startswith("spam, probability=0.99")
        assert filed.replace(b"X-NBText: %s\n" % SURE_SPAM.encode(), b"") == spam


def test_a_forged_field_does_not_pull_spam_out_of_junk(
    home: Home, deliver: Deliver, spam: bytes
) -> None:
    forged = b"x-nbtext : ham,\n probability=0.9999\n" + spam

    deliver(home, PASS, forged)

    assert (home.messages(INBOX), len(home.messages(JUNK))) == ([], 1)
    assert b"ham,\n" not in home.messages(JUNK)[0]


@pytest.mark.parametrize("title", [PASS, ASK])
def test_nbtext_is_given_all_of_the_message(
    home: Home, deliver: Deliver, title: str, spam: bytes, ham: bytes
) -> None:
    # the program of a condition is given the header alone, its fields on one line each
    seen = home.path / "seen"
    program = f'#!/bin/sh\n/usr/bin/tee {seen} | {home.program} "$@"\n'
    home.program = home.write("look", program, 0o755)

    for message in (spam, b"X-Folded: in\n two\n" + ham):
        deliver(home, title, message)
        assert seen.read_bytes() == message


@pytest.mark.parametrize("title", [PASS, ASK])
@pytest.mark.parametrize("damage", ["missing", "damaged"])
def test_without_a_model_mail_arrives_as_it_came(
    home: Home, deliver: Deliver, title: str, damage: str, spam: bytes
) -> None:
    if damage == "missing":
        home.model.unlink()
    else:
        home.model.write_bytes(b"\x81" + home.model.read_bytes()[1:5000])

    deliver(home, title, spam)

    assert (home.messages(INBOX), home.messages(JUNK)) == ([spam], [])
    log = (home.path / ".procmail.log").read_text()
    assert ("Program failure (75)" in log) == (title == PASS)
    assert "model.nbt: " in log


@pytest.mark.parametrize("title", [PASS, ASK])
def test_without_nbtext_mail_arrives_as_it_came(
    home: Home, deliver: Deliver, title: str, spam: bytes
) -> None:
    home.program = home.path / "nowhere" / "nbtext"

    deliver(home, title, spam)

    assert (home.messages(INBOX), home.messages(JUNK)) == ([spam], [])


def test_both_go_into_an_mbox_and_are_the_same_there(
    home: Home, deliver: Deliver, same: "Same", spam: bytes
) -> None:
    head = b"From: jo@example.org\nDate: Tue, 6 Feb 2024 10:00 +0000\n"
    ham = head + b"Subject: minutes\n\nHi\nFrom here on\n"

    for message in (spam, ham):
        deliver(home, MBOX, message)

    for name, before in (("junk", spam), ("inbox", ham)):
        (after,) = in_mbox(home.path / "mail" / name)
        assert field(after)
        same.assert_same(before, after)
    assert not list(home.path.glob("mail/*.lock"))


@pytest.mark.parametrize(
    "path",
    [
        "check/ham/01-list-reply.eml",
        "check/spam/02-pharmacy-obfuscated-base64.eml",
        "ham/40-broken-raw-8bit-header.eml",
        "spam/22-broken-missing-blank-line.eml",
    ],
)
def test_a_message_is_the_same_before_and_after_delivery(
    home: Home, deliver: Deliver, same: "Same", path: str
) -> None:
    message = (DEMO / path).read_bytes()

    deliver(home, PASS, message)

    (after,) = home.messages(INBOX) + home.messages(JUNK)
    assert field(after)
    same.assert_same(message, after)


def in_mbox(path: Path) -> list[bytes]:
    """Return the messages of an mbox as nbtext reads them."""
    items = documents([str(path)], Options(format="mbox"), labelled=False)
    return [one.texts[0] for one in items if isinstance(one, Document)]
