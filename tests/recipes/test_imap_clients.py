"""docs/recipes/getmail.md and offlineimap.md, with those programs and our Dovecot."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.recipes.conftest import SURE_SPAM, Home, after, field, home_with

if TYPE_CHECKING:
    from pathlib import Path

    from tests.recipes.conftest import Program, Same, Wrap
    from tests.recipes.servers import Dovecot

pytestmark = pytest.mark.recipes

GETMAIL, OFFLINEIMAP = "getmail.md", "offlineimap.md"
RC = "~/.config/getmail/getmailrc"
FIELD = "~/.config/getmail/getmailrc, further"
PROCMAIL = "~/.config/getmail/getmailrc, with procmail"
HOOK = "~/.config/nbtext/after-sync"


@pytest.fixture
def client(trained: "Path", ordinary: "Wrap") -> Iterator[Home]:
    """A home with a model on another machine than the server."""
    with home_with(trained, ordinary) as home:
        yield home


def ours(dovecot: "Dovecot") -> dict[str, str]:
    """What stands for the server in each program's words; there is no TLS here."""
    port = dovecot.port
    return {
        "type = SimpleIMAPSSLRetriever": f"type = SimpleIMAPRetriever\nport = {port}",
        "remotehost = mail.example.org": f"remotehost = 127.0.0.1\nremoteport = {port}",
        "ssl = yes": "ssl = no",
        "Host mail.example.org": f"Host 127.0.0.1\nPort {port}",
        "SSLType IMAPS": "SSLType None",
        "mail.example.org": "127.0.0.1",
    }


def getmail(client: Home, program: str, rc: str, folder: str = "Maildir") -> None:
    """Fetch mail."""
    client.maildir(folder)
    client.write(".config/getmail/getmailrc", rc)
    done = client.run(program, "--quiet")
    assert (done.status, done.out, done.err) == (0, b"", "")


def test_getmail_fetches_and_filter_sorts(
    dovecot: "Dovecot", client: Home, debian: "Program", spam: bytes, ham: bytes
) -> None:
    for message in (spam, ham):
        dovecot.append("INBOX", message)
    client.maildir("Maildir")
    client.write(".config/getmail/getmailrc", client.recipe(GETMAIL, RC, ours(dovecot)))
    line = client.recipe(GETMAIL, "for cron, or by hand")

    done = client.run("/bin/sh", "-e", "-c", line, env={"PATH": "/usr/bin:/bin"})

    assert debian("getmail")
    assert (done.status, done.out, done.err) == (0, b"", "")
    (kept,), (moved,) = client.messages("Maildir"), client.messages("Maildir/.Junk")
    assert b"paint store" in kept
    assert b"INHERITANCE" in moved


@pytest.mark.parametrize("with_model", [True, False])
def test_getmail_puts_a_field_in(
    dovecot: "Dovecot", client: Home, debian: "Program", spam: bytes, same: "Same",
    with_model: bool,
) -> None:  # fmt: skip
    dovecot.append("INBOX", spam)
    if not with_model:
        client.model.unlink()
    rc = "\n".join(
        client.recipe(GETMAIL, title, ours(dovecot)) for title in (RC, FIELD)
    ).replace("read_all", "received = false\nread_all")

    getmail(client, debian("getmail"), rc)

    (arrived,) = client.messages("Maildir")
    assert field(arrived) == (SURE_SPAM if with_model else None)
    same.assert_same(spam, arrived)


def test_or_getmail_tries_again(
    dovecot: "Dovecot", client: Home, debian: "Program", spam: bytes
) -> None:
    dovecot.append("INBOX", spam)
    program = debian("getmail")
    titles = (RC, FIELD)
    rc = "\n".join(client.recipe(GETMAIL, title, ours(dovecot)) for title in titles)
    for line in ("exitcodes_keep = (0, 75)\n", "ignore_stderr = true\n"):
        assert line in rc
        rc = rc.replace(line, "")
    model = client.model.read_bytes()
    client.model.unlink()
    client.write(".config/getmail/getmailrc", rc)
    client.maildir("Maildir")

    failed = client.run(program, "--quiet")
    arrived = client.messages("Maildir")
    client.model.write_bytes(model)
    getmail(client, program, rc)

    assert "no model there" in failed.err
    assert arrived == []
    (message,) = client.messages("Maildir")
    assert field(message) == SURE_SPAM
    assert b"getmail6" in message  # a Received field, which the filter has not seen


def test_getmail_delivers_through_procmail(
    dovecot: "Dovecot", client: Home, debian: "Program", spam: bytes
) -> None:
    if client.wrap[:1] == ("setpriv",):
        pytest.skip("a setuid program cannot look where root alone can")
    dovecot.append("INBOX", spam)
    title = "~/.procmailrc"
    client.write(".procmailrc", client.recipe("procmail.md", title))
    arguments = f'arguments = ("-m", "HOME={client.path}", "{client.path}/.procmailrc")'
    path = f"path = {debian('procmail')}"
    rc = client.recipe(GETMAIL, PROCMAIL, ours(dovecot))
    assert path in rc

    getmail(client, debian("getmail"), rc.replace(path, f"{path}\n{arguments}"))

    (filed,) = client.messages("Maildir/.Junk")
    assert field(filed) == SURE_SPAM


def sync(client: Home, dovecot: "Dovecot", program: str, title: str) -> None:
    """Bring both sides up to date, and do what is to be done afterwards."""
    script = client.recipe(OFFLINEIMAP, HOOK)
    hook = client.write(HOOK.removeprefix("~/"), script, 0o755)
    config = client.recipe(OFFLINEIMAP, title, ours(dovecot))
    client.write(title.removeprefix("~/"), config)
    assert client.run("mkdir", "-p", client.path / "Mail").status == 0
    if "mbsync" in program:
        done = client.run("/bin/sh", "-c", f"{program} --all && {hook}")
    else:
        done = client.run(program)
    assert (done.status, done.err) == (0, ""), done


@pytest.mark.parametrize(
    ("program", "title"),
    [("offlineimap", "~/.offlineimaprc"), ("mbsync", "~/.mbsyncrc")],
)
def test_spam_moves_on_the_server_and_corrections_are_learnt(
    dovecot: "Dovecot", client: Home, debian: "Program", spam: bytes, ham: bytes,
    program: str, title: str, same: "Same",
) -> None:  # fmt: skip
    path = debian(program)
    for message in (spam, ham):
        dovecot.append("INBOX", message)

    sync(client, dovecot, path, title)
    first = client.counts()
    sync(client, dovecot, path, title)
    folders = {one: len(dovecot.fetch(one)) for one in ("INBOX", "Junk")}
    with dovecot.imap("Junk") as imap:
        imap.uid("STORE", "1:*", "+FLAGS", r"(\Seen)")
    sync(client, dovecot, path, title)
    opened = client.counts()
    dovecot.move("Junk", "Archive", "move")
    sync(client, dovecot, path, title)

    assert first == after()  # its own verdict is nothing to learn from
    assert opened == after(spam=1)
    assert folders == {"INBOX": 1, "Junk": 1}
    assert client.counts() == after(ham=1)
    assert client.messages("Mail/Junk") == []
    (archived,) = client.messages("Mail/Archive")
    same.assert_same(spam, archived)
    same.assert_same(ham, *client.messages("Mail/INBOX"))
