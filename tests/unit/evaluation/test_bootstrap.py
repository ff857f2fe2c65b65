"""Intervals of figures: the percentile bootstrap, by arrays and by hand."""

import numpy as np
import pytest
from numpy.typing import NDArray

from nbtext.evaluation import bootstrap
from nbtext.evaluation.bootstrap import (
    FEWEST,
    Judged,
    _Posteriors,
    draws,
    judged,
    of_decisions,
    quantiles,
)
from nbtext.evaluation.evaluation import Evaluation, evaluate
from nbtext.policy import Cost
from nbtext.scoring.costs import costs_of

CLASSES = ("ham", "spam")
WITHOUT_INTERVAL = {
    "classes", "documents", "correct", "unsure", "unknown_label", "confusion",
    "confusion_unknown_label", "reliability", "support", "positive", "negative",
    "positives", "negatives", "positives_unsure", "negatives_unsure",
    "false_positives", "false_negatives", "false_positives_allowed", "missed_at_fpr",
    "scored_left_out", "passed_over", "against", "intervals", "prior", "replay",
}  # fmt: skip
"""What is no figure, but a number of documents or a name."""


def drawn_rows(
    n: int, n_classes: int = 2, seed: int = 1
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]:
    """Truth, log posterior and decisions, with ties, unsure and unknown ones."""
    random = np.random.default_rng(seed)
    truth = random.integers(0, n_classes, n)
    scores = np.round(random.normal(size=(n, n_classes)), 1)
    scores[np.arange(n), truth] += 1.0
    posterior = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
    decided = posterior.argmax(axis=1)
    decided[posterior.max(axis=1) < np.log(0.55)] = -1
    truth[random.random(n) < 0.05] = -1
    return truth, posterior, decided


def figures(result: Evaluation) -> dict[tuple[str, ...], float]:
    """All figures of an evaluation that have a value, by their path of keys."""
    found = {}

    def gather(plain: dict[str, object], path: tuple[str, ...]) -> None:
        for key, value in plain.items():
            if isinstance(value, dict) and key != "intervals":
                gather(value, (*path, key))
            elif key not in WITHOUT_INTERVAL and value is not None:
                assert isinstance(value, float)
                found[*path, key] = value

    gather(result.as_dict(), ())
    return found


