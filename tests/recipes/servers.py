"""A Dovecot for one user, started for a test and ended with it."""

import itertools
import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from imaplib import IMAP4
from pathlib import Path
from smtplib import LMTP

from tests.recipes.conftest import PROGRAM, Done, Home
from tests.waiting import PATIENCE, wait_until

PORTS = itertools.cycle(
    [(os.getpid() * 97 + n) % 12_000 + 20_000 for n in range(12_000)]
)
"""Ports below those that the system gives away, each worker's own first."""

SETTINGS = """\
base_dir = {home}/run
state_dir = {home}/run
log_path = {home}/dovecot.log
protocols = imap lmtp
ssl = no
disable_plaintext_auth = no
default_internal_user = {user}
default_internal_group = {group}
default_login_user = {user}
first_valid_uid = 1
mail_location = {location}
passdb {{
  driver = static
  args = password=secret
}}
userdb {{
  driver = static
  args = uid={user} gid={group} home={home} allow_all_users=yes
}}
service imap-login {{
  chroot =
  inet_listener imap {{
    address = 127.0.0.1
    port = {port}
  }}
  inet_listener imaps {{
    port = 0
  }}
}}
service anvil {{
  chroot =
}}
service lmtp {{
  unix_listener lmtp {{
    mode = 0600
  }}
}}
namespace inbox {{
  inbox = yes
  mailbox Junk {{
    auto = subscribe
  }}
  mailbox Trash {{
    auto = subscribe
  }}
  mailbox Archive {{
    auto = subscribe
  }}
}}
!include conf.d/*.conf
"""
"""What an administrator has already. It needs no root: all is one user's."""

FILES = (
    "/etc/dovecot/conf.d/99-nbtext.conf",
    "/etc/dovecot/sieve/nbtext.sieve",
    "/etc/dovecot/sieve/learn-spam.sieve",
    "/etc/dovecot/sieve/learn-ham.sieve",
)
SETUP = "once, as root, and sievec again whenever a script changes"
"""The blocks of the page."""


class Dovecot:
    """
    A running Dovecot.

    Attributes:
        home: where its user's mail and model are, and all of its own files.
        port: of IMAP on the loopback device.
    """

    def __init__(self, home: Home, port: int) -> None:
        self.home = home
        self.port = port
        self.settings = home.path / "etc" / "dovecot.conf"

    def log(self) -> str:
        """Return what it has logged."""
        path = self.home.path / "dovecot.log"
        return path.read_text("utf-8") if path.exists() else ""

    def compile(self, script: Path) -> Done:
        """Compile a sieve script."""
        return self.home.run("/usr/bin/sievec", "-c", self.settings, script)

    @contextmanager
    def imap(self, folder: str | None = None) -> Iterator[IMAP4]:
        """Log in, and select a folder."""
        with IMAP4("127.0.0.1", self.port, timeout=PATIENCE) as client:
            client.login(self.home.user, "secret")
            if folder is not None:
                assert client.select(folder)[0] == "OK"
            yield client

    def deliver(self, message: bytes) -> None:
        """Deliver a message by LMTP."""
        with LMTP(str(self.home.path / "run" / "lmtp")) as client:
            client.sendmail("sender@example.org", [self.home.user], with_crlf(message))

    def deliver_with_lda(self, message: bytes) -> None:
        """Deliver a message by Dovecot's own program."""
        lda = "/usr/lib/dovecot/dovecot-lda"
        done = self.home.run(
            lda, "-c", self.settings, "-d", self.home.user, stdin=message
        )
        assert done.status == 0, done.err

    def seen_at_delivery(self, message: bytes) -> bytes:
        """Deliver a message by LMTP, and return what nbtext was given of it."""
        seen = self.home.path / "seen"
        link = self.home.path / "lib" / "nbtext"
        link.unlink()
        self.home.write(
            "lib/nbtext", f'#!/bin/sh\n/usr/bin/tee {seen} | {PROGRAM} "$@"\n', 0o755
        )
        self.deliver(message)
        return seen.read_bytes()

    def append(self, folder: str, message: bytes) -> None:
        """Put a message into a folder by IMAP."""
        with self.imap() as client:
            assert client.append(folder, "", "", with_crlf(message))[0] == "OK"

    def fetch(self, folder: str) -> list[bytes]:
        """Return the messages of a folder, with line feeds as they are kept."""
        with self.imap(folder) as client:
            _, answers = client.uid("FETCH", "1:*", "(BODY.PEEK[])")
        return [
            answer[1].replace(b"\r\n", b"\n")
            for answer in answers
            if isinstance(answer, tuple)
        ]

    def move(self, source: str, target: str, how: str, *, keep: bool = False) -> None:
        """Move all messages of a folder, in the newer way or the older one."""
        with self.imap(source) as client:
            assert client.uid(how.upper(), "1:*", target)[0] == "OK"
            if how == "copy" and not keep:
                client.uid("STORE", "1:*", "+FLAGS", r"(\Deleted)")
                client.expunge()

    def begin_again(self, model: Path) -> None:
        """Have no mail, an empty log, and a model as it was."""
        shutil.rmtree(self.home.path / "Maildir", ignore_errors=True)
        (self.home.path / "dovecot.log").write_bytes(b"")
        shutil.copyfile(model, self.home.model)
        link = self.home.path / "lib" / "nbtext"
        link.unlink()
        link.symlink_to(PROGRAM)


