"""How a server begins, follows its model, loses a worker, and ends."""

import os
import re
import resource
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING, Final

import pytest

from nbtext import train_on
from nbtext.cli import _status as status
from nbtext.scoring.decide import Decision
from nbtext.scoring.model import load_model
from nbtext.serving.helper import COMMAND, DEAF
from nbtext.store.lock import locked
from tests.build import SPAM, mail
from tests.serve.conftest import request
from tests.waiting import PATIENCE, wait_until

if TYPE_CHECKING:
    from tests.serve.conftest import Mails, Server, Start

FIELD = r'(?:[^\s"=]+|"[^"]*")'
LINE = re.compile(rf"client={FIELD} verb={FIELD}(?: \w+={FIELD})*")


check = partial(request, "CHECK")


def learn(server: "Server", label: str, message: bytes) -> None:
    """Learn in another process, as mail readers do."""
    subprocess.run(
        [sys.executable, "-m", "nbtext", "learn", "-q", "-m", server.model, label],
        input=message,
        check=True,
        timeout=PATIENCE,
    )


def points(answer: bytes) -> float:
    found = re.search(rb"Spam: \w+ ; (\S+) / 5.0", answer)
    assert found, answer
    return float(found[1])


def test_a_message_that_another_process_learns_counts(
    start: "Start", mails: "Mails"
) -> None:
    server = start()
    before = points(server.ask(check(mails.ham)))

    for message in (mails.ham, mails.ham.replace(b"40", b"41")):
        learn(server, "spam", message)

    assert points(server.ask(check(mails.ham))) > before


def test_a_model_that_replaces_another_is_used(start: "Start", mails: "Mails") -> None:
    server = start()
    other = server.model.with_name("other.nbt")
    train_on([("spam", mails.ham), ("ham", mails.spam)] * 3, str(other))
    assert points(server.ask(check(mails.spam))) > 5

    other.replace(server.model)

    assert points(server.ask(check(mails.spam))) < 5


def test_many_lessons_at_once_wait_for_a_model_that_is_being_written(
    start: "Start",
) -> None:
    server = start("--wait", str(PATIENCE))
    lines = ("Message-class: spam", "Set: local")
    lessons = [
        mail(number % 60, SPAM) + f"new{number}\n".encode() * (1, 1, 4000)[number % 3]
        for number in range(60)
    ]

    with ThreadPoolExecutor(60) as threads:
        with locked(str(server.model)):
            asked = [threads.submit(server.tell, one, *lines) for one in lessons]
            sleep(0.3)  # they are waiting by now, on a machine that is not busy
        answers = [one.result() for one in asked]

    assert {*answers} == {b"SPAMD/1.1 0 EX_OK\r\nDidSet: local\r\n\r\n"}
    assert sum(load_model(str(server.model)).documents) == 16 + 60


def test_a_model_of_other_classes_is_taught_none_more(
    start: "Start", mails: "Mails"
) -> None:
    server = start()
    other = server.model.with_name("other.nbt")
    train_on(
        [("a", mails.ham), ("b", mails.spam), ("c", b"Subject: c\n\nc\n")] * 3,
        str(other),
    )
    written = other.read_bytes()
    other.replace(server.model)

    answer = server.tell(mails.spam, "Message-class: spam", "Set: local")

    assert answer.startswith(b"SPAMD/1.0 69 ")
    assert b"no class 'spam'; the model's classes are a, b, c" in answer
    assert server.model.read_bytes() == written
    assert points(server.ask(check(mails.spam))) > 5


def test_a_model_that_is_damaged_or_gone_is_used_as_it_was(
    start: "Start", mails: "Mails"
) -> None:
    server = start()
    before = server.ask(check(mails.spam))

    server.model.write_bytes(b"junk" * 999)
    damaged = server.ask(check(mails.spam))
    server.model.unlink()
    gone = server.ask(check(mails.spam))

    assert damaged == gone == before
    server.wait_for_log("not an nbtext model.*the model before is used")
    server.wait_for_log("no model there.*the model before is used")
    lesson = server.tell(mails.spam, "Message-class: spam", "Set: local")
    assert lesson.startswith(b"SPAMD/1.0 69 Service Unavailable: ")


