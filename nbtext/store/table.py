"""
One count table in the bytes of a model file: where its arrays lie, and what they are.

A table is a msgpack map (the header), its arrays as msgpack `bin` objects, and a short
trailer; msgpack `nil` bytes pad each array to a 64-byte boundary and each table to a
multiple of 64, so that tables can be joined with `cat` and arrays be mapped.
docs/model-format.md is the specification. Only the standard library and msgpack are
needed here, and no length is believed before it is checked against what is there.
"""

import sys
from _blake2 import blake2b  # hashlib would load OpenSSL too, for 2 ms
from array import array
from collections.abc import Iterable
from typing import Any, Final, NamedTuple, TypeAlias

import msgpack

from nbtext.errors import (
    DamagedError,
    ModelVersionError,
    NotAModelError,
    SettingsError,
)
from nbtext.store.header import (
    BLOCK,
    MOST_CLASSES,
    TYPES,
    Header,
    array_names,
    read_header,
)

Buffer: TypeAlias = bytes | memoryview
"""What an array is written from."""

FORMAT: Final = "nbtext count table"
VERSION: Final = 3
"""What is written, and what can be read."""

ALIGNMENT: Final = 64
MOST_HEADER: Final = 1 << 23
"""A header's largest size in bytes: unpacked, any may take sixty times as much."""

NIL: Final = b"\xc0"
START: Final = b"\xa6format"
"""How the header goes on after its first byte: its first key."""

BEGINNING: Final = START + bytes([0xA0 | len(FORMAT)]) + FORMAT.encode()
"""The same and its value."""

TRAILER: Final = b"\x92\xa3end\xcf"
"""A msgpack array of "end" and the table's length, whose eight bytes follow."""

TRAILER_SIZE: Final = len(TRAILER) + 8


UNFIT: Final = (
    KeyError, TypeError, ValueError, OverflowError, RecursionError, SettingsError,
)  # fmt: skip
"""What is raised when a header turns out to hold something else than it should; lists
that are nested too deeply to be printed, for one."""


class StoredTable(NamedTuple):
    """
    A table in a file: its header, and its arrays where they lie.

    Attributes:
        header: what it says of itself.
        arrays: name to array, mapped from the file.
        offset: where in the file it begins, in bytes.
        length: how long it is, in bytes.
        checksum: what its arrays' bytes should hash to.
        contents: the arrays' bytes, in their order.
        plain_settings: the settings of its header, as msgpack gave them.
    """

    header: Header
    arrays: dict[str, memoryview]
    offset: int
    length: int
    checksum: bytes
    contents: tuple[memoryview, ...]
    plain_settings: dict[str, Any]

    def is_sound(self) -> bool:
        """Read every byte of the arrays, and return whether they are as written."""
        return arrays_checksum(self.contents) == self.checksum


def lead_of(length: int, size: int) -> bytes:
    """Return the nils and the bin head that put the array on its boundary."""
    padding = round_up(length + 5) - length - 5
    return NIL * padding + b"\xc6" + size.to_bytes(4, "big")