@contextmanager
def dovecot_for(home: Home, program: str) -> Iterator[Dovecot]:
    """Set a Dovecot up as its page says, and run it."""
    server = configured(home, "maildir:~/Maildir")
    etc = {
        "/etc/dovecot": f"{home.path}/etc",
        "/usr/local/lib/nbtext": f"{home.path}/lib",
    }
    for title in FILES:
        name = title.replace("/etc/dovecot", "etc")
        home.write(name, home.recipe("dovecot.md", title, etc))
    ours = {"sievec": f"sievec -c {server.settings}", "doveadm reload": ""}
    setup = home.recipe("dovecot.md", SETUP, etc | ours)
    done = home.run("/bin/sh", "-e", stdin=setup.encode())
    assert done.status == 0, done.err
    with running(server, program):
        yield server


@contextmanager
def plain_dovecot(home: Home, program: str, location: str) -> Iterator[Dovecot]:
    """Run a Dovecot that knows nothing of us, with mail in the place that it names."""
    server = configured(home, location)
    home.write("etc/conf.d/10-nothing.conf", "")
    with running(server, program):
        yield server


def configured(home: Home, location: str) -> Dovecot:
    """Write what an administrator has already."""
    server = Dovecot(home, free_port())
    text = SETTINGS.format(
        home=home.path,
        user=home.user,
        group=home.group,
        port=server.port,
        location=location,
    )
    home.write("etc/dovecot.conf", text)
    return server


@contextmanager
def running(server: Dovecot, program: str) -> Iterator[None]:
    """Run a Dovecot for a while."""
    home = server.home
    process = subprocess.Popen(
        [*home.wrap, program, "-F", "-c", str(server.settings)],
        env=home.environment(),
        start_new_session=True,
    )
    try:
        wait_for_port(server.port, process)
        yield
    finally:
        end(process)


def with_crlf(message: bytes) -> bytes:
    """Return a message with the line ends that it has on the wire."""
    return message.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")


def end(process: "subprocess.Popen[bytes]") -> None:
    """End a server and all that it has started."""
    process.terminate()
    with suppress(subprocess.TimeoutExpired):
        process.wait(10)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def free_port() -> int:
    """
    Return a port on the loopback device that nobody listens on.

    The system takes none of these for connections, and two workers that run tests side
    by side begin at different ones.
    """
    while True:
        port = next(PORTS)
        with suppress(OSError):
            socket.create_server(("127.0.0.1", port)).close()
            return port


def wait_for_port(port: int, process: "subprocess.Popen[bytes]") -> None:
    """Wait until a process that was just started listens."""

    def is_there() -> bool:
        assert process.poll() is None, "the server ended at once"
        with suppress(OSError):
            socket.create_connection(("127.0.0.1", port)).close()
            return True
        return False

    wait_until(is_there, f"listening on port {port}")
