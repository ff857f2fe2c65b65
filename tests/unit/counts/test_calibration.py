from time import process_time
from typing import Any

import pytest

from nbtext.counts.calibration import (
    FARTHEST_BIN,
    LOSS_UNIT,
    MOST,
    Calibration,
    Prior,
    bin_of,
    not_below_zero,
    total,
    totals,
)

HOW: dict[str, Any] = {"score": "mean", "parameters": {"min_evidence": 2.0}}
PRIOR = Prior(0.5, 50.0, 2.0)
THREE = {(-1, "ham"): 2, (3, "spam"): 1}


@pytest.mark.parametrize(
    ("score", "expected"),
    [
        *[(0.0, 0), (-0.0, 0), (1 / 16, 1), (0.0624, 0), (-1e-9, -1), (1.0, 16)],
        *[(1 - 1e-12, 16), (-1e-15, 0)],
        *[(256.0, 4096), (1e300, 4096), (-1e300, -4096), (-256.0, -4096)],
    ],
)
def test_a_score_falls_into_a_bin_of_a_sixteenth_nat(
    score: float, expected: int
) -> None:
    assert bin_of(score) == expected


def test_calibrations_add_up() -> None:
    one = Calibration(HOW, PRIOR, THREE, (), {"ham": 2, "spam": 1})
    other = Calibration(HOW, PRIOR, {(-1, "ham"): 5}, (), {"ham": 5})

    found = total([one, Calibration(HOW, PRIOR), other])

    assert found.counts == {(-1, "ham"): 7, (3, "spam"): 1}
    assert found.documents == {"ham": 7, "spam": 1}
    assert totals([]) == totals([(), ()]) == ()


def test_scorings_that_are_equal_are_the_same_however_they_are_written() -> None:
    whole = {"parameters": {"min_evidence": 2}, "score": "mean"}
    bare = {"score": "mean"}

    of_whole, of_bare = Calibration(whole).of_what, Calibration(bare).of_what

    assert Calibration(HOW).of_what == of_whole
    assert (
        len({of_whole, of_bare, Calibration({**bare, "parameters": {}}).of_what}) == 3
    )


@pytest.mark.parametrize("n_scorings", [1, 20_000], ids=["of one", "of many"])
def test_many_calibrations_take_time_in_proportion(n_scorings: int) -> None:
    """Done pair by pair, this takes a minute or more."""
    table = [
        Calibration({"score": "mean", "smoothing": place % n_scorings})
        for place in range(20_000)
    ]

    start = process_time()
    found = totals([table, table])

    assert process_time() - start < 15
    assert len(found) == len(table)


def test_losses_add_up() -> None:
    one = Calibration(HOW, PRIOR, {}, tuple(range(65)), {"a": 1})

    assert total([one, one]).losses == tuple(range(0, 130, 2))


def test_a_sum_can_be_read_again() -> None:
    largest = (MOST * LOSS_UNIT,) * 65
    one = Calibration(HOW, PRIOR, {(3, "spam"): MOST}, largest, {"spam": MOST})

    assert Calibration.from_dict(total([one, one]).as_dict()) == one


def test_a_table_may_take_back_what_an_earlier_one_says() -> None:
    first = Calibration(HOW, PRIOR, THREE, (), {"ham": 2, "spam": 1})
    plain = Calibration(HOW, PRIOR, {(-1, "ham"): -1}, (), {"ham": -1}).as_dict()

    found = total([first, Calibration.from_dict(plain)])

    assert found.counts == {(-1, "ham"): 1, (3, "spam"): 1}
    assert found.documents == {"ham": 1, "spam": 1}


def test_calibrations_of_other_scores_than_the_last_are_left() -> None:
    one = Calibration({"score": "complement"}, PRIOR, {}, (1,) * 65, {"a": 1})
    last = Calibration(HOW, PRIOR, {(-1, "ham"): 5}, (), {"ham": 5})

    assert totals([[one], [last], []]) == (last,)
    assert totals([[one, last], [last]]) == (total([last, last]),)


def test_calibrations_come_back_from_plain_values() -> None:
    one = Calibration(
        HOW, PRIOR, {(-3, "ham"): 2, (3, "spam"): 1}, (), {"ham": 2, "spam": 1}
    )

    assert Calibration.from_dict(one.as_dict()) == one


@pytest.mark.parametrize(
    "changes",
    [
        {"counts": None},
        {"counts": [[1, 2]]},
        {"counts": [[1, 0, 2.5]]},
        {"counts": [[FARTHEST_BIN + 1, "ham", 1]]},
        {"counts": [[1, "ham", MOST + 1]]},
        {"counts": [[1, "ham", -MOST - 1]]},
        {"counts": [[1, "ham", MOST], [1, "ham", MOST]]},
        {"counts": [[1, "spam", 1], [1, "ham", 1]]},
        {"losses": [1]},
        {"losses": ["1"] * 65},
        {"documents": [1]},
        {"losses": [-MOST * LOSS_UNIT - 1] * 65},
        {"documents": {"ham": -MOST - 1}},
        {"documents": {"ham": None}},
        {"documents": {"ham": True}},
        {"scoring": None},
        {"scoring": {"score": [1]}},
        {"scoring": {"parameters": {"min_evidence": "2"}}},
        {"scoring": {"parameters": [1]}},
        {"prior": None},
        {"prior": 0.5},
        {"prior": [0.5, 50.0]},
        {"prior": [0.5, 50.0, 0.0]},
        {"prior": [0.5, True, 2.0]},
        {"prior": [0.5, 50.0, float("nan")]},
    ],
    ids=str,
)
def test_what_is_no_calibration_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="the calibration"):
        Calibration.from_dict(Calibration(HOW).as_dict() | changes)


def test_a_whole_number_is_a_number_as_json_may_have_it() -> None:
    found = Calibration.from_dict(Calibration(HOW).as_dict() | {"prior": [1, 50, 2]})

    assert found.prior == Prior(1.0, 50.0, 2.0)
    assert all(type(value) is float for value in found.prior)


@pytest.mark.parametrize("name", ["scoring", "prior", "counts", "losses", "documents"])
def test_a_part_that_is_missing_is_named(name: str) -> None:
    plain = Calibration(HOW).as_dict()
    del plain[name]

    with pytest.raises(ValueError, match=name):
        Calibration.from_dict(plain)


def test_no_more_losses_are_taken_away_than_there_are() -> None:
    """A document may be a worse surprise than it was when it was learnt."""
    known = Calibration(HOW, PRIOR, losses=(5, 5, 0))
    other = Calibration({"score": "sum"}, PRIOR, losses=(1, 1, 1))
    more = Calibration(HOW, PRIOR, losses=(-7, -5, 2))
    binned = Calibration(HOW, PRIOR, THREE)

    assert not_below_zero([more], [other, known]) == (
        more._replace(losses=(-5, -5, 2)),
    )
    assert not_below_zero([more, binned], [other]) == (more, binned)
    assert not_below_zero([binned], [known]) == (binned,)
