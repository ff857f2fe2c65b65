"""
Event models in which absent terms count, against the textbooks and scikit-learn.

`bernoulli` is `BernoulliNB` and section 13.3 of Manning, Raghavan and Schütze (2008);
`kary` is Murphy's (2006) equation 24, term by term over the whole vocabulary, and with
two levels the same as `bernoulli` to the bit; `poisson` is the product of densities.
"""

from collections import Counter as Tally
from functools import partial
from math import lgamma, log
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from nbtext.scoring.batch_mixed import scores_by
from nbtext.scoring.batch_model import open_batch_model
from nbtext.scoring.model import Model
from nbtext.scoring.models.evidence import ABSENT
from nbtext.scoring.models.registry import event_model, scoring_of
from nbtext.settings.columns import COLUMNS
from nbtext.settings.reading import Settings
from nbtext.tokens.bags import read_terms
from nbtext.tokens.tokenizer import keys
from tests.build import WORDS, counted, model_of
from tests.differential.test_against_sklearn import Counts, text
from tests.differential.test_against_sklearn import drawn as counts_drawn
from tests.differential.test_against_sklearn import trained as trained_by

READING = Settings(format="text", views=(WORDS._replace(columns=COLUMNS),))
Floats = NDArray[np.float64]

trained = partial(trained_by, settings=READING)


