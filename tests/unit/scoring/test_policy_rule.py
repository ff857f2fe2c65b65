"""A policy, held against a model."""

from math import exp, log
from pathlib import Path

import numpy as np
import pytest

from nbtext import classify, load, train_on
from nbtext.counts.calibration import Calibration, Prior, bin_of
from nbtext.counts.fitting import Fit
from nbtext.document import Document
from nbtext.errors import ModelFileError, SettingsError, UnknownClassError
from nbtext.policy import Cost, FalsePositives, Policy
from nbtext.scoring.decide import Decision, DecisionRule, decide, log_odds
from nbtext.scoring.estimating import estimated_shares
from nbtext.scoring.models.registry import scoring_of
from nbtext.scoring.policy_rule import Basis, prior_of, rule_of
from nbtext.scoring.score import Scored
from nbtext.upkeep import set_policy

CLASSES = ("ham", "spam")
SCORING = scoring_of("mean")


def basis(ham: int = 3000, spam: int = 1000) -> Basis:
    counts = {(bin_of(-4.0), "ham"): ham - 2, (bin_of(3.0), "ham"): 2}
    counts[bin_of(4.0), "spam"] = spam
    documents = {"ham": ham, "spam": spam}
    calibration = Calibration({}, Prior(), counts, (), documents)
    fit = Fit(1.0, 0.0, ham + spam)
    return Basis("m.nbt", CLASSES, (ham, spam), calibration, fit, SCORING)


def of(p: float) -> Scored:
    posterior = (log(1 - p), log(p))
    return Scored(posterior, posterior, 3, 9)


def decided(p: float, rule: DecisionRule) -> Decision:
    return decide(Document("d", ()), of(p), CLASSES, rule=rule)


def test_a_prior_is_bayes_theorem_with_the_shares_of_calibration() -> None:
    """Bayes: odds of .5 at 1 to 3 are a likelihood ratio of 3; times 1/4 it is .75."""
    rule = rule_of(Policy(prior=(("spam", 0.2),)), basis(2999, 999))

    found = decided(0.5, rule)

    assert found.label == "ham"
    assert exp(found.printed[1]) == pytest.approx(0.75 / 1.75)
    assert found.log_posterior == of(0.5).log_posterior


def test_the_prior_of_the_shares_changes_nothing() -> None:
    facts = basis()
    rule = rule_of(Policy(prior=(("spam", facts.shares[1]),)), facts)

    assert rule.shift == pytest.approx((0, 0), abs=1e-12)


def test_without_held_out_documents_all_classes_are_alike() -> None:
    nothing = basis()._replace(calibration=Calibration({}))

    assert nothing.shares == (0.5, 0.5)


def test_if_none_of_a_class_was_held_out_the_shares_are_those_of_all_documents() -> (
    None
):
    """So it is in a sum of models, where one by another scoring added a class."""
    facts = basis(2999, 999)
    held_out = facts.calibration._replace(documents={"ham": 512})

    shares = facts._replace(calibration=held_out).shares

    assert shares == pytest.approx((0.75, 0.25))


def test_the_shares_of_a_textbook_score_are_those_of_all_documents() -> None:
    facts = basis()._replace(documents=(9, 1), scoring=scoring_of("sum"))

    assert facts.shares == pytest.approx((9 / 10, 1 / 10))
    assert rule_of(Policy(prior=(("spam", 0.5),)), facts).documents == ()
    uniform = facts._replace(scoring=facts.scoring._replace(class_prior="uniform"))
    assert uniform.shares == pytest.approx((0.5, 0.5))


def test_the_cap_comes_after_the_prior() -> None:
    """Whatever is expected, 8 ham allow spam 9 in 10."""
    rule = rule_of(Policy(prior=(("spam", 0.999),)), basis(8, 1000))

    found = decided(0.9999, rule)

    assert found.probability == pytest.approx(9 / 10)
    assert sum(found.posterior.values()) == pytest.approx(1)


def test_classes_that_are_not_named_share_the_rest() -> None:
    three = Basis(
        "m", ("a", "b", "c"), (1, 1, 1),
        Calibration({}, documents={"a": 9, "b": 29, "c": 59}), Fit(), SCORING,
    )  # fmt: skip

    assert prior_of(Policy(prior=(("c", 0.6),)), three) == pytest.approx(
        (0.1, 0.3, 0.6)
    )
    with pytest.raises(SettingsError, match="leaves nothing for c"):
        prior_of(Policy(prior=(("a", 0.5), ("b", 0.5))), three)
    with pytest.raises(SettingsError, match=r"adds up to 0\.9, expected 1"):
        prior_of(Policy(prior=(("a", 0.5), ("b", 0.2), ("c", 0.2))), three)


