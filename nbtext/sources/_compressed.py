"""
Decompression by the magic bytes at the beginning, in bounded steps.

gzip (RFC 1952), bzip2, xz and Zstandard (RFC 8878, with the optional library
`zstandard`). Members that follow one another are read as one, and zero bytes between
and after them are padding, as gzip(1) and xz(1) have it. No step inflates more than
about `CHUNK` bytes (for Zstandard 16 MiB), so a decompression bomb costs no more than
the reader asks for.
"""

from collections.abc import Callable
from typing import Any, Protocol

from nbtext.errors import SourceError

CHUNK = 2**18
"""How much is read or inflated at a time, in bytes."""

MAGIC = {
    b"\x1f\x8b\x08": "gzip",
    b"BZh": "bzip2",
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
}
_MAGICS = tuple(MAGIC)
BZIP2_BLOCKS = (b"1AY&SY", b"\x17\x72\x45\x38\x50\x90")
"""What follows `BZh9`; without it, a text that begins so would be taken for bzip2."""

LONGEST_MAGIC = 10
XZ_MEMORY = 2**29  # bytes; xz -9 needs 65 MiB
ZSTD_SLICE = 512  # 4 bytes may stand for 128 KiB, and the library knows no bound


class ByteSource(Protocol):
    """Bytes that come in pieces: a descriptor, a file object, a decompressor."""

    def read(self) -> bytes:
        """Return the next bytes, waiting for them if need be; nothing at the end."""

    def would_block(self) -> bool:
        """Tell whether `read` would have to wait."""

    def close(self) -> None:
        """Let go of what is below."""


class Decompressor(Protocol):
    """The part of `bz2.BZ2Decompressor` that is used here."""

    @property
    def eof(self) -> bool:
        """Whether the member is complete."""

    @property
    def needs_input(self) -> bool:
        """Whether `decompress` has nothing left to give without more data."""

    @property
    def unused_data(self) -> bytes:
        """What was given beyond the member's end."""

    def decompress(self, data: bytes, max_length: int) -> bytes:
        """Return at most about `max_length` bytes, keeping what they leave of data."""


def compression(head: bytes) -> str | None:
    """Return the name of the compression whose magic bytes begin `head`, if any."""
    if not head.startswith(_MAGICS):  # as most do not, of many
        return None
    for magic, name in MAGIC.items():
        if head.startswith(magic):
            if name == "bzip2" and not head.startswith(BZIP2_BLOCKS, 4):
                return None
            return name
    return None


def may_be_compressed(head: bytes) -> bool:
    """Tell whether more than `head` is needed to know if it is compressed."""
    return len(head) < LONGEST_MAGIC and any(
        head[: len(magic)] == magic[: len(head)] for magic in MAGIC
    )


class Decompressed:
    """
    The bytes inside a compressed source.

    Raises:
        SourceError: from the constructor if zstd is not supported here, from `read`
            if the data are damaged; whatever could be inflated came before.
    """

    def __init__(self, name: str, kind: str, head: bytes, source: ByteSource) -> None:
        self._name = name
        self._kind = kind
        self._source = source
        self._input = head
        self._new, self._failures = _codec(name, kind)
        self._decompressor = self._new()

    def read(self) -> bytes:
        """Return the next piece of the plain bytes; nothing at the end."""
        while self._next_member():
            needs_input = self._decompressor.needs_input
            data = self._take() if needs_input else b""
            try:
                piece = self._decompressor.decompress(data, CHUNK)
            except self._failures as error:
                raise self._damaged(str(error)) from error
            if piece:
                return piece
            if needs_input and not data:
                raise self._damaged("it ends too early")
        return b""

    def would_block(self) -> bool:
        """Tell whether nothing is left to inflate and the source has to be awaited."""
        decompressor = self._decompressor
        left = self._input or decompressor.unused_data or not decompressor.needs_input
        return not left and self._source.would_block()

    def close(self) -> None:
        """Close the compressed source."""
        self._source.close()

    def _take(self) -> bytes:
        data, self._input = self._input or self._source.read(), b""
        return data

    def _next_member(self) -> bool:
        """Go on to the next member at the end of one; tell whether there is more."""
        if not self._decompressor.eof:
            return True
        self._input = self._decompressor.unused_data.lstrip(b"\0")
        while not self._input:
            data = self._source.read()
            if not data:
                return False
            self._input = data.lstrip(b"\0")
        self._decompressor = self._new()
        return True

    def _damaged(self, reason: str) -> SourceError:
        return SourceError(
            f"{self._name}: damaged {self._kind} data ({reason}), of which no more "
            "was read; fetch the file again"
        )


class _Gzip:
    """`zlib.decompressobj` in the manner of `bz2.BZ2Decompressor`."""

    def __init__(self) -> None:
        import zlib

        self._inflater = zlib.decompressobj(wbits=31)
        self.needs_input = True

    @property
    def eof(self) -> bool:
        return self._inflater.eof

    @property
    def unused_data(self) -> bytes:
        return self._inflater.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        inflater = self._inflater
        piece = inflater.decompress(inflater.unconsumed_tail + data, max_length)
        # A full piece may leave output inside zlib though the input is used up.
        is_full = len(piece) == max_length
        self.needs_input = not is_full and not inflater.unconsumed_tail
        return piece


class _Zstd:
    """`zstandard`'s object in the manner of `bz2.BZ2Decompressor`, fed in slices."""

    def __init__(self, inflater: Any) -> None:
        self._inflater = inflater
        self._input = b""

    @property
    def eof(self) -> bool:
        return bool(self._inflater.eof)

    @property
    def needs_input(self) -> bool:
        return not self._input

    @property
    def unused_data(self) -> bytes:
        return bytes(self._inflater.unused_data) + self._input

    def decompress(self, data: bytes, max_length: int) -> bytes:
        waiting = self._input + data
        pieces: list[bytes] = []
        size = start = 0
        while start < len(waiting) and size < max_length and not self.eof:
            piece = self._inflater.decompress(waiting[start : start + ZSTD_SLICE])
            pieces.append(piece)
            size += len(piece)
            start += ZSTD_SLICE
        self._input = waiting[start:]
        return b"".join(pieces)


def _codec(
    name: str, kind: str
) -> tuple[Callable[[], Decompressor], tuple[type[Exception], ...]]:
    """Return what makes a decompressor, and what it raises on damaged data."""
    if kind == "gzip":
        import zlib

        return _Gzip, (zlib.error,)
    if kind == "bzip2":
        import bz2

        return bz2.BZ2Decompressor, (OSError,)
    if kind == "xz":
        import lzma

        return (
            lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=XZ_MEMORY),
            (lzma.LZMAError,),
        )
    try:
        import zstandard
    except ImportError as error:
        raise SourceError(
            f"{name}: zstd data, and the library to read it is missing; "
            "install nbtext[zst], or decompress it with zstd -d first"
        ) from error
    return (
        lambda: _Zstd(zstandard.ZstdDecompressor().decompressobj()),
        (zstandard.ZstdError,),
    )
