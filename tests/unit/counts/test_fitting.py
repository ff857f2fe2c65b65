import math

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from nbtext.counts.calibration import (
    BINS_A_NAT,
    LOSS_UNIT,
    TEMPERATURES,
    Calibration,
    Prior,
    total,
)
from nbtext.counts.fitting import (
    FEWEST,
    LEAST_SLOPE,
    Fit,
    chosen,
    fit,
    fitted_loss,
    sigmoid,
    softplus,
)
from nbtext.settings.scoring import Scoring

CLASSES = ("ham", "spam")
HOW = {"score": "mean"}
PRIOR = Prior(0.5, 50.0, 2.0)


def histogram(ham: dict[int, int], spam: dict[int, int]) -> Calibration:
    counts = {(bin_, "ham"): n for bin_, n in ham.items()}
    counts |= {(bin_, "spam"): n for bin_, n in spam.items()}
    documents = {"ham": sum(ham.values()), "spam": sum(spam.values())}
    return Calibration(HOW, PRIOR, counts=counts, documents=documents)


def test_without_a_document_the_fit_is_what_was_expected() -> None:
    assert fit(histogram({}, {}), CLASSES) == Fit(PRIOR.slope, 0.0, 0)
    assert fitted_loss(histogram({}, {}), CLASSES) == 0.0


def test_one_document_moves_the_fit_a_little() -> None:
    found = fit(histogram({}, {-9: 1}), CLASSES)

    assert found.documents == 1
    assert PRIOR.slope - 0.01 < found.slope < PRIOR.slope
    assert 0.0 < found.offset < 0.5


def test_what_is_right_three_times_in_four_gets_three_quarters() -> None:
    found = fit(histogram({10: 2500, -10: 7500}, {10: 7500, -10: 2500}), CLASSES)

    assert found.documents == 20_000
    score = 10.5 / BINS_A_NAT
    assert sigmoid(found.slope * score + found.offset) == pytest.approx(0.75, abs=6e-3)


def test_the_prior_keeps_the_slope_of_what_is_separate_finite() -> None:
    found = fit(histogram({-17: 998}, {16: 98}), CLASSES)

    assert PRIOR.slope < found.slope < 10


BINS = st.integers(-40 * BINS_A_NAT, 40 * BINS_A_NAT)
SIDES = st.dictionaries(BINS, st.integers(1, 2000), max_size=12)


def loss(calibration: Calibration, slope: float, offset: float) -> float:
    prior = calibration.prior
    n_ham, n_spam = (calibration.documents.get(name, 0) for name in CLASSES)
    variance = 1 / prior.offset + math.log((n_spam + 1) / (n_ham + 1)) ** 2
    penalty = prior.precision * (slope - prior.slope) ** 2 + offset**2 / variance
    return penalty / 2 + math.fsum(
        n * softplus(-x if name == "spam" else x)
        for (bin_, name), n in calibration.counts.items()
        for x in (slope * (bin_ + 0.5) / BINS_A_NAT + offset,)
    )


@given(SIDES, SIDES)
@example({-400: 950, 400: 50}, {-400: 50, 400: 950})
@example({-640: 2000}, {640: 1})
@settings(max_examples=60)
def test_no_other_numbers_fit_better(ham: dict[int, int], spam: dict[int, int]) -> None:
    calibration = histogram(ham, spam)

    found = fit(calibration, CLASSES)

    least = loss(calibration, found.slope, found.offset)
    assert fitted_loss(calibration, CLASSES) == pytest.approx(least)
    n_documents = 1 + sum(calibration.documents.values())
    tries = [(LEAST_SLOPE * 2**n, 0.25 * m) for n in range(14) for m in range(-24, 25)]
    assert found.slope > 0.99 * LEAST_SLOPE
    assert all(least <= loss(calibration, *one) + 1e-6 * n_documents for one in tries)


def test_scores_that_contradict_their_classes_turn_nothing_round() -> None:
    found = fit(histogram({80: 40}, {-80: 20}), CLASSES)

    assert found.slope == pytest.approx(LEAST_SLOPE)
    assert found.offset == pytest.approx(math.log(20 / 40), abs=0.2)


def test_the_offset_of_unequal_classes_is_hardly_held_at_zero() -> None:
    """All score alike, so that the offset is the logarithm of the classes' ratio."""
    found = fit(histogram({0: 2}, {0: 100}), CLASSES)

    assert found.offset == pytest.approx(math.log(50), abs=0.2)


