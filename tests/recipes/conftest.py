"""
The blocks of docs/recipes as they stand there, and somebody's home to try them in.

A block is found by its first line (or the one after `#!`), a comment that names the
file it belongs to. What it is tried with differs from what stands in the page in the
names of `STANDS_FOR` only; docs/recipes/README.md tells the reader the same.
"""

import grp
import json
import os
import pwd
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import click
import msgpack
import pytest

import nbtext
from nbtext.cli.tokens_command import Row, counted_terms
from nbtext.document import Document
from nbtext.mail.message import read_mail
from nbtext.scoring.classifier import Classifier
from nbtext.scoring.model import load_model
from nbtext.tokens.reading import read
from tests.waiting import PATIENCE

if TYPE_CHECKING:
    from tests.recipes.servers import Dovecot

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "recipes"
DEMO = ROOT / "corpora" / "demo"
LABELS = ("ham", "spam")
PROGRAM = Path(sys.executable).parent / "nbtext"
FENCED = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TITLE = re.compile(r"\A(?:#!.*\n)?# (.*)")
OUR_FIELD = re.compile(rb"^X-NBText: (.*)\n", re.MULTILINE)

STANDS_FOR = {
    "program": "/usr/local/bin/nbtext",
    "home": "/home/jo",
    "user": "jo",
}
"""What a page says for the path of the program, and for somebody and their home."""

N_COPIES = 5
"""How often the model counts each message of the demo corpus. filter moves nothing with
fewer than 98 ham."""

TRAINED = {label: N_COPIES * len([*(DEMO / label).iterdir()]) for label in LABELS}
"""How many messages the model has counted."""

SURE_SPAM = f"spam, probability={(TRAINED['ham'] + 1) / (TRAINED['ham'] + 2):.4f}"
"""Our field in a spam that is as probable as it can be: the rule of succession."""

Wrap: TypeAlias = tuple[str, ...]
"""What is written before a command."""


class Done(NamedTuple):
    """What a program leaves: its exit status and what it printed."""

    status: int
    out: bytes
    err: str


def blocks(page: str) -> dict[str, str]:
    """The blocks of a page that name their file, by that name."""
    text = (PAGES / page).read_text("utf-8")
    found = [block for _, block in FENCED.findall(text)]
    return {title[1]: block for block in found if (title := TITLE.match(block))}


class Home:
    """
    A folder of its own, in which a program finds what its user has written there.

    Attributes:
        path: the folder. Short, because sockets are made in it.
        wrap: what is written before commands to be an ordinary user.
        program: what the pages call /usr/local/bin/nbtext.
    """

    def __init__(self, path: Path, wrap: Wrap = (), program: Path = PROGRAM) -> None:
        self.path = path
        self.wrap = wrap
        self.program = program
        self.model = path / ".local" / "share" / "nbtext" / "model.nbt"
        who = pwd.getpwnam("nobody") if wrap else pwd.getpwuid(os.getuid())
        self.user = who.pw_name
        self.group = grp.getgrgid(who.pw_gid).gr_name

    def recipe(self, page: str, title: str, further: Mapping[str, str] = {}) -> str:
        """Return a block of a page, with our names for those of the page."""
        text = blocks(page)[title]
        ours = {"program": str(self.program), "home": str(self.path), "user": self.user}
        for what, said in STANDS_FOR.items():
            # systemd has `ExecStart=-PROGRAM`
            alone = rf"(?<![\w.])(?<![^=]-){said}(?![\w.-])"
            text = re.sub(alone, ours[what], text)
        for said, meant in further.items():
            text = text.replace(said, meant)
        return text

    def write(self, name: str, text: str, mode: int = 0o600) -> Path:
        """Write a file in this home."""
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(mode)
        self.own(path)
        return path

    def maildir(self, name: str, *messages: bytes) -> Path:
        """Make a Maildir, or put further messages into one."""
        path = self.path / name
        for part in ("tmp", "new", "cur"):
            (path / part).mkdir(parents=True, exist_ok=True)
        for number, message in enumerate(messages, len(self.messages(name))):
            (path / "new" / f"{number}.test").write_bytes(message)
        for one in path.rglob("*"):
            self.own(one)
        return path

    def own(self, path: Path) -> None:
        """Give what root has made in this home, and where it is, to its user."""
        if self.wrap[:1] == ("setpriv",):
            for one in (path, *path.parents):
                if one.is_relative_to(self.path):
                    shutil.chown(one, self.user, self.group)

    def run(
        self,
        *command: object,
        stdin: bytes = b"",
        env: Mapping[str, str] | None = None,
        timeout: float = PATIENCE,
    ) -> Done:
        """Run a program with next to nothing in its environment, as at delivery."""
        done = subprocess.run(
            [*self.wrap, *map(str, command)],
            input=stdin,
            capture_output=True,
            check=False,
            cwd=self.path,
            env=self.environment() | dict(env or {}),
            timeout=timeout,
        )
        return Done(
            done.returncode, done.stdout, done.stderr.decode("utf-8", "replace")
        )

    def environment(self) -> dict[str, str]:
        """Return what a delivered mail's filter may find in its environment."""
        return {"HOME": str(self.path), "PATH": "/usr/bin:/bin"}

    def nbtext(self, *arguments: object, stdin: bytes = b"") -> Done:
        """Run nbtext itself, which must not fail."""
        done = self.run(PROGRAM, *arguments, stdin=stdin)
        assert done.status == 0, done.err
        return done

    def info(self) -> dict[str, Any]:
        """Return what `nbtext info` says of the model."""
        facts: dict[str, Any] = json.loads(self.nbtext("info", "--json").out)
        return facts

    def counts(self) -> dict[str, int]:
        """Return how many documents of each class the model has counted."""
        return {name: one["documents"] for name, one in self.info()["classes"].items()}

    def messages(self, folder: str) -> list[bytes]:
        """Return the messages in a Maildir, oldest name first."""
        inside = self.path / folder
        found = [*inside.glob("new/*"), *inside.glob("cur/*")]
        return [one.read_bytes() for one in sorted(found)]


