"""
One client of the server: what it says is heard, it is told something, it is seen off.

A connection has one request and one answer, as spamd's have. The socket is used as it
is, without buffers of asyncio's: so nothing is read that nobody has asked for.
"""

import asyncio
from contextlib import suppress
from socket import MSG_PEEK, SHUT_WR, socket
from typing import Final

from nbtext.errors import RequestError
from nbtext.serving.handlers import loggable
from nbtext.serving.request import Incoming
from nbtext.serving.spamd import TRY_AGAIN

CHUNK: Final = 1 << 16

FAREWELL: Final = 5.0
"""So many seconds what a client still sends is read after it has its answer."""


class Room:
    """How many bytes all requests together may hold."""

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
        socket: what it is connected to; it does not block.
        incoming: what it has said.
        is_owed: whether it has said something and has no answer yet.
    """

    def __init__(self, client: socket, name: str, max_size: int, room: Room) -> None:
        """
        Begin a conversation.

        Args:
            client: the socket.
            name: what the log calls the client.
            max_size: how many bytes a message may have.
            room: where the request is held.

        """
        self.socket = client
        self.incoming = Incoming(max_size)
        self.is_owed = False
        self._name = name
        self._room = room
        self._held = 0
        client.setblocking(False)

    def facts(self) -> str:
        """Return what the log says of the client and of its request."""
        said = self.incoming
        user = f" user={loggable(said.user)}" if said.user else ""
        return f"client={self._name} verb={said.verb}{user} size={said.n_received}"

    async def hear(self, seconds: float) -> None:
        """
        Read the request.

        Args:
            seconds: how long the client may take.

        Raises:
            RequestError: it is none, or there is no room for it.
            TimeoutError: the client takes longer.
            OSError: the connection is lost.

        """
        with suppress(BlockingIOError):  # most clients have said all by now
            self._take(self.socket.recv(CHUNK))
        if not self.incoming.is_whole:
            async with asyncio.timeout(seconds):
                await self._hear()
        self.check_end()

    async def _hear(self) -> None:
        loop = asyncio.get_running_loop()
        while not self.incoming.is_whole:
            data = await loop.sock_recv(self.socket, CHUNK)
            self._take(data)
            if len(data) == CHUNK:
                await asyncio.sleep(0)  # what is there is read without a pause

    def _take(self, data: bytes) -> None:
        if not data:
            self.incoming.end()
            return
        self.is_owed = True
        self._room.take(len(data))
        self._held += len(data)
        self.incoming.feed(data)

    def check_end(self) -> None:
        """
        Make sure that no more has come than was announced.

        Otherwise a client that counts wrongly would have a part of its message in the
        place of all of it.

        Raises:
            RequestError: there is more.

        """
        with suppress(BlockingIOError, ConnectionError):
            self.incoming.check_rest(self.socket.recv(3, MSG_PEEK))

    async def say(self, response: bytes, seconds: float) -> None:
        """
        Send the answer, and that it was all.

        Args:
            response: the answer.
            seconds: how long the client may take to read it.

        Raises:
            TimeoutError: the client takes longer.
            OSError: the connection is lost.

        """
        n_sent = 0
        with suppress(BlockingIOError):  # most answers can be sent at once
            n_sent = self.socket.send(response)
        if n_sent < len(response):
            rest = memoryview(response)[n_sent:]
            async with asyncio.timeout(seconds):
                await asyncio.get_running_loop().sock_sendall(self.socket, rest)
        self.socket.shutdown(SHUT_WR)

    async def part(self) -> None:
        """
        Read what the client still sends, and forget it, until it has gone.

        If a socket is closed that has unread bytes, the system resets the connection,
        and the client loses an answer that it has not read yet.
        """
        self.close()
        self.is_owed = False
        if self.socket.fileno() < 0:
            return
        with suppress(OSError):
            if not self.socket.recv(CHUNK):
                return  # as most have by now
        buffer = bytearray(CHUNK)
        loop = asyncio.get_running_loop()
        with suppress(OSError, TimeoutError):
            async with asyncio.timeout(FAREWELL):
                while await loop.sock_recv_into(self.socket, buffer):
                    await asyncio.sleep(0)

    def close(self) -> None:
        """Hold nothing any more of what the client has said."""
        self._room.give_back(self._held)
        self._held = 0
        self.incoming.forget()
