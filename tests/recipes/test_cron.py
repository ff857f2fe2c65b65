"""docs/recipes/cron.md: the lines as cron runs them, units as systemd reads them."""

import re
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.recipes.conftest import DEMO, PAGES, TRAINED, Done, Home, after, demo
from tests.waiting import PATIENCE

if TYPE_CHECKING:
    from tests.recipes.conftest import Program

pytestmark = pytest.mark.recipes

PAGE = "cron.md"
INBOX, JUNK, ARCHIVE = "Maildir", "Maildir/.Junk", "Maildir/.Archive"
SORT = "~/.config/systemd/user/nbtext.service"
LEARN = "~/.config/systemd/user/nbtext-learn.service"
TIMERS = (
    "~/.config/systemd/user/nbtext.timer",
    "~/.config/systemd/user/nbtext-learn.timer",
)


@pytest.fixture
def mail(home: Home, spam: bytes, ham: bytes) -> Home:
    """A home with a spam and a ham in its inbox, and folders."""
    home.maildir(INBOX, spam, ham)
    home.maildir(JUNK)
    home.maildir(ARCHIVE)
    return home


def commands(home: Home) -> list[str]:
    """Return what stands in the crontab, without the times."""
    lines = home.recipe(PAGE, "crontab -e").splitlines()
    return [line.split(None, 5)[5] for line in lines if not line.startswith("#")]


def as_cron(home: Home, command: str) -> Done:
    """Run a command as cron does; what it prints would be sent by mail."""
    return home.run("/bin/sh", "-c", command, env={"LOGNAME": "jo", "SHELL": "/bin/sh"})


def see(home: Home, folder: str) -> None:
    """Look at the one message of a folder, as a mail program says that one has."""
    (message,) = (home.path / folder).glob("[nc]*/*.test*")
    name = f"{message.name.partition(':')[0]}:2,S"
    message.rename(home.path / folder / "cur" / name)


def test_new_spam_moves_and_what_was_moved_is_learnt(
    mail: Home, spam: bytes, ham: bytes
) -> None:
    sort, *learn = commands(mail)
    done = [as_cron(mail, command) for command in (sort, *learn)]
    assert mail.counts() == TRAINED  # nobody has looked at it yet
    see(mail, JUNK)
    done += [as_cron(mail, command) for command in learn]

    assert done == [(0, b"", "")] * 5
    assert (mail.messages(JUNK), mail.messages(INBOX)) == ([spam], [ham])
    assert mail.counts() == after(spam=1)


def test_a_correction_by_moving_is_learnt_and_stays(mail: Home, spam: bytes) -> None:
    sort, learn_ham, learn_spam = commands(mail)
    as_cron(mail, sort)
    see(mail, JUNK)
    as_cron(mail, learn_spam)
    assert mail.counts() == after(spam=1)
    (moved,) = (mail.path / JUNK).glob("[nc]*/*.test*")

    moved.rename(mail.path / ARCHIVE / "cur" / f"{moved.name.partition(':')[0]}:2,S")
    for command in (sort, learn_ham, learn_spam, learn_ham):
        assert as_cron(mail, command) == (0, b"", "")

    assert mail.counts() == after(ham=1)
    assert mail.messages(ARCHIVE) == [spam]


def test_what_is_moved_back_is_not_moved_again(mail: Home, spam: bytes) -> None:
    sort = commands(mail)[0]
    as_cron(mail, sort)
    (moved,) = (mail.path / JUNK).glob("[nc]*/*.test*")

    moved.rename(mail.path / INBOX / "cur" / f"{moved.name.partition(':')[0]}:2,S")
    as_cron(mail, sort)

    assert sorted(mail.messages(INBOX)) == sorted(
        [spam, demo("ham/05-short-reply.eml")]
    )


def test_a_model_of_few_ham_moves_nothing_and_says_so(
    mail: Home, spam: bytes, ham: bytes
) -> None:
    mail.nbtext("train", "-q", DEMO / "spam", DEMO / "ham")
    sort = commands(mail)[0]

    quiet, asked = as_cron(mail, sort), as_cron(mail, sort.replace("--quiet", "--all"))

    assert quiet == (0, b"", "")
    assert mail.messages(INBOX) == [spam, ham]
    assert asked.out.endswith(b"Maildir: 2 new, 2 stayed\n")
    assert "nothing will be taken for spam: with 43 documents of" in asked.err
    assert "teach the model 55 more" in asked.err


def test_what_is_deleted_is_not_learnt(mail: Home, spam: bytes) -> None:
    (mail.path / JUNK / "cur" / "1.a:2,ST").write_bytes(spam)

    assert as_cron(mail, commands(mail)[2]) == (0, b"", "")

    assert mail.counts() == TRAINED


def test_without_a_model_cron_sends_mail(mail: Home) -> None:
    mail.model.unlink()

    done = [as_cron(mail, command) for command in commands(mail)]

    assert [one.status for one in done] == [66] * 3
    assert all("no model there" in one.err for one in done)
    assert [len(mail.messages(one)) for one in (INBOX, JUNK)] == [2, 0]


def test_a_tilde_behind_an_equals_sign_is_expanded(mail: Home, spam: bytes) -> None:
    command = "nbtext filter --quiet ~/mbox --move spam=~/junk.mbox"
    assert f"`{command}`" in (PAGES / PAGE).read_text("utf-8")
    line = b"From a@b.example Thu Mar  7 08:15:00 2024\n"
    (mail.path / "mbox").write_bytes(line + spam + b"\n")

    done = as_cron(mail, command.replace("nbtext", str(mail.program), 1))

    assert done == (0, b"", "")
    assert b"INHERITANCE" in (mail.path / "junk.mbox").read_bytes()


def test_cron_can_read_the_lines(home: Home, debian: "Program") -> None:
    crontab = home.write("crontab", home.recipe(PAGE, "crontab -e"))

    done = home.run(debian("crontab"), "-n", crontab)

    assert done.status == 0, done.err


def test_systemd_can_read_the_units(home: Home, debian: "Program") -> None:
    analyze = debian("systemd-analyze")
    paths = [
        home.write(unit.removeprefix("~/"), home.recipe(PAGE, unit))
        for unit in (SORT, LEARN, *TIMERS)
    ]

    done = home.run(
        analyze, "--user", "verify", *paths, env={"XDG_RUNTIME_DIR": str(home.path)}
    )

    assert (done.status, done.out, done.err) == (0, b"", "")


def test_the_services_do_what_cron_does(mail: Home) -> None:
    for unit in (SORT, LEARN):
        text = mail.recipe(PAGE, unit)
        if unit == LEARN:
            see(mail, JUNK)
        # a dash: systemd goes on if it fails
        for line in re.findall(r"^ExecStart=-?(.*)$", text, re.MULTILINE):
            command = line.replace("%h", str(mail.path)).split()
            subprocess.run(
                command, env=mail.environment(), check=True, timeout=PATIENCE
            )

    assert mail.counts() == after(spam=1)
    assert len(mail.messages(JUNK)) == 1