@pytest.mark.parametrize(
    ("rate", "reached"), [(0.001, -3.9), (0.0009, 3.1), (0.0001, 3.1), (0.01, -3.9)]
)
def test_few_held_out_documents_reach_the_threshold(
    rate: float, reached: float
) -> None:
    """Of 3,000 ham two have a score in the bin from 3 on."""
    limit = FalsePositives("spam", rate)

    rule = rule_of(Policy(max_false_positives=limit), basis())

    assert rule.least is not None
    assert rule.least[0] == 1
    assert reached - 0.1 < rule.least[1] <= reached
    # no prior moves it: it is a score that held-out documents had
    both = Policy(prior=(("spam", 0.99),), max_false_positives=limit)
    assert rule_of(both, basis()).least == rule.least


def test_below_that_threshold_it_is_unsure() -> None:
    limit = FalsePositives("spam", 0.0001)
    rule = rule_of(Policy(max_false_positives=limit), basis())

    labels = [decided(p, rule).label for p in (0.2, 0.9, 0.97)]

    assert labels == ["ham", None, "spam"]
    for p, is_decided in ((0.9, False), (0.97, True)):
        posterior = of(p).printed
        assert (rule.margin(posterior, posterior, 1) > 0) == is_decided


def test_a_model_of_more_classes_has_no_such_threshold() -> None:
    three = basis()._replace(classes=("eggs", "ham", "spam"), documents=(1, 1, 1))

    with pytest.raises(SettingsError, match="a model of two classes"):
        rule_of(Policy(max_false_positives=FalsePositives("spam", 0.01)), three)


def test_nor_has_a_model_of_records_whose_text_alone_was_held_out() -> None:
    of_text = basis()
    attributes = (("category_smoothing", 1.0),)
    of_records = of_text._replace(
        scoring=of_text.scoring._replace(attributes=attributes)
    )

    with pytest.raises(SettingsError, match="columns of categories or numbers"):
        rule_of(Policy(max_false_positives=FalsePositives("spam", 0.01)), of_records)


def test_classes_that_the_model_does_not_have_are_refused() -> None:
    for policy in (
        Policy(prior=(("spma", 0.2),)),
        Policy(costs=(Cost("ham", "spma", 1.0),)),
        Policy(max_false_positives=FalsePositives("spma", 0.1)),
    ):
        with pytest.raises(UnknownClassError, match="did you mean 'spam'"):
            rule_of(policy, basis())


def test_a_class_of_that_name_cannot_be_told_from_the_decision() -> None:
    odd = basis()._replace(classes=("spam", "unsure"))

    with pytest.raises(SettingsError, match="rename"):
        rule_of(Policy(costs=(Cost("spam", None, 1.0),)), odd)


def test_a_kept_policy_that_does_not_fit_is_the_files_fault(tmp_path: Path) -> None:
    path = str(tmp_path / "m.nbt")
    train_on([("ham", "lunch"), ("spam", "pills")], path)
    set_policy(path, Policy(prior=(("spam", 0.9),)))
    opened = load(path).model
    forged = Policy(prior=(("eggs", 0.9),))

    with pytest.raises(ModelFileError, match=r"nbtext\.set_policy"):
        type(load(path))(opened._replace(policy=forged))
    with pytest.raises(UnknownClassError):
        load(path, policy=forged)


def test_a_classifier_decides_by_the_policy_that_is_kept(tmp_path: Path) -> None:
    path = str(tmp_path / "m.nbt")
    train_on([("ham", "lunch"), ("spam", "pills")], path)
    before = classify(load(path), "pills")
    set_policy(path, Policy(0.99))

    model = load(path)

    assert before.label == "spam"
    assert classify(model, "pills").label is None
    assert classify(load(path, policy=Policy()), "pills") == before
    assert classify(model.deciding_by(Policy()), "pills") == before
    assert model.policy == Policy(0.99)


def test_the_shares_of_a_mixture_are_found() -> None:
    random = np.random.default_rng(5)
    is_spam = random.random(20_000) < 0.07
    scores = random.normal(np.where(is_spam, 1.5, -1.5), 1.0)
    # the likelihood ratio of N(1.5, 1) and N(-1.5, 1) is exp(3 x)
    rows = np.stack([np.zeros(20_000), 3 * scores], axis=1)

    shares = estimated_shares(rows, (0.5, 0.5))

    assert shares[1] == pytest.approx(is_spam.mean(), abs=0.005)
    assert sum(shares) == pytest.approx(1)


def test_few_documents_say_little_and_none_nothing() -> None:
    assert estimated_shares(np.zeros((0, 2)), (0.3, 0.7)) == pytest.approx([0.3, 0.7])
    one = estimated_shares(np.array([[0.0, 50.0]]), (0.5, 0.5))
    assert 0.7 < one[1] < 0.8
    many = estimated_shares(np.array([[0.0, 50.0]] * 99), (0.5, 0.5))
    assert 0.99 < many[1] < 1


def test_log_odds_are_against_all_others() -> None:
    posterior = tuple(map(log, (0.2, 0.3, 0.5)))

    assert [log_odds(posterior, place) for place in range(3)] == pytest.approx(
        [log(0.2 / 0.8), log(0.3 / 0.7), log(0.5 / 0.5)]
    )
