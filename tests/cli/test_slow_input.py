"""
Standard input that another program has set not to block, and that comes in pieces.

All programs that share a pipe share how it is opened, so nobody chooses that.
"""

import os
import subprocess
import sys
import threading
from array import array
from fcntl import ioctl
from pathlib import Path
from termios import FIONREAD

import pytest

from nbtext import train_on
from tests.build import HAM, SPAM, mail
from tests.waiting import PATIENCE, wait_until

MESSAGE = (
    b"Subject: more\nFrom: a@b.example\nMessage-ID: <1@b>\n\n" + b"word\n" * 40_000
)

COMMANDS = [
    ["pass"],
    ["pass", "--header", "X-Spam"],
    ["pass", "-m", "nothing.nbt"],
    ["bogofilter", "-p", "-e", "--model", "m.nbt"],
    ["bogofilter", "-p", "-v", "-e", "--model", "m.nbt"],
    ["bogofilter", "-v", "-e", "--model", "m.nbt"],
    ["classify", "--json"],
    ["classify"],
    ["why"],
    ["eval", "spam=-", "ham=ham.eml", "--json"],
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    pairs = [("spam", mail(1, SPAM)), ("ham", mail(2, HAM))]
    train_on(pairs, str(tmp_path / "m.nbt"))
    (tmp_path / "ham.eml").write_bytes(mail(3, HAM))
    return tmp_path


def is_waiting(process: "subprocess.Popen[bytes]", pipe: int) -> bool:
    """Return whether a process has read all of a pipe and sleeps, or has ended."""
    unread = array("i", [0])
    ioctl(pipe, FIONREAD, unread)
    state = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0]
    return state == "Z" or (state == "S" and not unread[0])


def run(
    arguments: list[str], folder: Path, pieces: list[bytes]
) -> tuple[int, bytes, bytes]:
    """Run a command whose input is set not to block, and is given piece by piece."""
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    os.write(writing, pieces[0])
    command = [sys.executable, "-m", "nbtext", *arguments]
    process = subprocess.Popen(
        command,
        stdin=reading,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        env={**os.environ, "NBTEXT_MODEL": "m.nbt"},
    )
    os.close(reading)
    wait_until(lambda: is_waiting(process, writing))

    def feed() -> None:
        with open(writing, "wb", buffering=0) as rest:  # noqa: PTH123  it is open
            for piece in pieces[1:]:
                rest.write(piece)

    feeding = threading.Thread(target=feed)
    feeding.start()
    out, err = process.communicate(timeout=PATIENCE)
    feeding.join(PATIENCE)
    return process.returncode, out, err


def run_at_once(
    arguments: list[str], folder: Path, data: bytes
) -> tuple[int, bytes, bytes]:
    """Run a command whose input is all there."""
    done = subprocess.run(
        [sys.executable, "-m", "nbtext", *arguments],
        input=data,
        capture_output=True,
        cwd=folder,
        env={**os.environ, "NBTEXT_MODEL": "m.nbt"},
        timeout=PATIENCE,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("n_first", [0, 20_000])
def test_all_of_it_is_waited_for(
    folder: Path, arguments: list[str], n_first: int
) -> None:
    whole = run_at_once(arguments, folder, MESSAGE)

    found = run(arguments, folder, [MESSAGE[:n_first], MESSAGE[n_first:]])

    assert found == whole
    assert found[1]


def test_what_is_read_again_and_again_is_all_there(folder: Path) -> None:
    mbox = b"".join(
        b"From a@b Thu Nov 26 10:00:00 2026\n" + mail(n, SPAM) + b"\n"
        for n in range(40)
    )
    (folder / "ham.mbox").write_bytes(mbox.replace(b"money", b"lunch"))
    arguments = ["eval", "--folds", "2", "spam=-", "ham=ham.mbox", "--json"]
    whole = run_at_once(arguments, folder, mbox)

    found = run(arguments, folder, [mbox[:5000], mbox[5000:]])

    assert found == whole
    assert b'"documents": 80' in found[1]


def test_what_is_learnt_is_all_of_it(folder: Path) -> None:
    code, _, _ = run(["learn", "spam"], folder, [MESSAGE[:9000], MESSAGE[9000:]])
    whole = folder / "whole.eml"
    whole.write_bytes(MESSAGE)

    _, _, forgotten = run_at_once(["forget", str(whole)], folder, b"")

    assert code == 0
    assert forgotten == b"forgot 1 document\n"
