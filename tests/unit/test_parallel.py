from threading import Event

import pytest

from nbtext.parallel import threads


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_results_come_in_order(jobs: int) -> None:
    with threads(jobs) as map_:
        found = list(map_(lambda number: number * number, range(50)))

    assert found == [number * number for number in range(50)]


def test_what_has_not_begun_is_dropped_after_a_failure() -> None:
    begun: list[int] = []

    def work(number: int) -> None:
        begun.append(number)
        Event().wait(0.01)

    def fail() -> None:
        with threads(2) as map_:
            map_(work, range(1000))
            raise KeyError

    with pytest.raises(KeyError):
        fail()

    assert len(begun) < 1000
