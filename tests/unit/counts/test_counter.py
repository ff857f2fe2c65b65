from fractions import Fraction
from itertools import product
from math import floor, hypot, isqrt, log
from threading import Event, Thread

import numpy as np
import pytest
from numpy.typing import NDArray

from nbtext.counts import counter
from nbtext.counts.counter import Counter, ReadDocument
from nbtext.errors import TrainingError
from nbtext.settings.reading import Settings
from nbtext.tokens.bag import MOST_COUNTED, log_count, unit_weight
from nbtext.tokens.bags import (
    Terms,
    batch_terms,
    fingerprints,
    log_counts,
    unit_weights,
)
from nbtext.tokens.engine import COMPILED, best
from nbtext.tokens.tokenizer import MASK, mix
from tests.build import WORD_WEIGHTS, WORDS, counted, key_of, rows_of


def test_occurrences_documents_and_weights_are_counted() -> None:
    table = counted([("a", "x x x y y y y"), ("a", "x"), ("b", "y")], WORD_WEIGHTS)

    assert table.classes == ("a", "b")
    assert table.documents == (2, 1)
    length = hypot(2839, 3296)  # ln 4 and ln 5, in 2,048ths
    assert rows_of(table.runs[0][0]) == {
        key_of("x"): (4, 2, floor(65535 * 2839 / length) + 65535),
        key_of("y"): (4, 1, floor(65535 * 3296 / length)),
    }


@pytest.mark.parametrize("times", [1, 2**16 - 1, 2**16, 2**20])
def test_counts_that_do_not_fit_beside_a_key_are_counted(times: int) -> None:
    one = Terms(
        np.array([0, 7, 2**48 - 1], np.uint64),
        np.array([1, times, 3], np.int32),
        np.array([0, 3]),
    )
    counter = Counter(Settings(format="text", views=(WORDS,)))
    for _ in range(3):
        counter.add_terms(["a"], [b"0123456789abcdef"], [one])

    (run,) = counter.table().runs[0]

    assert rows_of(run) == {0: (3, 3), 7: (3 * times, 3), 2**48 - 1: (9, 3)}


