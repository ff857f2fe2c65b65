"""
Sockets: the addresses that a server listens on, and the clients that it serves.

An address is HOST:PORT, [IPv6]:PORT, unix:PATH or a PATH that begins with a slash.
"""

import errno
import os
import socket
import stat
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from pathlib import Path
from struct import Struct
from typing import Final, NamedTuple, TypeAlias

from nbtext import wording
from nbtext.errors import ListenError, SettingsError
from nbtext.files import locked

Network: TypeAlias = IPv4Network | IPv6Network

BACKLOG: Final = 1024
"""Maximum clients that the system keeps waiting until they are accepted."""

WAIT: Final = 10.0
"""Seconds to wait for others that have the folder of a Unix socket locked."""

MODE: Final = 0o600
"""The default mode of a Unix socket: its owner alone may connect."""

LONGEST_PATH: Final = 107
"""Maximum bytes of a Unix socket's path: `sun_path` less its final zero (unix(7))."""

MAPPED: Final = IPv6Network("::ffff:0:0/96")
"""The addresses of IPv4 as they appear in IPv6 (RFC 4291, section 2.5.5.2)."""

PEER: Final = Struct("iII")
"""The process of a Unix socket's client, its user and its group (`ucred`, unix(7))."""

ABSENT: Final = (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT)
"""Errors of a host that has only one of IPv4 and IPv6."""


class Address(NamedTuple):
    """
    Where to listen.

    Attributes:
        host: the name or address of this machine, empty for a Unix socket.
        port: from 0, for one that is free, to 65535.
        path: that of the Unix socket, empty for TCP.
    """

    host: str
    port: int
    path: str

    def __str__(self) -> str:
        if self.path:
            return f"unix:{self.path}"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


class Listener(NamedTuple):
    """
    A socket that listens.

    Attributes:
        socket: the socket; it does not block.
        name: its name in the log: the address, with the port that it got.
        identity: device and inode of a Unix socket's file.
    """

    socket: socket.socket
    name: str
    identity: tuple[int, int] | None = None

    def close(self) -> None:
        """Listen no more, and remove the file of a Unix socket if it is still ours."""
        if self.socket.fileno() < 0:  # it is closed
            return
        path = self.socket.getsockname()
        self.socket.close()
        if self.identity is not None and _identity(path) == self.identity:
            with suppress(OSError):
                Path(path).unlink()


def address_of(text: str) -> Address:
    """
    Return the address that a text names.

    Raises:
        SettingsError: it is no address.
    """
    path = text if text.startswith("/") else text.removeprefix("unix:")
    if path != text or text.startswith("/"):
        if not path or len(os.fsencode(path)) > LONGEST_PATH:
            message = f"{text!r}: the path of a socket has 1 to {LONGEST_PATH} bytes"
            raise SettingsError(message)
        return Address("", 0, str(Path(path).absolute()))
    host, colon, port = text.rpartition(":")
    is_bracketed = host.startswith("[") and host.endswith("]")
    name = host[1:-1] if is_bracketed else host
    is_number = port.isascii() and port.isdigit() and len(port) <= 5
    if not (colon and name and is_number and int(port) < 1 << 16) or (
        ":" in name and not is_bracketed
    ):
        message = (
            f"{text!r} is no address to listen on; write localhost:783, [::1]:783 or "
            "unix:/run/nbtext/socket"
        )
        raise SettingsError(message)
    return Address(name, int(port), "")


def network_of(text: str) -> Network:
    """
    Return the network that a text names, such as 192.0.2.0/24 or one address.

    A network of IPv4 addresses that are mapped into IPv6 is that of IPv4.

    Raises:
        SettingsError: it is no network.
    """
    try:
        network = ip_network(text)
    except ValueError as error:
        message = f"{text!r} is no network such as 192.0.2.0/24 or 2001:db8::/32"
        raise SettingsError(f"{message}: {error}") from error
    if isinstance(network, IPv6Network) and network.subnet_of(MAPPED):
        first = int(network.network_address) & 0xFFFF_FFFF
        return IPv4Network((first, network.prefixlen - MAPPED.prefixlen))
    return network


def is_allowed(address: str, networks: Sequence[Network]) -> bool:
    """
    Return whether a client is served: one on this machine, or in one of the networks.

    Args:
        address: the client's, as the system gives it; empty for a Unix socket, whose
            mode has decided already.
        networks: the other clients that are served.
    """
    if not address:
        return True
    client = ip_address(address.partition("%")[0])
    if isinstance(client, IPv6Address) and client.ipv4_mapped:
        client = client.ipv4_mapped
    return client.is_loopback or any(client in network for network in networks)


def is_private(connected: socket.socket) -> bool:
    """
    Return whether a client came over a Unix socket that its owner alone can reach.

    It is looked up each time: only our user may enter the socket's folder.
    """
    if connected.family != socket.AF_UNIX:
        return False
    try:
        folder = Path(connected.getsockname()).parent.stat()
    except (OSError, ValueError):
        return False
    others = stat.S_IXGRP | stat.S_IXOTH  # an ACL shows in the bits of the group
    return folder.st_uid == os.geteuid() and not folder.st_mode & others


