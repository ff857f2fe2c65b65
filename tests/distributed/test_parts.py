"""Counts cut into ranges and added up again, without a cluster."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbtext.counts.counting import Counted, Limits, count
from nbtext.counts.table import add
from nbtext.distributed.parts import (
    CHANGED,
    CountedRange,
    add_ranges,
    add_samples,
    check_marks,
    counted_chunk,
    joined_marks,
    mark_of,
    sample_of,
    split,
)
from nbtext.distributed.range_files import store
from nbtext.distributed.shared_files import write_shared
from nbtext.document import Document, Item
from nbtext.errors import ClusterError, ModelWriteError, TrainingError
from nbtext.store import replace_model
from tests.build import HAM, SPAM, TEXT, values

LIMITS = Limits(1 << 20, sample=5, terms=1000)

documents = st.lists(
    st.tuples(
        st.sampled_from(["spam", "ham", "work"]),
        st.lists(st.sampled_from(SPAM + HAM), max_size=8),
    ),
    max_size=12,
)


def counted(pairs: list[tuple[str, list[str]]]) -> Counted:
    items: list[Item] = [
        Document(str(number), (" ".join(words).encode(),), label)
        for number, (label, words) in enumerate(pairs)
    ]
    return count(items, TEXT, LIMITS)


@given(documents, st.sampled_from([1, 2, 8]))
def test_the_parts_of_a_table_add_up_to_it(
    pairs: list[tuple[str, list[str]]], n_ranges: int
) -> None:
    table = counted(pairs).table

    parts = [*split(table, n_ranges)]

    assert len(parts) == n_ranges
    assert values(add(parts)) == values(table)


@given(st.lists(documents, min_size=1, max_size=4))
def test_the_sample_of_chunks_is_that_of_the_whole(
    chunks: list[list[tuple[str, list[str]]]],
) -> None:
    whole = counted([pair for pairs in chunks for pair in pairs])
    parts = [
        counted_chunk(one, number, 2)[0].sample
        for number, one in enumerate(map(counted, chunks))
    ]

    one = sample_of([add_samples(parts[:2], LIMITS), *parts[2:]], LIMITS)
    places = sorted(place for block in one.blocks() for place in block.places)
    expected = [place for block in whole.sample.blocks() for place in block.places]

    assert places == sorted(expected)


def test_a_stored_range_is_mapped_and_named_by_what_it_holds(tmp_path: Path) -> None:
    one = counted([("spam", [*SPAM]), ("ham", [*HAM])])
    part = CountedRange(one.table, {0: mark_of(one.table)})

    stored, again = (store(part, str(tmp_path), 3) for _ in range(2))

    assert values(stored.load()) == values(one.table)
    assert stored.empty.n_rows == 0
    assert [path.name for path in tmp_path.iterdir()] == [Path(stored.path).name]
    assert again.path == stored.path


def cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def change_the_last_count(path: Path) -> None:
    contents = bytearray(path.read_bytes())
    contents[-2] ^= 1
    path.write_bytes(contents)


def make_a_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def make_a_link(path: Path) -> None:
    path.rename(path.with_name("other"))
    path.symlink_to("other")


FAULTS = [
    (cut_short, "bytes, and .* were written"),
    (change_the_last_count, r"it holds other counts|its bytes are others"),
    (Path.unlink, "No such file"),
    (make_a_pipe, "it is no file"),
    (make_a_link, "symbolic links"),
]


@pytest.mark.parametrize(("fault", "message"), FAULTS)
def test_a_range_that_is_not_as_it_was_written_is_refused(
    tmp_path: Path, fault: Callable[[Path], None], message: str
) -> None:
    one = counted([("spam", [*SPAM]), ("ham", [*HAM])])
    stored = store(CountedRange(one.table, {}), str(tmp_path), 0)
    fault(Path(stored.path))

    with pytest.raises(ClusterError, match=message):
        stored.load()


@pytest.mark.parametrize(("fault", "message"), FAULTS)
def test_a_model_that_is_not_as_it_was_written_replaces_nothing(
    tmp_path: Path, fault: Callable[[Path], None], message: str
) -> None:
    written = write_shared(tmp_path / "written", [b"a model", memoryview(b" or so")])
    assert b"".join(written.pieces()) == b"a model or so"
    fault(Path(written.path))

    with pytest.raises(ClusterError, match=message):
        replace_model(
            str(tmp_path / "m.nbt"), lambda _: written.pieces(), replace=False
        )

    assert not [path for path in tmp_path.iterdir() if "m.nbt" in path.name]


def test_a_range_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    part = CountedRange(counted([("spam", [*SPAM])]).table, {})

    with pytest.raises(ModelWriteError, match=r"cannot be written there \(No such"):
        store(part, str(tmp_path / "gone"), 3)


def test_a_chunk_that_is_there_twice_is_refused() -> None:
    one = counted([("spam", [*SPAM]), ("ham", [*HAM])])
    made, mark = counted_chunk(one, 7, 2)

    with pytest.raises(TrainingError, match="changed while they were counted"):
        add_ranges([made.ranges[0], made.ranges[0]])
    assert joined_marks([{1: b"1"}, {2: b"2"}]) == {1: b"1", 2: b"2"}
    check_marks([made.ranges[0].marks, made.sample.marks], {7: mark})
    for wrong in ({7: b"other"}, {}, {7: mark, 8: mark}):
        with pytest.raises(TrainingError, match=CHANGED[:40]):
            check_marks([made.ranges[1].marks], wrong)


def test_a_mark_changes_with_what_is_counted() -> None:
    marks = {
        mark_of(counted(pairs).table)
        for pairs in (
            [("spam", ["money"])],
            [("spam", ["money", "money"])],
            [("ham", ["money"])],
            [("spam", ["money"])] * 2,
        )
    }

    assert len(marks) == 4
