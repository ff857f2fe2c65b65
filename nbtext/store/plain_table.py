"""
The table that plain mails add to a plain model, packed on next to no modules.

What the mails add goes in, and the bytes of a table come out: those which
`nbtext.learning.delta_writing` makes of it. That, and msgpack, take longer to import
than a message to learn; a table of one class of mail has few kinds of values.
"""

from itertools import accumulate, compress

TYPE_CHECKING = False  # typing takes longer to import than a message to learn
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Final, TypeAlias

    Array: TypeAlias = tuple[str, str, bytes]
    """Its name, its type, and its bytes."""

    Value: TypeAlias = (
        bytes | str | int | float | dict[str, "Value"] | Sequence["Value"]
    )
    """What a header may hold; bytes are packed already."""

FORMAT: "Final" = "nbtext count table"
VERSION: "Final" = 3
"""The version that is written, and the one that is read."""

ALIGNMENT: "Final" = 64
MOST_HEADER: "Final" = 1 << 23
"""Maximum size of a header in bytes: unpacked, any may take sixty times as much."""

CHECKSUM_SIZE: "Final" = 8
"""Number of bytes of a header's checksum, its last."""

NIL: "Final" = b"\xc0"

TRAILER: "Final" = b"\x92\xa3end\xcf"
"""A msgpack array of "end" and the table's length, whose eight bytes follow."""

TRAILER_SIZE: "Final" = len(TRAILER) + 8

KEY_BITS: "Final" = 48
STRIDE: "Final" = 16
BLOCK_SIZE: "Final" = 1 << 10
"""As nbtext.settings.reading, nbtext.store.schema and nbtext.store.blocks have them."""

MOST_TERMS: "Final" = 1 << 17
"""A view has fewer terms here: of more, the index would stand for bits of keys."""

IS_MORE: "Final" = b"\1\0" + b"\1" * 254
"""For each byte whether it is another number than 1."""


# --- arrays ---------------------------------------------------------------------------


def term_arrays(
    view: str, keys: bytes, occurrences: bytes, documents: bytes, times: list[int]
) -> "list[Array]":
    """
    Return the arrays of the terms of a view that has fewer than MOST_TERMS.

    Args:
        view: its name.
        keys: sorted, 64 bits each.
        occurrences: how often each of them occurs, 1 or more, 32 bits each.
        documents: in how many documents, 1 to 255, 32 bits each.
        times: how often all of that is added to each class of the table.
    """
    index = [
        (f"{view}.buckets", *smallest(_buckets(keys))),
        (f"{view}.keys", "u8", keys),
    ]
    return index + (
        _added_arrays(view, occurrences, documents)
        if times == [1]
        else _changed_arrays(view, occurrences, documents, times)
    )


def _added_arrays(view: str, occurrences: bytes, documents: bytes) -> "list[Array]":
    """Return what is added to one class."""
    # a term that counts 1 only has its class, the first one, for a code
    few, documents = _in_bytes(occurrences), documents[::4]
    if few is None:
        numbers = numbers_of(occurrences)
        codes = bytes(map((1).__ne__, numbers))
        more = smallest([*compress(numbers, codes)])
    else:
        codes, more = few.translate(IS_MORE), ("u1", few.translate(None, b"\1"))
    n_more = codes.count(1)
    several = documents.strip(b"\1")  # of one mail there are none
    steps = range(0, len(codes), STRIDE)
    starts = accumulate([codes.count(1, at, at + STRIDE) for at in steps], initial=0)
    return [
        (f"{view}.codes", "u1", codes),
        (f"{view}.starts", *smallest([*starts][:-1])),
        (f"{view}.classes", "u1", bytes(n_more)),
        (f"{view}.occurrences", *more),
        (
            f"{view}.documents",
            "u1",
            bytes(compress(documents, codes)) if several else b"\1" * n_more,
        ),
    ]


def _changed_arrays(
    view: str, occurrences: bytes, documents: bytes, times: list[int]
) -> "list[Array]":
    """Return what is added to each class, or taken away: each term has an entry."""
    counts = numbers_of(occurrences), numbers_of(documents)
    n_terms, n_classes = len(counts[0]), len(times)
    columns = [[n * count for count in column for n in times] for column in counts]
    return [
        (f"{view}.codes", "u1", bytes([2 * n_classes - 1]) * n_terms),
        (
            f"{view}.starts",
            *smallest([*range(0, n_terms * n_classes, STRIDE * n_classes)]),
        ),
        (f"{view}.classes", "u1", bytes(range(n_classes)) * n_terms),
        (f"{view}.occurrences", *smallest(columns[0])),
        (f"{view}.documents", *smallest(columns[1])),
    ]


def _in_bytes(numbers: bytes) -> bytes | None:
    """Return numbers of 32 bits in a byte each, None if that is too short for one."""
    if (numbers[1::4] + numbers[2::4] + numbers[3::4]).strip(b"\0"):
        return None
    return numbers[::4]


def numbers_of(values: bytes) -> list[int]:
    """Return numbers that are below 2^31, 32 bits each."""
    return memoryview(values).cast("i").tolist()


