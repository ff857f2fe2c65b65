"""
The model file: a stream of count tables, read in place.

Bytes on disk go in, headers and arrays come out. Each table is
a msgpack map (the header), its arrays as msgpack `bin` objects, and a short trailer;
msgpack `nil` bytes pad each array to a 64-byte boundary and each table to a multiple of
64, so that tables can be joined with `cat` and arrays be mapped. docs/model-format.md
is the specification. Only the standard library and msgpack are needed here.

No length in a file is believed before it is checked against the file's size, and any
bytes at all give a model or a `ModelFileError`.
"""

import os
import sys
from _blake2 import blake2b  # hashlib would load OpenSSL too, for 2 ms
from array import array
from collections.abc import Iterable
from mmap import ACCESS_READ, mmap
from typing import Any, Final, NamedTuple, TypeAlias

import msgpack

from nbtext.errors import (
    ModelFileError,
    ModelVersionError,
    NoModelError,
    NotAModelError,
    SettingsError,
)
from nbtext.modelheader import (
    BLOCK,
    MOST_CLASSES,
    TYPES,
    Header,
    array_names,
    read_header,
)
from nbtext.settings import Scoring, Settings

Buffer: TypeAlias = bytes | memoryview
"""What an array is written from."""

FORMAT: Final = "nbtext count table"
VERSION: Final = 1
ALIGNMENT: Final = 64
MOST_HEADER: Final = 1 << 26
"""A header's largest size in bytes."""

NIL: Final = b"\xc0"
START: Final = b"\xa6format"
"""How the header goes on after its first byte: its first key."""

BEGINNING: Final = START + bytes([0xA0 | len(FORMAT)]) + FORMAT.encode()
"""The same and its value."""

TRAILER: Final = b"\x92\xa3end\xcf"
"""A msgpack array of "end" and the table's length, whose eight bytes follow."""

TRAILER_SIZE: Final = len(TRAILER) + 8


class StoredTable(NamedTuple):
    """
    A table in a file: its header, and its arrays where they lie.

    Attributes:
        header: what it says of itself.
        arrays: name to array, mapped from the file.
        offset: where in the file it begins, in bytes.
        length: how long it is, in bytes.
        checksum: what its arrays' bytes should hash to.
    """

    header: Header
    arrays: dict[str, memoryview]
    offset: int
    length: int
    checksum: bytes

    def is_sound(self) -> bool:
        """Read every byte of the arrays, and return whether they are as written."""
        return arrays_checksum(self.arrays.values()) == self.checksum


class ModelFile(NamedTuple):
    """
    An open model file.

    Attributes:
        path: where it is.
        size: its bytes, as far as they were read.
        tables: one or more, in the order of the file.
        notes: what its user should know: a tail that was not written whole, tables
            that ask to be scored in different ways.
    """

    path: str
    size: int
    tables: tuple[StoredTable, ...]
    notes: tuple[str, ...]

    @property
    def settings(self) -> Settings:
        """Return how the documents of all its tables were read."""
        return self.tables[0].header.settings

    @property
    def scoring(self) -> Scoring:
        """Return how the last of its tables asks to be scored."""
        return self.tables[-1].header.scoring


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


def open_model(path: str) -> ModelFile:
    """
    Open a model file, without reading its arrays.

    Raises:
        NoModelError: there is no such file.
        ModelVersionError: it was written by a newer nbtext.
        NotAModelError: it is something else, or damaged.
        ModelFileError: it cannot be read.

    """
    try:
        # not to wait for the other end if it is a pipe
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb", buffering=0) as file:
            size = os.fstat(file.fileno()).st_size
            if not size:
                message = (
                    f"{path}: a model was expected, and an empty or special file "
                    "found; make one with `nbtext train`, or name another"
                )
                raise NotAModelError(message)
            mapped = memoryview(mmap(file.fileno(), size, access=ACCESS_READ))
    except FileNotFoundError as error:
        message = (
            f"{path}: no model there; make one with `nbtext train`, or name another"
        )
        raise NoModelError(message) from error
    except (OSError, ValueError) as error:
        message = (
            f"{path}: the model cannot be read: "
            f"{getattr(error, 'strerror', None) or error}; name a model file"
        )
        raise ModelFileError(message) from error
    tables: list[StoredTable] = []
    offset = 0
    while offset < size:
        table = _table(path, mapped[offset:], offset)
        if table is None:
            _check_tail(path, mapped, offset)
            break
        if tables and not table.is_sound():
            raise _damaged(path, offset, "its arrays are not what was written")
        tables.append(table)
        offset += table.length
    if not tables:
        raise _damaged(path, 0, "the file ends before its first table does")
    return ModelFile(path, offset, tuple(tables), _notes(path, tables, size - offset))


def check_sound(file: ModelFile) -> None:
    """
    Read every byte of the arrays, for those who read most of them anyway.

    Raises:
        NotAModelError: they are not as written.

    """
    for table in file.tables:
        if not table.is_sound():
            raise _damaged(file.path, table.offset, "its arrays are not as written")


def _check_tail(path: str, mapped: memoryview, offset: int) -> None:
    """Refuse a cut-off table that another one stands behind: it is not the last."""
    whole: mmap = mapped.obj  # type: ignore[assignment]  # what it is a view of
    place = whole.find(BEGINNING, offset + ALIGNMENT)
    if place >= 0:
        what = f"the table here ends within another one, at byte {place - 1}"
        raise _damaged(path, offset, what)


