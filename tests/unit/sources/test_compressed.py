"""Compressed sources: recognised by their magic, bounded, and honest when damaged."""

import bz2
import gzip
import lzma
from collections.abc import Callable
from io import BytesIO
from itertools import chain, repeat
from pathlib import Path
from time import process_time

import pytest

from nbtext.document import Document, Item, Unread, Unreadable
from nbtext.errors import SourceError
from nbtext.sources import Options, documents, load
from nbtext.sources._lines import lines
from nbtext.sources._stream import Stream
from tests.build import bounded

MAIL = b"Subject: x\n\nhello\n"
N_LINES = 8_000
BOMB = bytes(2**25)
LINES = b"".join(b'{"text": "%d"}\n' % number for number in range(N_LINES))

CODECS: list[Callable[[bytes], bytes]] = [gzip.compress, bz2.compress, lzma.compress]
each_codec = pytest.mark.parametrize("compress", CODECS, ids=["gz", "bz2", "xz"])


def read(data: bytes) -> list[Item]:
    return list(documents(["-"], Options(), labelled=False, stdin=BytesIO(data)))


@each_codec
def test_a_document_is_decompressed(
    compress: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    path = tmp_path / "mail"
    path.write_bytes(compress(MAIL))

    assert load(Unread("m", str(path)), 1000).texts == (MAIL,)
    assert load(Unread("m", str(path)), 5) == Document("m", (MAIL[:5],), truncated=True)
    assert read(compress(MAIL)) == [Document("-", (MAIL,))]
    assert read(compress(b"")) == [Document("-", (b"",))]


@each_codec
def test_members_and_padding_are_read_through(
    compress: Callable[[bytes], bytes],
) -> None:
    assert read(compress(b"a") + compress(b"b") + bytes(8)) == [Document("-", (b"ab",))]


@each_codec
def test_rows_inside_are_streamed(compress: Callable[[bytes], bytes]) -> None:
    items = read(compress(LINES))

    assert [getattr(item, "texts", None) for item in items] == [
        (b"%d" % number,) for number in range(N_LINES)
    ]


@each_codec
def test_what_comes_before_the_damage_is_read(
    compress: Callable[[bytes], bytes],
) -> None:
    whole = compress(LINES)
    cut = read(whole[:-20])
    garbage = read(whole + b"garbage")

    for items in (cut, garbage):
        assert isinstance(items[-1], Unreadable)
        assert "damaged" in str(items[-1].error)
    assert len(garbage) == N_LINES + 1
    # bzip2 gives nothing of a block that is not whole.
    assert isinstance(cut[0], Document) or compress is bz2.compress


@each_codec
def test_a_damaged_document_is_an_error(
    compress: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    path = tmp_path / "mail"
    path.write_bytes(compress(MAIL)[:-1])

    with pytest.raises(SourceError, match=r"m: damaged .* no more was read"):
        load(Unread("m", str(path)), 1000)


@each_codec
def test_a_bomb_costs_what_is_asked_for(
    compress: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    path = tmp_path / "bomb"
    path.write_bytes(compress(BOMB))

    with bounded(megabytes=12):  # the dictionary of xz has 8
        assert load(Unread("b", str(path)), 1000).truncated


def test_texts_that_begin_like_a_magic_are_texts() -> None:
    for text in (b"BZh9 is how bzip2 begins", b"BZ", b"\x1f", b"\xfd7z", b"B"):
        assert read(text) == [Document("-", (text,))]


def test_zstd_is_decompressed_or_its_library_asked_for(tmp_path: Path) -> None:
    try:
        import zstandard
    except ImportError:
        (item,) = read(b"\x28\xb5\x2f\xfd" + bytes(20))
        assert isinstance(item, Unreadable)
        assert "nbtext[zst]" in str(item.error)
        return
    compress = zstandard.ZstdCompressor().compress

    assert read(compress(b"a") + compress(b"b")) == [Document("-", (b"ab",))]
    assert len(read(compress(LINES))) == N_LINES
    assert "damaged" in str(getattr(read(compress(LINES)[:-9])[-1], "error", None))
    assert "damaged" in str(getattr(read(compress(LINES) + b"x")[-1], "error", None))
    path = tmp_path / "bomb"
    path.write_bytes(compress(BOMB))
    assert load(Unread("b", str(path)), 1000).truncated


class InPieces:
    """A source of many short pieces, as members of one byte or a slow pipe are."""

    def __init__(self, start: bytes, pieces: int, size: int) -> None:
        self._pieces = chain([start], repeat(b"a" * size, pieces))

    def read(self) -> bytes:
        return next(self._pieces, b"")

    def would_block(self) -> bool:
        return False

    def close(self) -> None:
        pass


def test_a_long_line_in_short_pieces_takes_time_in_proportion() -> None:
    """200,000 pieces took a minute and a half, and twice as many four times that."""
    begun = process_time()

    (line,) = lines(Stream("-", InPieces(b"label\t", 200_000, 1)), 1 << 24)

    assert line == b"label\t" + b"a" * 200_000
    assert process_time() - begun < 10


def test_what_is_looked_at_in_short_pieces_takes_time_in_proportion() -> None:
    """16 MB in pieces of 1,000 bytes took minutes."""
    stream = Stream("-", InPieces(b'{"text": "', 16_000, 1000))
    begun = process_time()

    head = stream.peek(1 << 24)

    assert len(head) == 16_000_010
    assert process_time() - begun < 10
    assert stream.read() == head
