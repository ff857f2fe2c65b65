"""
What a server and its workers say to one another: jobs, answers, and their bytes.

Both are msgpack arrays, each behind its length in four bytes. A worker is a process of
its own that reads jobs from one socket and writes an answer to each, in their order.
"""

from socket import socket
from struct import Struct
from typing import Any, Final, NamedTuple, TypeAlias

import msgpack

from nbtext.spamd import Request

LENGTH: Final = Struct("<I")

Frame: TypeAlias = bytes


class Task(NamedTuple):
    """
    What a worker is for; the first thing that it is sent.

    Attributes:
        model: the model file.
        spam: the class of spam.
        ham: the class that messages learnt as ham join, None if there is none.
        threshold: the least probability of a label.
        max_size: how many bytes a message may have.
        wait: how many seconds to wait for another writer of the model.
        teaches: whether the worker learns and forgets; else it classifies.
    """

    model: str
    spam: str
    ham: str | None
    threshold: float
    max_size: int
    wait: float
    teaches: bool = False


class Job(NamedTuple):
    """
    A request, and how often the server was told to read the model again.

    Attributes:
        request: what a client asks.
        reloads: rises with each time.
    """

    request: Request
    reloads: int = 0


class Answer(NamedTuple):
    """
    What a worker says.

    Attributes:
        response: the bytes for the client.
        log: what the log is to say of the request.
        remarks: what else the log is to say.
    """

    response: bytes
    log: str = ""
    remarks: tuple[str, ...] = ()


def packed(value: Task | Job | Answer) -> Frame:
    """Return the bytes that say something."""
    # names of files may have bytes that are not UTF-8, as lone surrogates (PEP 383)
    data: bytes = msgpack.packb(value, unicode_errors="surrogatepass")
    return LENGTH.pack(len(data)) + data


def task_of(data: bytes) -> Task:
    """Return the task that its bytes say, without their length."""
    return Task(*_unpacked(data))


def job_of(data: bytes) -> Job:
    """Return the job that its bytes say, without their length."""
    request, reloads = _unpacked(data)
    request[1] = tuple(request[1])  # msgpack knows lists only
    return Job(Request(*request), reloads)


def answer_of(data: bytes) -> Answer:
    """Return the answer that its bytes say, without their length."""
    response, log, remarks = _unpacked(data)
    return Answer(response, log, tuple(remarks))


def _unpacked(data: bytes) -> Any:
    return msgpack.unpackb(data, unicode_errors="surrogatepass")


def receive(connection: socket) -> bytes:
    """
    Return what comes next, without its length.

    Raises:
        EOFError: the other side is gone.

    """
    (length,) = LENGTH.unpack(_exactly(connection, LENGTH.size))
    return _exactly(connection, length)


def _exactly(connection: socket, length: int) -> bytes:
    data = bytearray(length)
    rest = memoryview(data)
    while rest:
        n_read = connection.recv_into(rest)
        if not n_read:
            raise EOFError
        rest = rest[n_read:]
    return bytes(data)
