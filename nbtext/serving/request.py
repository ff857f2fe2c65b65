"""
Requests of spamd's protocol as they arrive: bytes in any pieces to a `Request`.

Nothing here reads a socket. Any bytes give a request or a `RequestError`, in bounded
memory and time. `nbtext.serving.spamd` has the protocol.
"""

from typing import Final

from nbtext.errors import RequestError
from nbtext.serving.spamd import (
    PROTOCOL,
    UNAVAILABLE,
    WITHOUT_MESSAGE,
    Request,
    first_line,
    mismatch,
    too_big,
    with_header,
)

MOST_LINE: Final = 8192
"""Maximum bytes of one line; in spamc they are the maximum of a whole header."""

MOST_HEADERS: Final = 255
"""Maximum number of headers, as in spamd."""


class RequestParser:
    """
    A request that is arriving, piece by piece.

    Attributes:
        is_whole: whether all of it has arrived.
        n_received: number of bytes of the message that have arrived.
    """

    def __init__(self, max_size: int) -> None:
        self.is_whole = False
        self.n_received = 0
        self._max_size = max_size
        self._request: Request | None = None
        self._has_lines, self._is_in_body = True, False  # of what comes next
        self._line = bytearray()
        self._n_headers = 0
        self._body = bytearray()
        self._end = b""
        self._rest = b""

    @property
    def verb(self) -> str:
        """Return the verb, for the log; `-` until it is known."""
        return self._request.verb if self._request else "-"

    @property
    def user(self) -> str:
        """Return the user that the client names, for the log; empty if unknown."""
        return self._request.user if self._request else ""

    def forget(self) -> None:
        """Release what has arrived."""
        self._line, self._body, self._rest = bytearray(), bytearray(), b""

    @property
    def request(self) -> Request:
        """Return the whole request but for its message, which stays here."""
        if self._request is None or not self.is_whole:
            message = "the request is not whole yet"
            raise ValueError(message)
        return self._request

    @property
    def size(self) -> int:
        """Return the number of bytes of the message that are here."""
        return len(self._body)

    def take_request(self) -> Request:
        """Return the whole request, and release the message in it."""
        return self.request._replace(body=bytes(self.take_body()))

    def take_body(self) -> bytearray:
        """Return the message, which is the caller's from now on; nothing is copied."""
        body, self._body = self._body, bytearray()
        self._end = bytes(body[-1:])
        return body

    def feed(self, data: bytes) -> None:
        """
        Take what has arrived.

        Raises:
            RequestError: it is malformed or too long.
        """
        if self._has_lines:
            data = self._read_lines(data)
        if self._is_in_body:  # else what follows a PING, which says nothing
            self._take(data)

    def _read_lines(self, data: bytes) -> bytes:
        """Read the lines that are whole now; return what follows the last of all."""
        start = 0
        while self._has_lines:
            end = data.find(b"\n", start)
            length = len(self._line) + (end if end >= 0 else len(data)) - start
            if length > MOST_LINE:
                raise RequestError(PROTOCOL, f"(a line of more than {MOST_LINE} bytes)")
            if end < 0:
                self._line += data[start:]
                return b""
            line = data[start:end]
            if self._line:
                line, self._line = bytes(self._line) + line, bytearray()
            self._read_line(line.removesuffix(b"\r"))
            start = end + 1
        return data[start:]

    def end(self) -> None:
        """
        Note that nothing more arrives.

        Raises:
            RequestError: something is missing.
        """
        request = self._request
        if self.is_whole:
            return
        if request is None:
            raise RequestError(PROTOCOL, "(closed before headers)")
        if not self._is_in_body:
            raise RequestError(PROTOCOL, "(EOF during headers)")
        if request.length is not None:
            raise mismatch(request.length, len(self._body))
        self.is_whole = True

    def _read_line(self, line: bytes) -> None:
        """Read a line without its end: the first one, a header or the empty one."""
        if self._request is None:
            self._request = first_line(line)
            if not self._request.has_headers:
                self._begin_body(self._request)
        elif not line:
            self._begin_body(self._request)
        else:
            self._n_headers += 1
            if self._n_headers > MOST_HEADERS:
                raise RequestError(PROTOCOL, "(too many headers)")
            self._request = with_header(self._request, line)

    def _begin_body(self, request: Request) -> None:
        self._has_lines = False
        if request.verb in WITHOUT_MESSAGE:
            self.is_whole = True
            return
        if request.length is not None and request.length > self._max_size:
            raise too_big(self._max_size)
        if request.is_compressed and request.length is None:
            reason = "Compress requires Content-length header"
            raise RequestError(UNAVAILABLE, reason)
        self._is_in_body = True

    def take_rest(self, data: bytes) -> None:
        r"""
        Take what follows the request, and make sure that it is no part of the message.

        SpamAssassin's own client in Perl sends a CR LF more than it announces. As spamd
        does, we ignore that behind a message that ends with a line end.

        Args:
            data: what has come behind what was taken before, or its beginning.

        Raises:
            RequestError: it is more than that: the message is longer than announced.
        """
        self._rest += data
        length = self._request.length if self._request else None
        if length is None or not self._rest:
            return
        is_line_end = self._rest in (b"\r", b"\n", b"\r\n")
        if not (is_line_end and (self._body or self._end)[-1:] in (b"", b"\n")):
            raise mismatch(length, length + len(self._rest))

    def _take(self, data: bytes) -> None:
        """Take a piece of the body, and what follows it."""
        length = self._request.length if self._request else None
        most = self._max_size if length is None else length
        missing = most - len(self._body)
        self._body += data[:missing]
        rest = data[missing:]
        self.n_received += len(data)
        if length is None:
            if rest:
                raise too_big(self._max_size)
            return
        self.is_whole = len(self._body) == length
        self.take_rest(rest)