def field(message: bytes) -> str | None:
    """Return what our field says in a message, None if it has none."""
    found = OUR_FIELD.findall(message.partition(b"\n\n")[0] + b"\n")
    assert len(found) < 2
    return found[0].decode() if found else None


def demo(name: str) -> bytes:
    """Return a message of the demo corpus that training does not see."""
    return (DEMO / "check" / name).read_bytes()


def after(*, ham: int = 0, spam: int = 0) -> dict[str, int]:
    """Return what the model has counted after so many more messages."""
    return {"ham": TRAINED["ham"] + ham, "spam": TRAINED["spam"] + spam}


@pytest.fixture
def spam() -> bytes:
    """A message that the model takes for spam."""
    return demo("spam/03-advance-fee.eml")


@pytest.fixture
def ham() -> bytes:
    """A message that the model takes for ham."""
    return demo("ham/05-short-reply.eml")


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of the demo corpus, each message as it is and in further copies."""
    folder = tmp_path_factory.mktemp("trained")
    for label in LABELS:
        (folder / label).mkdir()
        for path in (DEMO / label).iterdir():
            for number in range(N_COPIES):
                copy = b"X-Copy: %d\n" % number if number else b""
                copied = folder / label / f"{number}-{path.name}"
                copied.write_bytes(copy + path.read_bytes())
    path = folder / "model.nbt"
    sources = (folder / "spam", folder / "ham")
    subprocess.run([PROGRAM, "train", "-q", "-m", path, *sources], check=True)
    return path


@pytest.fixture(scope="session")
def ordinary() -> Wrap:
    """
    What is written before a command so that root does not run it.

    Some programs refuse to work for root. The program under test may lie where only
    root can look, so it is root still, by another name, or may look anywhere.
    """
    if os.getuid():
        return ()
    nobody = pwd.getpwnam("nobody")
    user, group = str(nobody.pw_uid), str(nobody.pw_gid)
    look = "-all,+dac_read_search"
    ways: Sequence[Wrap] = [
        ("unshare", "--user", f"--map-user={user}", f"--map-group={group}"),
        ("setpriv", f"--reuid={user}", f"--regid={group}", "--clear-groups",
         f"--inh-caps={look}", f"--ambient-caps={look}"),
    ]  # fmt: skip
    for way in ways:
        if shutil.which(way[0]):
            tried = subprocess.run(
                [*way, PROGRAM, "--version"], capture_output=True, check=False
            )
            if tried.returncode == 0:
                return way
    pytest.skip("root cannot be another user here who may run nbtext")


@pytest.fixture(scope="session")
def everybodys_program() -> Iterator[Path]:
    """
    Path of an nbtext that every user may run.

    Where that under test lies under root's home, it is a copy, for Debian's Python and
    without numpy, which one message does not need.
    """
    if os.getuid():
        pytest.skip("only root can be another user")
    nobody = pwd.getpwnam("nobody")

    def works(program: Path) -> bool:
        try:
            tried = subprocess.run(
                [program, "--version"], user=nobody.pw_uid, group=nobody.pw_gid,
                extra_groups=[], capture_output=True, check=False,
            )  # fmt: skip
        except OSError:
            return False
        return tried.returncode == 0

    if works(PROGRAM):
        yield PROGRAM
        return
    with TemporaryDirectory(prefix="nbtext-", dir="/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)
        for package in (nbtext, msgpack, click):
            source = Path(str(package.__file__)).parent
            shutil.copytree(source, folder / "site" / source.name)
        program = folder / "nbtext"
        line = f'PYTHONPATH={folder}/site exec /usr/bin/python3 -m nbtext "$@"'
        program.write_text(f"#!/bin/sh\n{line}\n", "utf-8")
        program.chmod(0o755)
        if not works(program):
            pytest.skip("no nbtext that every user may run")
        yield program


@contextmanager
def home_with(
    model: Path, wrap: Wrap = (), program: Path = PROGRAM
) -> Iterator["Home"]:
    """Make a home with a model in it, at the place where nbtext looks for one."""
    with TemporaryDirectory(prefix="nbtext-", dir="/tmp") as name:
        made = Home(Path(name), wrap, program)
        made.model.parent.mkdir(parents=True)
        shutil.copyfile(model, made.model)
        made.model.chmod(0o600)
        made.own(made.model)
        yield made


@pytest.fixture
def home(trained: Path) -> Iterator[Home]:
    """Somebody's home."""
    with home_with(trained) as made:
        yield made


