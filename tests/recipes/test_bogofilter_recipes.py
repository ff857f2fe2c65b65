"""
The recipes of bogofilter's own documentation, with `nbtext bogofilter` in its place.

The program is put in place as its users would: a link called bogofilter, first on the
path. What runs it is the real procmail, maildrop and formail, and bogofilter's scripts.
"""

import gzip
import os
import subprocess
import sys
from pathlib import Path
from shutil import which

import pytest

from nbtext.scoring.model import load_model
from tests.build import HAM, SPAM, mail
from tests.waiting import PATIENCE

DOC = Path("/usr/share/doc/bogofilter")
PROGRAM = Path(sys.executable).with_name("nbtext")
STRANGE = b"Subject: xyzzy\n\nplugh\n"
ENVELOPE = b"From a@b.example Tue Feb  6 10:00:00 2024\n"

pytestmark = [
    pytest.mark.recipes,
    pytest.mark.skipif(not PROGRAM.exists(), reason=f"{PROGRAM} is not installed"),
]


def needs(program: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(not which(program), reason=f"{program} is not installed")


class Home:
    """A user's home, where bogofilter is another program than it was."""

    def __init__(self, path: Path) -> None:
        self.path = path
        (path / "bin").mkdir()
        (path / "bin" / "bogofilter").symlink_to(PROGRAM)
        self.env = {
            "HOME": str(path),
            "PATH": f"{path}/bin:/usr/bin:/bin",
            "BOGOFILTER_DIR": str(path / "words"),
            "LOGNAME": os.environ.get("LOGNAME", "root"),
        }

    def run(
        self, *command: str, stdin: bytes = b"", status: int = 0
    ) -> subprocess.CompletedProcess[bytes]:
        done = subprocess.run(
            command, input=stdin, capture_output=True, check=False, cwd=self.path,
            env=self.env, timeout=PATIENCE,
        )  # fmt: skip
        assert done.returncode == status, done.stderr.decode()
        return done

    def train(self) -> None:
        """Learn enough messages of each class for a verdict."""
        for option, words in (("-s", SPAM), ("-n", HAM)):
            messages = [ENVELOPE + mail(number, words) + b"\n" for number in range(100)]
            self.run("bogofilter", option, stdin=b"".join(messages))

    def documents(self) -> dict[str, int]:
        model = load_model(str(self.path / "words" / "nbtext.nbt"))
        return dict(zip(model.classes, model.documents, strict=True))

    def mailbox(self, name: str) -> bytes:
        path = self.path / name
        return path.read_bytes() if path.exists() else b""

    def write(self, name: str, text: str, mode: int = 0o600) -> str:
        path = self.path / name
        path.write_text(text.replace("%HOME%", str(self.path)))
        path.chmod(mode)
        return str(path)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def new(number: int, words: tuple[str, ...]) -> bytes:
    """A message like those that were learnt, but another."""
    return mail(number, words).replace(b"Message-ID: <", b"Message-ID: <new")


PROCMAIL_START = """\
MAILDIR=%HOME%
DEFAULT=%HOME%/inbox
LOGFILE=%HOME%/procmail.log
SHELL=/bin/sh
PATH=%HOME%/bin:/usr/bin:/bin
BOGOFILTER_DIR=%HOME%/words
"""
MANUAL_RECIPE = """
:0fw
| bogofilter -u -e -p

:0e
{ EXITCODE=75 HOST }

:0:
* ^X-Bogosity: Spam, tests=bogofilter
spam-bogofilter

:0:
* ^X-Bogosity: Unsure, tests=bogofilter
unsure-bogofilter
"""


@needs("procmail")
def test_the_procmail_recipe_of_the_manual(home: Home) -> None:
    home.train()
    recipe = home.write("rc", PROCMAIL_START + MANUAL_RECIPE)

    for message in (new(1, SPAM), new(1, HAM), STRANGE):
        home.run("procmail", recipe, stdin=message)

    assert b"X-Bogosity: Spam, " in home.mailbox("spam-bogofilter")
    assert b"X-Bogosity: Ham, " in home.mailbox("inbox")
    assert b"X-Bogosity: Unsure, " in home.mailbox("unsure-bogofilter")
    assert home.documents() == {"ham": 101, "spam": 101}


@needs("procmail")
def test_the_procmail_recipe_begins_with_nothing_and_learns_from_the_unsure(
    home: Home,
) -> None:
    recipe = home.write("rc", PROCMAIL_START + MANUAL_RECIPE)

    for message in (mail(1, SPAM), mail(1, HAM)):
        home.run("procmail", recipe, stdin=message)
    assert home.mailbox("unsure-bogofilter").count(b"X-Bogosity: Unsure") == 2

    home.train()
    home.run("procmail", recipe, stdin=mail(1, SPAM))
    assert b"X-Bogosity: Spam, " in home.mailbox("spam-bogofilter")


@needs("procmail")
def test_mail_goes_back_to_the_queue_when_the_filter_fails(home: Home) -> None:
    home.train()
    (home.path / "words" / "nbtext.nbt").write_bytes(b"junk" * 99)
    recipe = home.write("rc", PROCMAIL_START + MANUAL_RECIPE)

    home.run("procmail", recipe, stdin=mail(1, SPAM), status=75)

    assert home.mailbox("inbox") == home.mailbox("spam-bogofilter") == b""


@needs("procmail")
def test_without_that_recipe_a_filter_that_fails_leaves_the_mail_as_it_was(
    home: Home,
) -> None:
    recipe = home.write("rc", PROCMAIL_START + "\n:0fw\n| bogofilter -uep\n")
    (home.path / "words").mkdir()
    (home.path / "words" / "nbtext.nbt").write_bytes(b"junk" * 99)

    home.run("procmail", recipe, stdin=mail(1, SPAM))

    assert mail(1, SPAM) in home.mailbox("inbox")


@needs("procmail")
@pytest.mark.parametrize("options", ["", " -u"])
def test_the_exit_status_is_a_procmail_condition(home: Home, options: str) -> None:
    home.train()
    text = f"\n:0HB:\n* ? bogofilter{options}\nspam\n"
    recipe = home.write("rc", PROCMAIL_START + text)

    for message in (new(1, SPAM), new(1, HAM), STRANGE):
        home.run("procmail", recipe, stdin=message)

    assert home.mailbox("spam").count(b"\nSubject: ") == 1
    assert home.mailbox("inbox").count(b"Subject: ") == 2
    learnt = 101 if options else 100
    assert home.documents() == {"ham": learnt, "spam": learnt}


@needs("procmail")
@pytest.mark.skipif(not DOC.exists(), reason="bogofilter's documentation is not there")
def test_the_example_for_procmail(home: Home) -> None:
    home.train()
    text = (DOC / "examples" / "contrib" / "procmailrc.example").read_text()
    text = text.replace("MAILDIR=/var/spool/mail", "").replace(
        "BOGOFILTER_DIR=/var/spool/bogofilter", ""
    )
    recipe = home.write("rc", PROCMAIL_START + text)

    for message in (new(1, SPAM), new(1, HAM), STRANGE):
        home.run("procmail", recipe, stdin=message)

    assert home.mailbox("spam-bogofilter").count(b"X-Bogosity: Spam, ") == 1
    assert home.mailbox("unsure-bogofilter").count(b"X-Bogosity: Unsure, ") == 1
    assert home.mailbox("inbox").count(b"X-Bogosity: ") == 3


@needs("maildrop")
def test_the_maildrop_recipe_of_the_manual(home: Home) -> None:
    home.train()
    recipe = home.write(
        "filter",
        "DEFAULT=%HOME%/inbox\n"
        "PATH=%HOME%/bin:/usr/bin:/bin\n"
        "BOGOFILTER_DIR=%HOME%/words\n"
        'xfilter "bogofilter -u -e -p"\n'
        "if (/^X-Bogosity: Spam, tests=bogofilter/)\n"
        "{\n"
        '  to "%HOME%/spam-bogofilter"\n'
        "}\n",
    )

    for message in (new(1, SPAM), new(1, HAM)):
        home.run("maildrop", recipe, stdin=message)

    assert b"X-Bogosity: Spam, " in home.mailbox("spam-bogofilter")
    assert b"X-Bogosity: Ham, " in home.mailbox("inbox")
    assert home.documents() == {"ham": 101, "spam": 101}


def test_the_postfix_filter(home: Home) -> None:
    home.train()
    script = home.write(
        "filter.sh",
        "#!/bin/sh\n"
        "bogofilter -p -u -e > msg.$$ || exit 75\n"
        'exec < msg.$$ || exit 75\nrm -f msg.$$\nexec cat "$@"\n',
        0o700,
    )

    passed = home.run(script, stdin=new(1, SPAM)).stdout

    assert b"\nX-Bogosity: Spam, " in passed
    (home.path / "words" / "nbtext.nbt").write_bytes(b"junk")
    assert home.run(script, stdin=new(2, SPAM), status=75).stdout == b""


def test_registering_what_was_sent_back(home: Home) -> None:
    home.train()
    marked = home.run("bogofilter", "-uep", stdin=new(1, SPAM)).stdout
    bounced = b"Resent-From: reader@example.com\n" + marked
    command = (
        "sed '/^Resent/d; /^Delivered-To/d; /^X-Bogosity/d' | bogofilter -d words -Sn"
    )

    home.run("sh", "-c", command, stdin=bounced)

    assert home.documents() == {"ham": 101, "spam": 100}


def test_the_macros_of_mail_readers(home: Home) -> None:
    home.train()
    for label, words in (("spam", SPAM), ("ham", HAM)):
        (home.path / f"{label} 1.eml").write_bytes(new(1, words))

    for command in (
        'bogofilter -s < "spam 1.eml"', 'bogofilter -n -v -B "ham 1.eml"',
        'bogofilter -S < "spam 1.eml"', 'bogofilter -N < "ham 1.eml"',
        "find . -name '*1.eml' | bogofilter -bNsv",
        'bogofilter -vvv < "ham 1.eml"; [ $? -eq 1 ]',  # the other 100 ham outweigh it
        'bogofilter -Sn -I "ham 1.eml"',
    ):  # fmt: skip
        done = home.run("sh", "-c", command)
        assert b"Error" not in done.stderr

    assert home.documents() == {"ham": 101, "spam": 101}


def test_training_by_mailboxes_and_folders(home: Home) -> None:
    for label, words in (("spam", SPAM), ("ham", HAM)):
        for part in ("cur", "new", "tmp"):
            (home.path / label / part).mkdir(parents=True)
        for number in range(4):
            (home.path / label / "cur" / f"{number}:2,S").write_bytes(
                mail(number, words)
            )
        box = b"".join(ENVELOPE + mail(number, words) + b"\n" for number in range(6))
        (home.path / f"{label}.mbox").write_bytes(box)

    for command in (
        "bogofilter -M -s -I spam.mbox", "bogofilter -M -n -I ham.mbox",
        "bogofilter -s -B spam", "bogofilter -vnMB ham", "bogofilter -vnM < ham.mbox",
        "bogofilter -M -Ns -I spam.mbox", "bogofilter -M -Sn -I ham.mbox",
    ):  # fmt: skip
        home.run("sh", "-c", command)

    assert home.documents() == {"ham": 6, "spam": 6}


@needs("formail")
def test_classifying_an_mbox_with_formail(home: Home) -> None:
    home.train()
    home.write(
        "bin/class3",
        "#!/bin/sh\n"
        "cat > msg.$$\n"
        "bogofilter < msg.$$\n"
        "cat msg.$$ >> corpus.$?\n"
        "rm msg.$$\n",
        0o700,
    )
    box = b"".join(
        ENVELOPE + message + b"\n" for message in (new(1, SPAM), new(1, HAM), STRANGE)
    )

    home.run("formail", "-s", "class3", stdin=box)

    for status in range(3):
        assert home.mailbox(f"corpus.{status}").count(b"Subject: ") == 1


@needs("perl")
@pytest.mark.skipif(not DOC.exists(), reason="bogofilter's documentation is not there")
def test_bogominitrain(home: Home) -> None:
    for label, words in (("spam", SPAM), ("ham", HAM)):
        box = b"".join(ENVELOPE + mail(number, words) + b"\n" for number in range(8))
        (home.path / f"{label}.mbox").write_bytes(box)
    (home.path / "words").mkdir()
    script = str(DOC / "examples" / "contrib" / "bogominitrain.pl")
    # it learns from errors only, so few ham that no spam is as probable as 0.9

    done = home.run(
        "perl", script, "-fnv", "words", "ham.mbox", "spam.mbox", "-o 0.6,0.3"
    )

    assert b"False negatives: 0\nFalse positives: 0\n" in done.stdout
    assert home.documents().keys() == {"ham", "spam"}
    box = (home.path / "spam.mbox").read_bytes()
    out = home.run("bogofilter", "-TM", "-o0.6,0.3", stdin=box).stdout
    assert [line[:1] for line in out.splitlines()] == [b"S"] * 8


@needs("bash")
@pytest.mark.skipif(not DOC.exists(), reason="bogofilter's documentation is not there")
def test_randomtrain(home: Home) -> None:
    contrib = DOC / "examples" / "contrib"
    home.write("bin/scramble.sh", (contrib / "scramble.sh").read_text(), 0o700)
    text = gzip.decompress((contrib / "randomtrain.sh.gz").read_bytes()).decode()
    script = home.write("bin/randomtrain", text, 0o700)
    for label, words in (("spam", SPAM), ("ham", HAM)):
        box = b"".join(ENVELOPE + mail(number, words) + b"\n" for number in range(4))
        (home.path / f"{label}.mbox").write_bytes(box)
    (home.path / "words").mkdir()

    # not by `-s` and `-n`, with which the script calls bogofilter --s and --n
    home.run("bash", script, "-d", "words", "s", "spam.mbox", "n", "ham.mbox")

    assert home.documents().keys() == {"ham", "spam"}
