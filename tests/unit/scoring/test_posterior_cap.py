"""The cap: what is told of a class rests on how many documents of others there are."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbtext.scoring.batch import capped_rows
from nbtext.scoring.posterior import capped, normalised


def told(*probabilities: float, documents: list[int]) -> list[float]:
    return [*map(math.exp, capped([*map(math.log, probabilities)], documents))]


def test_no_class_exceeds_the_rule_of_succession() -> None:
    # of 950 documents of spam and 19 of ham, spam can be 20/21 and ham 951/952
    assert told(1e-9, 1 - 1e-9, documents=[19, 950]) == pytest.approx([1 / 21, 20 / 21])
    assert told(1 - 1e-9, 1e-9, documents=[19, 950]) == pytest.approx(
        [951 / 952, 1 / 952]
    )


def test_below_the_cap_nothing_changes() -> None:
    posterior = [math.log(0.05), math.log(0.95)]

    assert capped(posterior, [19, 950]) == (*posterior,)


def test_the_others_share_the_rest_as_they_did() -> None:
    found = told(0.0006, 0.9992, 0.0002, documents=[1, 5, 2])

    assert found == pytest.approx([0.75 / 5, 4 / 5, 0.25 / 5])


def test_what_has_no_exponential_is_shared_all_the_same() -> None:
    found = capped([-5000.0, 0.0, -5001.0], [1, 5, 2])

    assert math.exp(found[0]) + math.exp(found[2]) == pytest.approx(1 / 5)
    assert found[0] - found[2] == pytest.approx(1.0)


SCORES = st.lists(
    st.lists(st.floats(-900, 900), min_size=3, max_size=3), min_size=1, max_size=5
)


@given(SCORES, st.lists(st.integers(1, 10**6), min_size=3, max_size=3))
def test_many_are_capped_like_each(
    scores: list[list[float]], documents: list[int]
) -> None:
    posteriors = [normalised(row) for row in scores]

    rows = capped_rows(np.array(posteriors), documents)

    for posterior, by_arrays in zip(posteriors, rows, strict=True):
        each = capped(posterior, documents)
        np.testing.assert_allclose(by_arrays, each, rtol=1e-12, atol=1e-12)
        assert math.fsum(map(math.exp, each)) == pytest.approx(1)
        best = max(range(3), key=posterior.__getitem__)
        assert max(each) == each[best]
        others = sum(documents) - documents[best]
        assert math.exp(each[best]) <= (others + 1) / (others + 2) + 1e-12
