"""Measures that settings are compared by, and their standard errors."""

import json
from math import inf, sqrt

import numpy as np
import pytest

from nbtext.evaluation.evaluation import evaluate
from nbtext.learning import SettingsOverrides
from nbtext.policy import MOST_EXPENSIVE, Cost, FalsePositives, Policy
from nbtext.tuning.measures import MEASURES, standard_error
from nbtext.tuning.tuned import Tried, Tuned, choose, options_of, safe_threshold

CLASSES = ("ham", "spam")


def drawn(n: int, shift: float, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """True classes, and log posteriors that tell them apart more or less well."""
    random = np.random.default_rng(seed)
    truth = random.integers(0, 2, n)
    odds = random.normal(size=n) + shift * (2 * truth - 1)
    posterior = np.stack([-np.logaddexp(0, odds), -np.logaddexp(0, -odds)], axis=1)
    return truth, posterior


def test_the_mean_of_what_documents_contribute_is_the_measure() -> None:
    truth, posterior = drawn(500, 0.7)
    result = evaluate(truth, posterior, posterior.argmax(axis=1), CLASSES)
    assert result.two_class is not None
    recalls = [one.recall for one in result.per_class]

    values = {name: parts(truth, posterior).mean() for name, parts in MEASURES.items()}

    assert values == pytest.approx(
        {
            "log-loss": result.log_loss,
            "error": 1 - (result.accuracy or 0),
            "balanced-error": 1 - sum(recalls) / 2,
            "brier": result.brier,
            "1-auc": 1 - (result.two_class.roc_auc or 0),
        }
    )


@pytest.mark.parametrize("name", sorted(MEASURES))
def test_the_standard_error_is_how_far_a_measure_scatters(name: str) -> None:
    """Of 300 samples of 400 documents each."""
    values, errors = [], []
    for seed in range(300):
        truth, posterior = drawn(400, 0.7, seed)
        parts = MEASURES[name](truth, posterior)
        values.append(parts.mean())
        errors.append(standard_error(name, parts, truth))

    assert np.mean(errors) == pytest.approx(np.std(values), rel=0.15)


def test_the_simplest_of_those_as_good_as_the_best_is_chosen() -> None:
    """Nearly the same scores with more options are not worth them; worse ones are."""
    truth, posterior = drawn(1000, 1.5)
    odds = posterior[:, 1] - posterior[:, 0]
    random = np.random.default_rng(2)
    nearly = odds + 0.02 * random.normal(size=len(odds)) * (2 * truth - 1)
    worse = odds + 3 * random.normal(size=len(odds))

    def tried(odds: np.ndarray, **options: object) -> Tried:
        posterior = np.stack([-np.logaddexp(0, odds), -np.logaddexp(0, -odds)], axis=1)
        overrides = SettingsOverrides()._replace(**options)  # type: ignore[arg-type]
        return Tried(overrides, "leave-one-out", posterior)

    rows = choose(
        "log-loss",
        [
            tried(worse),
            tried(odds, score="sum", smoothing=0.1),
            tried(nearly, score="sum"),
        ],
        truth,
    )

    (chosen,) = (row for row in rows if row.is_chosen)
    assert chosen.options == ["--score", "sum"]
    assert [row.is_best for row in rows] == [True, False, False]
    assert rows[-1].behind > 5
    assert all(row.low <= row.value <= row.high for row in rows)
    losses = np.logaddexp(0, -odds * (2 * truth - 1))
    assert rows[0].value == pytest.approx(losses.mean())
    error = losses.std(ddof=1) / sqrt(len(truth))
    assert rows[0].high == pytest.approx(losses.mean() + 1.96 * error, rel=1e-4)


def test_what_is_worse_for_every_document_has_no_infinity_in_json() -> None:
    truth = np.array([0, 1, 0, 1])
    right, wrong = (np.log([[p, 1 - p], [1 - p, p]] * 2) for p in (0.9, 0.1))
    tried = [
        Tried(SettingsOverrides(score=score), "leave-one-out", posterior)
        for score, posterior in (("sum", right), ("mean", wrong))
    ]

    rows = choose("error", tried, truth)

    assert [row.behind for row in rows] == [0.0, inf]
    found = Tuned("error", 4, rows, rows[0].overrides)
    assert json.loads(json.dumps(found.as_dict(), allow_nan=False))


def test_options_are_those_of_the_command_line() -> None:
    overrides = SettingsOverrides(
        score="mean",
        smoothing=0.001,
        counting="once",
        calibrate=True,
        correction=False,
        parameters=(("min_evidence", 1.0),),
        views=("headers", "body"),
    )

    assert " ".join(options_of(overrides)) == (
        "--score mean --smoothing 0.001 --count once --calibrate "
        "--parameter min_evidence=1 --views headers,body --no-correction"
    )
    assert options_of(SettingsOverrides()) == []


def test_no_threshold_is_below_one_half() -> None:
    """Where classes are well apart, all of the rarer one is above any, and no other."""
    probability = np.array([1e-18] * 30 + [0.97] * 30)
    truth = np.array([0] * 30 + [1] * 30)
    posterior = np.log(np.stack([1 - probability, probability], axis=1))

    limit = FalsePositives("spam", 0.1)
    found = safe_threshold(truth, posterior, CLASSES, limit, is_followed=False)

    assert found is not None
    assert (found.probability, found.caught, found.lost) == (0.5, 1, 0)
    assert found.policy == Policy(costs=(Cost("ham", "spam", 1.0),))


def test_the_threshold_lets_one_in_a_thousand_pass() -> None:
    probability = np.concatenate([np.linspace(0.001, 0.6, 2000), [0.55, 0.65, 0.9]])
    truth = np.array([0] * 2000 + [1] * 3)
    posterior = np.log(np.stack([1 - probability, probability], axis=1))

    found = safe_threshold(truth, posterior, CLASSES)

    assert found is not None
    assert found.positive == "spam"
    assert found.lost == 2 / 2000
    assert found.caught == pytest.approx(2 / 3)
    assert safe_threshold(truth, posterior, ("a", "b", "c")) is None
    # a model that keeps scores looks for the threshold itself, others are told it
    assert found.policy == Policy(max_false_positives=FalsePositives("spam", 0.001))
    assert found.options == ["--max-false-positives", "spam=0.1%"]
    told = found._replace(is_followed=False)
    (cost,) = told.policy.costs
    assert cost[:2] == ("ham", "spam")
    assert cost.price / (1 + cost.price) == pytest.approx(found.probability, rel=1e-12)
    assert told.options == ["--cost", f"ham:spam={cost.price!r}"]
    certain = told._replace(probability=1.0)
    assert certain.cost == MOST_EXPENSIVE
    certain.policy.check()
