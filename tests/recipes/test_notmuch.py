"""docs/recipes/notmuch.md, with the notmuch of Debian."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from tests.recipes.conftest import DEMO, TRAINED, Home, after

if TYPE_CHECKING:
    from tests.recipes.conftest import Program

pytestmark = pytest.mark.recipes

HOOKS = ("~/Maildir/.notmuch/hooks/pre-new", "~/Maildir/.notmuch/hooks/post-new")

Notmuch = Callable[..., list[str]]


@pytest.fixture
def notmuch(home: Home, debian: "Program") -> Notmuch:
    """Run notmuch, with the recipe's hooks, and return the lines that it prints."""
    program = debian("notmuch")
    home.maildir("Maildir")
    config = home.recipe("notmuch.md", "~/.notmuch-config")
    user = "\n[user]\nname=Jo\nprimary_email=jo@example.org\n"
    home.write(".notmuch-config", config + user)
    for hook in HOOKS:
        home.write(hook.removeprefix("~/"), home.recipe("notmuch.md", hook), 0o755)

    def notmuch(*arguments: str) -> list[str]:
        done = home.run(program, *arguments)
        assert done.status == 0, done.err
        return done.out.decode().splitlines()

    return notmuch


@pytest.fixture
def new_mail(home: Home, spam: bytes, ham: bytes) -> None:
    """Two messages that notmuch has not seen."""
    inside = home.maildir("Maildir") / "new"
    (inside / "1.spam").write_bytes(spam)
    (inside / "2.ham").write_bytes(ham)


def tagged(notmuch: Notmuch, query: str) -> list[str]:
    """The names of the files that a query finds."""
    found = notmuch("search", "--exclude=false", "--output=files", query)
    return sorted(path.rpartition("/")[2].partition(":")[0] for path in found)


@pytest.mark.usefixtures("new_mail")
def test_what_is_new_is_tagged(notmuch: Notmuch, home: Home) -> None:
    notmuch("new")

    assert tagged(notmuch, "tag:spam") == ["1.spam"]
    assert tagged(notmuch, "tag:inbox") == ["2.ham"]
    assert tagged(notmuch, "tag:new") == []
    assert home.counts() == TRAINED


def test_no_identity_is_taken_for_a_query(notmuch: Notmuch, home: Home) -> None:
    identities = (
        "a)or(tag:inbox",
        'a"b@c',
        '"a"@b',
        "a b",
        "-x",
        "*",
        "a\\b",
        "a(b",
        "ü",
    )
    head = "Message-ID: <{}>\nFrom: jo@example.org\n\nHello\n"
    home.maildir("Maildir", *(head.format(one).encode() for one in identities))

    notmuch("new")

    assert tagged(notmuch, "tag:new") == []
    assert len(tagged(notmuch, "tag:inbox or tag:spam")) == len(identities)


@pytest.mark.usefixtures("new_mail")
def test_what_is_tagged_is_learnt_once(notmuch: Notmuch, home: Home) -> None:
    notmuch("new")
    notmuch("tag", "+learn-spam", "--", "tag:inbox")
    notmuch("tag", "+learn-ham", "--", "tag:spam")

    notmuch("new")
    counts = home.counts()
    notmuch("tag", "+learn-spam", "--", "tag:spam")
    notmuch("new")

    assert tagged(notmuch, "tag:spam") == ["2.ham"]
    assert tagged(notmuch, "tag:inbox") == ["1.spam"]
    assert tagged(notmuch, "tag:learn-spam or tag:learning-spam") == []
    assert counts == home.counts() == after(ham=1, spam=1)


@pytest.mark.usefixtures("new_mail")
def test_what_failed_is_done_the_next_time(notmuch: Notmuch, home: Home) -> None:
    model = home.model.read_bytes()
    home.model.unlink()

    notmuch("new")
    untouched = tagged(notmuch, "tag:new and tag:inbox and not tag:spam")
    notmuch("tag", "+learn-spam", "--", "tag:inbox")
    notmuch("new")
    waiting = tagged(notmuch, "tag:learning-spam")
    home.model.write_bytes(model)
    notmuch("new")

    assert untouched == waiting == ["1.spam", "2.ham"]
    assert tagged(notmuch, "tag:new or tag:learning-spam") == []
    assert home.counts() == after(spam=2)


def test_training_from_tags(notmuch: Notmuch, home: Home) -> None:
    for label, tag in (("spam", "+spam"), ("ham", "+replied")):
        for path in (DEMO / label).glob("[0-2]*.eml"):
            copy = home.path / "Maildir" / "cur" / f"{label}-{path.name}"
            copy.write_bytes(path.read_bytes())
        notmuch("new", "--no-hooks")
        notmuch("tag", tag, "-new", "--", "tag:new")
    home.model.unlink()

    script = home.recipe("notmuch.md", "once")
    done = home.run("/bin/sh", "-e", stdin=script.encode())

    assert done.status == 0, done.err
    assert home.counts() == {"ham": 29, "spam": 29}
