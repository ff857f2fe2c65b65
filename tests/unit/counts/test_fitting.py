import math

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from nbtext.counts.calibration import BINS_A_NAT, TEMPERATURES, Calibration, total
from nbtext.counts.fitting import FEWEST, Fit, fit, sigmoid, softplus

CLASSES = ("ham", "spam")
HOW = {"score": "mean"}


def histogram(ham: dict[int, int], spam: dict[int, int]) -> Calibration:
    counts = {(bin_, "ham"): n for bin_, n in ham.items()}
    counts |= {(bin_, "spam"): n for bin_, n in spam.items()}
    documents = {"ham": sum(ham.values()), "spam": sum(spam.values())}
    return Calibration(scoring=HOW, counts=counts, documents=documents)


@pytest.mark.parametrize(
    ("ham", "spam"), [(0, 0), (49, 5000), (5000, 49)], ids=["none", "ham", "spam"]
)
def test_with_few_documents_of_a_class_nothing_is_fitted(ham: int, spam: int) -> None:
    assert fit(histogram({-9: ham}, {9: spam}), CLASSES) == Fit(1.0, 0.0, 0)


def test_what_is_right_three_times_in_four_gets_three_quarters() -> None:
    found = fit(histogram({10: 2500, -10: 7500}, {10: 7500, -10: 2500}), CLASSES)

    assert found.documents == 20_000
    score = 10.5 / BINS_A_NAT
    assert sigmoid(found.slope * score + found.offset) == pytest.approx(0.75, abs=2e-4)


def test_the_targets_of_platt_keep_the_slope_finite() -> None:
    found = fit(histogram({-17: 998}, {16: 98}), CLASSES)

    score = 16.5 / BINS_A_NAT
    p, q = (sigmoid(found.slope * x + found.offset) for x in (score, -score))
    assert p == pytest.approx(99 / 100, rel=1e-6)
    assert q == pytest.approx(1 / 1000, rel=1e-6)


BINS = st.integers(-40 * BINS_A_NAT, 40 * BINS_A_NAT)
SIDES = st.dictionaries(BINS, st.integers(1, 2000), min_size=1, max_size=12).filter(
    lambda side: sum(side.values()) >= FEWEST
)


def loss(calibration: Calibration, slope: float, offset: float) -> float:
    n = [calibration.documents[name] for name in CLASSES]
    targets = {"ham": 1 / (n[0] + 2), "spam": (n[1] + 1) / (n[1] + 2)}
    return math.fsum(
        n * (softplus(x) - targets[name] * x)
        for (bin_, name), n in calibration.counts.items()
        for x in (slope * (bin_ + 0.5) / BINS_A_NAT + offset,)
    )


@given(SIDES, SIDES)
@example({-400: 950, 400: 50}, {-400: 50, 400: 950})
@settings(max_examples=60)
def test_no_other_numbers_fit_better(ham: dict[int, int], spam: dict[int, int]) -> None:
    calibration = histogram(ham, spam)

    found = fit(calibration, CLASSES)

    least = loss(calibration, found.slope, found.offset)
    n_documents = sum(calibration.documents.values())
    tries = [(0.01 * 2**n, 0.25 * m) for n in range(14) for m in range(-24, 25)]
    tries += [(-slope, offset) for slope, offset in tries] + [(0.0, 0.0)]
    assert all(least <= loss(calibration, *one) + 1e-6 * n_documents for one in tries)


def losses(best: float) -> tuple[int, ...]:
    return tuple(int(1e6 * (math.log2(s) - best) ** 2) for s in TEMPERATURES)


@pytest.mark.parametrize("best", [-3.0, 0.0, 0.3, 2.11, 6.9])
def test_the_temperature_of_least_loss_is_found_between_grid_points(
    best: float,
) -> None:
    calibration = Calibration(HOW, losses=losses(best), documents={"a": 30, "b": 30})

    found = fit(calibration, ("a", "b", "c"))

    assert math.log2(found.slope) == pytest.approx(best, abs=1e-3)
    assert (found.offset, found.documents) == (0.0, 60)


@pytest.mark.parametrize(("best", "end"), [(-9.0, 0), (12.0, -1)])
def test_beyond_the_grid_its_end_is_taken(best: float, end: int) -> None:
    calibration = Calibration(HOW, losses=losses(best), documents={"a": 50})

    assert fit(calibration, ("a", "b", "c")).slope == TEMPERATURES[end]


def test_with_few_documents_there_is_no_temperature() -> None:
    calibration = Calibration(HOW, losses=losses(2.0), documents={"a": 49})

    assert fit(calibration, ("a", "b", "c")) == Fit()


def test_only_sums_above_zero_count() -> None:
    sound = histogram({-9: 60, -7: 20, 2: 10}, {9: 60, 7: 20, -3: 15})
    below = histogram({-12: -30, 40: 0}, {-200: -1})

    assert fit(total([sound, below]), CLASSES) == fit(sound, CLASSES)
    assert fit(below, CLASSES) == Fit()


@pytest.mark.parametrize("x", [-1e4, -745.0, -30.0, -1.0, 0.0, 1.0, 30.0, 1e4])
def test_nothing_overflows(x: float) -> None:
    assert 0 <= sigmoid(x) <= 1
    assert sigmoid(x) + sigmoid(-x) == pytest.approx(1)
    assert softplus(x) - softplus(-x) == pytest.approx(x)
