"""Documents that a correction is learnt from, dealt to the parts of a trial."""

import numpy as np
import pytest

from nbtext.learning.visits import Visits


def visits_to(labels: list[int], visit_of: list[int]) -> Visits:
    """Return visits to documents of these classes; visits have the numbers given."""
    first = [visit_of.index(number) for number in range(max(visit_of) + 1)]
    times = np.bincount(visit_of).take(visit_of)
    return Visits(
        blocks=[],
        labels=np.array(labels),
        entries=np.zeros((len(labels), 3), np.uint64),
        order=np.array(first),
        visit_of=np.array(visit_of),
        times=times,
    )


@pytest.mark.parametrize("n_parts", [1, 2, 4, 7])
def test_each_part_has_as_many_of_each_class(n_parts: int) -> None:
    random = np.random.default_rng(n_parts)
    labels = random.permutation(np.repeat(np.arange(5), [1, 3, 8, 14, 50])).tolist()

    parts = visits_to(labels, random.permutation(len(labels)).tolist()).dealt(n_parts)

    assert {*parts.tolist()} == {*range(n_parts)}
    for of in (np.array(labels) == label for label in range(5)):
        sizes = np.bincount(parts[of], minlength=n_parts)
        assert np.ptp(sizes) <= 1
    assert np.ptp(np.bincount(parts)) <= 1


def test_a_class_goes_on_where_the_one_before_it_ended() -> None:
    labels = [1, 0, 1, 0, 0, 1]

    parts = visits_to(labels, [0, 1, 2, 3, 4, 5]).dealt(4)

    assert parts.tolist() == [3, 0, 0, 1, 2, 1]


def test_copies_are_in_one_part() -> None:
    labels = [0, 0, 0, 1, 1, 1]

    parts = visits_to(labels, [2, 0, 2, 1, 3, 1]).dealt(4)

    assert parts.tolist() == [1, 0, 1, 2, 3, 2]
