"""
The bytes of a table's arrays, verified block by block when they are first read.

The checksum of each block is stored in the table. So opening takes the same time
whatever the size, and no answer rests on damaged bytes: one message verifies the blocks
that its terms lie in, and those who read a whole array verify all of it.
"""

import mmap
import sys
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar
from zlib import crc32

from nbtext.errors import DamagedError

Computed = TypeVar("Computed")

Buffer: TypeAlias = bytes | memoryview
"""What an array is written from."""

SHIFT: Final = 10
BLOCK_SIZE: Final = 1 << SHIFT
"""Number of bytes that have a checksum of their own; the last block may be shorter."""

PART: Final = 1 << 14
"""Number of blocks that are verified at a time."""


def n_blocks(size: int) -> int:
    """Return how many blocks so many bytes have."""
    return -(-size // BLOCK_SIZE)


def first_damaged(
    contents: memoryview,
    checksums: memoryview,
    verified: bytearray,
    blocks: Iterable[int],
) -> int:
    """
    Verify blocks.

    Args:
        contents: all bytes.
        checksums: what each block of them should have.
        verified: a byte for each block, not zero if it was verified; written to.
        blocks: those to verify.

    Returns:
        The first block that has another checksum, -1 if none has.
    """
    for block in blocks:
        if not verified[block]:
            start = block << SHIFT
            if crc32(contents[start : start + BLOCK_SIZE]) != checksums[block]:
                return block
            verified[block] = 1
    return -1


class Checksums:
    """The checksums of bytes that come in pieces."""

    def __init__(self) -> None:
        self._sums = array("I")
        self._rest = b""

    def add(self, piece: Buffer) -> None:
        """Add the bytes that come next."""
        view = memoryview(piece).cast("B")
        if self._rest:
            missing = BLOCK_SIZE - len(self._rest)
            self._rest += bytes(view[:missing])
            view = view[missing:]
            if len(self._rest) < BLOCK_SIZE:
                return
            self._sums.append(crc32(self._rest))
        whole = len(view) >> SHIFT << SHIFT
        starts = range(0, whole, BLOCK_SIZE)
        ends = range(BLOCK_SIZE, whole + 1, BLOCK_SIZE)
        blocks = map(view.__getitem__, map(slice, starts, ends))
        self._sums.extend(map(crc32, blocks))
        self._rest = bytes(view[whole:])

    def packed(self) -> bytes:
        """Return the checksums of all blocks, the last of which may be short."""
        sums = self._sums + array("I", [crc32(self._rest)] if self._rest else [])
        if sys.byteorder == "big":  # the file is little-endian
            sums.byteswap()
        return sums.tobytes()


class Lying(NamedTuple):
    """
    An array, and where it lies.

    Attributes:
        start: its first byte, from the first byte of the first array on.
        values: its values, not verified.
    """

    start: int
    values: memoryview


class Arrays(Mapping[str, memoryview]):
    """
    The arrays of a table by name; reading one verifies all of it.

    `unverified` and `verify` are for those who look at few values of a large array.
    """

    __slots__ = (
        "_bytes", "_checksums", "_computed", "_lying", "_offset",
        "_path", "_verified", "_whole",
    )  # fmt: skip

    def __init__(
        self,
        path: str,
        offset: int,
        contents: memoryview,
        checksums: memoryview,
        lying: dict[str, Lying],
    ) -> None:
        """
        Take the arrays of a table.

        Args:
            path: what the file is called.
            offset: where in it the first array begins, in bytes.
            contents: the bytes from there to the end of the last array.
            checksums: what each block of them should have.
            lying: the arrays among them.
        """
        self._path = path
        self._offset = offset
        self._bytes = contents
        self._checksums = checksums
        self._lying = lying
        self._verified = bytearray(len(checksums))
        self._computed: dict[Any, Any] = {}
        self._whole: set[str] = set()  # arrays of which all is verified

    def __getitem__(self, name: str) -> memoryview:
        start, values = self._lying[name]
        if values.nbytes and name not in self._whole:
            last = start + values.nbytes - 1
            self._verify_stretch(start >> SHIFT, (last >> SHIFT) + 1)
            self._whole.add(name)
        return values

    def __iter__(self) -> Iterator[str]:
        return iter(self._lying)

    def once(self, compute: "Callable[[Arrays], Computed]") -> Computed:
        """
        Return what is computed from the arrays; it is computed once.

        Args:
            compute: a function of a module, so that it is the same each time.
        """
        if compute not in self._computed:
            self._computed[compute] = compute(self)
        computed: Computed = self._computed[compute]
        return computed

    def __len__(self) -> int:
        return len(self._lying)

    def length(self, name: str) -> int:
        """Return how many values an array has."""
        return len(self._lying[name].values)

    def unverified(self, name: str) -> memoryview:
        """Return an array, of which `verify` must be asked before a value is used."""
        return self._lying[name].values

    def verify(self, name: str, places: Iterable[int]) -> None:
        """
        Verify the blocks that some values of an array lie in.

        Raises:
            DamagedError: one of them is not as it was written.
        """
        start, values = self._lying[name]
        size = values.itemsize
        self._verify([start + place * size >> SHIFT for place in places])

    def verify_spans(self, name: str, spans: Iterable[tuple[int, int]]) -> None:
        """
        Verify the blocks that some stretches of an array lie in.

        Args:
            name: the array.
            spans: from which place to which, the end not included; all of them in it.

        Raises:
            DamagedError: one of the blocks is not as it was written.
        """
        start, values = self._lying[name]
        size = values.itemsize
        blocks: list[int] = []
        for first, end in spans:
            if first < end:
                low = start + first * size >> SHIFT
                high = start + end * size - 1 >> SHIFT
                blocks.append(low)
                if low < high:
                    blocks += range(low + 1, high + 1)
        self._verify(blocks)

    def value(self, name: str, place: int) -> int:
        """
        Return one value of an array, verified.

        Raises:
            DamagedError: it is not as it was written.
        """
        self.verify(name, (place,))
        value: int = self._lying[name].values[place]
        return value

    @property
    def offset(self) -> int:
        """Where in the file the first array begins, in bytes."""
        return self._offset

    @property
    def end(self) -> int:
        """Where in the file the last of them ends, behind which are the checksums."""
        return self._offset + len(self._bytes)

    @property
    def path(self) -> str:
        """The file that they are in, for messages."""
        return self._path

    @property
    def checksums(self) -> bytes:
        """The checksums of the blocks, which tell these arrays from others."""
        return self._checksums.tobytes()

    def contents(self) -> Iterator[memoryview]:
        """Yield the bytes of each array, not verified; the checksums come last."""
        for start, values in self._lying.values():
            yield self._bytes[start : start + values.nbytes]
        yield self._checksums.cast("B")

    def part(self, name: str, first: int, end: int) -> memoryview:
        """
        Return the values of an array from one place to another, verified.

        Raises:
            DamagedError: they are not as they were written.
        """
        self.verify_spans(name, [(first, end)])
        return self._lying[name].values[first:end]

    def verify_all(self) -> None:
        """
        Verify every byte of all arrays.

        Raises:
            DamagedError: one is not as it was written.
        """
        for start in range(0, len(self._checksums), PART):
            self._verify_stretch(start, min(start + PART, len(self._checksums)))
            self._let_go()

    def _let_go(self) -> None:
        """Let go of the memory of a mapped file; it can still be read."""
        mapped = self._bytes.obj
        if isinstance(mapped, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
            mapped.madvise(mmap.MADV_DONTNEED)

    def _verify_stretch(self, first: int, end: int) -> None:
        """Verify neighbouring blocks, in parts between which signals are served."""
        for start in range(first, end, PART):
            self._verify(range(start, min(start + PART, end)))

    def _verify(self, blocks: Iterable[int]) -> None:
        block = first_damaged(self._bytes, self._checksums, self._verified, blocks)
        if block >= 0:
            what = "the arrays are not as they were written"
            start = self._offset + (block << SHIFT)
            raise DamagedError(self._path, start, what)
