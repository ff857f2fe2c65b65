"""Whether dates part the classes."""

import numpy as np

from nbtext.doctor.dates import apart

DAY = 86_400.0
START = 1_000_000_000.0  # 2001-09-09


def test_a_class_that_is_older_is_named_with_its_dates() -> None:
    days = np.arange(100.0)
    times = START + DAY * np.concatenate([days, days + 95])
    labels = np.repeat([0, 1], 100)

    (one,) = apart(times, labels, ("ham", "spam"))

    assert (one.label, one.is_later) == ("ham", False)
    assert one.ordered > 0.99
    assert one.first < one.last < one.others_last
    assert one.first.startswith("2001-09-1")


def test_classes_of_the_same_time_are_not_apart() -> None:
    times = START + DAY * np.tile(np.arange(100.0), 2)

    assert apart(times, np.repeat([0, 1], 100), ("ham", "spam")) == []


def test_few_dates_say_nothing() -> None:
    times = START + DAY * np.arange(30.0)
    labels = np.repeat([0, 1], 15)

    assert apart(times, labels, ("ham", "spam")) == []
    assert apart(np.full(100, np.nan), np.repeat([0, 1], 50), ("a", "b")) == []


def test_of_several_classes_each_is_held_against_all_others() -> None:
    days = np.arange(50.0)
    times = START + DAY * np.concatenate([days, days, days + 500])

    found = apart(times, np.repeat([0, 1, 2], 50), ("a", "b", "c"))

    assert [(one.label, one.is_later) for one in found] == [("c", True)]
