"""Blocks are verified once, and the compiled engine finds what the plain one does."""

import os
from array import array
from collections.abc import Callable, Iterable
from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbtext.store.blocks import BLOCK_SIZE, Checksums, first_damaged
from nbtext.tokens.engine import COMPILED, best

Verify = Callable[[memoryview, memoryview, bytearray, Iterable[int]], int]


def compiled() -> Verify:
    if best() != COMPILED:
        pytest.skip("nbtext was installed without a C compiler")
    from nbtext._compiled import first_damaged

    return first_damaged


def checksums_of(contents: bytes) -> "array[int]":
    checksums = Checksums()
    checksums.add(contents)
    return array("I", checksums.packed())


@given(st.data())
def test_the_compiled_engine_finds_the_damage_that_the_plain_one_does(
    data: st.DataObject,
) -> None:
    size = data.draw(st.integers(1, 5 * BLOCK_SIZE))
    contents = data.draw(st.randoms()).randbytes(size)
    sums = checksums_of(contents)
    for place in data.draw(st.sets(st.integers(0, len(sums) - 1))):
        sums[place] ^= 1 << data.draw(st.integers(0, 31))
    marks = [data.draw(st.sampled_from([0, 0, 0, 1])) for _ in sums]
    blocks = data.draw(st.lists(st.integers(0, len(sums) - 1)))
    one, other = bytearray(marks), bytearray(marks)
    arguments = memoryview(contents), memoryview(sums)

    found = first_damaged(*arguments, one, blocks)

    assert compiled()(*arguments, other, blocks) == found
    assert one == other


@pytest.mark.parametrize("engine", ["plain", "compiled"])
def test_a_block_of_any_length_has_the_checksum_of_zlib(engine: str) -> None:
    verify = first_damaged if engine == "plain" else compiled()
    for size in range(1, BLOCK_SIZE + 1):
        contents = os.urandom(size)
        sums = array("I", [crc32(contents)])

        assert verify(memoryview(contents), memoryview(sums), bytearray(1), [0]) == -1
        sums[0] ^= 1 << size % 32
        assert verify(memoryview(contents), memoryview(sums), bytearray(1), [0]) == 0


def test_a_block_is_verified_once() -> None:
    contents = bytearray(2000)
    sums = checksums_of(bytes(contents))
    verified = bytearray(2)
    for verify in (first_damaged, compiled()):
        arguments = memoryview(contents), memoryview(sums), verified
        verified[:] = bytes(2)
        contents[1500] = 0

        assert verify(*arguments, [1]) == -1
        contents[1500] = 1
        assert verify(*arguments, [0, 1]) == -1
        assert bytes(verified) == b"\1\1"


@pytest.mark.parametrize("blocks", [[-1], [2], [1 << 70], ["a"], 7])
def test_compiled_code_refuses_what_is_no_block(blocks: object) -> None:
    contents, sums = memoryview(bytes(2000)), memoryview(array("I", [0, 0]))

    with pytest.raises((IndexError, OverflowError, TypeError)):
        compiled()(contents, sums, bytearray(2), blocks)  # type: ignore[arg-type]


@pytest.mark.parametrize(("n_sums", "n_marks"), [(1, 2), (2, 1), (3, 2), (2, 3)])
def test_compiled_code_refuses_arrays_that_do_not_fit(
    n_sums: int, n_marks: int
) -> None:
    sums = memoryview(array("I", [0] * n_sums))

    with pytest.raises(ValueError, match="each block has a checksum"):
        compiled()(memoryview(bytes(2000)), sums, bytearray(n_marks), [0])
