"""The program, in this process and in one of its own, and something to feed it."""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import click
import pytest
from click.testing import CliRunner

from nbtext import train
from nbtext.cli import main
from tests.build import HAM, SPAM, mail
from tests.waiting import PATIENCE

PROGRAM = [sys.executable, "-m", "nbtext"]


class Outcome(NamedTuple):
    """What a run of the program leaves: its exit status and what it printed."""

    status: int
    out: str
    err: str


Run: TypeAlias = Callable[..., Outcome]
"""Runs the program with arguments, `stdin` and `env`."""


class _Whole(click.Command):
    """The whole program, errors and exit status included, for click's runner."""

    def main(self, args: Any = None, *_: Any, **__: Any) -> Any:
        main([str(argument) for argument in args])


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in an empty folder, with nothing of the user's in the environment."""
    unwanted = (
        "NBTEXT_MODEL",
        "NBTEXT_KEYED",
        "XDG_DATA_HOME",
        "NO_COLOR",
        "NBTEXT_DEBUG",
    )
    for name in (*unwanted, "PYTHONUNBUFFERED"):  # which would hide what buffers do
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def run() -> Run:
    """The program in this process."""

    def run(
        *arguments: object, stdin: bytes = b"", env: Mapping[str, str] | None = None
    ) -> Outcome:
        result = CliRunner().invoke(
            _Whole("nbtext"), [str(one) for one in arguments], input=stdin, env=env
        )
        return Outcome(result.exit_code, result.stdout, result.stderr)

    return run


@pytest.fixture
def process() -> Run:
    """The program in a process of its own."""

    def process(
        *arguments: object,
        stdin: bytes = b"",
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        wrap: str = "exec",
    ) -> Outcome:
        command = [*PROGRAM, *map(str, arguments)]
        if wrap != "exec":  # a line of shell in which "$@" is the program
            command = ["sh", "-c", wrap, "sh", *command]
        done = subprocess.run(
            command, input=stdin, capture_output=True, check=False, cwd=cwd,
            env=os.environ | dict(env or {}), timeout=PATIENCE,
        )  # fmt: skip
        out = done.stdout.decode("utf-8", "backslashreplace")
        err = done.stderr.decode("utf-8", "backslashreplace")
        return Outcome(done.returncode, out, err)

    return process


def on_a_terminal(*arguments: str) -> Outcome:
    """Run the program where a person could type what it reads."""
    ours, theirs = os.openpty()
    try:
        done = subprocess.run(
            [*PROGRAM, *arguments], stdin=theirs, capture_output=True, check=False,
            timeout=PATIENCE, text=True,
        )  # fmt: skip
    finally:
        os.close(ours)
        os.close(theirs)
    return Outcome(done.returncode, done.stdout, done.stderr)


def read_once(*arguments: str, unbuffered: str) -> tuple[int, bytes, bytes]:
    """Run the program, and close its output after the first line, which is returned."""
    with subprocess.Popen(
        [*PROGRAM, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONUNBUFFERED": unbuffered},
    ) as program:
        assert program.stdout
        assert program.stderr
        first = program.stdout.readline()
        program.stdout.close()
        _, complaints = program.communicate(timeout=PATIENCE)
    return program.returncode, first, complaints


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A folder with spam/ and ham/, eight messages each."""
    return corpus_of(tmp_path, 8)


def corpus_of(folder: Path, count: int) -> Path:
    """Write so many messages of spam and ham to a folder."""
    for label, words in (("spam", SPAM), ("ham", HAM)):
        (folder / label).mkdir()
        for number in range(count):
            path = folder / label / f"{number}.eml"
            path.write_bytes(mail(number, words))
    return folder


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A model of the corpus, trained once."""
    return trained_of(tmp_path_factory.mktemp("corpus"), 8)


def trained_of(folder: Path, count: int) -> bytes:
    """Return a model of so many messages of spam and ham, written to a folder."""
    path = corpus_of(folder, count) / "mail.nbt"
    train([folder / "spam", folder / "ham"], path)
    return path.read_bytes()


@pytest.fixture
def model(corpus: Path, trained: bytes) -> Path:
    """A model of the corpus, mail.nbt in the folder we are in."""
    path = corpus / "mail.nbt"
    path.write_bytes(trained)
    return path


@pytest.fixture
def message(corpus: Path) -> bytes:
    """One of the spam."""
    return (corpus / "spam" / "3.eml").read_bytes()