def check_close(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def drawn(n_classes: int, seed: int, n: int = 90) -> tuple[Counts, Counts, Counts]:
    """Draw counts to train on, their classes, and counts to score; all terms known."""
    training, classes, testing = counts_drawn(n_classes, seed, n)
    testing[0] = 0  # not one token: all of it is absent
    return training, classes, testing


def by_each_engine(model: Model, texts: list[str]) -> list[Floats]:
    """Return ln P(class, document) of texts, by the plain engine and by arrays."""
    fields = [[("body", one)] for one in texts]
    event = event_model(model.scoring.score)
    bags = [(Tally(keys(WORDS, one)),) for one in fields]
    plain = [event.joint_log_likelihood(model, bag) for bag in bags]
    views = read_terms(model.settings, [(one,) for one in fields])
    batch = open_batch_model(model)
    (many,) = scores_by(batch, [model.scoring], batch.find(views))
    return [np.array(plain), many]


@pytest.mark.parametrize("alpha", [1e-3, 0.1, 1.0, 7.5])
@pytest.mark.parametrize("n_classes", [2, 5])
def test_bernoulli_is_scikit_learns(
    n_classes: int, alpha: float, tmp_path: Path
) -> None:
    from sklearn.naive_bayes import BernoulliNB

    training, classes, testing = drawn(n_classes, seed=n_classes)
    how = scoring_of("bernoulli")._replace(smoothing=alpha)

    model = trained(tmp_path, training, classes, how)
    theirs: Any = BernoulliNB(alpha=alpha).fit(training, classes)

    assert model.file.histograms is not None
    expected = theirs.predict_joint_log_proba(testing)
    for ours in by_each_engine(model, [*map(text, testing)]):
        check_close(ours, expected)


def test_bernoulli_is_the_example_of_manning(tmp_path: Path) -> None:
    """Example 13.2: probabilities of 0.005 and 0.022, so not about China."""
    texts = [
        ("china", "Chinese Beijing Chinese"),
        ("china", "Chinese Chinese Shanghai"),
        ("china", "Chinese Macao"),
        ("not china", "Tokyo Japan Chinese"),
    ]
    how = scoring_of("bernoulli")._replace(smoothing=1.0)
    model = model_of(tmp_path / "m.nbt", counted(texts, READING), how)

    china = 3 / 4 * (4 / 5 * 1 / 5 * 1 / 5 * (1 - 2 / 5) * (1 - 2 / 5) * (1 - 2 / 5))
    other = 1 / 4 * (2 / 3 * 2 / 3 * 2 / 3 * (1 - 1 / 3) * (1 - 1 / 3) * (1 - 1 / 3))
    assert (round(china, 3), round(other, 3)) == (0.005, 0.022)
    for ours in by_each_engine(model, ["Chinese Chinese Chinese Tokyo Japan"]):
        check_close(ours, [[log(china), log(other)]])


def levels_of_all_terms(
    training: Counts, classes: Counts, testing: Counts, n_levels: int, a: float
) -> Floats:
    """Murphy's equation 24 with the posterior means of 28, over the vocabulary."""
    scores = np.zeros((len(testing), classes.max() + 1))
    for class_ in range(scores.shape[1]):
        of_class = np.minimum(training[classes == class_], n_levels - 1)
        scores[:, class_] = log(len(of_class) / len(training))
        for term in range(training.shape[1]):
            numbers = np.bincount(of_class[:, term], minlength=n_levels)
            theta = (numbers + a) / (len(of_class) + n_levels * a)
            seen = np.minimum(testing[:, term], n_levels - 1)
            scores[:, class_] += np.log(theta)[seen]
    return scores


@pytest.mark.parametrize("n_levels", [2, 3, 4, 10])
@pytest.mark.parametrize("alpha", [0.01, 1.0])
@pytest.mark.parametrize("n_classes", [2, 5])
def test_kary_is_the_product_over_all_terms(
    n_classes: int, alpha: float, n_levels: int, tmp_path: Path
) -> None:
    training, classes, testing = drawn(n_classes, seed=10 + n_classes)
    how = scoring_of("kary")._replace(smoothing=alpha)

    model = trained(tmp_path, training, classes, how.with_parameters(levels=n_levels))

    expected = levels_of_all_terms(training, classes, testing, n_levels, alpha)
    for ours in by_each_engine(model, [*map(text, testing)]):
        check_close(ours, expected)


@pytest.mark.parametrize("n_classes", [2, 5])
def test_two_levels_are_bernoulli_to_the_bit(n_classes: int, tmp_path: Path) -> None:
    training, classes, testing = drawn(n_classes, seed=20 + n_classes)
    kary = scoring_of("kary")._replace(smoothing=0.3).with_parameters(levels=2)
    bernoulli = scoring_of("bernoulli")._replace(smoothing=0.3)
    model = trained(tmp_path, training, classes, kary)

    found = by_each_engine(model, [*map(text, testing)])
    expected = by_each_engine(model._replace(scoring=bernoulli), [*map(text, testing)])

    for ours, theirs in zip(found, expected, strict=True):
        assert ours.tolist() == theirs.tolist()


@pytest.mark.parametrize("rate", [1e-3, 1.0, 5.0])
@pytest.mark.parametrize("alpha", [0.01, 1.0])
@pytest.mark.parametrize("n_classes", [2, 5])
def test_poisson_is_the_product_of_densities(
    n_classes: int, alpha: float, rate: float, tmp_path: Path
) -> None:
    training, classes, testing = drawn(n_classes, seed=30 + n_classes)
    how = scoring_of("poisson")._replace(smoothing=alpha)

    model = trained(tmp_path, training, classes, how.with_parameters(rate=rate))

    expected = np.zeros((len(testing), n_classes))
    for class_ in range(n_classes):
        of_class = training[classes == class_]
        rates = (of_class.sum(axis=0) + alpha) / (len(of_class) + rate)
        densities = testing * np.log(rates) - rates
        expected[:, class_] = densities.sum(axis=1) + log(len(of_class) / len(training))
    for ours in by_each_engine(model, [*map(text, testing)]):
        check_close(ours, expected)


def test_the_densities_of_poisson_are_whole_with_the_factorials(tmp_path: Path) -> None:
    """What is left out is the same for all classes: with it, they sum to 1."""
    training, classes = np.array([[2, 0], [1, 1], [0, 3]]), np.array([0, 0, 1])
    model = trained(tmp_path, training, classes, scoring_of("poisson"))
    counts = [(one, two) for one in range(40) for two in range(40)]

    for ours in by_each_engine(model, [text(np.array(one)) for one in counts]):
        factorials = [[lgamma(one + 1) + lgamma(two + 1)] for one, two in counts]
        whole = np.exp(ours - factorials).sum(axis=0)
        check_close(whole, [2 / 3, 1 / 3])


@pytest.mark.parametrize("score", ["bernoulli", "kary", "poisson"])
def test_absent_terms_are_one_line_of_evidence(score: str, tmp_path: Path) -> None:
    training, classes, testing = drawn(2, seed=3)
    model = trained(tmp_path, training, classes, scoring_of(score))
    bag = (Tally(keys(WORDS, [("body", text(testing[1]))])),)

    parts = event_model(score).evidence(model, bag)

    assert [part.source for part in parts] == ["prior", "body", ABSENT]
    assert not parts[-1].terms
    assert max(parts[-1].rest) < 0
