"""
The protocol of SpamAssassin's spamd: what its lines mean, and how it answers.

The sources are SpamAssassin's spamd/PROTOCOL, versions 1.0 to 1.5, and where that is
silent what spamd and spamc 4.0.1 do. `nbtext.serving.request` puts requests together
from what arrives.
"""

import re
import zlib
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias

from nbtext.errors import RequestError

DATA: Final = 65
UNAVAILABLE: Final = 69
SOFTWARE: Final = 70
TRY_AGAIN: Final = 75
PROTOCOL: Final = 76
TIMEOUT: Final = 79
TOO_BIG: Final = 98
"""The statuses of answers: those of sysexits.h, and two that SpamAssassin adds."""

REASONS: Final = {
    DATA: "EX_DATAERR",
    UNAVAILABLE: "Service Unavailable",
    SOFTWARE: "EX_SOFTWARE",
    TRY_AGAIN: "EX_TEMPFAIL",
    PROTOCOL: "Bad header line",
    TIMEOUT: "Timeout",
    TOO_BIG: "EX_TOOBIG",
}
"""The beginning of the line that refuses a request, as in spamd."""

WITH_MESSAGE: Final = frozenset(
    {"CHECK", "SYMBOLS", "REPORT", "REPORT_IFSPAM", "PROCESS", "HEADERS", "TELL"}
)
WITHOUT_MESSAGE: Final = frozenset({"PING", "SKIP"})

Version: TypeAlias = tuple[int, int]

_FIRST: Final = re.compile(rb"([A-Z_]{1,16}) SPAMC/(\d{1,4})\.(\d{1,4})[ \t]*")
_LENGTH: Final = re.compile(rb"\d{1,15}")
_CONTROL: Final = re.compile(rb"[\x00-\x1f\x7f]")


class Request(NamedTuple):
    """
    What a client asks.

    Attributes:
        verb: one of WITH_MESSAGE or WITHOUT_MESSAGE.
        version: the version of the protocol that the client speaks.
        length: of the body, in bytes as they are sent; None if its end is the end of
            what the client sends.
        user: whom the client names, empty for nobody.
        is_compressed: whether the body is in zlib's format (RFC 1950).
        message_class: what TELL says that the message is: spam, ham, or nothing.
        sets: whether TELL asks to learn the message here.
        removes: whether TELL asks to forget it here.
        body: the message as it was sent.
    """

    verb: str
    version: Version
    length: int | None = None
    user: str = ""
    is_compressed: bool = False
    message_class: str = ""
    sets: bool = False
    removes: bool = False
    body: bytes = b""

    @property
    def has_headers(self) -> bool:
        """Return whether lines of headers follow the first, and an empty one."""
        if self.verb in WITHOUT_MESSAGE:
            return self.version >= (1, 5)
        return self.version > (1, 0)


def too_big(max_size: int) -> RequestError:
    """Return what refuses a message that is too long."""
    return RequestError(TOO_BIG, f"a message may have {max_size} bytes")


def mismatch(expected: int, found: int) -> RequestError:
    """Return what refuses a message that has another length than was said."""
    reason = f"(Content-Length mismatch: Expected {expected} bytes, got {found} bytes)"
    return RequestError(PROTOCOL, reason)


@lru_cache(maxsize=16)  # most clients say the same
def first_line(line: bytes) -> Request:
    """
    Read the first line of a request.

    Raises:
        RequestError: it is none.
    """
    match = _FIRST.fullmatch(line)
    verb = match[1].decode() if match else ""
    if match is None or verb not in WITH_MESSAGE | WITHOUT_MESSAGE:
        raise RequestError(PROTOCOL, "(expected a verb and SPAMC/1.5)")
    return Request(verb, (int(match[2]), int(match[3])))


def with_header(request: Request, line: bytes) -> Request:
    """
    Return a request with what a header says.

    Raises:
        RequestError: it is no header, or one that cannot be meant.
    """
    name, colon, value = line.partition(b":")
    if not colon:
        raise RequestError(PROTOCOL, "(header not in 'Name: value' format)")
    reader = _HEADERS.get(name.strip().lower())
    return reader(request, value.strip(b" \t")) if reader else request


def _with_length(request: Request, value: bytes) -> Request:
    if not _LENGTH.fullmatch(value):
        reason = "(Content-Length contains non-numeric bytes)"
        raise RequestError(PROTOCOL, reason)
    length = int(value)
    if request.length not in (None, length):
        raise RequestError(PROTOCOL, "(Content-Length is given twice)")
    return request._replace(length=length)


def _with_user(request: Request, value: bytes) -> Request:
    if _CONTROL.search(value):
        raise RequestError(PROTOCOL, "(User header contains control chars)")
    return request._replace(user=value.decode("utf-8", "backslashreplace"))


