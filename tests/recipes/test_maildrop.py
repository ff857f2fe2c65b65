"""docs/recipes/maildrop.md, with the maildrop of Debian."""

import subprocess
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from tests.recipes.conftest import SURE_SPAM, Done, Home, demo, field

if TYPE_CHECKING:
    from tests.recipes.conftest import Program, Same

pytestmark = pytest.mark.recipes

PASS, ASK = "~/.mailfilter", "~/.mailfilter, without a field"
INBOX, JUNK = "Maildir", "Maildir/.Junk"

Deliver = Callable[[Home, str, bytes], Done]


@pytest.fixture
def deliver(debian: "Program") -> Deliver:
    """Give a message to maildrop, with one of the recipes."""
    maildrop, make = debian("maildrop"), debian("maildirmake")

    def deliver(home: Home, title: str, message: bytes) -> Done:
        if not (home.path / INBOX).exists():
            subprocess.run([make, home.path / INBOX], check=True)
            subprocess.run([make, "-f", "Junk", home.path / INBOX], check=True)
        # for root it would otherwise be the home in /etc/passwd
        text = f'HOME="{home.path}"\n' + home.recipe("maildrop.md", title)
        return home.run(maildrop, home.write(".mailfilter", text), stdin=message)

    return deliver


@pytest.mark.parametrize("title", [PASS, ASK])
def test_spam_is_filed_and_ham_is_not(
    home: Home, deliver: Deliver, title: str, spam: bytes, ham: bytes, same: "Same"
) -> None:
    done = [deliver(home, title, one) for one in (spam, ham)]

    assert [(one.status, one.err) for one in done] == [(0, "")] * 2
    (filed,), (kept,) = home.messages(JUNK), home.messages(INBOX)
    if title == ASK:
        assert (filed, kept) == (spam, ham)
    else:
        assert filed.replace(b"X-NBText: %s\n" % SURE_SPAM.encode(), b"") == spam
        assert kept.replace(b"X-NBText: %s\n" % same.field_of(ham).encode(), b"") == ham


def test_a_forged_field_does_not_pull_spam_out_of_junk(
    home: Home, deliver: Deliver, spam: bytes
) -> None:
    deliver(home, PASS, b"X-NBTEXT: ham, probability=0.9999\n" + spam)

    (filed,) = home.messages(JUNK)
    assert (field(filed), home.messages(INBOX)) == (SURE_SPAM, [])


@pytest.mark.parametrize("title", [PASS, ASK])
@pytest.mark.parametrize("damage", ["no model", "damaged model", "no nbtext"])
def test_whatever_fails_mail_arrives_as_it_came(
    home: Home, deliver: Deliver, title: str, damage: str, spam: bytes
) -> None:
    if damage == "no nbtext":
        home.program = home.path / "nowhere" / "nbtext"
    elif damage == "no model":
        home.model.unlink()
    else:
        home.model.write_bytes(b"\x81" + home.model.read_bytes()[1:5000])

    status, _, said = deliver(home, title, spam)

    assert (status, "nbtext" in said) == (0, True)
    assert (home.messages(INBOX), home.messages(JUNK)) == ([spam], [])


def test_without_exception_mail_is_deferred(
    home: Home, deliver: Deliver, spam: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.model.unlink()
    bare = home.recipe("maildrop.md", PASS).replace("exception {", "")
    monkeypatch.setattr(home, "recipe", lambda *_: bare.replace("}\nif", "if"))

    status, _, said = deliver(home, PASS, spam)

    assert (status, "Unable to filter message" in said) == (75, True)
    assert home.messages(INBOX) + home.messages(JUNK) == []


def test_a_message_is_the_same_before_and_after_delivery(
    home: Home, deliver: Deliver, same: "Same"
) -> None:
    names = ["ham/01-list-reply.eml", "spam/02-pharmacy-obfuscated-base64.eml"]
    for name in names:
        deliver(home, PASS, demo(name))

        (after,) = home.messages(INBOX) + home.messages(JUNK)
        for path in (home.path / INBOX).rglob("new/*"):
            path.unlink()
        same.assert_same(demo(name), after)
