"""Every measure that scikit-learn has too, on the same decisions and posteriors."""

from typing import Any

import numpy as np
import pytest

from nbtext.evaluation import bootstrap
from nbtext.evaluation.evaluation import evaluate
from nbtext.evaluation.metrics import Floats, Indices

RTOL = 1e-9
CLASSES = ("eggs", "ham", "spam")
SEEDS = range(5)


@pytest.fixture
def metrics(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Those of scikit-learn: 70 MB, which a process that forks should not have."""
    from sklearn import metrics

    for name in ("REPLICATES", "FEWEST"):  # it has no intervals
        monkeypatch.setattr(bootstrap, name, 1)
    return metrics


def drawn(seed: int, n_classes: int, n: int = 400) -> tuple[Indices, Floats, Indices]:
    """Draw truth, posteriors that lean to it, and some unsure."""
    random = np.random.default_rng(seed)
    truth = random.integers(n_classes, size=(n, 2)).max(axis=1)
    joint = random.normal(scale=2, size=(n, n_classes))
    joint[np.arange(n), truth] += 1.5
    log_posterior = joint - np.logaddexp.reduce(joint, axis=1, keepdims=True)
    decided = np.where(random.random(n) < 0.1, -1, log_posterior.argmax(axis=1))
    return truth, log_posterior, decided


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("seed", SEEDS)
def test_confusion_matrix_and_accuracy(seed: int, n_classes: int, metrics: Any) -> None:
    truth, log_posterior, decided = drawn(seed, n_classes)
    found = evaluate(truth, log_posterior, decided, CLASSES[-n_classes:])

    theirs = metrics.confusion_matrix(truth, decided, labels=[*range(n_classes), -1])

    assert found.confusion == tuple(map(tuple, theirs[:-1].tolist()))
    assert found.accuracy == pytest.approx(
        metrics.accuracy_score(truth, decided), rel=RTOL
    )


@pytest.mark.parametrize("average", [None, "macro", "micro"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("seed", SEEDS)
def test_precision_recall_and_f1_with_unsure_and_unknown_labels(
    seed: int, n_classes: int, average: str | None, metrics: Any
) -> None:
    truth, log_posterior, decided = drawn(seed, n_classes)
    truth[::17] = -1
    found = evaluate(truth, log_posterior, decided, CLASSES[-n_classes:])
    ours = {None: found.per_class, "macro": [found.macro], "micro": [found.micro]}

    precision, recall, f1, _ = metrics.precision_recall_fscore_support(
        truth, decided, labels=range(n_classes), average=average, zero_division=0
    )

    np.testing.assert_allclose(
        [(one.precision, one.recall, one.f1) for one in ours[average]],
        np.column_stack([precision, recall, f1]),
        rtol=RTOL,
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_support(seed: int, metrics: Any) -> None:
    truth, log_posterior, decided = drawn(seed, 3)
    found = evaluate(truth, log_posterior, decided, CLASSES)

    *_, theirs = metrics.precision_recall_fscore_support(
        truth, decided, labels=range(3), zero_division=0
    )

    assert [one.support for one in found.per_class] == theirs.tolist()


def test_macro_average_over_the_classes_that_occur(metrics: Any) -> None:
    """Left to itself scikit-learn averages over the labels that it sees."""
    truth, decided = np.array([0, 0, 2, 2]), np.array([0, 2, 2, 2])
    log_posterior = np.log(np.full((4, 3), 1 / 3))

    found = evaluate(truth, log_posterior, decided, CLASSES)

    assert found.macro.f1 == pytest.approx(
        metrics.f1_score(truth, decided, average="macro"), rel=RTOL
    )


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("seed", SEEDS)
def test_log_loss(seed: int, n_classes: int, metrics: Any) -> None:
    truth, log_posterior, decided = drawn(seed, n_classes)
    found = evaluate(truth, log_posterior, decided, CLASSES[-n_classes:])

    theirs = metrics.log_loss(truth, np.exp(log_posterior), labels=range(n_classes))

    assert found.log_loss == pytest.approx(theirs, rel=RTOL)


@pytest.mark.parametrize("seed", SEEDS)
def test_brier_score_is_twice_the_binary_one(seed: int, metrics: Any) -> None:
    truth, log_posterior, decided = drawn(seed, 2)
    found = evaluate(truth, log_posterior, decided, ("ham", "spam"))

    theirs = metrics.brier_score_loss(truth, np.exp(log_posterior[:, 1]))

    assert found.brier == pytest.approx(2 * theirs, rel=RTOL)


@pytest.mark.parametrize("seed", SEEDS)
def test_brier_score_of_three_classes(seed: int, metrics: Any) -> None:
    """`brier_score_loss` learnt more than two classes in 1.7; this holds before."""
    truth, log_posterior, decided = drawn(seed, 3)
    found = evaluate(truth, log_posterior, decided, CLASSES)

    theirs = 3 * metrics.mean_squared_error(np.eye(3)[truth], np.exp(log_posterior))

    assert found.brier == pytest.approx(theirs, rel=RTOL)


@pytest.mark.parametrize("seed", SEEDS)
def test_roc_auc_with_ties(seed: int, metrics: Any) -> None:
    random = np.random.default_rng(seed)
    truth = random.integers(2, size=400)
    log_odds = random.normal(truth).round(1)
    log_posterior = -np.logaddexp(0, np.column_stack([log_odds, -log_odds]))
    found = evaluate(truth, log_posterior, truth, ("ham", "spam")).two_class

    theirs = metrics.roc_auc_score(truth, log_odds)

    assert len(np.unique(log_odds)) < len(log_odds) / 2
    assert found is not None
    assert found.roc_auc == pytest.approx(theirs, rel=RTOL)
    assert found.one_minus_auc_percent == pytest.approx(100 * (1 - theirs), rel=RTOL)


@pytest.mark.parametrize("seed", SEEDS)
def test_miss_rate_is_read_off_the_roc_curve(seed: int, metrics: Any) -> None:
    truth, log_posterior, decided = drawn(seed, 2, n=20_000)
    found = evaluate(truth, log_posterior, decided, ("ham", "spam")).two_class

    false_positive_rate, true_positive_rate, _ = metrics.roc_curve(
        truth, log_posterior[:, 1] - log_posterior[:, 0], drop_intermediate=False
    )

    assert found is not None
    assert found.false_positives_allowed > 1
    assert found.miss_rate_at_fpr == pytest.approx(
        1 - true_positive_rate[false_positive_rate <= 0.001].max(), rel=RTOL
    )
