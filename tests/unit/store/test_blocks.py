"""Blocks are verified once, and each has the checksum that is said to be its own."""

import os
from array import array
from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbtext.store.blocks import BLOCK_SIZE, Checksums, first_damaged


def checksums_of(contents: bytes) -> "array[int]":
    checksums = Checksums()
    checksums.add(contents)
    return array("I", checksums.packed())


@given(st.data())
def test_the_first_damaged_block_is_found(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 5 * BLOCK_SIZE))
    contents = data.draw(st.randoms()).randbytes(size)
    sums = checksums_of(contents)
    damaged = data.draw(st.sets(st.integers(0, len(sums) - 1)))
    for place in damaged:
        sums[place] ^= 1 << data.draw(st.integers(0, 31))
    marks = [data.draw(st.sampled_from([0, 0, 0, 1])) for _ in sums]
    blocks = data.draw(st.lists(st.integers(0, len(sums) - 1)))
    verified = bytearray(marks)

    found = first_damaged(memoryview(contents), memoryview(sums), verified, blocks)

    unsound = [block for block in blocks if block in damaged and not marks[block]]
    assert found == (unsound[0] if unsound else -1)
    sound = blocks[: blocks.index(found)] if unsound else blocks
    assert list(verified) == [
        mark or int(place in sound) for place, mark in enumerate(marks)
    ]


def test_a_block_of_any_length_has_the_checksum_of_zlib() -> None:
    for size in range(1, BLOCK_SIZE + 1):
        contents = os.urandom(size)

        assert list(checksums_of(contents)) == [crc32(contents)]


def test_a_block_is_verified_once() -> None:
    contents = bytearray(2000)
    verified = bytearray(2)
    arguments = memoryview(contents), memoryview(checksums_of(bytes(2000))), verified
    contents[1500] = 0

    assert first_damaged(*arguments, [1]) == -1
    contents[1500] = 1
    assert first_damaged(*arguments, [0, 1]) == -1
    assert bytes(verified) == b"\1\1"


@pytest.mark.parametrize("sizes", [[1, 2000], [1024, 1024, 1], [0, 5, 3000, 0]])
def test_pieces_have_the_checksums_of_the_whole(sizes: list[int]) -> None:
    pieces = [os.urandom(size) for size in sizes]
    checksums = Checksums()
    for piece in pieces:
        checksums.add(piece)

    assert checksums.packed() == checksums_of(b"".join(pieces)).tobytes()
