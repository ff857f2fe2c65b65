"""Counts in temporary files where memory is short: the same counts."""

import errno
import os
import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbtext.counts import room, table
from nbtext.counts.counter import Counter
from nbtext.counts.room import (
    Growing,
    bound,
    bounded,
    copied,
    empty,
    extremes,
    in_memory,
    is_in_file,
    negative,
    release,
    shared,
    total,
    zeros,
)
from nbtext.counts.sorted_counts import SortedCounts, merged
from nbtext.counts.term_cache import TermCache
from nbtext.counts.term_table import arrange_runs, restricted
from nbtext.document import as_document
from nbtext.errors import NoRoomError
from nbtext.files import write_all
from nbtext.learning.training import Trained, train
from nbtext.parallel import ahead, threads
from nbtext.settings.reading import Settings
from nbtext.tokens import Terms
from tests.build import HAM, SPAM, STAMP, WORDS, counted

LITTLE = 1 << 12


@pytest.fixture
def little(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no array of more than 256 bytes be in memory."""
    monkeypatch.setattr(room, "LEAST_BOUND", LITTLE)


@pytest.mark.usefixtures("little")
def test_only_small_arrays_are_in_memory() -> None:
    with bounded(0):
        small, large = empty(32, np.int64), zeros(1000, np.int64)

    assert not is_in_file(small)
    assert is_in_file(large)
    assert not is_in_file(empty(1000, np.int64))
    assert large.sum() == 0
    large[:] = 7
    release(large)
    assert large.tolist() == [7] * 1000
    assert in_memory([small, large[5:]]) == small.nbytes


def test_arrays_of_several_types_share_a_file() -> None:
    arrays = [np.arange(3, dtype=np.uint8), np.arange(5.0), np.arange(0)]

    found = copied(arrays)

    assert all(map(is_in_file, found))
    for copy, array in zip(found, arrays, strict=True):
        assert copy.dtype == array.dtype
        assert copy.tolist() == array.tolist()


@pytest.mark.usefixtures("little")
@pytest.mark.parametrize("n", [0, 3, 400])
def test_an_array_grows_wherever_it_is(n: int) -> None:
    growing = Growing()
    with bounded(0):
        for number in range(n):
            growing.append(np.array([number, -number]))
        growing.append(np.array([7, 8]))
        found = growing.whole()

    expected = [value for number in range(n) for value in (number, -number)]
    assert found.tolist() == [*expected, 7, 8]
    assert is_in_file(found) == (n == 400)


def test_extremes_are_those_of_zero_and_all_values(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(room, "STEP", 16)

    assert extremes(np.array([5, 9, 7])) == (0, 9)
    assert extremes(np.array([-5, -9, -7])) == (-9, 0)
    assert extremes(np.empty(0, np.int64)) == (0, 0)


COUNTS = st.dictionaries(st.integers(0, 2**48 - 1), st.integers(1, 2**40), max_size=200)


@given(st.lists(COUNTS, min_size=1, max_size=4))
def test_counts_are_the_same_wherever_they_are(drawn: list[dict[int, int]]) -> None:
    runs = [_run(counts) for counts in drawn]
    least, room.LEAST_BOUND = room.LEAST_BOUND, 64  # type: ignore[misc]  # for a test
    try:
        with bounded(0):
            bound_sum, bound_table = merged(runs, 1), arrange_runs(runs)
            pairs, sums = (
                bound_table.pairs(0) if len(runs) < 3 else None,
                (bound_table.sums(0)),
            )
    finally:
        room.LEAST_BOUND = least  # type: ignore[misc]

    expected, table = merged(runs, 1), arrange_runs(runs)
    assert bound_sum.keys.tolist() == expected.keys.tolist()
    assert bound_sum.columns[0].tolist() == expected.columns[0].tolist()
    assert bound_sum.columns[0].dtype == expected.columns[0].dtype
    for name in ("keys", "buckets", "starts", "classes"):
        assert getattr(bound_table, name).tolist() == getattr(table, name).tolist()
    assert sums.tolist() == table.sums(0).tolist()
    if pairs is not None:
        assert pairs.tolist() == table.pairs(0).tolist()


def _run(counts: dict[int, int]) -> SortedCounts:
    keys = sorted(counts)
    values = np.array([counts[key] for key in keys], np.int64)
    return SortedCounts(np.array(keys, np.uint64), (values,))


@given(COUNTS, st.lists(st.integers(0, 2**48 - 1), max_size=50), st.integers(0, 50))
def test_of_a_table_the_terms_that_are_wanted_are_kept(
    counts: dict[int, int], others: list[int], n: int
) -> None:
    runs = [_run(counts), _run({key: count + 1 for key, count in counts.items()})]
    table = arrange_runs(runs)
    wanted = sorted({*others, *[*counts][:n]})

    part = restricted(table, np.array(wanted, np.uint64))

    expected = arrange_runs(
        [
            _run({key: own + more for key, own in counts.items() if key in wanted})
            for more in (0, 1)
        ]
    )
    for name in ("keys", "buckets", "starts", "classes"):
        assert getattr(part, name).tolist() == getattr(expected, name).tolist()
    assert part.columns[0].tolist() == expected.columns[0].tolist()


@pytest.mark.usefixtures("little")
def test_threads_keep_to_the_bound_of_those_who_start_them() -> None:
    with bounded(0):
        with threads(2) as map_:
            assert set(map_(lambda _: bound(), range(8))) == {LITTLE}
        assert set(ahead(3, lambda _: bound(), range(8))) == {LITTLE}
        with shared(2):
            assert bound() == LITTLE
    with bounded(100 * LITTLE), shared(4):
        assert bound() == 25 * LITTLE


def test_sums_and_signs_are_those_of_all_values(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(room, "STEP", 16)
    values = np.array([5, -9, 2**31 - 1, -(2**31), 7], np.int32)

    assert total(values) == 2
    assert negative(values).tolist() == [-5, 9, 1 - 2**31, 2**31, -7]


@pytest.mark.usefixtures("little")
@pytest.mark.parametrize("ledger_range", [1, 7, table.LEDGER_RANGE])
def test_a_model_is_the_same_file_whatever_the_memory(
    ledger_range: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nbtext.counts.counter.PILE", 500)
    monkeypatch.setattr("nbtext.counts.counter.LEAST_PILE", 64)
    monkeypatch.setattr("nbtext.counts.counter.BATCH", 1000)
    documents = [
        (label, " ".join(words[n % 7 :] + words[: n % 3]) + f" n{n} n{n * 7}")
        for n in range(80)
        for label, words in (("ham", HAM), ("spam", SPAM))
    ]
    files: list[bytes] = []
    for n_bytes in (None, 0):
        monkeypatch.setattr(table, "LEDGER_RANGE", ledger_range if files else 1 << 18)
        with bounded(n_bytes):
            trained = _trained([*documents, *documents[5:9], ("ham", documents[1][1])])
            assert (trained.repeats, trained.conflicts) == (4, 1)
            files.append(b"".join(trained.contents.pack(written=STAMP)))
        has_file = is_in_file(trained.contents.terms_by_view()[0].keys)
        assert has_file == (n_bytes == 0)

    assert files[0] == files[1]


@pytest.mark.usefixtures("little")
def test_the_first_pile_keeps_to_the_bound_as_all_others_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("nbtext.counts.counter.LEAST_PILE", LITTLE)
    monkeypatch.setattr("nbtext.counts.counter.BATCH", 1)
    sort, n_keys = Counter._sort_piles, []

    def sorted_now(counter: Counter) -> None:
        n_keys.append(counter._piled)
        sort(counter)

    monkeypatch.setattr(Counter, "_sort_piles", sorted_now)
    text = " ".join(map(str, range(LITTLE)))
    with bounded(0):
        counted([("ham", text)] * 3, Settings(format="text", views=(WORDS,)))

    assert n_keys == [LITTLE, LITTLE, LITTLE, 0]


def _trained(documents: list[tuple[str, str]]) -> Trained:
    items = [
        as_document(text, str(number))._replace(label=label)
        for number, (label, text) in enumerate(documents)
    ]
    return train(lambda: items)


@pytest.mark.usefixtures("little")
def test_a_full_temporary_folder_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(os, "posix_fallocate", _no_room)
    monkeypatch.setenv("TMPDIR", str(tmp_path))

    with bounded(0), pytest.raises(NoRoomError) as raised:
        empty(1000, np.int64)

    text = str(raised.value)
    assert text.startswith(f"{tmp_path}: 8,000 bytes were to be put")
    assert "No space left on device" in text
    assert "TMPDIR" in text
    assert str(pickle.loads(pickle.dumps(raised.value))) == text  # noqa: S301  ours


@pytest.mark.usefixtures("little")
def test_what_is_short_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A folder that may not be written to is not full, and memory is not the disk."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))

    with bounded(0), monkeypatch.context() as patched:
        patched.setattr("mmap.mmap", _failing(errno.ENOMEM))
        with pytest.raises(MemoryError):
            empty(1000, np.int64)
    monkeypatch.setattr(os, "posix_fallocate", _failing(errno.EACCES))
    with bounded(0), pytest.raises(NoRoomError) as raised:
        empty(1000, np.int64)

    advice = f"see who may write to {tmp_path}, or name another folder with TMPDIR"
    assert f"Permission denied; {advice}" in str(raised.value)


def _failing(code: int) -> Callable[..., None]:
    def fail(*_: object, **__: object) -> None:
        raise OSError(code, os.strerror(code))

    return fail


@pytest.mark.usefixtures("little")
def test_no_other_folder_is_taken_than_the_one_that_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path / "missing"))

    with bounded(0), pytest.raises(NoRoomError, match=r"missing: 8,000 .*No such"):
        empty(1000, np.int64)


def test_terms_that_find_no_room_in_the_temporary_folder_say_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    one = Terms(np.ones(1, np.uint64), np.ones(1, np.int32), np.arange(2))

    with TermCache() as cache:
        cache.add(["spam"], [b"1"], [one])
        monkeypatch.setattr(os, "write", _no_room)
        with pytest.raises(NoRoomError) as raised:
            cache.add(["spam"], [b"2"], [one])

    text = str(raised.value)
    assert text.startswith(f"{tmp_path}: 12 bytes were to be put")
    assert "--memory" not in text, "it would make no difference"
    assert str(pickle.loads(pickle.dumps(raised.value))) == text  # noqa: S301  ours
    monkeypatch.setenv("TMPDIR", str(tmp_path / "missing"))
    with pytest.raises(NoRoomError, match="missing: a file was"):
        TermCache()


@pytest.mark.parametrize("n_written", [0, 2])
def test_without_a_bound_that_was_asked_for_memory_is_taken_instead(
    monkeypatch: pytest.MonkeyPatch, n_written: int
) -> None:
    """A small disk for temporary files is no reason to fail where memory would do."""
    monkeypatch.setattr(room, "bound", lambda: LITTLE)
    written: list[memoryview] = []

    def full(descriptor: int, data: memoryview) -> int:
        if len(written) == n_written:
            write_all(descriptor, data[:8])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written.append(data)
        return write_all(descriptor, data)

    monkeypatch.setattr("nbtext.counts.room.write_all", full)
    monkeypatch.setattr(os, "posix_fallocate", _no_room)

    found = zeros(1000, np.int64)
    growing = Growing()
    for number in range(200):
        growing.append(np.array([number, number]))

    assert not is_in_file(found)
    assert found.tolist() == [0] * 1000
    assert copied([found])[0] is found
    assert growing.whole().tolist() == [n for n in range(200) for _ in range(2)]


def _no_room(*_: int) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_the_bound_is_half_of_what_a_container_may_take(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    group = tmp_path / "cgroup"
    group.write_text("12:memory:/a/b\n3:cpu:/\n0::/c\n")
    folder = tmp_path / "root" / "a" / "b"
    folder.mkdir(parents=True)
    (folder / "limit").write_text("max\n")
    (folder.parent / "limit").write_text("104857600\n")
    monkeypatch.setattr(room, "CGROUP", str(group))
    limits = {"memory": (str(tmp_path / "root"), "limit")}
    monkeypatch.setattr(room, "LIMITS", limits)

    assert room.memory() == 104_857_600
    monkeypatch.setattr(room, "CGROUP", str(tmp_path / "none"))
    assert room.memory() > 104_857_600
