"""docs/recipes/mutt.md, with the mutt of Debian on a terminal of its own."""

import os
import pty
import subprocess
from collections.abc import Callable
from contextlib import suppress
from threading import Timer
from typing import TYPE_CHECKING

import pytest

from tests.recipes.conftest import Home, after, demo
from tests.waiting import PATIENCE

if TYPE_CHECKING:
    from tests.recipes.conftest import Program, Same

pytestmark = pytest.mark.recipes

INBOX, JUNK = "Maildir", "Maildir/.Junk"

Mutt = Callable[..., None]


@pytest.fixture
def mutt(home: Home, debian: "Program") -> Mutt:
    """Press keys in mutt."""
    program = debian("mutt")
    home.maildir(INBOX)
    home.maildir(JUNK)
    muttrc = home.write(".muttrc", home.recipe("mutt.md", "~/.muttrc"))

    def mutt(keys: str, folder: str = INBOX, *settings: str) -> None:
        ours, its = pty.openpty()
        options = [f"push {keys}<quit>", "set quit=yes delete=yes", *settings]
        commands = [part for option in reversed(options) for part in ("-e", option)]
        process = subprocess.Popen(
            [program, "-n", "-F", muttrc, "-f", home.path / folder, *commands],
            stdin=its, stdout=its, stderr=its, start_new_session=True,
            cwd=home.path, env=home.environment() | {"TERM": "xterm"},
        )  # fmt: skip
        os.close(its)
        guard = Timer(PATIENCE, process.kill)
        guard.start()
        drawn = b""
        with suppress(OSError):  # which is how a terminal ends
            while piece := os.read(ours, 4096):
                drawn += piece
        os.close(ours)
        assert process.wait() == 0, drawn.decode("utf-8", "replace")
        guard.cancel()

    return mutt


def test_a_key_learns_spam_and_another_takes_it_back(
    home: Home, mutt: Mutt, ham: bytes, same: "Same"
) -> None:
    home.maildir(INBOX, ham)

    mutt("<first-entry>,s")
    assert home.counts() == after(spam=1)
    (moved,) = home.messages(JUNK)
    mutt("<first-entry>,h", JUNK)

    assert home.counts() == after(ham=1)
    (back,) = home.messages(INBOX)
    same.assert_same(ham, moved)
    same.assert_same(ham, back)


def test_the_key_works_while_reading(home: Home, mutt: Mutt, spam: bytes) -> None:
    home.maildir(INBOX, spam)

    mutt("<first-entry><display-message>,s")

    assert home.counts() == after(spam=1)
    assert len(home.messages(JUNK)) == 1


def test_tagged_messages_are_learnt_one_by_one(home: Home, mutt: Mutt) -> None:
    names = ["01-list-reply", "02-receipt-html-qp", "05-short-reply"]
    home.maildir(INBOX, *(demo(f"ham/{name}.eml") for name in names))

    mutt("<tag-pattern>~A<enter>,s", INBOX, "set auto_tag")

    assert home.counts() == after(spam=3)
    assert len(home.messages(JUNK)) == 3


def test_what_mutt_pipes_is_the_message(
    home: Home, mutt: Mutt, spam: bytes, same: "Same"
) -> None:
    home.maildir(INBOX, spam)

    mutt("<first-entry><pipe-message>cat>piped<enter>")

    same.assert_same(spam, (home.path / "piped").read_bytes())
