"""What is asked of the registry, and how it refuses."""

from collections.abc import Sequence
from typing import Any

import pytest

from nbtext.errors import SettingsError
from nbtext.scoring.models.registry import (
    changed,
    check_scoring,
    event_model,
    scoring_of,
    suited_to,
)
from nbtext.settings.columns import WEIGHTED
from nbtext.settings.reading import Settings
from nbtext.settings.scoring import Scoring
from nbtext.settings.views import View
from tests.build import mean

WORDS = View(name="body", text="body", alphabet="words")
PLAIN = Settings(format="text", views=(WORDS,))
MEAN = scoring_of("mean")


def test_an_unknown_score_is_refused_with_those_there_are() -> None:
    message = "the score is 'median', expected one of mean, weighted, sum, bernoulli"

    with pytest.raises(SettingsError, match=message):
        event_model("median")
    with pytest.raises(SettingsError, match=message):
        check_scoring(Scoring("median", 1.0), PLAIN, ("a", "b"))


@pytest.mark.parametrize(
    ("scoring", "classes", "message"),
    [
        (
            MEAN,
            "abc",
            "the mean score is for two classes, the model has 3; "
            "use score sum, bernoulli or poisson, or train with score kary, "
            "complement, wcnb or contrast",
        ),
        (
            Scoring("complement", 0.03, "once"),
            "abc",
            "the complement score counts repeats; use score sum, bernoulli or poisson",
        ),
        (
            Scoring("complement", 0.03, "once"),
            "ab",
            "the complement score counts repeats; "
            "use score mean, weighted, sum, bernoulli or poisson",
        ),
        (
            Scoring("complement", 0.03),
            "ab",
            "the complement score needs the weight column, which this model does not "
            "have; train with score='complement'",
        ),
    ],
)
def test_a_refusal_names_what_would_do(
    scoring: Scoring, classes: Sequence[str], message: str
) -> None:
    with pytest.raises(SettingsError) as caught:
        check_scoring(scoring, PLAIN, tuple(classes))

    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ((), MEAN),
        (("mean", None, None), MEAN),
        (("mean", 0.5, None), mean(0.5)),
        (("sum", None, None), Scoring("sum", 1.0, calibrated=False)),
        (("sum", 0.5, "once"), Scoring("sum", 0.5, "once", calibrated=False)),
        ((None, None, "once"), mean(counting="once")),
    ],
)
def test_another_score_brings_its_smoothing(
    asked: tuple[Any, ...], expected: Scoring
) -> None:
    assert changed(MEAN, *asked) == expected


@pytest.mark.parametrize("asked", [("median",), (None, -1.0), (None, None, "twice")])
def test_what_cannot_be_is_refused(asked: tuple[Any, ...]) -> None:
    with pytest.raises(SettingsError):
        changed(MEAN, *asked)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"score": "kary", "levels": 2.5}, "'levels' is 2.5, expected a whole number"),
        (
            {"score": "kary", "parameters": [("levels", 2.5)]},
            "'levels' is 2.5, expected a whole number",
        ),
        (
            {"score": "kary", "levels": float("inf")},
            "'levels' is inf, expected a whole",
        ),
        (
            {"score": "kary", "levels": float("nan")},
            "'levels' is nan, expected a whole",
        ),
        ({"parameters": [("min_evidence", "a")]}, "is 'a', expected a number"),
        ({"parameters": [("min_evidence", None)]}, "is None, expected a number"),
    ],
)
def test_a_parameter_that_is_no_number_of_its_kind_is_refused(
    more: dict[str, Any], message: str
) -> None:
    with pytest.raises(SettingsError, match=message):
        changed(MEAN, **more)


def test_columns_are_added_and_none_is_dropped() -> None:
    weighed = PLAIN.counting(WEIGHTED)

    assert suited_to(PLAIN, scoring_of("mean")) == PLAIN
    assert suited_to(PLAIN, scoring_of("complement")) == weighed
    assert suited_to(weighed, scoring_of("sum")) == weighed
