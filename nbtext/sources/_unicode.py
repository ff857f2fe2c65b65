"""
Tables and lines in UTF-16 and UTF-32: decoded by their byte order mark, or refused.

Records are taken apart as bytes of ASCII or a superset of it, such as UTF-8. Wider
encodings become UTF-8 before. Without a mark their NUL bytes give them away.
"""

import codecs

from nbtext.byte_order import (
    LONGEST_MARK,
    LOOKED_AT,
    is_wide,
    marked_codec,
    unmarked_codec,
)
from nbtext.errors import SourceError
from nbtext.sources._compressed import ByteSource
from nbtext.sources._stream import Stream


def narrow(stream: Stream) -> None:
    """Make a stream that is not read yet one of UTF-8, if it is marked as wider."""
    head = stream.peek(LONGEST_MARK)
    if is_wide(head):
        codec, length = marked_codec(head) or ("utf_8", 0)
        stream.convert(lambda head, source: _Narrowed(codec, head[length:], source))


def refuse_unmarked(stream: Stream, *, waits: bool) -> None:
    """
    Refuse a stream that is wider than UTF-8 and not marked: which it is, is a guess.

    Args:
        stream: what is not read yet.
        waits: whether to wait for as much of it as is looked at.

    Raises:
        SourceError: so it is.
    """
    codec = unmarked_codec(stream.peek(LOOKED_AT, waits=waits))
    if codec is not None:
        raise SourceError(
            f"{stream.name}: UTF-8 was expected, and what looks like {codec} without a "
            f"byte order mark found; convert it with `iconv -f {codec} -t UTF-8`"
        )


class _Narrowed:
    """The bytes of a source of UTF-16 or UTF-32, as UTF-8."""

    def __init__(self, codec: str, head: bytes, source: ByteSource) -> None:
        self._decoder = codecs.getincrementaldecoder(codec)("replace")
        self._head = head
        self._source = source
        self._is_ended = False

    def read(self) -> bytes:
        """Return the next piece; nothing at the end."""
        while not self._is_ended:
            data, self._head = self._head or self._source.read(), b""
            self._is_ended = not data
            text = self._decoder.decode(data, final=self._is_ended)
            if text:
                return text.encode("utf-8", "replace")
        return b""

    def would_block(self) -> bool:
        """Tell whether reading would have to wait."""
        return not self._head and self._source.would_block()

    def close(self) -> None:
        """Close what is below."""
        self._source.close()