def test_what_becomes_of_the_model_is_logged_for_long_messages_too(
    start: "Start", mails: "Mails"
) -> None:
    """They are for the helper, which has no log."""
    server = start()
    long = mails.spam + b"word " * 8_000
    before = server.ask(check(long))

    server.model.write_bytes(b"junk" * 999)
    damaged = server.ask(check(long))

    assert damaged == before
    server.wait_for_log("not an nbtext model.*the model before is used")


def test_sighup_has_the_model_read_again(start: "Start", mails: "Mails") -> None:
    server = start()
    server.process.send_signal(signal.SIGHUP)

    server.wait_for_log("reading the model again")

    def is_read() -> bool:
        server.ask(check(mails.spam))
        return any("opened again" in line for line in server.log)

    wait_until(is_read)


def test_a_worker_that_is_killed_is_replaced(start: "Start", mails: "Mails") -> None:
    server = start("--workers", "2")
    first, second = server.workers
    before = server.ask(check(mails.spam))

    for worker in (first, second):
        os.kill(worker, signal.SIGKILL)
        server.wait_for_log(f"server pid={worker} has ended, status -9")
        assert server.ask(check(mails.spam)) == before

    assert {first, second}.isdisjoint(server.workers)
    assert server.process.poll() is None


@pytest.mark.skipif(sys.platform != "linux", reason="it takes prlimit(2)")
def test_a_worker_that_cannot_be_started_now_is_started_later(
    start: "Start", mails: "Mails"
) -> None:
    server = start()
    (first,) = server.workers
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (3, most))

    os.kill(first, signal.SIGKILL)
    server.wait_for_log("no server can be started: Too many open files")
    resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (most, most))

    wait_until(lambda: len(server.workers) == 1)
    assert server.ask(check(mails.spam)).startswith(b"SPAMD/1.1 0")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_request_that_has_begun_is_finished_before_the_end(
    start: "Start", mails: "Mails", number: signal.Signals
) -> None:
    server = start()
    said = check(mails.spam)
    with server.connected() as begun, server.connected() as idle:
        begun.sendall(said[:40])
        server.ask(b"PING SPAMC/1.5\r\n\r\n")  # so that those before are let in
        server.process.send_signal(number)
        server.wait_for_log("stopping")
        assert idle.recv(99) == b""
        begun.sendall(said[40:])

        assert begun.recv(999).startswith(b"SPAMD/1.1 0 EX_OK\r\nSpam: True")

    assert server.process.wait(PATIENCE) == status.DONE
    assert server.log[-1] == "stopped"
    assert not server.path.exists()


def test_no_signal_spoils_the_end(start: "Start") -> None:
    server = start()

    while server.process.poll() is None:  # not even one that comes in its last moment
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            server.process.send_signal(number)

    assert server.process.returncode == status.DONE
    assert server.log[-1] == "stopped"
    assert not server.path.exists()


COMES: Final = """
import signal, sys
from nbtext.cli import _serve, main

def load_model(path, opened=_serve.load_model):
    {}
    return opened(path)

_serve.load_model = load_model
main(["serve", *sys.argv[1:]])
"""
"""A server to which something comes while it starts."""


@pytest.mark.parametrize(
    ("comes", "code"),
    [
        ("signal.raise_signal(signal.SIGTERM)", 143),
        ("signal.setitimer(signal.ITIMER_REAL, 3600)", status.DONE),  # it is put off
        # it has been read by nobody, and the next ends it
        (
            "signal.raise_signal(signal.SIGHUP); signal.raise_signal(signal.SIGINT)",
            status.INTERRUPTED,
        ),
    ],
)
def test_a_signal_that_comes_early(server: "Server", comes: str, code: int) -> None:
    path = server.path.with_name("early")

    ended = subprocess.run(
        [sys.executable, "-c", COMES.format(comes), "-m", server.model, "--listen",
         f"unix:{path}"],
        capture_output=True, check=False, timeout=PATIENCE,
    )  # fmt: skip

    assert ended.returncode == code
    assert b"Traceback" not in ended.stderr
    assert not path.exists()


def test_the_workers_end_when_nobody_looks_after_them(start: "Start") -> None:
    server = start("--workers", "2")
    workers = server.workers
    server.process.kill()
    server.process.wait()

    for worker in workers:
        with suppress(ProcessLookupError):  # it may have ended already
            descriptor = os.pidfd_open(worker)
            ended = select.select([descriptor], [], [], PATIENCE)[0]
            os.close(descriptor)
            assert ended


