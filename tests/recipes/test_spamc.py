"""docs/recipes/spamc.md, with the spamc and procmail of Debian."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from email import message_from_bytes
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.recipes.conftest import DEMO, PAGES, PROGRAM, SURE_SPAM, Home, after, field
from tests.recipes.servers import end, free_port, wait_for_port
from tests.waiting import PATIENCE

if TYPE_CHECKING:
    from tests.recipes.conftest import Program, Same

pytestmark = pytest.mark.recipes

PAGE, UNIT = "spamc.md", "/etc/systemd/system/nbtext.service"
TEACH = "/etc/systemd/system/nbtext.service.d/teach.conf"
INBOX, JUNK = "Maildir", "Maildir/.Junk"


class Server(NamedTuple):
    """The server of the page, on a port of its own, and somebody's home."""

    home: Home
    spamc: tuple[str, ...]
    process: "subprocess.Popen[bytes]"

    def deliver(self, message: bytes) -> None:
        """Give a message to procmail."""
        ours = {"/usr/bin/spamc": " ".join(self.spamc)}
        recipe = self.home.recipe(PAGE, "~/.procmailrc, with spamc", ours)
        path = self.home.write(".procmailrc", recipe)
        self.home.maildir(INBOX)
        done = self.home.run(
            "procmail", "-m", f"HOME={self.home.path}", path, stdin=message
        )
        assert done.status == 0, done.err


@pytest.fixture
def server(home: Home, debian: "Program") -> Iterator[Server]:
    """Run what the unit runs."""
    yield from run_unit(home, debian, UNIT)


@pytest.fixture
def teachable(home: Home, debian: "Program") -> Iterator[Server]:
    """Run what the unit runs if clients may teach."""
    yield from run_unit(home, debian, TEACH)


def run_unit(home: Home, debian: "Program", unit: str) -> Iterator[Server]:
    """Run what a unit of the page runs, and end it."""
    port = free_port()
    spamc = (debian("spamc"), "-p", str(port))
    debian("procmail")
    ours = {"/var/lib/nbtext/model.nbt": str(home.model), ":783": f":{port}"}
    (command,) = re.findall(r"^ExecStart=(.+)$", home.recipe(PAGE, unit, ours), re.M)
    with (home.path / "log").open("wb") as log:
        process = subprocess.Popen(
            command.split(), env=home.environment(), stderr=log, start_new_session=True
        )
    try:
        wait_for_port(port, process)
        yield Server(home, spamc, process)
    finally:
        end(process)


def test_spam_is_filed_and_ham_is_not(
    server: Server, spam: bytes, ham: bytes, same: "Same"
) -> None:
    server.deliver(spam)
    server.deliver(b"X-Spam-Flag: YES\n" + ham)

    (filed,), (kept,) = (server.home.messages(one) for one in (JUNK, INBOX))
    assert field(filed) == SURE_SPAM
    assert field(kept) == same.field_of(ham)
    assert b"X-Spam-Flag" not in kept
    same.assert_same(spam, filed)
    same.assert_same(ham, kept)


def test_without_a_server_mail_arrives_as_it_came(server: Server, spam: bytes) -> None:
    end(server.process)

    server.deliver(spam)

    assert server.home.messages(INBOX) == [spam]
    assert "Program failure" in (server.home.path / ".procmail.log").read_text()


def test_it_says_and_learns(teachable: Server, spam: bytes, ham: bytes) -> None:
    spamc, run = teachable.spamc, teachable.home.run
    ask, learn = commands(teachable)

    points = [run(*spamc, *ask, stdin=message) for message in (spam, ham)]
    for message in (ham, ham, spam):
        assert run(*spamc, *learn, stdin=message).status == 0

    assert [one.status for one in points] == [1, 0]
    assert points[0].out.endswith(b"/5.0\n")
    assert teachable.home.counts() == after(spam=2)


def test_nobody_teaches_it_as_the_page_begins(server: Server, ham: bytes) -> None:
    _, learn = commands(server)
    before = server.home.counts()

    done = server.home.run(*server.spamc, *learn, stdin=ham)

    assert done.status != 0
    assert server.home.counts() == before


def commands(server: Server) -> list[list[str]]:
    """Return the options of spamc that ask and that teach."""
    page = server.home.recipe(PAGE, "with a message on standard input")
    return [line.split("#")[0].split()[1:] for line in page.splitlines()[1:]]


def test_ten_stars_are_99_percent(server: Server, spam: bytes) -> None:
    server.deliver(spam)

    (filed,) = server.home.messages(JUNK)
    assert re.search(rb"^X-Spam-Level: \*{10,}$", filed, re.MULTILINE)


def test_the_page_names_the_fields_that_are_added(server: Server, spam: bytes) -> None:
    server.deliver(spam)

    (filed,) = server.home.messages(JUNK)
    (added, left) = (
        {name for name, _ in message_from_bytes(one).items()} for one in (filed, spam)
    )
    page = (PAGES / PAGE).read_text("utf-8")
    assert added - left == set(re.findall(r"`(X-[\w-]+)`", page))
    assert filed.partition(b"\n\n")[2] == spam.partition(b"\n\n")[2]


def test_systemd_can_read_the_unit(home: Home, debian: "Program") -> None:
    unit = home.write("nbtext.service", home.recipe(PAGE, UNIT))

    done = home.run(debian("systemd-analyze"), "verify", unit)

    assert (done.status, done.out, done.err) == (0, b"", "")


GUIDE = Path(__file__).parents[2] / "docs" / "guide.md"
SERVE_BLOCK = re.compile(
    r"^    \$ cp demo\.nbt served\.nbt\n(?:    .*\n)+", re.MULTILINE
)


def test_the_guide_serves_as_it_says(home: Home, debian: "Program") -> None:
    """The guide's block, with another port, and its folder in a place of the test."""
    (block,) = SERVE_BLOCK.findall(GUIDE.read_text("utf-8"))
    lines = [line.removeprefix("    ") for line in block.splitlines()]
    folder = home.path / "run"
    script = ["exec 2>/dev/null"]
    for line in lines:
        if not line.startswith("$ "):
            continue
        script.append(
            line.removeprefix("$ ")
            .replace("nbtext serve", f"{PROGRAM} serve")
            .replace("spamc ", f"{debian('spamc')} ")
            .replace("/run/nbtext", str(folder))
            .replace("localhost:783", f"localhost:{free_port()}")
        )
        if line.endswith("&"):
            script.append(f"until [ -S {folder}/socket ]; do sleep .1; done")
    home.nbtext("train", "-q", DEMO / "spam", DEMO / "ham", "-m", "demo.nbt")
    shutil.copytree(DEMO, home.path / "corpora" / "demo")

    done = subprocess.run(
        ["sh", "-c", "\n".join([*script, "kill $!; wait"])],
        cwd=home.path, env=home.environment(), capture_output=True, text=True,
        timeout=PATIENCE, check=False,
    )  # fmt: skip

    shown = [line for line in lines if not line.startswith("$ ")]
    assert done.stdout.splitlines() == shown