def peer_of(connected: socket.socket) -> int | None:
    """
    Return the user, by number, whose process is a client.

    It is None if the client came over TCP, and -1 if this system does not tell.
    """
    if connected.family != socket.AF_UNIX:
        return None
    option = getattr(socket, "SO_PEERCRED", None)  # which Linux has
    if option is None:
        return -1
    _, user, _ = PEER.unpack(connected.getsockopt(socket.SOL_SOCKET, option, PEER.size))
    return int(user)


def listen(address: Address, mode: int = MODE, *, wait: float = WAIT) -> list[Listener]:
    """
    Listen on an address; on each that its name stands for, if that is several.

    Args:
        address: the address.
        mode: who may connect to a Unix socket.
        wait: how many seconds to wait for others that have its folder locked.

    Raises:
        BusyError: they have had it locked all the time.
        ListenError: that cannot be done.
    """
    try:
        if address.path:
            return [_listen_unix(address, mode, wait)]
        return _listen_tcp(address)
    except (OSError, UnicodeError) as error:  # a name that cannot be one at all
        what = getattr(error, "strerror", None) or error
        advice = _advice(address, getattr(error, "errno", None))
        message = f"{address}: cannot listen there: {what}; {advice}"
        raise ListenError(message) from error


def _advice(address: Address, code: int | None) -> str:
    """Say what to do where one cannot listen."""
    listen = wording.named("address")
    if code == errno.EADDRINUSE:
        return f"stop what listens there, or name another address with {listen}"
    if code == errno.EACCES and 0 < address.port < 1024:
        return "ports below 1024 are for root, or see docs/serving.md"
    folder = Path(address.path).parent
    if code == errno.ENOENT and address.path:
        return (
            f"make the folder {folder} first, with mode 700 if `spamc -L` shall teach "
            "the model, and else so that clients can enter it"
        )
    if code in (errno.EACCES, errno.EPERM, errno.EROFS) and address.path:
        return f"see who may write to {folder}"
    return f"name another address with {listen}"


def _listen_tcp(address: Address) -> list[Listener]:
    found = socket.getaddrinfo(
        address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )
    listeners: list[Listener] = []
    absent: OSError | None = None
    try:
        for family, *_, where in dict.fromkeys(found):
            try:
                listeners.append(_bound(family, where))
            except OSError as error:
                if error.errno not in ABSENT:
                    raise
                absent = error
    except OSError:
        for listener in listeners:
            listener.close()
        raise
    if not listeners and absent:
        raise absent
    return listeners


def _bound(family: int, where: tuple[object, ...]) -> Listener:
    opened = socket.socket(family, socket.SOCK_STREAM)
    try:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            opened.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        opened.bind(where)
        opened.listen(BACKLOG)
        opened.setblocking(False)
    except OSError:
        opened.close()
        raise
    host, port = opened.getsockname()[:2]
    return Listener(opened, str(Address(host, port, "")))


def _listen_unix(address: Address, mode: int, wait: float) -> Listener:
    opened = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        folder = str(Path(address.path).parent)
        # no other server looks for a free place in it at the same time
        what = "has had the socket's folder locked"
        opening = partial(os.open, flags=os.O_RDONLY | os.O_DIRECTORY)
        with locked(folder, opening, wait=wait, what=what):
            _make_room(address.path)
            try:
                _bind(opened, address.path, mode)
            except BaseException:
                if opened.getsockname():  # else the file is another's
                    Path(address.path).unlink(missing_ok=True)
                raise
        opened.setblocking(False)
        return Listener(opened, str(address), _identity(address.path))
    except BaseException:  # of a signal, too
        opened.close()
        raise


def _bind(opened: socket.socket, path: str, mode: int) -> None:
    # nobody may connect before the mode is what it shall be
    before = os.umask(0o777)
    try:
        opened.bind(path)
    finally:
        os.umask(before)
    Path(path).chmod(mode)
    opened.listen(BACKLOG)


def _make_room(path: str) -> None:
    """
    Remove a socket that no server listens on any more.

    Raises:
        OSError: a server does, or it is no socket.
    """
    try:
        found = Path(path).lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(found.st_mode):
        raise OSError(errno.EEXIST, "there is a file that is no socket")
    # perhaps of a server that was killed before its socket got its mode
    is_begun = not stat.S_IMODE(found.st_mode) and found.st_uid == os.geteuid()
    if is_begun:
        Path(path).chmod(0o600)  # else not even its owner could ask
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.setblocking(False)
        try:
            probe.connect(path)
        except ConnectionRefusedError:
            Path(path).unlink()
            return
        except BlockingIOError:
            pass  # a server does, and its queue of clients is full
    if is_begun:
        Path(path).chmod(0)
    raise OSError(errno.EADDRINUSE, "another server listens there")


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = Path(path).lstat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