def _with_compression(request: Request, value: bytes) -> Request:
    if value.lower() != b"zlib":
        raise RequestError(PROTOCOL, "(compression type not supported)")
    return request._replace(is_compressed=True)


def _with_class(request: Request, value: bytes) -> Request:
    if value.lower() not in (b"spam", b"ham"):
        reason = "(Message-class header contains invalid class)"
        raise RequestError(PROTOCOL, reason)
    return request._replace(message_class=value.lower().decode())


def _with_set(request: Request, value: bytes) -> Request:
    return request._replace(sets=b"local" in _names(value))


def _with_remove(request: Request, value: bytes) -> Request:
    return request._replace(removes=b"local" in _names(value))


def _names(value: bytes) -> list[bytes]:
    """Return the databases that are named; of `local` and `remote` we have the one."""
    return [name.strip().lower() for name in value.split(b",")]


_HEADERS: Final[dict[bytes, Callable[[Request, bytes], Request]]] = {
    b"content-length": _with_length,
    b"user": _with_user,
    b"compress": _with_compression,
    b"message-class": _with_class,
    b"set": _with_set,
    b"remove": _with_remove,
}
"""The headers that mean something, in lower case; others are passed over."""


def message_of(request: Request, max_size: int) -> bytes:
    """
    Return the message of a request.

    Args:
        request: the whole request.
        max_size: how long the message may be once it is not compressed any more.

    Raises:
        RequestError: it is longer, or was not compressed by zlib.
    """
    if not request.is_compressed:
        return request.body
    stream = zlib.decompressobj()
    try:
        message = stream.decompress(request.body, max_size + 1)
    except zlib.error as error:
        raise RequestError(DATA, f"zlib: {error}") from error
    if len(message) > max_size:
        raise too_big(max_size)
    if not stream.eof or stream.unused_data:
        raise RequestError(DATA, "zlib: the stream does not end where the body does")
    return message


def pong() -> bytes:
    """Return the answer to PING."""
    return b"SPAMD/1.5 0 PONG\r\n"


def refusal(error: RequestError) -> bytes:
    """
    Return the line that says that, and why, nothing was done.

    No empty line follows: spamc 4.0.1 would take that for success, and say of a message
    that could not be learnt that it had been learnt before.
    """
    reason = "".join(
        letter if " " <= letter <= "~" else "?" for letter in str(error)[:512]
    )
    return f"SPAMD/1.0 {error.code} {REASONS[error.code]}: {reason}\r\n".encode()


def result(
    request: Request, spam: str, body: Sequence[bytes | memoryview] | None = None
) -> bytes:
    """
    Return the answer to a verb that asks what a message is.

    The order of the headers, and which of them a version has, are spamd's; Exim and
    other clients read no other.

    Args:
        request: what was asked.
        spam: the value of the header Spam.
        body: what follows the headers, in pieces, of which a long one is copied once;
            None for CHECK, which has no body.
    """
    spam_header = f"Spam: {spam}\r\n"
    length = f"Content-length: {sum(map(len, body or ()))}\r\n"
    start = "SPAMD/1.1 0 EX_OK\r\n"
    if body is None:
        head = f"{start}{spam_header}\r\n"
    elif request.version >= (1, 3):
        head = f"{start}{length}{spam_header}\r\n"
    elif request.verb not in ("PROCESS", "HEADERS"):
        head = f"{start}{spam_header}\r\n"
        body = [*body, b"\r\n" if request.verb == "SYMBOLS" else b""]
    elif request.version >= (1, 2):
        head = f"{start}{length}\r\n"
    else:
        head = "SPAMD/1.0 0 EX_OK\r\n"
    return b"".join([head.encode(), *(body or ())])


def tell_answer(*, did_set: bool, did_remove: bool) -> bytes:
    """Return the answer to TELL: what has changed."""
    lines = ["SPAMD/1.1 0 EX_OK"]
    if did_set:
        lines.append("DidSet: local")
    if did_remove:
        lines.append("DidRemove: local")
    return "".join(f"{line}\r\n" for line in (*lines, "")).encode()


def head_of(original: bytes, processed: bytes) -> bytes:
    r"""
    Return what HEADERS answers: a processed message without its body.

    spamc puts behind it what follows the first CR LF CR LF or LF LF of the original,
    and nothing that it does not put there may be missing here. So the answer ends where
    spamc will go on, which is behind the header but for odd line ends.

    Args:
        original: the message.
        processed: the same with its new fields; its body is the same.

    Returns:
        What stands before that; as it came, if the fields are not there.
    """
    ends = [original.find(b"\r\n\r\n") + 4, original.find(b"\n\n") + 2]
    found = [end for end, least in zip(ends, (4, 2), strict=True) if end >= least]
    if not found:
        return processed
    head, rest = original[: min(found)], original[min(found) :]
    # behind empty lines a header stands where spamc takes all for the body: nothing new
    # can be said of it there
    return processed.removesuffix(rest) if processed.endswith(rest) else head
