"""
The scores of scikit-learn's naive Bayes on the same counts.

`sum` is `MultinomialNB`, to rounding. `complement` is `ComplementNB` without weight
normalisation on logarithms of counts at unit length; there a weight is kept in units of
1/65535 and rounded down, so the scores differ by what that can move them, and not at
all where the weights are whole numbers of such units.
"""

from collections import Counter as Tally
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from nbtext.counts.fitting import Fit
from nbtext.scoring.batch import score_readings
from nbtext.scoring.batch_model import open_batch_model
from nbtext.scoring.model import Model
from nbtext.scoring.models.registry import counting_by, event_model
from nbtext.scoring.score import score
from nbtext.settings.reading import Settings
from nbtext.settings.scoring import Scoring
from nbtext.tokens.reading import Reading
from nbtext.tokens.tokenizer import keys
from tests.build import WORD_WEIGHTS, WORDS, counted, model_of

RTOL = 1e-9
ATOL = 1e-12
N_TERMS = 40

SHARES = {2: [0.8, 0.2], 5: [0.5, 0.2, 0.15, 0.1, 0.05]}
Counts = NDArray[np.int64]


def drawn(n_classes: int, seed: int, n: int = 120) -> tuple[Counts, Counts, Counts]:
    """Draw counts to train on, their classes, and counts to score; no term is new."""
    random = np.random.default_rng(seed)
    classes = random.choice(n_classes, size=n, p=SHARES[n_classes])
    classes[:n_classes] = np.arange(n_classes)
    rates = random.gamma(0.3, size=(n_classes, N_TERMS))
    training = random.poisson(rates[classes])
    training[0] += 1
    training[:, 0] += 1
    testing = random.poisson(rates[random.choice(n_classes, size=50)])
    testing[:, 1] += 1
    return training, classes, testing


def text(counts: Counts) -> str:
    return " ".join(f"t{term}" for term, n in enumerate(counts) for _ in range(n))


def trained(
    folder: Path,
    training: Counts,
    classes: Counts,
    how: Scoring,
    settings: Settings = WORD_WEIGHTS,
) -> Model:
    labels = [f"class {class_}" for class_ in classes]
    texts = zip(labels, map(text, training), strict=True)
    return model_of(folder / "model.nbt", counted(texts, settings), how)


# scikit-learn takes 70 MB, which a process that forks should not have
def multinomial(alpha: float) -> Any:
    from sklearn.naive_bayes import MultinomialNB

    return MultinomialNB(alpha=alpha)


def normalize(rows: Counts) -> NDArray[np.float64]:
    from sklearn import preprocessing

    logs = np.rint(2048 * np.log1p(rows))
    unit: NDArray[np.float64] = preprocessing.normalize(logs)
    return unit


def by_each_engine(model: Model, testing: Counts) -> list[NDArray[np.float64]]:
    documents = [[("body", text(counts))] for counts in testing]
    one = [score(model, (Tally(keys(WORDS, found)),), Fit()) for found in documents]
    readings = [Reading((found,), b"", 1, False) for found in documents]
    many = list(score_readings(open_batch_model(model), readings, Fit()))
    return [np.array([s.log_posterior for s in engine]) for engine in (one, many)]


@pytest.mark.parametrize("alpha", [1e-3, 0.1, 1.0, 7.5])
@pytest.mark.parametrize("n_classes", [2, 5])
def test_sum_is_multinomial(n_classes: int, alpha: float, tmp_path: Path) -> None:
    training, classes, testing = drawn(n_classes, seed=n_classes)
    how = Scoring(score="sum", smoothing=alpha)

    model = trained(tmp_path, training, classes, how)
    theirs = multinomial(alpha).fit(training, classes)

    for ours in by_each_engine(model, testing):
        np.testing.assert_allclose(
            ours, theirs.predict_log_proba(testing), rtol=RTOL, atol=ATOL
        )


@pytest.mark.parametrize("alpha", [1e-3, 0.1, 1.0])
@pytest.mark.parametrize("n_classes", [2, 5])
def test_sum_of_terms_once_is_multinomial_on_presence(
    n_classes: int, alpha: float, tmp_path: Path
) -> None:
    training, classes, testing = drawn(n_classes, seed=10 + n_classes)
    how = Scoring(score="sum", smoothing=alpha, counting="once")

    model = trained(tmp_path, training, classes, how)
    theirs = multinomial(alpha).fit(training > 0, classes)

    for ours in by_each_engine(model, testing):
        np.testing.assert_allclose(
            ours, theirs.predict_log_proba(testing > 0), rtol=RTOL, atol=ATOL
        )


DAMPED: dict[str, Callable[[Counts], NDArray[np.float64]]] = {
    "log": lambda counts: np.rint(2048 * np.log1p(counts)) / 2048,
    "min:2": lambda counts: np.minimum(counts, 2.0),
    "min:9": lambda counts: np.minimum(counts, 9.0),
}
"""What scikit-learn is given in place of counts; logarithms are rounded to 1/2048."""


