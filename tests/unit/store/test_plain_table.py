"""What is packed without msgpack is what msgpack packs; numbers take few bytes."""

from array import array
from typing import TYPE_CHECKING

import msgpack
import pytest

from nbtext.settings.reading import KEY_BITS
from nbtext.store import blocks, plain_table, schema
from nbtext.store.plain_table import (
    MOST_HEADER,
    MOST_TERMS,
    pack_table,
    packed,
    smallest,
    term_arrays,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nbtext.store.plain_table import Value

INTEGERS = [0, 1, 31, 32, 127, 128, 255, 256, 65_535, 65_536, 2**32 - 1, 2**32, 2**63]


@pytest.mark.parametrize("number", INTEGERS)
def test_integers_are_packed_as_by_msgpack(number: int) -> None:
    for value in (number, -number, number - 1, -number - 1):
        if value >= -(2**63):
            assert packed(value) == msgpack.packb(value)


@pytest.mark.parametrize("length", [0, 15, 16, 31, 32, 255, 256, 65_535, 65_536])
def test_lengths_are_packed_as_by_msgpack(length: int) -> None:
    for value in ("a" * length, "\xe9" * length, [*range(length)]):
        assert packed(value) == msgpack.packb(value)
    names: Value = {f"a{n}": n for n in range(length)}
    assert packed(names) == msgpack.packb(names)


@pytest.mark.parametrize("value", [0.0, -0.35, 1e300, 5e-324, ("a", (1, 2.5), {})])
def test_other_values_are_packed_as_by_msgpack(value: float) -> None:
    assert packed(value) == msgpack.packb(value)


def test_what_is_packed_already_stays() -> None:
    inner = msgpack.packb({"b": [1, 2]})

    assert packed({"a": inner}) == msgpack.packb({"a": {"b": [1, 2]}})


@pytest.mark.parametrize(
    ("most", "kind"), [(255, "u1"), (256, "u2"), (65_535, "u2"), (65_536, "u4")]
)
def test_numbers_take_the_fewest_bytes(most: int, kind: str) -> None:
    values = [1, most, 0]

    found, data = smallest(values)

    assert found == kind == schema.smallest_type(0, most, schema.COUNTS)
    assert memoryview(data).cast(schema.TYPES[found]).tolist() == values
    assert smallest([]) == ("u1", b"")


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([-1, 1], "i1"),
        ([-128, 127], "i1"),
        ([-129, 0], "i2"),
        ([-1, 128], "i2"),
        ([-1, 32_768], "i4"),
        ([-(2**31) - 1, 0], "i8"),
    ],
)
def test_numbers_below_zero_take_the_fewest_bytes(values: list[int], kind: str) -> None:
    found, data = smallest(values)

    assert (
        found == kind == schema.smallest_type(min(values), max(values), schema.COUNTS)
    )
    assert memoryview(data).cast(schema.TYPES[found]).tolist() == values


def values_of(given: "Sequence[array[int]]", times: list[int]) -> dict[str, list[int]]:
    """Return the arrays of terms, by the ends of their names."""
    keys, occurrences, documents = [numbers.tobytes() for numbers in given]
    arrays = term_arrays("raw", keys, occurrences, documents, times)
    return {
        name.removeprefix("raw."): memoryview(data).cast(schema.TYPES[kind]).tolist()
        for name, kind, data in arrays
    }


@pytest.mark.parametrize("times", [[-1], [-3], [-1, 1], [1, -2]])
@pytest.mark.parametrize("n_terms", [0, 1, 16, 17, 300])
def test_terms_are_taken_away(n_terms: int, times: list[int]) -> None:
    counts = [n % 200 + 1 for n in range(n_terms)]
    ones = array("i", [1] * n_terms)
    given = array("Q", range(n_terms)), array("i", counts), ones
    n_classes = len(times)

    found = values_of(given, times)

    del found["buckets"], found["keys"]
    assert found == {
        "codes": [n_classes - 1 + n_classes] * n_terms,
        "starts": [n * n_classes for n in range(0, n_terms, 16)],
        "classes": [*range(n_classes)] * n_terms,
        "occurrences": [n * count for count in counts for n in times],
        "documents": [n for _ in counts for n in times],
    }


@pytest.mark.parametrize("most", [1, 2, 255, 256, 70_000])
@pytest.mark.parametrize("n_terms", [0, 1, 16, 17, 300, 5_000])
def test_terms_are_those_of_the_schema(n_terms: int, most: int) -> None:
    step = (1 << KEY_BITS) // (n_terms + 1)
    keys = [n * step + n for n in range(n_terms)]
    times = [1 if n % 3 else most for n in range(n_terms)]
    mails = [min(2, count) for count in times]
    given = array("Q", keys), array("i", times), array("i", mails)

    found = values_of(given, [1])

    bits = schema.index_bits(n_terms)
    tops = [key >> KEY_BITS - bits for key in keys]
    more = [n for n in range(n_terms) if times[n] > 1]
    ends = [sum(top < bucket for top in tops) for bucket in range((1 << bits) + 1)]
    assert found == {
        "buckets": ends,
        "keys": keys,
        "codes": [int(count > 1) for count in times],
        "starts": [sum(one < n for one in more) for n in range(0, n_terms, 16)],
        "classes": [0] * len(more),
        "occurrences": [times[n] for n in more],
        "documents": [mails[n] for n in more],
    }


def test_what_it_has_a_copy_of_is_what_others_have() -> None:
    assert plain_table.KEY_BITS == KEY_BITS
    assert plain_table.STRIDE == schema.STRIDE
    assert plain_table.BLOCK_SIZE == blocks.BLOCK_SIZE
    assert schema.index_bits(MOST_TERMS - 1) < schema.IMPLIED_BITS


def test_a_header_may_be_too_long() -> None:
    assert pack_table({"writer": "a" * MOST_HEADER}, [("a", "u1", b"a")]) is None
    assert pack_table({"writer": "a"}, [("a", "u1", b"a")]) is not None
