"""P(class) of a textbook's score, and what an event model says uncalibrated."""

from math import exp, fsum, log, log1p
from pathlib import Path
from typing import Any

import pytest

from nbtext import SettingsOverrides, classify, joint_log_likelihood, load, train_on
from nbtext.counts.fitting import Fit
from nbtext.document import Document
from nbtext.errors import SettingsError
from nbtext.policy import Policy
from nbtext.scoring.models.registry import changed, event_models, scoring_of
from nbtext.scoring.posterior import log_prior, normalised
from nbtext.scoring.score import score
from nbtext.settings.columns import COLUMNS
from nbtext.settings.reading import default_settings
from nbtext.settings.scoring import Scoring
from nbtext.tokens.bag import bag_of
from nbtext.tokens.reading import read
from tests.build import WORD_WEIGHTS, counted, model_of

TEXTS = [("a", "x x y"), ("a", "x z"), ("a", "y"), ("b", "z z y")]


@pytest.mark.parametrize(
    ("class_prior", "expected"),
    [
        ("shares", [3 / 4, 1 / 4]),
        ("uniform", [1 / 2, 1 / 2]),
        ("none", [1, 1]),
        # Murphy (2006), equation 14: (N_c + a) / (N + sum of a)
        ("dirichlet:1", [(3 + 1) / (4 + 2), (1 + 1) / (4 + 2)]),
        ("dirichlet:0.5", [3.5 / 5, 1.5 / 5]),
    ],
)
def test_class_priors_by_hand(
    class_prior: str, expected: list[float], tmp_path: Path
) -> None:
    prior = [exp(value) for value in log_prior(class_prior, [3, 1])]
    how = Scoring("sum", 1.0, calibrated=False, class_prior=class_prior)
    model = model_of(tmp_path / "m.nbt", counted(TEXTS, WORD_WEIGHTS), how)
    reading = read(Document("", (b"unheard of",)), WORD_WEIGHTS)

    scored = score(model, bag_of(reading, WORD_WEIGHTS), Fit())

    assert prior == pytest.approx(expected)
    # a document without one known term says nothing: the prior is its posterior
    shares = [value / fsum(expected) for value in expected]
    assert [exp(value) for value in scored.log_posterior] == pytest.approx(shares)
    assert scored.known == 0


@pytest.mark.parametrize(
    "class_prior",
    ["", "even", "dirichlet", *(f"dirichlet:{a}" for a in ["", 0, -1, "nan", "inf"])],
)
def test_what_is_no_class_prior_is_refused(class_prior: str) -> None:
    with pytest.raises(SettingsError, match="expected shares, uniform, none"):
        Scoring("sum", 1.0, class_prior=class_prior).check()


def test_a_class_prior_is_kept_for_textbook_scores_alone() -> None:
    textbook = changed(scoring_of("sum"), class_prior="uniform")

    assert Scoring.from_dict(textbook.as_dict()) == textbook
    assert textbook.class_prior == "uniform"
    assert changed(textbook, smoothing=2.0).class_prior == "uniform"
    assert changed(textbook, "mean") == scoring_of("mean")
    assert changed(scoring_of("mean"), class_prior="uniform") == scoring_of("mean")
    overrides = SettingsOverrides(class_prior="uniform")
    assert "changes nothing: the mean score" in overrides.in_vain(scoring_of("mean"))
    assert overrides.in_vain(textbook) == ""


def test_what_changes_nothing_is_said() -> None:
    overrides = SettingsOverrides(class_prior="uniform")
    textbook = changed(scoring_of("sum"), class_prior="uniform")
    calibrated = changed(textbook, calibrate=True)

    # the shares of the documents are in what is fitted
    assert calibrated.class_prior == "shares"
    assert changed(calibrated, class_prior="uniform") == calibrated
    assert "prior of a policy moves them" in overrides.in_vain(calibrated)
    # the prior of a policy takes the place of the class prior in classes that it names
    one, two = Policy(prior=(("a", 0.2),)), Policy(prior=(("a", 0.2), ("b", 0.3)))
    assert "takes its place" in overrides.in_vain(textbook, one, 2)
    assert overrides.in_vain(textbook, one, 3) == ""
    assert "takes its place" in overrides.in_vain(textbook, two, 3)
    assert SettingsOverrides().in_vain(textbook, two, 3) == ""