def _notes(path: str, tables: list[StoredTable], cut: int) -> tuple[str, ...]:
    notes = []
    if cut:
        notes.append(
            f"{path}: the last {cut} bytes are a table that was not written whole; "
            "they are passed over"
        )
    first = tables[0].header
    for table in tables[1:]:
        if table.header.settings != first.settings:
            what = first.settings.difference(table.header.settings)
            message = (
                f"{path}: the table at byte {table.offset} does not add to the first: "
                f"{what}; keep them in two files"
            )
            raise ModelFileError(message)
    if any(table.header.scoring != first.scoring for table in tables):
        last = tables[-1].header.scoring
        notes.append(
            f"{path}: its tables ask to be scored in different ways; the last one wins "
            f"(--score {last.score} --smoothing {last.smoothing:g})"
        )
    return tuple(notes)


def _damaged(path: str, offset: int, what: str) -> NotAModelError:
    return NotAModelError(
        f"{path}: damaged at byte {offset}: {what}; restore a copy or train again"
    )


def _table(path: str, mapped: memoryview, offset: int) -> StoredTable | None:
    """Return the table at the start of the bytes, None if they end within it."""
    if bytes(mapped[1 : 1 + len(START)]) != START[: max(len(mapped) - 1, 0)]:
        if offset:
            raise _damaged(path, offset, "no table begins here")
        message = f"{path}: not an nbtext model; check the path, or train a new model"
        raise NotAModelError(message)
    found = _header_map(path, mapped, offset)
    if found is None:
        return None
    plain, end = found
    try:
        header = read_header(plain)
        specification = [
            (str(name), str(kind), int(length))
            for name, kind, length in plain["arrays"]
        ]
        checksum = plain["arrays_checksum"]
    except (KeyError, TypeError, ValueError, OverflowError, SettingsError) as error:
        raise _damaged(path, offset, f"its header is not complete ({error})") from error
    if not isinstance(checksum, bytes):
        raise _damaged(path, offset, "its checksum is not one")
    arrays = {}
    allowed = array_names(header.settings)
    if [name for name, _, _ in specification] != list(allowed):
        raise _damaged(path, offset, "its arrays are not those of its settings")
    for name, kind, length in specification:
        if kind not in allowed[name] or length < 0:
            raise _damaged(path, offset, f"its array {name} cannot be {length} {kind}")
        bytes_ = length * int(kind[1])
        end = round_up(end + 5) + bytes_
        if end > len(mapped):
            return None
        head = bytes(mapped[end - bytes_ - 5 : end - bytes_])
        if head != lead_of(0, bytes_)[-5:]:
            raise _damaged(
                path, offset, f"its array {name} does not begin where it should"
            )
        arrays[name] = _in_native_order(mapped[end - bytes_ : end], kind)
    whole = round_up(end + TRAILER_SIZE)
    if whole > len(mapped):
        return None
    if bytes(mapped[whole - TRAILER_SIZE : whole]) != TRAILER + whole.to_bytes(
        8, "big"
    ):
        raise _damaged(path, offset, "its end is not where its header says")
    _check_lengths(path, header, arrays, offset)
    return StoredTable(header, arrays, offset, whole, checksum)


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
            raise _damaged(
                path, offset, f"its header cannot be read ({error})"
            ) from error
    end = unpacker.tell()
    packed = mapped[:end]
    if not isinstance(plain, dict) or plain.get("format") != FORMAT:
        raise _damaged(path, offset, "it is not the header of a count table")
    if plain.get("version") != VERSION:
        message = (
            f"{path}: a model of format version {plain.get('version')!r}, this nbtext "
            f"reads version {VERSION}; upgrade nbtext or train again"
        )
        raise ModelVersionError(message)
    if bytes(packed[-8:]) != header_checksum(packed[:-8]):
        raise _damaged(path, offset, "its header is not what was written")
    return plain, end


def _check_lengths(
    path: str, header: Header, arrays: dict[str, memoryview], offset: int
) -> None:
    """Refuse arrays that belong together and are not equally long."""
    columns = header.settings.columns
    for view in header.settings.views:
        once = [f"{view.name}.once.keys", f"{view.name}.once.classes"]
        if "weight" in columns:
            once.append(f"{view.name}.once.weight")
        entries = [f"{view.name}.{column}" for column in ("classes", *columns)]
        rest = [f"{view.name}.keys", f"{view.name}.sizes"]
        n_keys, n_starts = (
            len(arrays[f"{view.name}.{part}"]) for part in ("keys", "starts")
        )
        if n_starts != -(-n_keys // BLOCK):
            what = f"{view.name}.starts has {n_starts} places for {n_keys} keys"
            raise _damaged(path, offset, what)
        for names in (once, rest, entries):
            if len({len(arrays[name]) for name in names}) > 1:
                what = f"{', '.join(names)} are not equally long"
                raise _damaged(path, offset, what)
    if header.settings.ledger:
        names = [name for name in arrays if name.startswith("ledger.")]
        if len({len(arrays[name]) for name in names}) > 1:
            raise _damaged(path, offset, f"{', '.join(names)} are not equally long")
