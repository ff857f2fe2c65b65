from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbtext.counts.sample import Block, Sample, put_aside, without_copies
from nbtext.tokens.bags import Terms


def block(digests: list[int], size: int = 1, label: str = "ham") -> Block:
    n_terms = size * len(digests)
    keys = np.tile(np.arange(size, dtype=np.uint64), len(digests))
    starts = (
        np.arange(0, n_terms + 1, size) if size else np.zeros(len(digests) + 1, int)
    )
    return Block(
        [label] * len(digests),
        [bytes([digest]) * 16 for digest in digests],
        list(digests),
        [Terms(keys, np.ones(n_terms, np.int32), starts)],
    )


def digests(sample: Sample) -> list[int]:
    return sorted(digest[0] for block in sample.blocks() for digest in block.digests)


def test_the_smallest_digests_are_kept() -> None:
    sample = Sample(documents=3)
    for digest in [9, 2, 7, 1, 8, 3, 6, 0]:
        sample.add(block([digest]))

    assert digests(sample) == [0, 1, 2]


def test_documents_are_kept_with_their_terms() -> None:
    sample = Sample(documents=2)
    sample.add(block([5, 1, 3], size=2))

    (kept,) = sample.blocks()

    assert kept.labels == ["ham", "ham"]
    assert kept.digests == [b"\1" * 16, b"\3" * 16]
    assert kept.fingerprints == [1, 3]
    assert kept.sizes.tolist() == [2, 2]
    assert kept.views[0].keys.tolist() == [0, 1, 0, 1]


def test_terms_are_bounded_too() -> None:
    sample = Sample(documents=100, terms=10)
    sample.add(block([4, 1, 3, 2], size=4))

    assert digests(sample) == [1, 2]


def test_repeats_are_documents_of_their_own() -> None:
    sample = Sample(documents=3)
    for label in ("ham", "spam", "ham"):
        sample.add(block([1, 7], label=label))

    assert digests(sample) == [1, 1, 1]


def test_a_sample_of_none_is_empty() -> None:
    sample = Sample(documents=0)
    sample.add(block([1, 2]))

    assert list(sample.blocks()) == []


def test_documents_without_terms_are_sampled() -> None:
    sample = Sample(documents=2)
    sample.add(block([3, 1, 2], size=0))

    assert digests(sample) == [1, 2]


def test_nothing_is_kept_behind_an_end_that_is_known() -> None:
    first = Sample(documents=2)
    first.add(block([5, 3, 9]))
    first.prune()

    second = Sample(documents=2, end=first.end)
    second.add(block([4, 9, 6]))

    assert first.end == (b"\x09" * 16, "ham", 9)
    assert digests(second) == [4, 6]


def test_many_terms_are_in_files_and_are_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("nbtext.counts.sample.IN_MEMORY", 20)
    sample, expected = Sample(documents=6), Sample(documents=6)
    for digest in [9, 2, 7, 1, 8, 3, 6, 0, 5, 4]:
        sample.add(block([digest, digest + 10], size=3))
    monkeypatch.setattr("nbtext.counts.sample.IN_MEMORY", 1000)
    for digest in [9, 2, 7, 1, 8, 3, 6, 0, 5, 4]:
        expected.add(block([digest, digest + 10], size=3))

    in_files, in_memory = list(sample.blocks()), list(expected.blocks())

    assert any(one.is_aside for one in sample.head(100))
    for found, block_ in zip(in_files, in_memory, strict=True):
        found.release()  # what is let go of is read again
        assert found.digests == block_.digests
        assert found.views[0].keys.tolist() == block_.views[0].keys.tolist()
        assert found.views[0].counts.tolist() == block_.views[0].counts.tolist()


