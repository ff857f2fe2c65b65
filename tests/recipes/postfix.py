"""A Postfix in a world of its own: its files are bound over those of the machine."""

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from smtplib import SMTP

from tests.recipes.conftest import Home
from tests.recipes.servers import free_port, wait_for_port, with_crlf
from tests.waiting import PATIENCE, wait_until

SETTINGS = """\
compatibility_level = 3.6
maillog_file = /dev/stdout
myhostname = mail.example.org
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
mynetworks = 127.0.0.0/8
mydestination =
alias_maps =
alias_database =
virtual_mailbox_domains = example.org
virtual_mailbox_base = {home}/mail
virtual_mailbox_maps = static:jo/
virtual_uid_maps = static:{uid}
virtual_gid_maps = static:{uid}
virtual_minimum_uid = 1
recipient_bcc_maps = inline:{{ {{ copied@example.org = archive@example.org }} }}
"""
"""All mail to example.org goes into one Maildir, that for one address twice."""

FURTHER = ("postfix-files", "postfix-files.d", "dynamicmaps.cf", "dynamicmaps.cf.d")
"""What Debian's package keeps among the settings."""

START = """\
mount --bind {home}/etc /etc/postfix &&
mount --bind {home}/spool /var/spool/postfix &&
mount --bind {home}/lib /var/lib/postfix &&
exec postfix start-fg
"""

ALONE = ("unshare", "--mount", "--propagation", "private", "--pid", "--fork")
"""Processes that end with the first of them, and mounts that only they see."""


class Postfix:
    """A running Postfix that passes what comes in by SMTP through nbtext."""

    def __init__(self, home: Home, port: int) -> None:
        self.home = home
        self.port = port
        self.log_file = home.path / "log"
        self.first = 0  # the first process of its world

    def send(
        self,
        message: bytes,
        sender: str = "sender@example.net",
        recipient: str = "jo@example.org",
    ) -> None:
        """Give a message to Postfix by SMTP."""
        with SMTP("127.0.0.1", self.port, timeout=PATIENCE) as client:
            client.sendmail(sender, [recipient], with_crlf(message))

    def log(self) -> str:
        """Return what it has logged."""
        return self.log_file.read_text("utf-8")

    def wait(self, what: "Callable[[], bool]") -> None:
        """Wait for something to come true."""
        try:
            wait_until(what)
        except TimeoutError as error:
            error.add_note(self.log())
            raise

    def try_again(self) -> None:
        """Have what was deferred delivered now, rather than in some minutes."""
        enter = ("nsenter", "--mount", "--pid", "--target", str(self.first))
        subprocess.run([*enter, "postqueue", "-f"], check=True)

    def delivered(self, number: int = 1) -> list[bytes]:
        """Wait until so many messages have arrived, and return them."""
        self.wait(lambda: len(self.home.messages("mail/jo")) >= number)
        return self.home.messages("mail/jo")


@contextmanager
def postfix_for(home: Home, user: str) -> Iterator[Postfix]:
    """Set a Postfix up as its page says, with files of its own, and run it."""
    server = Postfix(home, free_port())
    _write_settings(server, user)
    with server.log_file.open("wb") as log:
        start = START.format(home=home.path)
        process = subprocess.Popen(
            [*ALONE, "sh", "-c", start], stdout=log, stderr=log, start_new_session=True
        )
    try:
        wait_for_port(server.port, process)
        (server.first,) = _children(process)
        yield server
    finally:
        _end(process)


def _write_settings(server: Postfix, user: str) -> None:
    home, etc = server.home, server.home.path / "etc"
    for name, owner in (("etc", "root"), ("spool", "root"), ("lib", "postfix")):
        (home.path / name).mkdir()
        shutil.chown(home.path / name, owner)
    (home.path / "mail").mkdir()
    shutil.chown(home.path / "mail", user)
    home.path.chmod(0o755)
    for name in FURTHER:
        found = Path("/etc/postfix", name)
        if found.is_dir():
            shutil.copytree(found, etc / name)
        elif found.exists():
            shutil.copy(found, etc / name)
    uid = home.model.stat().st_uid
    home.write("etc/main.cf", SETTINGS.format(home=home.path, uid=uid), 0o644)
    ours = {
        "/usr/local/lib/nbtext/postfix": str(home.path / "postfix"),
        "/var/lib/nbtext/model.nbt": str(home.model),
        "user=nbtext": f"user={user}",
    }
    services = Path("/usr/share/postfix/master.cf.dist").read_text("utf-8")
    place = f"127.0.0.1:{server.port}"
    added = home.recipe("postfix.md", "/etc/postfix/master.cf, at its end", ours)
    services = re.sub(r"^smtp +inet", f"{place} inet", services, flags=re.MULTILINE)
    home.write("etc/master.cf", f"{services}\n{added}", 0o644)
    script = "/usr/local/lib/nbtext/postfix, executable for all"
    home.write("postfix", home.recipe("postfix.md", script, ours), 0o755)
    postconf = f"postconf -c {etc}"
    ours = {"smtp/inet/": f"{place}/inet/", "postconf": postconf, "postfix reload": ""}
    setup = home.recipe("postfix.md", "once, as root", ours)
    setup += f"{postconf} -F '*/*/chroot=n'\n"  # whose files are not there
    subprocess.run(["sh", "-e"], input=setup.encode(), check=True)


def _children(process: "subprocess.Popen[bytes]") -> list[int]:
    path = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    return [int(child) for child in path.read_text("ascii").split()]


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End the first process of the world, and so all others."""
    with suppress(OSError):
        for child in _children(process):
            os.kill(child, signal.SIGKILL)
    process.kill()
    process.wait()