def round_up(length: int) -> int:
    """Return the next multiple of the alignment."""
    return -(-length // ALIGNMENT) * ALIGNMENT


def header_checksum(packed: Buffer) -> bytes:
    """Return what a header's last eight bytes should be, from all before."""
    return blake2b(packed, digest_size=8).digest()


def arrays_checksum(buffers: Iterable[Buffer]) -> bytes:
    """Return what the arrays' bytes hash to, one after the other."""
    hashed = blake2b(digest_size=16)
    for buffer in buffers:
        hashed.update(buffer)
    return hashed.digest()


def read_table(
    path: str, whole: memoryview, offset: int, like: StoredTable | None = None
) -> StoredTable | None:
    """
    Return the table at a place of a file, None if the file ends within it.

    Args:
        path: what the file is called.
        whole: its bytes.
        offset: where the table begins.
        like: another table, whose settings need not be read again where they are equal.

    Raises:
        ModelVersionError: it was written by a newer nbtext.
        NotAModelError: it is something else, or damaged.

    """
    mapped = whole[offset:]
    found = read_head(path, whole, offset, like)
    if found is None:
        return None
    plain, header, end = found
    specification, checksum = _specification(path, plain, header, offset)
    arrays, contents = {}, []
    for name, kind, n_values in specification:
        size = n_values * int(kind[1])
        end = round_up(end + 5) + size
        if end > len(mapped):
            return None
        head = bytes(mapped[end - size - 5 : end - size])
        if head != lead_of(0, size)[-5:]:
            raise DamagedError(
                path, offset, f"its array {name} does not begin where it should"
            )
        contents.append(mapped[end - size : end])
        arrays[name] = _in_native_order(contents[-1], kind)
    length = round_up(end + TRAILER_SIZE)
    if length > len(mapped):
        return None
    trailer = TRAILER + length.to_bytes(8, "big")
    if mapped[length - TRAILER_SIZE : length] != trailer:
        raise DamagedError(path, offset, "its end is not where its header says")
    _check_lengths(path, header, arrays, offset)
    return StoredTable(
        header=header,
        arrays=arrays,
        offset=offset,
        length=length,
        checksum=checksum,
        contents=tuple(contents),
        plain_settings=plain["settings"],
    )


def _specification(
    path: str, plain: dict[str, Any], header: Header, offset: int
) -> tuple[list[tuple[str, str, int]], bytes]:
    """Return the name, type and length of each array, and the checksum of them all."""
    try:
        specification = [
            (str(name), str(kind), int(length))
            for name, kind, length in plain["arrays"]
        ]
        checksum = plain["arrays_checksum"]
    except UNFIT as error:
        raise DamagedError(
            path, offset, f"its header is not complete ({error})"
        ) from error
    if not isinstance(checksum, bytes):
        raise DamagedError(path, offset, "its checksum is not one")
    allowed = array_names(header.settings, header.history.records)
    if [name for name, _, _ in specification] != list(allowed):
        raise DamagedError(path, offset, "its arrays are not those of its settings")
    for name, kind, length in specification:
        if kind not in allowed[name] or length < 0:
            raise DamagedError(
                path, offset, f"its array {name} cannot be {length} {kind}"
            )
    return specification, checksum


def read_head(
    path: str, whole: memoryview, offset: int, like: StoredTable | None = None
) -> tuple[dict[str, Any], Header, int] | None:
    """
    Return the header of the table at a place of a file.

    Args:
        path: what the file is called.
        whole: its bytes.
        offset: where the table begins.
        like: another table, whose settings need not be read again where they are equal.

    Returns:
        What msgpack gave, what that says, and where it ends, in bytes from the table's
        beginning; None if the file ends within it.

    Raises:
        ModelVersionError: it was written by a newer nbtext.
        NotAModelError: it is something else, or damaged.

    """
    mapped = whole[offset:]
    if bytes(mapped[1 : 1 + len(START)]) != START[: max(len(mapped) - 1, 0)]:
        if offset:
            raise DamagedError(path, offset, "no table begins here")
        message = f"{path}: not an nbtext model; check the path, or train a new model"
        raise NotAModelError(message)
    found = _header_map(path, mapped, offset)
    if found is None:
        return None
    plain, end = found
    try:
        is_alike = like is not None and like.plain_settings == plain["settings"]
        header = read_header(plain, like.header.settings if like and is_alike else None)
    except UNFIT as error:
        raise DamagedError(
            path, offset, f"its header is not complete ({error})"
        ) from error
    return plain, header, end


def _in_native_order(contents: memoryview, kind: str) -> memoryview:
    if sys.byteorder == "little":
        return contents.cast(TYPES[kind])
    values = array(TYPES[kind], contents.tobytes())  # the file is little-endian
    values.byteswap()
    return memoryview(values)


def _header_map(
    path: str, mapped: memoryview, offset: int
) -> tuple[dict[str, Any], int] | None:
    """Return the header and where it ends, None if the bytes end within it."""
    unpacker = msgpack.Unpacker(
        max_buffer_size=MOST_HEADER,
        max_array_len=MOST_CLASSES,
        max_map_len=MOST_CLASSES,
        max_str_len=1 << 20,
        max_bin_len=1 << 20,
        max_ext_len=0,
    )
    fed, step = 0, 1 << 14
    while True:
        try:
            unpacker.feed(mapped[fed : fed + step])
            plain = unpacker.unpack()
            break
        except msgpack.OutOfData:
            fed += step
            step = fed
            if fed >= len(mapped):
                return None
        except (
            ValueError,
            TypeError,
            RecursionError,
            msgpack.UnpackException,
        ) as error:
            raise DamagedError(
                path, offset, f"its header cannot be read ({error})"
            ) from error
    end = unpacker.tell()
    packed = mapped[:end]
    if not isinstance(plain, dict) or plain.get("format") != FORMAT:
        raise DamagedError(path, offset, "it is not the header of a count table")
    # first, so that a damaged version is not taken for that of a newer nbtext
    if bytes(packed[-8:]) != header_checksum(packed[:-8]):
        raise DamagedError(path, offset, "its header is not what was written")
    version = plain.get("version")
    if isinstance(version, list | dict):
        raise DamagedError(path, offset, "its version is not one")
    if version != VERSION:
        message = (
            f"{path}: a model of format version {version!r}, and this nbtext reads "
            f"version {VERSION}; train again, or upgrade nbtext if it is newer"
        )
        raise ModelVersionError(message)
    return plain, end


def _check_lengths(
    path: str, header: Header, arrays: dict[str, memoryview], offset: int
) -> None:
    """Refuse arrays that belong together and are not equally long."""
    for view in header.settings.views:
        once = [f"{view.name}.once.keys", f"{view.name}.once.classes"]
        if "weight" in view.columns:
            once.append(f"{view.name}.once.weight")
        entries = [f"{view.name}.{column}" for column in ("classes", *view.columns)]
        rest = [f"{view.name}.keys", f"{view.name}.sizes"]
        n_keys, n_starts = (
            len(arrays[f"{view.name}.{part}"]) for part in ("keys", "starts")
        )
        if n_starts != -(-n_keys // BLOCK):
            what = f"{view.name}.starts has {n_starts} places for {n_keys} keys"
            raise DamagedError(path, offset, what)
        for names in (once, rest, entries):
            if len({len(arrays[name]) for name in names}) > 1:
                what = f"{', '.join(names)} are not equally long"
                raise DamagedError(path, offset, what)
    if header.settings.ledger:
        names = [name for name in arrays if name.startswith("ledger.")]
        if len({len(arrays[name]) for name in names}) > 1:
            raise DamagedError(path, offset, f"{', '.join(names)} are not equally long")
    _check_records(path, header, arrays, offset)


def _check_records(
    path: str, header: Header, arrays: dict[str, memoryview], offset: int
) -> None:
    """Refuse records of documents that are not as many as the header says."""
    n_records = header.history.records
    if not n_records:
        return
    names = ["high", "low", "fingerprints", "classes", "bins"]
    names += [f"{view.name}.sizes" for view in header.settings.views]
    for name in names:
        if len(arrays[f"undo.{name}"]) != n_records:
            what = f"undo.{name} does not have {n_records} places"
            raise DamagedError(path, offset, what)
    for view in header.settings.views:
        sizes, keys, counts = (
            arrays[f"undo.{view.name}.{part}"] for part in ("sizes", "keys", "counts")
        )
        if not sum(sizes) == len(keys) == len(counts):
            what = f"the records of the view {view.name} are not as long as they say"
            raise DamagedError(path, offset, what)
