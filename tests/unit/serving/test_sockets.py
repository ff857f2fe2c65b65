"""Where a server listens, and to whom."""

import errno
import os
import socket
import stat
from collections.abc import Iterator
from contextlib import closing
from fcntl import LOCK_EX, flock
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from nbtext.errors import BusyError, ListenError, SettingsError
from nbtext.serving.sockets import (
    Address,
    address_of,
    is_allowed,
    listen,
    network_of,
    peer_of,
)


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder whose name is short enough for sockets."""
    with TemporaryDirectory() as name:
        yield Path(name)


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("localhost:783", Address("localhost", 783, "")),
        ("127.0.0.1:0", Address("127.0.0.1", 0, "")),
        ("[::1]:783", Address("::1", 783, "")),
        ("unix:/run/s", Address("", 0, "/run/s")),
        ("/run/s", Address("", 0, "/run/s")),
    ],
)
def test_an_address_is_read(text: str, address: Address) -> None:
    assert address_of(text) == address
    assert address_of(str(address)) == address


@pytest.mark.parametrize(
    "text",
    ["", "783", ":783", "localhost", "localhost:", "localhost:65536", "localhost:x",
     "localhost:-1", "::1:783", "unix:", "unix:/" + "x" * 107, "localhost:\u0663"],
)  # fmt: skip
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(SettingsError, match=r"address|path"):
        address_of(text)


@pytest.mark.parametrize(
    ("client", "networks", "expected"),
    [
        ("127.0.0.1", [], True),
        ("127.9.9.9", [], True),
        ("::1", [], True),
        ("::ffff:127.0.0.1", [], True),
        ("", [], True),  # a Unix socket
        ("192.0.2.7", [], False),
        ("::ffff:192.0.2.7", [], False),
        ("2001:db8::1", [], False),
        ("0.0.0.0", [], False),  # noqa: S104  refused, not bound
        ("192.0.2.7", ["192.0.2.0/24"], True),
        ("::ffff:192.0.2.7", ["192.0.2.0/24"], True),
        ("192.0.3.7", ["192.0.2.0/24", "2001:db8::/32"], False),
        ("2001:db8::1", ["2001:db8::/32"], True),
        ("fe80::1%eth0", ["fe80::/10"], True),
        ("127.0.0.1", ["192.0.2.0/24"], True),
        ("192.0.2.7", ["192.0.2.7"], True),
        ("192.0.2.7", ["::ffff:192.0.2.0/120"], True),
        ("::ffff:192.0.2.7", ["::ffff:192.0.2.0/120"], True),
        ("192.0.3.7", ["::ffff:192.0.2.0/120"], False),
        ("192.9.9.9", ["::ffff:192.0.0.0/104"], True),
        ("192.0.2.7", ["::ffff:192.0.2.7"], True),
        ("2001:db8::1", ["::ffff:0:0/96"], False),
        ("192.0.2.7", ["::ffff:0:0/96"], True),
    ],
)
def test_only_local_clients_are_served_unless_others_are_allowed(
    client: str, networks: list[str], expected: bool
) -> None:
    assert is_allowed(client, [network_of(one) for one in networks]) == expected


@pytest.mark.parametrize("text", ["", "192.0.2.0/33", "192.0.2.1/24", "example.org"])
def test_what_is_no_network_is_refused(text: str) -> None:
    with pytest.raises(SettingsError, match="is no network"):
        network_of(text)


def test_a_port_that_is_taken_is_an_error() -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]

        with pytest.raises(ListenError, match=f"127.0.0.1:{port}: cannot listen") as e:
            listen(Address("127.0.0.1", port, ""))

    assert "; stop what listens there, or name another address with" in str(e.value)


def test_a_socket_without_a_folder_is_said_with_the_mode_to_make_it(
    folder: Path,
) -> None:
    with pytest.raises(ListenError) as raised:
        listen(Address("", 0, str(folder / "none/s")))

    assert str(raised.value) == (
        f"unix:{folder}/none/s: cannot listen there: No such file or directory; make "
        f"the folder {folder}/none first, with mode 700 if `spamc -L` shall teach the "
        "model, and else so that clients can enter it"
    )


@pytest.mark.parametrize("host", ["no.such.host.invalid", "x" * 99, "192.0.2.1"])
def test_a_host_that_is_not_here_is_an_error(host: str) -> None:
    with pytest.raises(ListenError, match="cannot listen"):
        listen(Address(host, 0, ""))


def test_a_unix_socket_is_for_its_owner_and_goes_away(folder: Path) -> None:
    path = folder / "s"

    (listener,) = listen(Address("", 0, str(path)))

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    listener.close()
    listener.close()
    assert list(folder.iterdir()) == []


def test_a_folder_that_others_keep_locked_is_waited_for_no_longer_than_asked(
    folder: Path,
) -> None:
    holder = os.open(folder, os.O_RDONLY)
    try:
        flock(holder, LOCK_EX)

        with pytest.raises(
            BusyError, match=r"had the socket's folder locked for 0\.1 s; try"
        ):
            listen(Address("", 0, str(folder / "s")), wait=0.1)
    finally:
        os.close(holder)

    assert list(folder.iterdir()) == []
    (listener,) = listen(Address("", 0, str(folder / "s")), wait=0.1)
    listener.close()


def test_the_mode_is_as_asked_whatever_the_umask(folder: Path) -> None:
    before = os.umask(0o077)
    try:
        (listener,) = listen(Address("", 0, str(folder / "s")), 0o666)
    finally:
        os.umask(before)

    assert stat.S_IMODE((folder / "s").stat().st_mode) == 0o666
    listener.close()


def test_a_socket_that_nobody_listens_on_is_replaced(folder: Path) -> None:
    path = folder / "s"
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))

    (listener,) = listen(Address("", 0, str(path)))

    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(path))
    listener.close()


class _Refused(socket.socket):
    """A socket of somebody to whom modes are no mere words, unlike to root."""

    def connect(self, address: Any) -> None:
        """Connect, if the mode lets the owner."""
        if not Path(address).stat().st_mode & stat.S_IWUSR:
            raise PermissionError(errno.EACCES, "Permission denied")
        super().connect(address)


def test_a_socket_that_never_got_its_mode_is_replaced(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = folder / "s"
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))
    path.chmod(0)
    monkeypatch.setattr(socket, "socket", _Refused)

    (listener,) = listen(Address("", 0, str(path)), mode=0o600)

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    listener.close()


def test_a_socket_is_not_left_by_a_signal_that_comes_as_it_is_made(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_: Path, mode: int) -> None:
        raise KeyboardInterrupt(mode)

    monkeypatch.setattr(Path, "chmod", interrupted)

    with pytest.raises(KeyboardInterrupt):
        listen(Address("", 0, str(folder / "s")))

    assert not (folder / "s").exists()


@pytest.mark.parametrize(
    ("mode", "said"),
    [(0, "another server listens there"), (0o444, "Permission denied")],
)
def test_a_socket_that_its_owner_closed_to_all_is_left_as_it_is(
    folder: Path, monkeypatch: pytest.MonkeyPatch, mode: int, said: str
) -> None:
    path = folder / "s"
    (first,) = listen(Address("", 0, str(path)), mode=mode)
    monkeypatch.setattr(socket, "socket", _Refused)

    with pytest.raises(ListenError, match=said):
        listen(Address("", 0, str(path)))

    assert stat.S_IMODE(path.stat().st_mode) == mode
    first.close()


def test_a_socket_that_somebody_listens_on_is_left_alone(folder: Path) -> None:
    path = folder / "s"
    (first,) = listen(Address("", 0, str(path)))

    with pytest.raises(ListenError, match="another server listens there"):
        listen(Address("", 0, str(path)))

    assert path.exists()
    first.close()


def test_a_file_that_is_no_socket_is_left_alone(folder: Path) -> None:
    path = folder / "mail"
    path.write_text("precious")

    with pytest.raises(ListenError, match="a file that is no socket"):
        listen(Address("", 0, str(path)))

    assert path.read_text() == "precious"


def test_the_socket_of_another_is_not_removed(folder: Path) -> None:
    path = folder / "s"
    (first,) = listen(Address("", 0, str(path)))
    path.unlink()
    (second,) = listen(Address("", 0, str(path)))

    first.close()

    assert path.exists()
    second.close()
    assert not path.exists()


def test_who_a_client_is_is_told_by_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        assert peer_of(ours) == os.geteuid()
        monkeypatch.delattr(socket, "SO_PEERCRED")
        assert peer_of(ours) == -1
    with socket.socket() as by_tcp:
        assert peer_of(by_tcp) is None
