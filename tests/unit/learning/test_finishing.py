"""How many documents are scored for calibration, and what is chosen by them."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest

from nbtext.counts.fitting import Fit
from nbtext.counts.sample import CHOSEN_BY, DOCUMENTS, SCORES, TEMPERED_BY
from nbtext.learning import SettingsOverrides, Trained, finishing, train
from nbtext.learning.choosing import FEWEST
from nbtext.learning.finishing import HeldOut, best_smoothed, n_scored
from nbtext.learning.overrides import DEFAULTS
from nbtext.scoring.models.registry import event_model, scoring_of
from nbtext.settings.scoring import Scoring
from tests.build import confusing, texts


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
    assert n_scored(scoring_of(score), 5) == n


@pytest.mark.parametrize("score", ["contrast", "complement"])
def test_of_many_classes_fewer_are_scored(score: str) -> None:
    scoring = scoring_of(score)

    assert n_scored(scoring, SCORES // 700) == 700
    assert n_scored(scoring, SCORES) == FEWEST
    rival = scoring_of("weighted")
    assert n_scored(scoring, SCORES // 700, rival) == 700


def test_two_event_models_are_tried_on_as_many_as_the_default_needs() -> None:
    assert n_scored(scoring_of("weighted"), 2, scoring_of("contrast")) == DOCUMENTS


def test_parameters_that_are_given_are_not_chosen() -> None:
    given = scoring_of("contrast").with_parameters(own=0.123)

    assert n_scored(given, 5) == TEMPERED_BY


OWN = event_model("contrast").smoothing

ENOUGH = Fit(documents=FEWEST)


def trained_on(overrides: SettingsOverrides = DEFAULTS, n: int = 240) -> Trained:
    documents = texts(*confusing(n))
    return train(lambda: iter(documents), overrides=overrides)


@dataclass
class Counts:
    """Counts of which only the scoring is looked at."""

    scoring: Scoring

    def scored_by(self, scoring: Scoring) -> "Counts":
        return Counts(scoring)


class Made(NamedTuple):
    counts: Counts
    losses: dict[str, float]
    fit: Fit = ENOUGH


@pytest.mark.parametrize(
    ("losses", "tried", "chosen"),
    [
        ({0.1: 0.9, 0.3: 0.8, 1.0: 0.85}, [0.1, 0.3, 1.0], 0.3),
        ({0.1: 0.9, 0.3: 0.8, 1.0: 0.7}, [0.1, 0.3, 1.0], 1.0),
        ({0.1: 0.9, 0.3: 0.9, 1.0: 0.1}, [0.1, 0.3], 0.1),
        ({0.1: 1.0, 0.01: 0.9}, [0.1, 0.01], 0.01),
        ({0.1: 1.0, 0.01: 1.0}, [0.1, 0.01], OWN),
        ({0.1: 0.99, 0.3: 0.97, 1.0: 0.98}, [0.1, 0.3, 1.0], 0.3),
        ({0.1: 0.99, 0.3: 0.985, 1.0: 0.98}, [0.1, 0.3, 1.0], OWN),  # too little
        ({0.1: 1.1, 0.01: 0.99}, [0.1, 0.01], OWN),
    ],
)
def test_smoothing_goes_on_while_held_out_documents_lose_less(
    losses: dict[float, float],
    tried: list[float],
    chosen: float,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = []

    def calibrated(counts: Counts, *_: object) -> tuple[Made, dict[str, float]]:
        smoothing = counts.scoring.smoothing
        asked.append(smoothing)
        return Made(counts, {"contrast": losses[smoothing]}), {"of": smoothing}

    monkeypatch.setattr(finishing, "calibrated", calibrated)
    own: Any = Made(Counts(scoring_of("contrast")), {"contrast": 1.0, "weighted": 2.0})
    known: Any = {"of": OWN}

    made, scores = best_smoothed(own, known, HeldOut([]))
    of_chosen: Any = scores

    assert asked == tried
    assert made.counts.scoring == scoring_of("contrast")._replace(smoothing=chosen)
    assert of_chosen == {"of": chosen}
    assert made.losses == {"contrast": losses.get(chosen, 1.0), "weighted": 2.0}


def test_what_is_chosen_is_calibrated_and_corrected(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(finishing, "WORTH", 1.0)

    contents = trained_on().contents

    assert contents.scoring.smoothing in {0.01, 0.1, 0.3, 1.0}
    assert contents.correction is not None
    assert contents.correction.info.scoring == contents.scoring.of_scores()
    smoothings = {one.scoring["smoothing"] for one in contents.calibrations}
    assert smoothings == {contents.scoring.smoothing}


@pytest.mark.parametrize(
    ("overrides", "stays"),
    [
        (SettingsOverrides(smoothing=0.05), 0.05),
        (SettingsOverrides(correction=False), OWN),
        (SettingsOverrides(ledger=False), OWN),
    ],
    ids=["named", "no correction", "no ledger"],
)
def test_smoothing_is_not_chosen_if_it_is_named_or_nothing_is_corrected(
    overrides: SettingsOverrides, stays: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finishing, "WORTH", 1.0)

    assert trained_on(overrides).contents.scoring.smoothing == stays


def test_an_event_model_without_other_smoothings_keeps_its_own() -> None:
    trained = trained_on(SettingsOverrides(score="complement"))

    own = event_model("complement").smoothing
    assert trained.contents.scoring.smoothing == own


def test_among_few_held_out_documents_nothing_is_chosen() -> None:
    few = Fit(documents=FEWEST - 1)
    own: Any = Made(Counts(scoring_of("contrast")), {"contrast": 1.0}, few)

    assert best_smoothed(own, {}, HeldOut([]))[0] is own
