"""
One client of the server: its request is received, the answer is sent.

A connection has one request and one answer, as in spamd. The socket is used without
asyncio's buffers, so that nothing is read before there is room for it.
"""

import asyncio
from contextlib import suppress
from socket import MSG_DONTWAIT, SHUT_WR, socket
from typing import Final

from nbtext.errors import RequestError
from nbtext.serving.handlers import loggable
from nbtext.serving.request import RequestParser
from nbtext.serving.spamd import TRY_AGAIN

CHUNK: Final = 1 << 16

FAREWELL: Final = 5.0
"""Maximum seconds for which the rest of a request is read after the answer."""


class MemoryBudget:
    """The bytes that all requests together may hold."""

    def __init__(self, size: int) -> None:
        self._left = size

    def take(self, size: int) -> None:
        """
        Hold more bytes.

        Raises:
            RequestError: there is no room.
        """
        if size > self._left:
            reason = "the messages of other clients fill the memory that there is"
            raise RequestError(TRY_AGAIN, reason)
        self._left -= size

    def give_back(self, size: int) -> None:
        """Hold fewer bytes."""
        self._left += size


class Connection:
    """
    A client.

    Attributes:
        socket: its socket. As long as it blocks, only what says `now` in its name may
            be called; a client that is alone needs no more, and a system call less.
        parser: what it has sent.
        is_answer_due: whether it has sent something and has no answer yet.
    """

    def __init__(
        self, client: socket, name: str, max_size: int, budget: MemoryBudget
    ) -> None:
        """
        Receive nothing yet.

        Args:
            client: the socket.
            name: the client's name in the log.
            max_size: maximum bytes of a message.
            budget: the memory that requests may hold.
        """
        self.socket = client
        self.parser = RequestParser(max_size)
        self.is_answer_due = False
        self._name = name
        self._budget = budget
        self._held = 0
        self._n_sent = 0
        self._has_ended = False

    def facts(self) -> str:
        """Return what the log says of the client and of its request."""
        request = self.parser
        user = f" user={loggable(request.user)}" if request.user else ""
        return (
            f"client={self._name} verb={request.verb}{user} size={request.n_received}"
        )

    def receive_now(self) -> bool:
        """
        Receive what has come, and return whether that is the whole request.

        Raises:
            RequestError: it is malformed, or there is no room for it.
            OSError: the connection is lost.
        """
        data = self._received(CHUNK)
        if data is not None:
            self._take(data)
        return self.parser.is_whole

    def _received(self, size: int) -> bytes | None:
        """
        Return what has come, empty at the end, None if nothing has.

        Raises:
            OSError: the connection is lost.
        """
        try:
            data = self.socket.recv(size, MSG_DONTWAIT)
        except BlockingIOError:
            return None
        self._has_ended = not data
        return data

    async def receive(self, seconds: float) -> None:
        """
        Receive the request, or the rest of it.

        Args:
            seconds: maximum seconds that the client may take.

        Raises:
            RequestError: it is malformed, or there is no room for it.
            TimeoutError: the client takes longer.
            OSError: the connection is lost.
        """
        if not self.receive_now():
            loop = asyncio.get_running_loop()
            async with asyncio.timeout(seconds):
                while not self.parser.is_whole:
                    data = await loop.sock_recv(self.socket, CHUNK)
                    self._take(data)
                    if len(data) == CHUNK:
                        await asyncio.sleep(0)  # what is there is read without a pause
        self.check_end_now()

    def _take(self, data: bytes) -> None:
        if not data:
            self._has_ended = True
            self.parser.end()
            return
        self.is_answer_due = True
        self._budget.take(len(data))
        self._held += len(data)
        self.parser.feed(data)

    def check_end_now(self) -> None:
        """
        Make sure that no more has come than was announced.

        Otherwise a client that counts wrongly would get back a part of its message
        instead of all of it.

        Raises:
            RequestError: there is more.
        """
        if self._has_ended:
            return
        try:
            rest = self._received(3)
        except ConnectionError:  # which sending tells, too
            return
        if rest:
            self.parser.take_rest(rest)

    def send_now(self, response: bytes | bytearray) -> bool:
        """
        Send what can be sent at once of an answer, or of what is left of it.

        Returns:
            Whether that is all; then this half of the connection is closed, and both
            are if the client has closed its own.

        Raises:
            OSError: the connection is lost.
        """
        rest = memoryview(response)[self._n_sent :]
        try:
            self._n_sent += self.socket.send(rest, MSG_DONTWAIT)
        except BlockingIOError:
            return False
        is_all = self._n_sent == len(response)
        if is_all:
            self._end()
        return is_all

    def _end(self) -> None:
        """Tell the client that it has the answer."""
        if self._has_ended:  # what closes one half would be called for nothing
            self.socket.close()
        else:
            self.socket.shutdown(SHUT_WR)

    async def send(self, response: bytes | bytearray, seconds: float) -> None:
        """
        Send the answer, or the rest of it, and close this half of the connection.

        Args:
            response: the answer.
            seconds: maximum seconds that the client may take to read it.

        Raises:
            TimeoutError: the client takes longer.
            OSError: the connection is lost.
        """
        if self.send_now(response):  # as most answers are
            return
        rest = memoryview(response)[self._n_sent :]
        async with asyncio.timeout(seconds):
            await asyncio.get_running_loop().sock_sendall(self.socket, rest)
        self._end()

    def close_now(self) -> bool:
        """
        Release what the request holds, and close if the client sends no more.

        Returns:
            Whether the connection is closed.
        """
        self.release()
        self.is_answer_due = False
        if not self._has_ended:
            with suppress(OSError):
                self._received(CHUNK)
        if self._has_ended:
            self.socket.close()
        return self.socket.fileno() < 0

    async def drain(self) -> None:
        """Read and discard what the client still sends, until it closes."""
        if not self.close_now():  # as most have by now
            await drain(self.socket, FAREWELL)

    def release(self) -> None:
        """Release the memory that the request holds."""
        self._budget.give_back(self._held)
        self._held = 0
        self.parser.forget()


async def drain(client: socket, seconds: float) -> None:
    """
    Read and discard what a client still sends, until it closes.

    If a socket with unread bytes is closed, the system resets the connection, and the
    client loses an answer that it has not read yet.

    Args:
        client: its socket.
        seconds: maximum seconds for which that is done.
    """
    buffer = bytearray(CHUNK)
    loop = asyncio.get_running_loop()
    with suppress(OSError, TimeoutError):
        async with asyncio.timeout(seconds):
            while await loop.sock_recv_into(client, buffer):
                await asyncio.sleep(0)