class Once(np.random.Generator):
    """Random numbers that draw every document once."""

    def multinomial(  # type: ignore[override]
        self, n: int, shares: NDArray[np.float64], size: int
    ) -> NDArray[np.int64]:
        """Return what is drawn of each kind."""
        return np.tile(np.rint(n * shares).astype(np.int64), (size, 1))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_draw_of_every_document_once_has_the_figures_themselves(
    n_classes: int,
) -> None:
    truth, posterior, decided = drawn_rows(3000, n_classes)
    names = ("eggs", "ham", "spam")[-n_classes:]
    costs = costs_of([Cost("ham", "spam", 9.0), Cost("ham", None, 2.0)], names)
    result = evaluate(truth, posterior, decided, names, costs=costs)
    wanted = 1 if n_classes == 2 else None
    documents = judged(truth, posterior, posterior, decided, wanted).in_order()

    random = Once(np.random.PCG64(1))
    found = dict(of_decisions(documents, names, wanted, costs, random, 1))
    found |= dict(_Posteriors(documents, wanted).of(np.ones((1, len(truth)))))

    assert {path: values[0] for path, values in found.items()} == pytest.approx(
        figures(result)
    )


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_intervals_are_those_of_evaluating_each_draw(
    n_classes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same bootstrap, document by document, as the book has it."""
    truth, posterior, decided = drawn_rows(300, n_classes)
    names = ("eggs", "ham", "spam")[-n_classes:]
    result = evaluate(truth, posterior, decided, names)
    for name in ("REPLICATES", "FEWEST"):  # intervals of the draws are not looked at
        monkeypatch.setattr(bootstrap, name, 1)
    random = np.random.default_rng(7)
    values: dict[tuple[str, ...], list[float]] = {}
    for _ in range(600):
        rows = random.integers(0, len(truth), len(truth))
        drawn = evaluate(truth[rows], posterior[rows], decided[rows], names)
        for path, value in figures(drawn).items():
            values.setdefault(path, []).append(value)

    assert set(result.intervals) == set(values)
    for path, found in result.intervals.items():
        low, high = np.quantile(values[path], [0.025, 0.975])
        width = max(float(high - low), 1e-9)
        assert found.low == pytest.approx(low, abs=0.25 * width), path
        assert found.high == pytest.approx(high, abs=0.25 * width), path


@pytest.mark.parametrize("n", [1, 2, 3, 200, 999, 1000])
def test_quantiles_are_those_of_numpy_to_the_bit(n: int) -> None:
    values = np.random.default_rng(n).normal(size=n).round(2)
    shares = (0.0, 0.025, 0.5, 1 - 0.025, 1.0)

    assert quantiles(values, shares) == np.quantile(values, shares).tolist()


def test_every_figure_has_an_interval_around_it() -> None:
    result = evaluate(*drawn_rows(2000), CLASSES)

    wanted = figures(result)
    assert set(result.intervals) == set(wanted)
    for path, value in wanted.items():
        interval = result.intervals[path]
        if path == ("calibration_error",):  # which chance can only add to
            assert value < interval.high
        else:
            assert interval.low < value < interval.high


def test_the_order_of_the_documents_moves_nothing() -> None:
    truth, posterior, decided = drawn_rows(500)
    order = np.random.default_rng(3).permutation(len(truth))

    straight = evaluate(truth, posterior, decided, CLASSES)
    shuffled = evaluate(truth[order], posterior[order], decided[order], CLASSES)

    assert straight.intervals == shuffled.intervals


@pytest.mark.parametrize(
    "truth", [[], [1], [-1], [0, 0], [-1, -1]], ids=["none", "one", "x", "two", "xx"]
)
def test_what_has_no_value_has_no_interval(truth: list[int]) -> None:
    n = len(truth)
    posterior = np.log(np.tile([0.6, 0.4], (n, 1)))

    result = evaluate(
        np.array(truth, np.int64), posterior, np.zeros(n, np.int64), CLASSES
    )

    if n:
        assert set(result.intervals) == set(figures(result))
    else:
        assert result.intervals == {}


def test_draws_of_many_documents_are_few_at_a_time() -> None:
    """Memory and time are bounded: a million documents, one draw at a time."""
    random = np.random.default_rng(1)

    first = next(draws(1_000_000, FEWEST, random))
    of_few = next(draws(10, 1000, random))

    assert first.shape == (1, 1_000_000)
    assert first.sum() == 1_000_000
    assert of_few.shape == (1000, 10)
    assert (of_few.sum(axis=1) == 10).all()


def test_documents_are_in_order_of_falling_odds() -> None:
    truth, posterior, decided = drawn_rows(50)

    documents = judged(truth, posterior, posterior, decided, 1).in_order()

    assert isinstance(documents, Judged)
    assert (np.diff(documents.odds) <= 0).all()


def test_what_is_unsure_is_in_no_class() -> None:
    """As many groups as classes, one of which is that of the unsure."""
    truth, decided = np.array([0, 0, 1, 1]), np.array([0, 0, -1, -1])
    posterior = np.log(np.array([[0.9, 0.1]] * 2 + [[0.1, 0.9]] * 2))

    found = evaluate(truth, posterior, decided, ("ham", "spam")).intervals

    assert found["coverage",].high < 1.5
    assert found["coverage",].low < 1
    assert found["error_decided",] == pytest.approx((0, 1 - 0.025**0.5))  # of two
    assert max(one.high for one in found.values()) < 100
    assert found["per_class", "ham", "precision"].high == 1
