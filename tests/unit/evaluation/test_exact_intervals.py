"""Intervals of proportions of 0 or 1, which no draw moves."""

import numpy as np
import pytest
from scipy.stats import binomtest

from nbtext.evaluation.comparing import compare
from nbtext.evaluation.evaluation import Evaluation, evaluate
from nbtext.evaluation.exact_intervals import exact_interval
from nbtext.policy import Cost
from nbtext.scoring.costs import costs_of

CLASSES = ("ham", "spam")


def evaluated(truth: list[int], decided: list[int]) -> Evaluation:
    """An evaluation of documents whose posteriors are as they are decided."""
    rows = [[0.9, 0.1] if one == 0 else [0.2, 0.8] for one in decided]
    posterior = np.log(np.array(rows).reshape(-1, 2))
    costs = costs_of([Cost("ham", "spam", 9.0)], CLASSES)
    return evaluate(np.array(truth), posterior, np.array(decided), CLASSES, costs=costs)


@pytest.mark.parametrize("n", [1, 2, 12, 1000, 10**6])
def test_it_is_that_of_clopper_and_pearson(n: int) -> None:
    for value in (0, 1):
        exact = binomtest(value * n, n).proportion_ci(0.95, "exact")

        assert exact_interval(value, n) == pytest.approx((exact.low, exact.high))


def test_of_no_document_it_says_nothing() -> None:
    assert exact_interval(0.0, 0) == (0.0, 0.0)


def test_twelve_of_twelve_are_not_certain() -> None:
    """Each figure by the documents that it is of; the AUC by disjoint pairs."""
    truth = [0] * 4 + [1] * 8

    found = evaluated(truth, truth).intervals

    def low(n: int) -> float:
        return float(binomtest(n, n).proportion_ci(0.95, "exact").low)

    assert found["accuracy",] == pytest.approx((low(12), 1.0))
    assert found["coverage",] == pytest.approx((low(12), 1.0))
    assert found["error_decided",] == pytest.approx((0.0, 1 - low(12)))
    assert found["per_class", "ham", "precision"] == pytest.approx((low(4), 1.0))
    assert found["per_class", "spam", "recall"] == pytest.approx((low(8), 1.0))
    f1 = 2 * low(8) / (1 + low(8))
    assert found["per_class", "spam", "f1"] == pytest.approx((f1, 1.0))
    recall = (low(4) + low(8)) / 2
    assert found["macro", "recall"] == pytest.approx((recall, 1.0))
    rate = found["two_class", "false_positive_rate"]
    assert rate == pytest.approx((0.0, 1 - low(4)))
    rate = found["two_class", "miss_rate_at_fpr"]
    assert rate == pytest.approx((0.0, 1 - low(8)))
    assert found["two_class", "roc_auc"] == pytest.approx((low(4), 1.0))
    percent = found["two_class", "one_minus_auc_percent"]
    assert percent == pytest.approx((0.0, 100 * (1 - low(4))))
    # at the worst all that may be wrong have the highest price
    assert found["mean_cost",] == pytest.approx((0.0, 9 * (1 - low(12))))


def test_what_can_be_drawn_otherwise_keeps_the_bootstrap() -> None:
    truth = [0] * 20 + [1] * 20
    found = evaluated(truth, [1, *truth[1:]]).intervals

    assert found["accuracy",].high == 1.0
    assert found["accuracy",].low == pytest.approx(0.925, abs=0.03)
    assert found["per_class", "spam", "recall"].low < 1.0  # which is 20 of 20


def test_a_macro_average_is_of_the_classes_that_occur() -> None:
    found = evaluated([1] * 5, [1] * 5).intervals

    assert found["macro", "recall"] == found["per_class", "spam", "recall"]
    assert found["per_class", "ham", "recall"] == (0.0, 0.0)


def test_two_models_that_agree_may_differ_on_other_documents() -> None:
    both = dict.fromkeys(range(100), True)
    found = compare(both, both)
    none = compare(both, dict.fromkeys(range(100), False))

    assert found is not None
    assert none is not None
    share = binomtest(0, 100).proportion_ci(0.95, "exact").high
    assert found.interval == pytest.approx((-share, share))
    assert none.interval == pytest.approx((1 - 2 * share, 1.0))