@pytest.mark.parametrize("counting", DAMPED)
@pytest.mark.parametrize("alpha", [1e-3, 1.0])
@pytest.mark.parametrize("n_classes", [2, 5])
def test_sum_of_damped_counts_is_multinomial_on_them(
    n_classes: int, alpha: float, counting: str, tmp_path: Path
) -> None:
    training, classes, testing = drawn(n_classes, seed=50 + n_classes)
    training[:, 2:5] *= 4  # some of them above 9
    how = Scoring(score="sum", smoothing=alpha, counting=counting)
    damped = DAMPED[counting]

    settings = counting_by(WORD_WEIGHTS, counting)
    model = trained(tmp_path, training, classes, how, settings)
    theirs = multinomial(alpha).fit(damped(training), classes)

    assert training.max() > 9
    for ours in by_each_engine(model, testing):
        np.testing.assert_allclose(
            ours, theirs.predict_log_proba(damped(testing)), rtol=RTOL, atol=ATOL
        )


def complement(
    training: Counts, classes: Counts, alpha: float, *, norm: bool = False
) -> Any:
    from sklearn.naive_bayes import ComplementNB

    return ComplementNB(alpha=alpha, norm=norm).fit(normalize(training), classes)


def most_moved(training: Counts, testing: Counts) -> NDArray[np.float64]:
    """
    Return how far rounding the weights can move each document's log posterior.

    A weight w of unit 1/65535 that is rounded down loses less than a unit, so a sum of
    weights loses less than the share 1/(65535 w) of the smallest among them, and its
    logarithm is moved by about as much; smoothing only lessens it. A score has a sum
    over terms and one over all terms, each times x; a posterior, two scores.
    """
    weights = normalize(training)
    share = 1 / (65535 * weights[weights > 0].min())
    moved: NDArray[np.float64] = 4 * normalize(testing).sum(axis=1) * -np.log1p(-share)
    return moved[:, None]


@pytest.mark.parametrize("alpha", [1e-3, 0.03, 1.0])
@pytest.mark.parametrize("n_classes", [2, 5])
def test_complement_is_complement_up_to_the_fixed_point(
    n_classes: int, alpha: float, tmp_path: Path
) -> None:
    training, classes, testing = drawn(n_classes, seed=20 + n_classes)
    how = Scoring(score="complement", smoothing=alpha)

    model = trained(tmp_path, training, classes, how)
    theirs = complement(training, classes, alpha).predict_log_proba(normalize(testing))

    allowed = most_moved(training, testing)
    assert allowed.max() < 5e-3
    for ours in by_each_engine(model, testing):
        assert (np.abs(ours - theirs) <= allowed).all()


def drawn_whole(n_classes: int) -> tuple[Counts, Counts, Counts]:
    """Draw counts whose weights are whole numbers of 1/65535."""
    # 65535 = 3 * 5 * 17 * 257, so lengths of 1, 3 and 5 divide it: of 1, 9 or 25 terms
    _, classes, testing = drawn(n_classes, seed=30 + n_classes)
    random = np.random.default_rng(n_classes)
    training = np.zeros((len(classes), N_TERMS), np.int64)
    for place, row in enumerate(training):
        row[place % N_TERMS] = 1
        if place >= N_TERMS:
            row[:] = 0
            row[random.choice(N_TERMS, random.choice([9, 25]), replace=False)] = 2
    return training, classes, testing


@pytest.mark.parametrize("alpha", [1e-3, 0.03, 1.0])
@pytest.mark.parametrize("n_classes", [2, 5])
def test_wcnb_is_complement_with_norm(
    n_classes: int, alpha: float, tmp_path: Path
) -> None:
    training, classes, testing = drawn_whole(n_classes)
    how = Scoring(score="wcnb", smoothing=alpha)

    model = trained(tmp_path, training, classes, how)
    theirs = complement(training, classes, alpha, norm=True)
    # a view's weights have a mean of 1 here, and a sum of 1 there
    joint = N_TERMS * theirs.predict_joint_log_proba(normalize(testing))

    bags = [(Tally(keys(WORDS, [("body", text(counts))])),) for counts in testing]
    one = np.array([event_model("wcnb").scores(model, [how], bag)[0] for bag in bags])
    np.testing.assert_allclose(one, joint, rtol=RTOL, atol=ATOL)
    expected = joint - np.logaddexp.reduce(joint, axis=1, keepdims=True)
    for ours in by_each_engine(model, testing):
        np.testing.assert_allclose(ours, expected, rtol=RTOL, atol=ATOL)


@pytest.mark.parametrize("alpha", [1e-3, 0.03, 1.0])
@pytest.mark.parametrize("n_classes", [2, 5])
def test_complement_is_exact_where_weights_are_whole(
    n_classes: int, alpha: float, tmp_path: Path
) -> None:
    training, classes, testing = drawn_whole(n_classes)
    how = Scoring(score="complement", smoothing=alpha)

    model = trained(tmp_path, training, classes, how)
    theirs = complement(training, classes, alpha).predict_log_proba(normalize(testing))

    for ours in by_each_engine(model, testing):
        np.testing.assert_allclose(ours, theirs, rtol=RTOL, atol=ATOL)