def losses(best: float) -> tuple[int, ...]:
    return tuple(
        round(LOSS_UNIT * 1e3 * (math.log2(s) - best) ** 2) for s in TEMPERATURES
    )


@pytest.mark.parametrize("best", [-3.0, 0.0, 0.3, 2.11, 6.9])
def test_the_temperature_of_least_loss_is_found_between_grid_points(
    best: float,
) -> None:
    documents = {"a": 30, "b": 30}
    calibration = Calibration(HOW, PRIOR, losses=losses(best), documents=documents)

    found = fit(calibration, ("a", "b", "c"))

    # the prior, of 50 against 2,000 a square of log2, draws it to 1/2
    pull = PRIOR.precision * math.log(2) ** 2
    expected = (2000 * best + pull * math.log2(PRIOR.slope)) / (2000 + pull)
    assert math.log2(found.slope) == pytest.approx(expected, abs=1e-3)
    assert (found.offset, found.documents) == (0.0, 60)


@pytest.mark.parametrize(("best", "end"), [(-9.0, 0), (12.0, -1)])
def test_beyond_the_grid_its_end_is_taken(best: float, end: int) -> None:
    calibration = Calibration(HOW, losses=losses(best), documents={"a": 50})

    assert fit(calibration, ("a", "b", "c")).slope == TEMPERATURES[end]


def test_without_a_document_the_temperature_is_what_was_expected() -> None:
    calibration = Calibration(HOW, PRIOR, losses=(0,) * len(TEMPERATURES))

    found = fit(calibration, ("a", "b", "c"))

    assert found.documents == 0
    assert found.slope == pytest.approx(PRIOR.slope)


def test_only_sums_above_zero_count() -> None:
    sound = histogram({-9: 60, -7: 20, 2: 10}, {9: 60, 7: 20, -3: 15})
    below = histogram({-12: -30, 40: 0}, {-200: -1})

    assert fit(total([sound, below]), CLASSES) == fit(sound, CLASSES)
    assert fit(below, CLASSES) == Fit(PRIOR.slope)


TWO = [
    Scoring("weighted", 0.1, parameters=(("strength", strength),))
    for strength in (8.0, 4.0)
]


def kept(first: Calibration, second: Calibration) -> list[Calibration]:
    """Return what two candidates scored."""
    return [
        one._replace(scoring=scoring.of_scores())
        for one, scoring in zip((first, second), TWO, strict=True)
    ]


GOOD = histogram({-20: 60}, {20: 60})
POOR = histogram({-20: 40, 20: 20}, {20: 40, -20: 20})


def test_the_candidate_of_least_loss_is_chosen() -> None:
    assert chosen(TWO[0], kept(POOR, GOOD), CLASSES) == TWO[1]
    assert chosen(TWO[1], kept(GOOD, POOR), CLASSES) == TWO[0]


def test_the_first_of_equals_is_chosen() -> None:
    assert chosen(TWO[1], kept(GOOD, GOOD), CLASSES) == TWO[0]


def test_with_few_documents_of_a_class_the_first_is_chosen() -> None:
    few = histogram({-20: FEWEST - 1}, {20: 600})
    poor = histogram({20: FEWEST - 1}, {-20: 600})

    assert chosen(TWO[1], kept(poor, few), CLASSES) == TWO[0]


def test_losses_choose_from_the_first_document_on() -> None:
    one = Calibration(HOW, losses=losses(0.0), documents={"a": 1})
    other = one._replace(losses=tuple(loss + LOSS_UNIT for loss in one.losses))

    assert chosen(TWO[0], kept(other, one), ("a", "b")) == TWO[1]


def test_what_others_scored_leaves_the_choice_alone() -> None:
    others = [one._replace(scoring=HOW) for one in (POOR, GOOD)]

    assert chosen(TWO[1], others, CLASSES) == TWO[1]
    assert chosen(TWO[1], kept(POOR, GOOD)[:1], CLASSES) == TWO[1]
    assert chosen(TWO[1]._replace(smoothing=1), kept(POOR, GOOD), CLASSES) == (
        TWO[1]._replace(smoothing=1)
    )


@pytest.mark.parametrize("x", [-1e4, -745.0, -30.0, -1.0, 0.0, 1.0, 30.0, 1e4])
def test_nothing_overflows(x: float) -> None:
    assert 0 <= sigmoid(x) <= 1
    assert sigmoid(x) + sigmoid(-x) == pytest.approx(1)
    assert softplus(x) - softplus(-x) == pytest.approx(x)