def test_more_classes_than_a_model_holds_are_refused_when_they_come(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(counter, "MOST_CLASSES", 3)
    no_terms = [batch_terms(np.array([], np.uint64), np.array([0, 0]))]
    counts = Counter(Settings(format="text", views=(WORDS,)))
    for label in ("a", "b", "c", "a"):
        counts.add_terms([label], [label.encode() * 16], no_terms)

    with pytest.raises(TrainingError, match="more than 65,535 classes, the most"):
        counts.add_terms(["d"], [b"d" * 16], no_terms)


def test_a_document_without_tokens_is_still_a_document() -> None:
    table = counted([("a", ""), ("b", " ! ")], WORD_WEIGHTS)

    assert table.classes == ("a", "b")
    assert table.documents == (1, 1)
    assert table.n_rows == 0
    assert [len(run) for run in table.ledger] == [1, 1]


def test_the_ledger_counts_repeats_of_digest_and_counts() -> None:
    counter = Counter(WORD_WEIGHTS)
    for label, text in [("a", "x"), ("a", "x"), ("a", "y"), ("b", "x")]:
        counter.add(ReadDocument(label, ([("body", text)],), b"0123456789abcdef", 1))

    first, second = counter.table().ledger

    assert first.counts.tolist() in ([2, 1], [1, 2])
    assert second.counts.tolist() == [1]
    high, low, mark = second.entries[0].tolist()
    assert (high, low) == (
        int.from_bytes(b"01234567", "big"),
        int.from_bytes(b"89abcdef", "big"),
    )
    value = (key_of("x") * 3 + 1) & MASK
    assert mark == 1 + mix(mix(value))


def terms(*documents: list[int]) -> Terms:
    """Return documents of terms 1, 2, ... that occur so often."""
    keys = [key for counts in documents for key in range(1, len(counts) + 1)]
    counts = [count for counts in documents for count in counts]
    starts = np.cumsum([0, *map(len, documents)])
    return Terms(np.array(keys, np.uint64), np.array(counts, np.int32), starts)


@pytest.mark.parametrize(
    "counts",
    [[1], [3, 4], [1] * 7, [65534, 1], [65535, 255], [2**20, 5, 256], [2**24] * 3],
    ids=str,
)
def test_weights_are_rounded_down_exactly(counts: list[int]) -> None:
    logs = [round(2048 * log(1 + min(count, 2**24 - 1))) for count in counts]
    squared = sum(one * one for one in logs)
    # what is lost before the root is lost by rounding it down, too
    expected = [isqrt(int(Fraction(65535**2 * one * one, squared))) for one in logs]

    found = unit_weights(terms([1, 2], counts, []))[2:]

    assert found.tolist() == expected
    assert [unit_weight(one, squared) for one in logs] == expected


def test_no_logarithm_of_a_count_is_near_where_rounding_turns() -> None:
    # between them no rounding turns: every edge has an n on each side
    last = log_count(MOST_COUNTED)
    edges = np.expm1((np.arange(log_count(1), last + 1) + 0.5) / 2048)
    near = np.concatenate([np.floor(edges), np.ceil(edges)])
    near = np.unique(near[(near >= 1) & (near <= MOST_COUNTED)])

    exact = 2048 * np.log1p(near.astype(np.longdouble))
    distance = np.abs(exact - np.floor(exact) - 0.5)

    assert distance.min() > 1e-7
    assert log_count(MOST_COUNTED + 1) == last
    counts = near.astype(np.int64)
    assert log_counts(counts).tolist() == [log_count(n) for n in counts.tolist()]


def test_batch_terms_sort_within_documents() -> None:
    keys = np.array([5, 3, 5, 9, 9, 9, 3], np.uint64)

    found = batch_terms(keys, np.array([0, 0, 3, 6, 7, 7]))

    assert found.keys.tolist() == [3, 5, 9, 3]
    assert found.counts.tolist() == [1, 2, 3, 1]
    assert found.starts.tolist() == [0, 0, 2, 3, 4, 4]


def test_fingerprints_tell_counts_and_views_apart() -> None:
    one, twice, nothing = terms([1]), terms([2]), terms([])

    marks = {
        int(fingerprints(views)[0])
        for views in ([one, nothing], [nothing, one], [twice, nothing], [one, one])
    }

    assert len(marks) == 4
    assert fingerprints([nothing, nothing]).tolist() == [1]


def test_fingerprints_tell_apart_counts_that_differ_by_little() -> None:
    documents = [list(counts) for counts in product(range(1, 5), repeat=5)]

    marks = fingerprints([terms(*documents)])

    assert len(set(marks.tolist())) == len(documents)


MOST_KEY = (1 << 48) - 1
MOST_COUNT = (1 << 16) - 1


def piles_of(
    n: int, bits: int
) -> tuple[list[NDArray[np.uint64]], list[NDArray[np.uint16]]]:
    """Return keys that share all but so many bits, some twice, in piles of any size."""
    chance = np.random.default_rng(n)
    keys = chance.zipf(1.2, n).clip(1, MOST_KEY).astype(np.uint64)
    keys[::2] = chance.integers(0, 1 << bits, len(keys[::2]))
    counts = chance.zipf(2.0, n).clip(1, MOST_COUNT).astype(np.uint16)
    cuts = sorted(chance.integers(0, n + 1, 5).tolist())
    return np.split(keys, cuts), np.split(counts, cuts)


@pytest.mark.parametrize("bits", [1, 13, 20, 48])
@pytest.mark.parametrize("n", [0, 1, 2, 1_025, 200_000])
def test_compiled_or_not_the_sums_are_the_same(n: int, bits: int) -> None:
    if best() != COMPILED:
        pytest.skip("nbtext was installed without a C compiler")
    keys, counts = piles_of(n, bits)

    expected = counter.sum_by_arrays(keys, counts)
    found = counter._sums_of_terms(keys, counts)

    assert found.keys.tolist() == expected.keys.tolist()
    for column, other in zip(found.columns, expected.columns, strict=True):
        assert column.dtype == other.dtype == np.int32
        assert column.tolist() == other.tolist()


def test_the_largest_keys_and_counts_are_added_up() -> None:
    keys = [np.array([MOST_KEY, 0], np.uint64), np.array([MOST_KEY], np.uint64)]
    counts = [np.array([MOST_COUNT, 0], np.uint16), np.array([MOST_COUNT], np.uint16)]

    found = counter._sums_of_terms(keys, counts)

    assert found.keys.tolist() == [0, MOST_KEY]
    assert found.columns[0].tolist() == [0, 2 * MOST_COUNT]
    assert found.columns[1].tolist() == [1, 2]


def test_terms_that_do_not_occur_are_counted_in_documents() -> None:
    """Keys that occur often stand among the others with a count of 0."""
    keys = np.repeat(np.arange(64, dtype=np.uint64), 100)
    counts = np.zeros(len(keys), np.uint16)

    found = counter._sums_of_terms([keys, keys[:1]], [counts, counts[:1]])

    assert found.keys.tolist() == [*range(64)]
    assert not found.columns[0].any()
    assert found.columns[1].tolist() == [101, *[100] * 63]


def test_sums_beyond_32_bits_are_left_to_arrays() -> None:
    if best() != COMPILED:
        pytest.skip("nbtext was installed without a C compiler")
    from nbtext import _compiled

    keys, counts = np.full(40_000, 7, np.uint64), np.full(40_000, 65_535, np.uint16)

    assert _compiled.sum_terms(((keys, counts),)) is None
    some = _compiled.sum_terms(((keys[:4], counts[:4]),))
    assert some is not None
    assert [*map(len, some)] == [8, 4, 4]
    sums = counter._sums_of_terms([keys], [counts])
    assert sums.columns[0].tolist() == [40_000 * 65_535]
    with pytest.raises(ValueError, match="no keys and counts"):
        _compiled.sum_terms(((keys, counts[1:]),))
    with pytest.raises(ValueError, match="no keys and counts"):
        _compiled.sum_terms((keys,))  # type: ignore[arg-type]


def test_keys_may_be_written_to_while_they_are_sorted() -> None:
    if best() != COMPILED:
        pytest.skip("nbtext was installed without a C compiler")
    from nbtext import _compiled

    keys, counts = np.zeros(1 << 18, np.uint64), np.ones(1 << 18, np.uint16)
    is_over = Event()

    def write() -> None:
        while not is_over.is_set():
            keys[:] = MOST_KEY
            keys[:] = 0

    writer = Thread(target=write)
    writer.start()
    try:
        for _ in range(20):
            sums = _compiled.sum_terms(((keys, counts),))
            assert sums is not None
            assert np.frombuffer(sums[1], np.int32).sum() == 1 << 18
    finally:
        is_over.set()
        writer.join()


def test_counts_of_any_width_are_counted() -> None:
    keys, wide = np.array([3, 3, 9], np.uint64), np.array([1, 70_000, 2])
    for counts in (wide, wide.astype(np.int32), (wide % 1000).astype(np.int16)):
        piles = counter._Piles([keys], [counts], [[]])

        found = counter._sorted_run(piles)

        assert found.keys.tolist() == [3, 9]
        assert found.columns[0].tolist() == [int(counts[0] + counts[1]), 2]
        assert found.columns[1].tolist() == [2, 1]


@pytest.mark.parametrize("most", [1, 70_000])
def test_a_column_that_is_sorted_by_itself_goes_with_the_others(most: int) -> None:
    """The counts of one run have too many bits, so that all is sorted as it was."""
    chance = np.random.default_rng(3)
    keys = chance.integers(0, 500, 3_000).astype(np.uint64)
    counts = chance.integers(1, most + 1, 3_000)
    weights = chance.integers(0, 65_536, 3_000).astype(np.uint16)
    further = [[part] for part in np.split(weights, 4)]
    piles = counter._Piles(np.split(keys, 4), np.split(counts, 4), further)

    found = counter._sorted_run(piles)

    assert found.keys.tolist() == sorted({*keys.tolist()})
    added: list[NDArray[np.integer]] = [counts, np.ones_like(counts), weights]
    for column, values in zip(found.columns, added, strict=True):
        sums = np.bincount(keys.astype(np.int64), values).astype(np.int64)
        assert column.tolist() == sums[sums > 0].tolist()
        assert column.dtype == np.int32
