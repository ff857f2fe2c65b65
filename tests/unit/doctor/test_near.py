"""Near duplicates, found in linear time."""

import numpy as np
from numpy.typing import NDArray

from nbtext.doctor.near import Sketches
from nbtext.tokens.bags import Terms, terms_of

Keys = NDArray[np.uint64]


def sketched(*documents: Keys) -> Sketches:
    """What is kept of documents, in two batches."""
    sketches = Sketches()
    half = len(documents) // 2
    for some in (documents[:half], documents[half:]):
        bags = [dict.fromkeys(keys.tolist(), 1) for keys in some]
        sketches.add(terms_of(bags) if bags else no_terms())
    return sketches


def no_terms() -> Terms:
    """A batch without documents."""
    return terms_of([])


def drawn(n: int, seed: int) -> Keys:
    """The keys of a document of its own."""
    random = np.random.default_rng(seed)
    return random.integers(0, 1 << 48, n, dtype=np.uint64)


def test_documents_that_share_most_of_their_terms_are_found() -> None:
    """Nine tenths in common is 0.9 of one, and 0.82 of both together."""
    original = drawn(500, 1)
    changed = np.concatenate([original[:450], drawn(50, 2)])
    others = [drawn(500, seed) for seed in range(3, 40)]
    labels = np.array([0, 1] + [0, 1] * 18 + [0])

    found = sketched(original, changed, *others).near(labels)

    assert [(one.first, one.second) for one in found] == [(0, 1)]
    assert abs(found[0].similarity - 450 / 550) < 0.15


def test_documents_of_one_class_are_no_finding() -> None:
    original = drawn(500, 1)

    assert sketched(original, original).near(np.array([1, 1])) == []
    (pair,) = sketched(original, original).near(np.array([1, 0]))
    assert pair.similarity == 1.0


def test_what_repeats_another_of_its_class_is_told_by_its_place() -> None:
    original, other = drawn(500, 1), drawn(500, 2)
    near = np.concatenate([original[:480], drawn(20, 3)])
    documents = [original, other, near, original, near, drawn(500, 4)]
    labels = np.array([0, 0, 0, 0, 1, 1])
    copies = np.array([0, 1, 2, 0, 3, 4])  # the fourth is the first document again

    found = sketched(*documents).repeats(labels, copies)

    assert found.tolist() == [False, False, True, False, False, False]


def test_documents_with_half_in_common_are_no_duplicates() -> None:
    original = drawn(500, 1)
    changed = np.concatenate([original[:330], drawn(170, 2)])

    assert sketched(original, changed).near(np.array([0, 1])) == []


def test_one_among_a_thousand_copies_of_the_other_class_is_found() -> None:
    """Wherever it stands, and without a thousand times a thousand comparisons."""
    original = drawn(60, 1)
    copies = [original] * 1000
    labels = np.zeros(1000, np.int64)
    labels[500] = 1

    found = sketched(*copies).near(labels)

    assert {500} < {place for one in found for place in (one.first, one.second)}
    assert len(found) <= 1000


def test_short_documents_are_not_looked_at() -> None:
    few = drawn(5, 1)

    assert sketched(few, few).near(np.array([0, 1])) == []
    assert sketched(drawn(0, 1), drawn(0, 1)).near(np.array([0, 1])) == []
    assert Sketches().near(np.array([], np.int64)) == []