@pytest.mark.parametrize(
    ("how", "option"),
    [
        ({"ngrams": 1}, "ngrams=1"),
        ({"byte_ngrams": False}, "byte_ngrams=False"),
        ({"pattern": "a+"}, "pattern"),
    ],
    ids=str,
)
def test_runs_of_three_where_no_runs_are_counted_are_said_to_change_nothing(
    how: dict[str, Any], option: str
) -> None:
    settings = default_settings("text", 3, has_threes=False)
    scoring = scoring_of("contrast")
    threes = SettingsOverrides(threes=True, **how)

    assert threes.settings(settings) == SettingsOverrides(**how).settings(settings)
    assert threes.in_vain(scoring).startswith(
        f"threes changes nothing: with {option}, no runs of characters"
    )
    assert SettingsOverrides(threes=True).in_vain(scoring) == ""
    assert SettingsOverrides(threes=False, **how).in_vain(scoring) == ""


@pytest.mark.parametrize("class_prior", ["uniform", "none", "dirichlet:3"])
def test_what_is_said_to_change_nothing_does(class_prior: str, tmp_path: Path) -> None:
    path = str(tmp_path / "m.nbt")
    texts = [("a", "x y"), ("a", "x z"), ("a", "x"), ("b", "y w"), ("b", "w z q")]
    overrides = SettingsOverrides(class_prior=class_prior)
    policy = Policy(prior=(("a", 0.2),))
    for given in (
        SettingsOverrides(score="sum"),
        SettingsOverrides(score="sum", calibrate=True),
    ):
        train_on(texts, path, overrides=given)
        model = load(path)
        other = load(path, overrides=overrides)
        if given.calibrate:
            policy = Policy()
        before, after = (
            classify(one.deciding_by(policy), "x w") for one in (model, other)
        )

        scoring = other.model.scoring
        assert overrides.in_vain(scoring, policy, 2)
        assert after.probability == pytest.approx(before.probability, rel=1e-12)


def test_the_joint_log_likelihood_is_manning_example_13_1(tmp_path: Path) -> None:
    """Manning, Raghavan and Schütze 2008, table 13.1 and example 13.1."""
    china = ["Chinese Beijing Chinese", "Chinese Chinese Shanghai", "Chinese Macao"]
    texts = [*(("yes", text) for text in china), ("no", "Tokyo Japan Chinese")]
    path = tmp_path / "m.nbt"
    model_of(path, counted(texts, WORD_WEIGHTS), scoring_of("sum"))

    found = joint_log_likelihood(load(str(path)), "Chinese Chinese Chinese Tokyo Japan")

    yes = 3 / 4 * (3 / 7) ** 3 * (1 / 14) * (1 / 14)
    no = 1 / 4 * (2 / 9) ** 3 * (2 / 9) * (2 / 9)
    assert found == pytest.approx({"yes": log(yes), "no": log(no)}, rel=1e-12)


@pytest.mark.parametrize(
    "name", [event.name for event in event_models() if not event.weighs_again]
)
def test_every_event_model_has_a_joint_log_likelihood(
    name: str, tmp_path: Path
) -> None:
    path = tmp_path / "m.nbt"
    everything = WORD_WEIGHTS.counting(COLUMNS)
    model_of(path, counted(TEXTS, everything), scoring_of(name))

    one = joint_log_likelihood(load(str(path)), "x y y z")
    overrides = SettingsOverrides(calibrate=True)
    other = joint_log_likelihood(load(str(path), overrides=overrides), "x y y z")

    assert one.keys() == {"a", "b"}
    assert one == other, "it is not calibrated"


def test_sums_in_the_log_domain_do_not_underflow() -> None:
    first, second = normalised([-120.0, -121.0])

    # log(e^-120 + e^-121) = log(1 + e^-1) - 120
    assert -120.0 - first == pytest.approx(log1p(exp(-1)) - 120.0, rel=1e-15)
    assert first - second == pytest.approx(1.0)


def test_a_million_tokens_neither_underflow_nor_saturate(tmp_path: Path) -> None:
    how = scoring_of("sum")
    model = model_of(tmp_path / "m.nbt", counted(TEXTS, WORD_WEIGHTS), how)
    (word,) = bag_of(read(Document("", (b"x",)), WORD_WEIGHTS), WORD_WEIGHTS)
    bag = (dict.fromkeys(word, 10**6),)

    scored = score(model, bag, Fit())

    # V = 3: x is (3 + 1) / (6 + 3) in a and (0 + 1) / (3 + 3) in b
    odds = log(3) + 10**6 * log((4 / 9) / (1 / 6))
    assert scored.log_posterior == pytest.approx([0.0, -odds])
    assert scored.tokens == scored.known == 10**6