def test_signals_to_the_whole_group_are_for_one_process(
    start: "Start", mails: "Mails"
) -> None:
    server = start()
    (worker,) = server.workers

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        os.kill(worker, number)

    assert b"EX_OK" in server.ask(check(mails.spam))
    assert server.stop() == status.DONE
    assert not any("has ended" in line for line in server.log)


def run(*arguments: object) -> tuple[int, str]:
    """Run `nbtext serve` where it cannot; return its status and what it says."""
    done = subprocess.run(
        [sys.executable, "-m", "nbtext", "serve", *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=PATIENCE,
    )
    assert done.stdout == b""
    return done.returncode, done.stderr.decode()


def test_two_servers_do_not_share_a_socket(server: "Server", mails: "Mails") -> None:
    found = run("-m", server.model, "--listen", f"unix:{server.path}")
    other = run("-m", server.model, "--listen", f"127.0.0.1:{server.port}")

    assert found[0] == other[0] == status.IO_ERROR
    assert "another server listens there" in found[1]
    assert "in use" in other[1]
    assert b"EX_OK" in server.ask(check(mails.spam))


def test_what_a_killed_server_leaves_is_replaced(start: "Start") -> None:
    server = start()
    server.process.kill()
    server.process.wait()
    assert server.path.exists()

    process = subprocess.Popen(
        [sys.executable, "-m", "nbtext", "serve", "-m", server.model, "--listen",
         f"unix:{server.path}"],
        stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        assert process.stderr
        lines = iter(process.stderr.readline, b"")
        assert any(b"listening on unix:" in line for line in lines)
        assert server.ask(b"PING SPAMC/1.2\r\n") == b"SPAMD/1.5 0 PONG\r\n"
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE)


@pytest.mark.parametrize(
    ("options", "code", "complaint"),
    [
        (["--listen", "783"], status.USAGE, "'783' is no address to listen on"),
        (["--allow", "everybody"], status.USAGE, "'everybody' is no network"),
        (["--socket-mode", "9"], status.USAGE, "'9' is not a mode"),
        (
            ["--spam-class", "junk"],
            status.USAGE,
            "--spam-class: no class 'junk'; the model's classes are",
        ),
        (
            ["--ham-class", "good"],
            status.USAGE,
            "--ham-class: no class 'good'; the model's",
        ),
        (["--ham-class", "spam"], status.USAGE, "is one of ham, and not 'spam'"),
        (["--workers", "0"], status.USAGE, "'--workers'"),
        (["--timeout", "x"], status.USAGE, "is not a number of seconds"),
        (["--timeout", "0"], status.USAGE, "leaves clients no time"),
        (["--max-size", "x"], status.USAGE, "is not a size"),
        (["--max-size", "257M"], status.USAGE, "more than 256M"),
        (["--listen", "/no/such/folder/s"], status.IO_ERROR, "cannot listen there"),
        (["-m", "none.nbt"], status.NO_INPUT, "no model there"),
    ],
)
def test_what_cannot_be_served_is_said(
    server: "Server", options: list[str], code: int, complaint: str
) -> None:
    model = () if "-m" in options else ("-m", server.model)
    found, said = run(*model, "--listen", "127.0.0.1:0", *options)

    assert found == code
    assert complaint in said
    assert "Traceback" not in said


def test_the_classes_may_have_other_names(
    start: "Start", mails: "Mails", tmp_path: Path
) -> None:
    path = tmp_path / "junk.nbt"
    train_on([("junk", mails.spam), ("good", mails.ham)], str(path))

    found, said = run("-m", path, "--listen", "127.0.0.1:0")
    server = start("--spam-class", "junk", model=path.read_bytes())

    assert found == status.USAGE
    assert "name one of good, junk with --spam-class" in said
    assert b"Spam: True" in server.ask(check(mails.spam))
    learnt = server.tell(mails.spam, "Message-class: ham", "Set: local")
    assert b"DidSet: local" in learnt
    server.wait_for_log("did=moved class=good")


def test_of_three_classes_none_is_ham_unless_it_is_said(
    start: "Start", mails: "Mails", tmp_path: Path
) -> None:
    path = tmp_path / "three.nbt"
    train_on([("spam", mails.spam), ("work", mails.ham), ("list", b"a: b")], str(path))
    tell = ("Message-class: ham", "Set: local")

    unsaid = start(model=path.read_bytes()).tell(mails.spam, *tell)
    said = start("--ham-class", "work", model=path.read_bytes()).tell(mails.spam, *tell)

    assert unsaid.startswith(b"SPAMD/1.0 69 Service Unavailable: ")
    assert b"--ham-class" in unsaid
    assert b"DidSet: local" in said


def test_every_line_of_the_log_is_one_request(server: "Server", mails: "Mails") -> None:
    server.ask(check(mails.ham, "User: before-these"))
    first = server.wait_for_log("before-these")
    before = server.log.index(first) + 1
    forged = (
        b'Message-ID: <a\xe2\x80\xa8b>\r2024-01-01T00:00:00Z\tclient=1.2.3.4"x\\\n'
        + mails.ham
    )
    long = b"Message-ID: <" + b"x" * 9999 + b">\n" + mails.ham

    server.ask(check(forged, "User: root verb=FORGED"))
    server.ask(check(long, "User: " + "\u00fc" * 300))
    server.ask(b"CHECK SPAMC/1.5\r\nUser: a\rclient=forged\r\n\r\n")

    last = server.wait_for_log("control chars")
    requests = [line for line in server.log[before:] if line.startswith("client=")]
    assert len(requests) == 3
    assert [line for line in requests if not LINE.fullmatch(line)] == []
    assert 'user="root verb=FORGED"' in requests[0]
    assert r"id=<a\u2028b>" in requests[0]
    assert max(map(len, requests)) < 500
    assert "refused=76" in last


def test_the_log_says_who_asked_what(server: "Server", mails: "Mails") -> None:
    server.ask(check(mails.spam, "User: who"), tcp=True)

    line = server.wait_for_log("user=who ")

    assert re.fullmatch(
        r"client=127\.0\.0\.1:\d+ verb=CHECK user=who size=\d+ ms=\d+\.\d label=spam "
        r"probability=0\.\d{4} score=\d+\.\d/5\.0 id=<money40@example\.org>",
        line,
    )


def test_a_quiet_server_logs_no_requests(start: "Start", mails: "Mails") -> None:
    server = start("--quiet")
    server.ask(check(mails.spam))
    server.stop()

    assert server.log == []


def test_unsure_is_no_spam(
    start: "Start", mails: "Mails", decided: Callable[[Path, bytes], Decision]
) -> None:
    server = start("--unsure", "1")

    answer = server.ask(check(mails.spam))

    assert decided(server.model, mails.spam).probability < 1
    assert b"Spam: False ; " in answer
    assert points(answer) < 5


def test_a_dead_client_is_no_error_of_the_server(
    server: "Server", mails: "Mails"
) -> None:
    for _ in range(20):
        client = server.connected()
        client.sendall(check(mails.spam))
        client.shutdown(socket.SHUT_RDWR)
        client.close()

    assert b"EX_OK" in server.ask(check(mails.spam))
    assert not any("Traceback" in line for line in server.log)


@pytest.mark.parametrize("redirected", ["<&-", ">&-", "<&- >&-", "2>&-"])
def test_it_serves_with_standard_streams_closed(
    start: "Start", mails: "Mails", redirected: str
) -> None:
    server = start(redirected=redirected)  # which waits for the first answer

    assert b"Spam: True" in server.ask(check(mails.spam))
    assert server.stop() == status.DONE


def test_ctrl_c_says_nothing_of_workers_that_have_not_begun(start: "Start") -> None:
    """A terminal interrupts all of them, and what they import takes its time."""
    server = start("--workers", "2")
    commands = [
        Path(f"/proc/{pid}/cmdline").read_text().split("\0") for pid in server.workers
    ]
    first = "import os, signal; os.kill(os.getpid(), signal.SIGINT)"

    interrupted = subprocess.run(
        [sys.executable, "-c", DEAF + first], check=False, timeout=PATIENCE
    )

    assert interrupted.returncode == 0
    assert all(DEAF + "from nbtext" in "".join(command) for command in commands)
    assert COMMAND.startswith(DEAF)
