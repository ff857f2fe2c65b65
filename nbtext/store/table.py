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
from typing import Any, Final, NamedTuple

import msgpack

from nbtext.classes import MOST_CLASSES
from nbtext.errors import (
    DamagedError,
    ModelVersionError,
    NotAModelError,
    SettingsError,
    UnknownKeyError,
)
from nbtext.settings.plain import list_of, shown, unexpected
from nbtext.settings.reading import check_code_points
from nbtext.store.blocks import Arrays, Buffer, Lying, n_blocks
from nbtext.store.header import Header, read_header
from nbtext.store.plain_table import (
    CHECKSUM_HEAD,
    CHECKSUM_SIZE,
    FORMAT,
    MOST_HEADER,
    TRAILER,
    TRAILER_SIZE,
    VERSION,
    lead_of,
    map_of,
    round_up,
)
from nbtext.store.schema import (
    AMOUNTS,
    CHECKSUMS,
    LEDGER,
    RECORDS,
    STRIDE,
    TYPES,
    array_types,
    bag_arrays,
    families,
    index_bits_of,
    key_types,
)

MOST_ARRAY: Final = 1 << 32
"""An array has fewer bytes: msgpack gives its length four."""

HEAD_SIZE: Final = 3
"""Number of bytes before the first key of a header: `de`, and how many keys it has."""

START: Final = b"\xa6format"
"""How the header goes on: its first key."""

BEGINNING: Final = START + bytes([0xA0 | len(FORMAT)]) + FORMAT.encode()
"""The same and its value."""

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
        arrays: name to array, mapped from the file, verified when it is read.
        offset: where in the file it begins, in bytes.
        length: how long it is, in bytes.
        plain_settings: the settings of its header, as msgpack gave them.
    """

    header: Header
    arrays: Arrays
    offset: int
    length: int
    plain_settings: dict[str, Any]

    def damaged(self, what: str) -> DamagedError:
        """Return what to raise where it is not what it should be."""
        return DamagedError(self.arrays.path, self.offset, what)


def pack_header(plain: dict[str, Any]) -> bytes:
    """
    Return the bytes of a header, its checksum the last of them.

    Raises:
        UnicodeEncodeError: a string is not text.
        OverflowError: a number has more than 64 bits.
    """
    packed = map_of(len(plain))
    for name, value in plain.items():
        packed += msgpack.packb(name) + msgpack.packb(value)
    packed += CHECKSUM_HEAD
    checksum = header_checksum(packed)
    return packed + checksum


def header_checksum(packed: Buffer) -> bytes:
    """Return what a header's last eight bytes should be, from all before."""
    return blake2b(packed, digest_size=CHECKSUM_SIZE).digest()


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
    lying: dict[str, Lying] = {}
    start = first = round_up(end + 5)
    before = end
    for name, kind, n_values in _specification(path, plain, header, offset):
        before, start = end, round_up(end + 5)
        end = start + n_values * int(kind[1])
        if end > len(mapped):
            return None
        if bytes(mapped[start - 5 : start]) != lead_of(0, end - start)[-5:]:
            what = f"its array {name} does not begin where it should"
            raise DamagedError(path, offset, what)
        lying[name] = Lying(start - first, _in_native_order(mapped[start:end], kind))
    length = round_up(end + TRAILER_SIZE)
    if length > len(mapped):
        return None
    trailer = TRAILER + length.to_bytes(8, "big")
    if mapped[length - TRAILER_SIZE : length] != trailer:
        raise DamagedError(path, offset, "its end is not where its header says")
    checksums = lying.pop(CHECKSUMS).values
    contents = mapped[first:before]  # the last array is that of the checksums
    if len(checksums) != n_blocks(len(contents)):
        raise DamagedError(path, offset, "it has not one checksum a block")
    arrays = Arrays(path, offset + first, contents, checksums, lying)
    table = StoredTable(header, arrays, offset, length, plain["settings"])
    _check_lengths(table)
    return table


