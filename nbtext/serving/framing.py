"""
What processes of the server tell each other: plain values, behind their length.

Values that msgpack knows go in and come out, over a stream socket that blocks.
"""

import socket
from struct import Struct
from typing import Any, Final

import msgpack

LENGTH: Final = Struct("<I")

TOGETHER: Final = 1 << 16
"""Maximum bytes that are sent in one piece with the values before them, which are
copied for that: so the other process is woken once, and not twice."""


def framed(plain: list[Any]) -> bytes:
    """Pack values behind their length in bytes."""
    # names of files may have bytes that are not UTF-8, as lone surrogates (PEP 383)
    data = bytes(msgpack.packb(plain, unicode_errors="surrogatepass"))
    return LENGTH.pack(len(data)) + data


def unframed(end: socket.socket) -> list[Any]:
    """
    Return the values that come next; tuples have become lists.

    Raises:
        OSError, EOFError: the other process has ended.
    """
    (length,) = LENGTH.unpack(receive_exactly(end, LENGTH.size))
    return list(
        msgpack.unpackb(receive_exactly(end, length), unicode_errors="surrogatepass")
    )


def receive_exactly(end: socket.socket, size: int) -> bytes:
    """
    Return so many bytes.

    Raises:
        OSError, EOFError: the other process has ended.
    """
    data = end.recv(size, socket.MSG_WAITALL) if size else b""
    if len(data) < size:
        raise EOFError("the other process has ended")
    return data
