"""`nbtext serve --users`: each user whom a client names has the own model."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from pwd import getpwnam
from tempfile import TemporaryDirectory
from time import monotonic, sleep
from typing import TYPE_CHECKING

import pytest

from nbtext import train_on
from nbtext.cli._status import USAGE
from nbtext.scoring import load_model
from nbtext.store.lock import WAIT, locked
from tests.build import HAM, SPAM, mail
from tests.serve.conftest import request
from tests.serve.test_clients import spamc, with_spamc
from tests.serve.test_life import run
from tests.waiting import PATIENCE

if TYPE_CHECKING:
    from tests.serve.conftest import Mails, Server, Start

TEACH = ("Message-class: spam", "Set: local")
PYTHON = shutil.which("python3", path="/usr/bin:/usr/local/bin")
"""A Python that every user may run."""
LONG = b"word " * 8000
"""Makes a message one for the helper."""


@pytest.fixture
def users() -> Iterator[Path]:
    """A folder with the model of anna, for whom spam and ham are the reverse."""
    with TemporaryDirectory() as name:
        pairs = [("ham", mail(n, SPAM)) for n in range(8)]
        pairs += [("spam", mail(n, HAM)) for n in range(8)]
        train_on(pairs, f"{name}/anna.nbt")
        yield Path(name)


def n_documents(path: Path) -> int:
    return sum(load_model(str(path)).documents)


def is_spam(
    server: "Server", message: bytes, user: str = "", verb: str = "CHECK"
) -> bool:
    lines = [f"User: {user}"] if user else []
    answer = server.ask(request(verb, message, *lines))
    assert b" EX_OK\r\n" in answer, answer
    return b"Spam: True" in answer


@pytest.mark.recipes
@with_spamc
def test_spamc_names_a_user(start: "Start", mails: "Mails", users: Path) -> None:
    server = start("--users", str(users))

    for user, is_own in (("anna", True), ("bob", False)):
        for verb in ("-c", "-E"):
            assert spamc(server, mails.spam, "-u", user, verb)[0] == (not is_own)
            assert spamc(server, mails.ham, "-u", user, verb)[0] == is_own
        report = spamc(server, mails.ham, "-u", user, "-R")[1]
        assert (b": spam," in report) == is_own

    done = b"Message successfully un/learned\n"
    assert spamc(server, mails.ham, "-u", "anna", "-L", "ham") == (0, done)
    assert spamc(server, mails.ham, "-u", "bob", "-L", "ham")[0] == 74
    assert n_documents(users / "anna.nbt") == 17
    assert n_documents(server.model) == 16
    assert spamc(server, mails.ham, "-u", "", "-L", "ham") == (0, done)
    assert n_documents(users / "anna.nbt") == n_documents(server.model) == 17
    assert any("refused=69 reason=" in line and "cp -p" in line for line in server.log)
    line = server.wait_for_log("verb=CHECK user=anna ")
    assert line.endswith(" model=user")
    assert server.wait_for_log("verb=CHECK user=bob ").endswith(" model=server")


@pytest.mark.parametrize("more", [b"", LONG], ids=["by the worker", "by the helper"])
def test_a_lesson_counts_for_its_user_alone(
    start: "Start", mails: "Mails", users: Path, more: bytes
) -> None:
    server = start("--users", str(users))
    shutil.copy(users / "anna.nbt", users / "bob.nbt")
    new = mails.spam + more
    before = (users / "bob.nbt").read_bytes(), server.model.read_bytes()
    assert not is_spam(server, new, "anna")

    for number in range(30):  # enough to change what it is taken for
        copy = new + b"copy %d\n" % number
        assert b"DidSet: local" in server.tell(copy, "User: anna", *TEACH)

    assert n_documents(users / "anna.nbt") == 46
    assert is_spam(server, new, "anna")
    assert is_spam(server, new, "anna", "REPORT")
    assert not is_spam(server, new, "bob")
    assert ((users / "bob.nbt").read_bytes(), server.model.read_bytes()) == before


def test_a_model_that_comes_is_replaced_and_goes_is_noticed(
    start: "Start", mails: "Mails", users: Path
) -> None:
    server = start("--users", str(users))
    path = users / "bob.nbt"

    said = [is_spam(server, mails.spam, "bob")]
    shutil.copy(users / "anna.nbt", path)
    said.append(is_spam(server, mails.spam, "bob"))
    shutil.copy(server.model, users / "aside")
    (users / "aside").replace(path)
    said.append(is_spam(server, mails.spam, "bob"))
    shutil.copy(users / "anna.nbt", users / "aside")
    (users / "aside").replace(path)
    said.append(is_spam(server, mails.spam, "bob", "SYMBOLS"))
    path.unlink()
    said.append(is_spam(server, mails.spam, "bob", "SYMBOLS"))

    assert said == [True, False, True, False, True]


def test_two_users_teach_and_ask_at_once(
    start: "Start", mails: "Mails", users: Path
) -> None:
    server = start("--users", str(users), "--workers", "2")
    shutil.copy(users / "anna.nbt", users / "bob.nbt")

    def teach(user: str) -> set[bool]:
        seen = set()
        for number in range(25):
            message = mails.ham + b"of %b %d\n" % (user.encode(), number)
            assert b"DidSet" in server.tell(message, f"User: {user}", *TEACH)
            seen.add(is_spam(server, mails.ham, user))
        return seen

    with ThreadPoolExecutor(2) as threads:
        assert [*threads.map(teach, ["anna", "bob"])] == [{True}, {True}]

    assert n_documents(users / "anna.nbt") == n_documents(users / "bob.nbt") == 41
    assert n_documents(server.model) == 16


def test_a_locked_model_delays_the_lessons_of_its_user_alone(
    start: "Start", mails: "Mails", users: Path
) -> None:
    """The default of --wait is 30 s: one that waits for it fails by the time."""
    server = start("--users", str(users))
    shutil.copy(users / "anna.nbt", users / "bob.nbt")
    short, long = mails.spam + b"new\n", mails.spam + LONG

    with ThreadPoolExecutor(2) as threads:
        with locked(str(users / "anna.nbt")):
            late = [
                threads.submit(server.tell, one, "User: anna", *TEACH)
                for one in (short, long)
            ]
            sleep(0.3)  # they are waiting by now, on a machine that is not busy
            began = monotonic()
            for message in (short, long):
                assert b"DidSet: local" in server.tell(message, "User: bob", *TEACH)
                assert is_spam(server, message, verb="REPORT")
                assert not is_spam(server, message, "anna")
            assert monotonic() - began < WAIT / 2
            assert not any(one.done() for one in late)
        assert all(b"DidSet: local" in one.result() for one in late)

    assert n_documents(users / "anna.nbt") == n_documents(users / "bob.nbt") == 18


def make_fifo(path: Path) -> None:
    os.mkfifo(path)


def make_link(path: Path) -> None:
    path.symlink_to("/proc/self/exe")


def make_loop(path: Path) -> None:
    path.symlink_to(path)


def make_empty(path: Path) -> None:
    path.touch(0o600)


@pytest.mark.parametrize(
    "make", [make_fifo, make_link, make_loop, make_empty, Path.mkdir]
)
def test_a_hostile_file_holds_nobody_up(
    start: "Start", mails: "Mails", users: Path, make: Callable[[Path], None]
) -> None:
    make(users / "bob.nbt")
    server = start("--users", str(users))

    for verb, message in (("CHECK", mails.spam), ("REPORT", mails.spam + LONG)):
        answer = server.ask(request(verb, message, "User: bob"))
        assert answer.startswith(b"SPAMD/1.0 69 Service Unavailable: ")
    assert server.tell(mails.ham, "User: bob", *TEACH).startswith(b"SPAMD/1.0 69 ")
    assert not is_spam(server, mails.spam, "anna")
    assert is_spam(server, mails.spam)


@pytest.mark.parametrize(
    "name", ["../users/anna", "/etc/passwd", "..", ".anna", "-anna", "a" * 65, "änna"]
)
def test_other_names_are_of_no_user(
    start: "Start", mails: "Mails", users: Path, name: str
) -> None:
    server = start("--users", str(users))

    assert is_spam(server, mails.spam, name)
    answer = server.tell(mails.ham, f"User: {name}", *TEACH)

    assert b"no user of such a name" in answer
    assert n_documents(server.model) == 16
    assert n_documents(users / "anna.nbt") == 16


def as_nobody(server: "Server", said: bytes) -> bytes:
    """Say something as the user nobody."""
    program = (
        "import socket, sys; s = socket.socket(socket.AF_UNIX); "
        "s.connect(sys.argv[1]); s.sendall(sys.stdin.buffer.read()); "
        "s.shutdown(socket.SHUT_WR); sys.stdout.buffer.write(s.makefile('rb').read())"
    )
    number = getpwnam("nobody").pw_uid
    setpriv = ["setpriv", f"--reuid={number}", f"--regid={number}", "--clear-groups"]
    done = subprocess.run(
        [*setpriv, str(PYTHON), "-c", program, str(server.path)],
        input=said,
        capture_output=True,
        check=True,
        timeout=PATIENCE,
    )
    return done.stdout


@pytest.mark.skipif(
    os.geteuid() != 0 or not shutil.which("setpriv") or not PYTHON,
    reason="only root can be others",
)
def test_a_peer_teaches_the_own_model_alone(
    start: "Start", mails: "Mails", users: Path
) -> None:
    shutil.copy(users / "anna.nbt", users / "nobody.nbt")
    options = ["--users", str(users), "--allow-tell", "--socket-mode", "666"]
    server = start(*options)
    for folder in (server.path.parent, server.path.parent.parent):
        folder.chmod(0o755)

    def lesson(*user: str) -> bytes:
        return request("TELL", mails.ham + b"new\n", *user, *TEACH)

    refusal = (
        b"SPAMD/1.0 69 Service Unavailable: a client may teach the model of its own "
        b"user alone\r\n"
    )
    assert as_nobody(server, lesson("User: anna")) == refusal
    assert as_nobody(server, lesson()) == refusal
    assert as_nobody(server, lesson("User: ../nobody")) == refusal
    assert b"DidSet: local" in as_nobody(server, lesson("User: nobody"))
    assert b"Spam: " in as_nobody(server, request("CHECK", mails.ham, "User: anna"))
    counts = [n_documents(users / f"{name}.nbt") for name in ("anna", "nobody")]
    assert (counts, n_documents(server.model)) == ([16, 17], 16)

    assert b"DidSet: local" in server.ask(lesson("User: anna"))  # root may
    assert n_documents(users / "anna.nbt") == 17


def test_without_the_permission_to_tell_nobody_teaches(
    start: "Start", mails: "Mails", users: Path
) -> None:
    server = start("--users", str(users))

    answer = server.ask(request("TELL", mails.ham, "User: anna", *TEACH), tcp=True)

    assert b"TELL commands are not enabled" in answer
    assert n_documents(users / "anna.nbt") == 16


@pytest.mark.parametrize("more", [[], ["--trust-names"]])
def test_over_tcp_names_are_trusted_only_where_that_is_said(
    start: "Start", mails: "Mails", users: Path, more: list[str]
) -> None:
    server = start("--users", str(users), "--allow-tell", *more)

    said = [request("TELL", mails.ham, *who, *TEACH) for who in (["User: anna"], [])]
    answers = [server.ask(one, tcp=True) for one in said]

    if more:
        assert all(b"DidSet: local" in answer for answer in answers)
    else:
        assert all(b"69 Service Unavailable: over TCP" in one for one in answers)
    counts = (n_documents(users / "anna.nbt"), n_documents(server.model))
    assert counts == ((17, 17) if more else (16, 16))
    assert b"DidSet: local" in server.tell(mails.spam, "User: anna", *TEACH)


@pytest.mark.parametrize("more", [[], ["--allow-tell"], ["--users", "."]])
def test_names_are_trusted_where_models_of_users_are_taught(
    trained: bytes, tmp_path: Path, more: list[str]
) -> None:
    (tmp_path / "m.nbt").write_bytes(trained)
    (tmp_path / "users").mkdir(0o700)
    options = [str(tmp_path / "users") if one == "." else one for one in more]

    status, said = run("-m", tmp_path / "m.nbt", "--trust-names", *options)

    assert status == USAGE
    assert "which takes --allow-tell as well" in said


def test_many_users_are_served_in_bounded_memory(
    start: "Start", mails: "Mails", users: Path
) -> None:
    names = [f"user{number}" for number in range(300)]
    for name in names:
        shutil.copy(users / "anna.nbt", users / f"{name}.nbt")
    server = start("--users", str(users))
    is_spam(server, mails.spam + LONG, "anna")
    for name in names[:60]:
        assert not is_spam(server, mails.spam, name)
    before = server.memory()

    for name in names:
        assert not is_spam(server, mails.spam, name)

    assert server.memory() - before < 8 << 20
    (worker,) = server.workers
    maps = Path(f"/proc/{worker}/maps").read_text()
    assert sum("user" in line and ".nbt" in line for line in maps.splitlines()) <= 50


@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o770])
def test_a_folder_that_others_may_change_is_refused(
    trained: bytes, tmp_path: Path, mode: int
) -> None:
    (tmp_path / "m.nbt").write_bytes(trained)
    (tmp_path / "users").mkdir()
    (tmp_path / "users").chmod(mode)

    status, said = run("-m", tmp_path / "m.nbt", "--users", tmp_path / "users")

    assert status == USAGE
    assert "others could put files and links there" in said


def test_the_folder_may_be_at_home(trained: bytes, tmp_path: Path) -> None:
    (tmp_path / "m.nbt").write_bytes(trained)

    status, said = run("-m", tmp_path / "m.nbt", "--users=~/no/such/folder")

    assert status == USAGE
    assert f"--users: {Path.home()}/no/such/folder: No such file" in said