def _specification(
    path: str, plain: dict[str, Any], header: Header, offset: int
) -> list[tuple[str, str, int]]:
    """Return the name, type and length of each array."""
    try:
        specification = [
            _array_of(list_of(array, "what an array is", 3))
            for array in list_of(plain["arrays"], "the arrays of the header")
        ]
    except SettingsError as error:
        raise DamagedError(
            path, offset, f"its header is not complete ({error})"
        ) from error
    allowed = array_types(
        header.settings,
        header.history.records,
        is_corrected=header.correction is not None,
        has_texts=header.texts is not None,
    )
    names = [name for name, _, _ in specification]
    unknown = [name for name in names if name not in allowed]
    if unknown:
        what = f"the array {shown(unknown[0])}"
        raise unknown_key(path, UnknownKeyError("the file", what))
    if names != list(allowed):
        raise DamagedError(path, offset, "its arrays are not those of its settings")
    for name, kind, length in specification:
        is_possible = kind in allowed[name] and length >= 0
        if not is_possible or length * int(kind[1]) >= MOST_ARRAY:
            raise DamagedError(
                path, offset, f"its array {name} cannot be {length} {kind}"
            )
    return specification


def _array_of(plain: list[Any]) -> tuple[str, str, int]:
    """Return the name, type and length of an array."""
    name, kind, length = plain
    if type(name) is not str or type(kind) is not str or type(length) is not int:
        raise unexpected("what an array is", "a name, a type and a length", plain)
    return name, kind, length


def read_head(
    path: str, whole: memoryview, offset: int, like: StoredTable | None = None
) -> tuple[dict[str, Any], Header, int] | None:
    """
    Return the header of the table at a place of a file.

    Returns:
        What msgpack gave, what that says, and where it ends, in bytes from the table's
        beginning; None if the file ends within it.

    Raises:
        ModelVersionError: it was written by a newer nbtext.
        NotAModelError: it is something else, or damaged.
    """
    mapped = whole[offset:]
    begin = bytes(mapped[HEAD_SIZE : HEAD_SIZE + len(START)])
    if begin != START[: max(len(mapped) - HEAD_SIZE, 0)]:
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
    except UnknownKeyError as error:
        raise unknown_key(path, error) from error
    except UNFIT as error:
        raise DamagedError(
            path, offset, f"its header is not complete ({error})"
        ) from error
    return plain, header, end


def unknown_key(path: str, error: UnknownKeyError) -> ModelVersionError:
    """
    Return what to raise where a header, whole as it is, has what is not known.

    Its checksum was looked at before: so that is what was written.
    """
    message = f"{path}: {error}; train again, or upgrade nbtext if it is newer"
    return ModelVersionError(message)


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
    check_code_points(path, plain.get("settings"))
    return plain, end


def _check_lengths(table: StoredTable) -> None:
    """Refuse arrays that belong together and are not equally long."""
    header, arrays = table.header, table.arrays
    groups: list[tuple[str, ...]] = []
    is_corrected = header.correction is not None
    for names in families(header.settings, is_corrected=is_corrected):
        groups += [(names.keys, names.codes), (names.classes, *names.columns)]
        n_terms = arrays.length(names.keys)
        try:
            bits = index_bits_of(arrays.length(names.buckets))
        except ValueError as error:
            raise table.damaged(str(error)) from error
        if f"u{arrays.unverified(names.keys).itemsize}" not in key_types(bits):
            what = f"{names.keys} has keys of another size than {names.buckets} says"
            raise table.damaged(what)
        n_starts = arrays.length(names.starts)
        if n_starts != -(-n_terms // STRIDE):
            what = f"{names.starts} has {n_starts} places for {n_terms} keys"
            raise table.damaged(what)
    if header.settings.ledger:
        groups.append(LEDGER)
    if is_corrected:
        groups += [AMOUNTS[:5], AMOUNTS[5:]]
    for names_alike in groups:
        if len(set(map(arrays.length, names_alike))) > 1:
            raise table.damaged(f"{', '.join(names_alike)} are not equally long")
    _check_records(table)


def _check_records(table: StoredTable) -> None:
    """Refuse records of documents that are not as many as the header says."""
    header, arrays = table.header, table.arrays
    n_records = header.history.records
    if not n_records:
        return
    bags = [bag_arrays(view) for view in header.settings.views]
    n_bins = n_records * len(header.calibrations)
    if arrays.length(RECORDS.bins) not in (0, n_bins):
        raise table.damaged(f"{RECORDS.bins} does not have {n_bins} places, nor none")
    columns = [name for name in RECORDS if name != RECORDS.bins]
    for name in (*columns, *(bag.sizes for bag in bags)):
        if arrays.length(name) != n_records:
            raise table.damaged(f"{name} does not have {n_records} places")
    for view, bag in zip(header.settings.views, bags, strict=True):
        n_terms = sum(arrays[bag.sizes])
        if not n_terms == arrays.length(bag.keys) == arrays.length(bag.counts):
            what = f"the records of the view {view.name} are not as long as they say"
            raise table.damaged(what)