def _buckets(keys: bytes) -> list[int]:
    """Return where the keys of each value of their top bits begin."""
    bits = max((len(keys) // 8).bit_length() - 4, 0)
    if bits > 8:
        counts = [0] * (1 << bits)
        for key in memoryview(keys).cast("Q").tolist():
            counts[key >> KEY_BITS - bits] += 1
        return [*accumulate(counts, initial=0)]
    # their highest byte is enough, and finding one is faster than a loop over all
    tops = keys[5::8].translate(_shifted(8 - bits))
    places = [len(tops)]
    for top in range((1 << bits) - 1, -1, -1):
        place = tops.find(top)
        places.append(places[-1] if place < 0 else place)
    return places[::-1]


def _shifted(bits: int) -> bytes:
    """Return what becomes of each byte if some of its low bits are left out."""
    if bits not in _SHIFTED:
        _SHIFTED[bits] = bytes([byte >> bits for byte in range(256)])
    return _SHIFTED[bits]


_SHIFTED: "dict[int, bytes]" = {}


def smallest(values: list[int]) -> tuple[str, bytes]:
    """Return the type of fewest bytes that holds all values, and their bytes."""
    least, most = min(values, default=0), max(values, default=0)
    if least >= 0 and most < 1 << 8:
        return "u1", bytes(values)
    kind, bits, width = ("i", 7, 1) if least < 0 else ("u", 8, 1)
    while not -1 << bits <= least <= most < 1 << bits:
        width, bits = 2 * width, bits + 8 * width
    return f"{kind}{width}", b"".join(
        [n.to_bytes(width, "little", signed=least < 0) for n in values]
    )


# --- values ---------------------------------------------------------------------------


def packed(value: "Value") -> bytes:
    """Return a value as msgpack packs it."""
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int):
        return _integer(value)
    if isinstance(value, float):
        data = memoryview(bytearray(8))
        data.cast("d")[0] = value
        return b"\xcb" + bytes(data[::-1])
    if isinstance(value, dict):
        return _head(0x80, 0xDE, len(value)) + _pairs(value)
    return _head(0x90, 0xDC, len(value)) + b"".join([packed(one) for one in value])


def _pairs(value: "dict[str, Value]") -> bytes:
    return b"".join([_text(name) + packed(one) for name, one in value.items()])


def _text(text: str) -> bytes:
    data = text.encode()
    length = len(data)
    if length < 32:
        return b"%c%b" % (0xA0 | length, data)
    if length < 1 << 8:
        return b"\xd9%c%b" % (length, data)
    return _head(0, 0xDA, length) + data


def _integer(number: int) -> bytes:
    if -32 <= number < 128:
        return b"%c" % (number & 0xFF)
    width, code = 1, 0xD0 if number < 0 else 0xCC
    while not -(1 << 8 * width - 1) <= number < 1 << 8 * width:
        width, code = 2 * width, code + 1
    return b"%c%b" % (code, number.to_bytes(width, "big", signed=number < 0))


def _head(few: int, many: int, length: int) -> bytes:
    """Return what begins a map or an array, or a text of 256 bytes or more."""
    if length < 16:
        return b"%c" % (few | length)
    if length < 1 << 16:
        return b"%c%b" % (many, length.to_bytes(2, "big"))
    return b"%c%b" % (many + 1, length.to_bytes(4, "big"))


# --- the table ------------------------------------------------------------------------


def pack_table(header: "dict[str, Value]", arrays: "Iterable[Array]") -> bytes | None:
    """
    Return the bytes of a table, None if the header is too long for the format.

    Args:
        header: what it says of itself, between its version and its arrays.
        arrays: all but that of the checksums, in their order.
    """
    from nbtext._compiled import checksums  # there need not be any

    specification, body, first = [], bytearray(), 0
    for name, kind, data in arrays:
        specification.append(_specified(name, kind, len(data)))
        if body:  # it begins on a boundary, so that other places are those in it
            body += lead_of(len(body), len(data))
        first = first or len(data)
        body += data
    n_sums = 4 * -(-len(body) // BLOCK_SIZE)
    specification.append(_specified("checksums", "u4", n_sums))
    whole = {"format": FORMAT, "version": VERSION, **header, "arrays": specification}
    packed_header = map_of(len(whole)) + _pairs(whole) + CHECKSUM_HEAD
    if (n_header := len(packed_header) + CHECKSUM_SIZE) > MOST_HEADER:
        return None
    checksum, sums = checksums(packed_header, bytes(body))
    table = packed_header + checksum + lead_of(n_header, first) + body
    table += lead_of(len(table), n_sums) + sums
    return table + trailer_of(len(table))


def _specified(name: str, kind: str, size: int) -> bytes:
    """Return what a header says of an array of so many bytes."""
    head = _HEADS.get((name, kind))
    if head is None:
        head = _HEADS[name, kind] = b"\x93%b\xa2%b" % (_text(name), kind.encode())
    return head + _integer(size // int(kind[1]))


_HEADS: "dict[tuple[str, str], bytes]" = {}
"""Of each array its name and type, of which there are few: of three views."""

CHECKSUM_HEAD: "Final" = _text("header_checksum") + b"\xc4\x08"
"""What stands before the checksum of a header."""


def map_of(n_keys: int) -> bytes:
    """
    Return how a header of so many keys begins, its checksum not being one of them.

    It is always a map of this form, so that where the first key stands does not depend
    on their number.
    """
    return b"\xde" + (n_keys + 1).to_bytes(2, "big")


def lead_of(length: int, size: int) -> bytes:
    """Return the nils and the bin head that put the array on its boundary."""
    return NIL * (-(length + 5) % ALIGNMENT) + b"\xc6" + size.to_bytes(4, "big")


def trailer_of(length: int) -> bytes:
    """Return what ends a table that has so many bytes before."""
    whole = round_up(length + TRAILER_SIZE)
    nils = NIL * (whole - length - TRAILER_SIZE)
    return nils + TRAILER + whole.to_bytes(8, "big")


def round_up(length: int) -> int:
    """Return the next multiple of the alignment."""
    return -(-length // ALIGNMENT) * ALIGNMENT