def test_copies_of_a_part_go_to_a_file_sooner_and_what_is_whole_is_not_copied(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("nbtext.counts.sample.COPIED", 5)
    sample = Sample(documents=100)
    for digest in range(4):
        sample.add(block([digest, digest + 10], size=3))

    some, every = sample.head(4), sample.head(100)

    assert [one.is_aside for one in some] == [True] * 4
    assert not any(one.is_aside for one in every)
    for found, whole in zip(some, every, strict=True):
        assert found.digests == whole.digests[:1]
        expected = whole.views[0].take(np.array([0]))
        assert found.views[0].keys.tolist() == expected.keys.tolist()
        assert found.views[0].counts.tolist() == expected.counts.tolist()


def test_terms_that_are_in_a_file_are_not_written_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    written: list[Block] = []

    def count(blocks: Sequence[Block]) -> list[Block]:
        written.extend(blocks)
        return put_aside(blocks)

    monkeypatch.setattr("nbtext.counts.sample.IN_MEMORY", 5)
    monkeypatch.setattr("nbtext.counts.sample.put_aside", count)
    sample = Sample(documents=100)
    for digest in range(12):
        sample.add(block([digest]))
    sample.prune()

    assert len(written) == 12
    assert digests(sample) == list(range(12))


def test_what_stays_is_not_copied_until_much_is_too_many() -> None:
    sample = Sample(documents=4)
    first = block([1, 9, 2, 8], size=3)
    sample.add(first)
    sample.add(block([3, 7, 4, 6], size=3))

    assert any(one is first for one in sample.head(100))
    assert sum(map(len, sample.head(100))) == 8

    sample.add(block([5], size=3))  # a ninth, more than twice as many

    assert sum(map(len, sample.head(100))) == 4
    assert sample.end == (b"\x05" * 16, "ham", 5)
    assert digests(sample) == [1, 2, 3, 4]


@pytest.mark.parametrize(("documents", "terms"), [(2, 100), (9, 6)])
def test_what_cannot_be_in_any_more_is_not_kept(documents: int, terms: int) -> None:
    sample = Sample(documents=documents, terms=terms)
    sample.add(block([3, 1, 2], size=3))  # one too many: it is looked for the last
    sample.add(block([7, 4], size=3))

    assert sum(map(len, sample.head(100))) == 3

    sample.add(block([0], size=3))

    assert digests(sample) == [0, 1]


def test_a_sample_that_was_pruned_heeds_the_end_of_another() -> None:
    sample, other = Sample(documents=3), Sample(documents=3, terms=1)
    sample.add(block([1, 5, 9]))
    sample.prune()
    other.add(block([4], size=2))  # of which it has none, so that all ends there

    sample.absorb(other)
    sample.prune()

    assert digests(sample) == [1]
    assert sum(map(len, sample.head(3))) == 1


def test_digests_that_begin_alike_are_told_apart() -> None:
    sample = Sample(documents=2)
    halves = [(1, 1), (2, 7), (2, 8), (2, 3)]
    for first, second in halves:
        document = block([first])
        document.digests[0] = bytes([first] * 8 + [second] * 8)
        sample.add(document)

    (_, one), (_, other) = sorted(
        (digest[8], digest) for block in sample.blocks() for digest in block.digests
    )

    assert (one[8], other[8]) == (1, 3)
    assert sample.end == (bytes([2] * 8 + [7] * 8), "ham", 2)


@given(
    st.lists(
        st.tuples(
            st.integers(0, 3), st.integers(0, 2), st.integers(0, 3), st.booleans()
        ),
        max_size=12,
    ),
    st.integers(1, 6),
    st.integers(0, 12),
)
def test_the_sample_is_the_longest_beginning_that_keeps_its_limits(
    documents: list[tuple[int, int, int, bool]], most: int, most_terms: int
) -> None:
    sample = Sample(documents=most, terms=most_terms)
    in_order = []
    for number, (first, second, size, is_spam) in enumerate(documents):
        document = block([number], size=size, label="spam" if is_spam else "ham")
        document.digests[0] = bytes([first] * 8 + [second] * 8)
        sample.add(document)
        in_order.append((*document.places[0], size))
    in_order.sort()
    expected, n_terms = [], 0
    for *place, size in in_order[:most]:
        n_terms += size
        if n_terms > most_terms:
            break
        expected.append(tuple(place))

    found = sorted(place for block in sample.blocks() for place in block.places)

    assert found == expected
    behind = [tuple(place) for *place, _ in in_order[len(expected) :]]
    assert sample.end == min(behind, default=None)


def test_a_document_without_terms_is_in_where_no_more_terms_fit() -> None:
    sample = Sample(documents=100, terms=4)
    sample.add(block([1, 2, 4], size=2))  # the first two have all four
    sample.add(block([3], size=0))

    assert digests(sample) == [1, 2, 3]


def test_a_head_of_distinct_documents_has_all_their_copies() -> None:
    sample = Sample(documents=100)
    for digest in [5, 1, 1, 3, 1, 7, 3]:
        sample.add(block([digest]))
    sample.add(block([1], label="spam"))

    def head(documents: int, terms: int = 100) -> list[int]:
        blocks = sample.head(documents, terms, distinct=True)
        return sorted(digest[0] for one in blocks for digest in one.digests)

    assert head(1) == [1, 1, 1]  # of ham
    assert head(2) == [1, 1, 1, 1]
    assert head(3) == [1, 1, 1, 1, 3, 3]
    assert head(5) == [1, 1, 1, 1, 3, 3, 5, 7]
    assert head(5, terms=5) == [1, 1, 1, 1, 3]
    assert sum(map(len, sample.head(2))) == 2


def test_copies_are_one_document_of_their_class() -> None:
    blocks = [block([5, 1, 3]), block([1, 3, 1]), block([1], label="spam")]

    kept, copies = without_copies(blocks)

    assert [one.fingerprints for one in kept] == [[5, 1, 3], [], [1]]
    assert copies is not None
    assert copies.tolist() == [1, 3, 2, 1]
    assert without_copies([block([5, 1, 3])])[1] is None