@pytest.fixture(scope="session")
def running_dovecot(
    trained: Path, ordinary: Wrap, debian: "Program"
) -> Iterator["Dovecot"]:
    """A Dovecot of our own, with the recipe in its configuration."""
    from tests.recipes.servers import dovecot_for

    program = debian("dovecot")
    debian("sievec")
    with home_with(trained, ordinary) as made, dovecot_for(made, program) as server:
        yield server


@pytest.fixture
def dovecot(running_dovecot: "Dovecot", trained: Path) -> "Dovecot":
    """The same, without mail, and with a model that was not taught."""
    running_dovecot.begin_again(trained)
    return running_dovecot


class Same:
    """Whether a message is still the same to a model."""

    def __init__(self, model: Path) -> None:
        self._model = load_model(str(model))
        self._classifier = Classifier(self._model)

    def seen(self, message: bytes) -> tuple[list[Row], bytes, float]:
        """Return a message's tokens, its identity and how probable its label is."""
        document = Document("-", (message,))
        settings = self._model.settings
        tokens = counted_terms(settings, read(document, settings).views)
        (decision,) = self._classifier.classify([document])
        return tokens, read_mail(message).digest, decision.probability

    def field_of(self, message: bytes) -> str:
        """Return what our field should say in a message."""
        (decision,) = self._classifier.classify([Document("-", (message,))])
        return f"{decision.label}, probability={min(decision.probability, 0.9999):.4f}"

    def assert_same(self, before: bytes, after: bytes) -> None:
        """Compare all that, token by token."""
        tokens, *others = self.seen(after)
        tokens_before, *others_before = self.seen(before)
        assert sorted(set(tokens) ^ set(tokens_before)) == []
        assert others == others_before


@pytest.fixture(scope="session")
def same(trained: Path) -> Same:
    """What compares a message before and after it was delivered."""
    return Same(trained)


Program: TypeAlias = Callable[[str], str]


@pytest.fixture(scope="session")
def debian() -> Program:
    """The path of a program from Debian; where it is missing, the test is skipped."""

    def find(name: str) -> str:
        found = shutil.which(name, path="/usr/bin:/usr/sbin:/usr/local/bin:/bin:/sbin")
        if found is None:
            pytest.skip(f"{name} is not installed (make recipes-test)")
        return found

    return find
