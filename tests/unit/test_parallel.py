import subprocess
import sys
from threading import Event

import pytest

from nbtext.parallel import threads
from tests.waiting import PATIENCE


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


def test_an_interrupt_ends_processes_that_are_writing_results() -> None:
    program = (
        "from nbtext.parallel import processes\n"
        "with processes(2) as executor:\n"
        "    results = [executor.submit(bytes, 1 << 26) for _ in range(9)]\n"
        "    results[0].result()\n"
        "    raise KeyboardInterrupt\n"
    )

    ended = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        check=False,
        timeout=PATIENCE,
    )

    assert ended.stderr.endswith(b"\nKeyboardInterrupt\n")
