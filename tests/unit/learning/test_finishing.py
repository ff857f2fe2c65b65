"""How many documents are scored for calibration."""

import pytest

from nbtext.counts.sample import CHOSEN_BY, DOCUMENTS, TEMPERED_BY
from nbtext.learning.finishing import n_scored
from nbtext.scoring.models.registry import scoring_of


@pytest.mark.parametrize(
    ("score", "n"),
    [
        ("mean", DOCUMENTS),  # a histogram, and two numbers
        ("weighted", DOCUMENTS),
        ("contrast", CHOSEN_BY),  # a temperature, and parameters are chosen
        ("complement", TEMPERED_BY),  # a temperature
    ],
)
def test_a_temperature_alone_takes_the_fewest(score: str, n: int) -> None:
    assert n_scored(scoring_of(score)) == n


def test_two_event_models_are_tried_on_as_many_as_the_default_needs() -> None:
    assert n_scored(scoring_of("weighted"), scoring_of("contrast")) == DOCUMENTS


def test_parameters_that_are_given_are_not_chosen() -> None:
    given = scoring_of("contrast").with_parameters(own=0.123)

    assert n_scored(given) == TEMPERED_BY
