"""
Unknown words as one term, against scikit-learn with one more feature.

`--unknown unk` is the multinomial over V + 1 terms, the last of which has in each class
as many occurrences as there are terms that occur once in all of training, in a document
of the class; in a document it occurs as often as all terms together that are unknown.
"""

from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nbtext.document import Document
from nbtext.errors import SettingsError
from nbtext.learning import LearnRequest
from nbtext.scoring.model import load_model
from nbtext.scoring.models.evidence import UNKNOWN
from nbtext.scoring.models.registry import (
    changed,
    check_scoring,
    event_model,
    scoring_of,
)
from nbtext.settings.scoring import UNK, Scoring
from tests.build import learnt
from tests.differential.test_absent_terms import (
    READING,
    by_each_engine,
    check_close,
    drawn,
    trained,
)
from tests.differential.test_against_sklearn import Counts, text

SINGLE = 8
"""So many terms more are drawn into one document each."""


def with_singletons(seed: int, n_classes: int) -> tuple[Counts, Counts, Counts]:
    """Draw counts; the last terms are in one document, some of them once."""
    training, classes, testing = drawn(n_classes, seed)
    random = np.random.default_rng(seed)
    more = np.zeros((len(training), SINGLE), np.int64)
    rows = random.choice(len(training), SINGLE)
    more[rows, np.arange(SINGLE)] = random.choice([1, 1, 2], SINGLE)
    few = np.zeros((len(testing), SINGLE), np.int64)
    return np.hstack([training, more]), classes, np.hstack([testing, few])


def unknown_words(n: int) -> str:
    """Return n occurrences of words that no model knows, some of them of one word."""
    return " ".join(f"new{place // 2}" for place in range(n))


@pytest.mark.parametrize("counting", ["occurrences", "once", "min:2", "log"])
@pytest.mark.parametrize("alpha", [0.01, 1.0])
@pytest.mark.parametrize("n_classes", [2, 5])
def test_unk_is_one_more_feature(
    n_classes: int, alpha: float, counting: str, tmp_path: Path
) -> None:
    from sklearn.naive_bayes import MultinomialNB

    training, classes, testing = with_singletons(40 + n_classes, n_classes)
    how = changed(scoring_of("sum"), smoothing=alpha, counting=counting, unknown=UNK)
    model = trained(tmp_path, training, classes, how)
    n_unknown = np.arange(len(testing)) % 5
    texts = [
        f"{text(row)} {unknown_words(n)}"
        for row, n in zip(testing, n_unknown.tolist(), strict=True)
    ]

    def damped(counts: Any) -> Any:
        return {
            "occurrences": counts,
            "once": np.minimum(counts, 1),
            "min:2": np.minimum(counts, 2),
            "log": np.rint(2048 * np.log1p(counts)) / 2048,
        }[counting]

    is_single = training.sum(axis=0) == 1
    assert 0 < is_single.sum() < len(training)
    seen_once = (damped(training) * is_single).sum(axis=1)
    # each new word occurs twice, and the last one once where n is odd
    new = damped(np.full(1, 2))[0] * (n_unknown // 2) + damped(np.ones(1))[0] * (
        n_unknown % 2
    )
    theirs: Any = MultinomialNB(alpha=alpha)
    theirs.fit(np.column_stack([damped(training), seen_once]), classes)

    expected = theirs.predict_joint_log_proba(np.column_stack([damped(testing), new]))
    assert model.file.histograms is not None
    for ours in by_each_engine(model, texts):
        check_close(ours, expected)


def test_unk_has_a_rate_in_poisson(tmp_path: Path) -> None:
    training, classes, _ = with_singletons(50, 2)
    skip = scoring_of("poisson")
    single = training[:, training.sum(axis=0) == 1].sum(axis=1)
    how = skip._replace(unknown=UNK)
    model = trained(tmp_path, training, classes, how)
    words = "t1 t2 t2"

    for engine in (0, 1):
        without = by_each_engine(model._replace(scoring=skip), [words])[engine]
        found = by_each_engine(model, [words, f"{words} {unknown_words(3)}"])[engine]
        rates = [
            (single[classes == class_].sum() + 0.01) / ((classes == class_).sum() + 1)
            for class_ in (0, 1)
        ]
        check_close(found[0], without[0] - rates)
        check_close(found[1], found[0] + 3 * np.log(rates))


def test_learning_makes_singletons_and_unmakes_them(tmp_path: Path) -> None:
    how = changed(scoring_of("sum"), unknown=UNK)
    training, classes = np.array([[2, 1, 0], [1, 0, 1]]), np.array([0, 1])
    path = trained(tmp_path, training, classes, how).path

    def singletons() -> list[int]:
        return [one.singletons for one in load_model(path).histograms(0)]

    def taught(label: str | None, words: str) -> None:
        documents = [Document(words, (words.encode(),))]
        (found,) = learnt(LearnRequest(path, label), documents)
        assert found.outcome != "refused"

    assert singletons() == [1, 1]
    taught("class 0", "t2 fresh")
    assert singletons() == [2, 0]
    taught(None, "t2 fresh")
    assert singletons() == [1, 1]


def test_a_document_of_unknown_words_alone_is_scored_by_them(tmp_path: Path) -> None:
    """Class 1 has two words seen once, class 0 has none: what is new is of class 1."""
    how = changed(scoring_of("sum"), unknown=UNK)
    training, classes = np.array([[4, 0, 0], [2, 1, 1]]), np.array([0, 1])
    model = trained(tmp_path, training, classes, how)

    for ours in by_each_engine(model, ["unheard of"]):
        # V = 3 and unk: 2 tokens, each (0 + 1) / (4 + 0 + 4) and (2 + 1) / (4 + 2 + 4)
        check_close(ours, [[log(0.5) + 2 * log(1 / 8), log(0.5) + 2 * log(3 / 10)]])
    parts = event_model("sum").evidence(model, ({1: 2},))
    assert [part.source for part in parts] == ["prior", "body", UNKNOWN]


def test_a_score_that_leaves_unknown_words_out_refuses_to_count_them() -> None:
    for name in ("mean", "bernoulli", "contrast"):
        scoring = changed(scoring_of(name), unknown=UNK)
        with pytest.raises(SettingsError, match="leaves unknown words out") as caught:
            check_scoring(scoring, READING, ("a", "b"))
        assert "use score sum or poisson" in str(caught.value)


def test_another_score_forgets_about_unknown_words() -> None:
    scoring = changed(scoring_of("sum"), unknown=UNK)

    assert changed(scoring, "poisson").unknown == UNK
    assert changed(scoring, "mean") == scoring_of("mean")
    assert Scoring.from_dict(scoring.as_dict()) == scoring
    assert "unknown" not in scoring_of("sum").as_dict()
    with pytest.raises(SettingsError, match="expected skip or unk"):
        changed(scoring, unknown="guess")
