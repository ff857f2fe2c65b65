"""
What each event model is worth on two small corpora: no more error than a tenth more.

The figures are those of the splits in `tests/corpus/splits.py`, measured once with the
defaults of each score; `python -m benchmarks.event_models` prints those of all corpora.
Scores that differ only in what they make of the same counts share one training.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from nbtext import Decision, SettingsOverrides, classify_all, load, train_on
from nbtext.scoring import event_models
from tests.corpus.splits import CORPORA, Split, of_table, sms_folds
from tests.corpus.test_accuracy import evaluation_of

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(not CORPORA.is_dir(), reason="../shared/corpora is absent"),
]

A_TENTH_MORE: Final = 1.1

SPLITS: Final[dict[str, Callable[[], Sequence[Split]]]] = {
    "sms": lambda: [*sms_folds()],
    "trec-questions": lambda: [of_table("trec-questions")],
}

TEXTBOOKS: Final = {
    "sum": SettingsOverrides(score="sum", counting="occurrences"),
    "sum --count once": SettingsOverrides(score="sum", counting="once"),
    "sum --count min:2": SettingsOverrides(score="sum", counting="min:2"),
    "sum --count min:4": SettingsOverrides(score="sum", counting="min:4"),
    "sum --unknown unk": SettingsOverrides(
        score="sum", counting="occurrences", unknown="unk"
    ),
    "bernoulli": SettingsOverrides(score="bernoulli", counting="occurrences"),
    "kary": SettingsOverrides(score="kary", counting="occurrences"),
    "poisson": SettingsOverrides(score="poisson", counting="occurrences"),
}
"""How the counts of one training are scored: `train --score sum --count min:4`."""


class Trainable(NamedTuple):
    """By which options documents are counted, and how they are scored then."""

    training: SettingsOverrides
    scores: dict[str, SettingsOverrides]


def alone(title: str, training: SettingsOverrides) -> Trainable:
    """Return a score that has a training of its own, which fits it, too."""
    return Trainable(training, {title: training})


TRAINED: Final = (
    Trainable(SettingsOverrides(score="sum", counting="min:4"), TEXTBOOKS),
    alone("sum --count log", SettingsOverrides(score="sum", counting="log")),
    *(
        alone(name, SettingsOverrides(score=name))
        for name in ("tfidf", "complement", "wcnb", "mean", "weighted", "contrast")
    ),
)

FIGURES: Final = {
    "sms": {
        "sum": (98.85, 0.185),
        "sum --count once": (98.83, 0.161),
        "sum --count min:2": (98.85, 0.176),
        "sum --count min:4": (98.85, 0.182),
        "sum --count log": (98.74, 0.141),
        "sum --unknown unk": (98.19, 0.322),
        "bernoulli": (99.03, 0.311),
        "kary": (99.01, 0.327),
        "poisson": (99.03, 0.318),
        "tfidf": (98.96, 0.0446),
        "complement": (98.58, 0.0445),
        "wcnb": (98.64, 0.0440),
        "mean": (98.62, 0.0464),
        "weighted": (98.89, 0.0348),
        "contrast": (98.98, 0.0364),
    },
    "trec-questions": {
        "sum": (82.0, 0.678),
        "sum --count once": (82.0, 0.66),
        "sum --count min:2": (82.0, 0.675),
        "sum --count min:4": (82.0, 0.678),
        "sum --count log": (80.8, 0.66),
        "sum --unknown unk": (78.2, 0.86),
        "bernoulli": (81.4, 1.46),
        "kary": (82.2, 1.45),
        "poisson": (81.4, 1.49),
        "tfidf": (79.4, 0.71),
        "complement": (84.2, 0.66),
        "wcnb": (83.8, 0.71),
        "contrast": (88.8, 0.290),
    },
}
"""By corpus and score: accuracy in percent, log-loss in nats a document."""


CASES: Final = [
    pytest.param(corpus, trained, id=f"{corpus}: {next(iter(trained.scores))}")
    for corpus, figures in FIGURES.items()
    for trained in TRAINED
    if trained.scores.keys() <= figures.keys()  # some score two classes alone
]


@pytest.mark.parametrize(("corpus", "trained"), CASES)
def test_no_event_model_has_a_tenth_more_error(
    corpus: str, trained: Trainable, tmp_path: Path
) -> None:
    splits = SPLITS[corpus]()
    for title, decisions in decided_by(trained, splits, tmp_path / "model.nbt"):
        result = evaluation_of(decisions)
        assert result.accuracy is not None
        assert result.log_loss is not None
        accuracy, loss = FIGURES[corpus][title]
        found = 100 * result.accuracy
        sys.stdout.write(f"{title}: {found:.2f} %, {result.log_loss:.4f} nats\n")

        assert 100 - found <= A_TENTH_MORE * (100 - accuracy), title
        assert result.log_loss <= A_TENTH_MORE * loss, title


def test_every_event_model_is_measured() -> None:
    titles = {title for trained in TRAINED for title in trained.scores}

    assert titles == FIGURES["sms"].keys()
    assert {title.partition(" ")[0] for title in titles} == {
        one.name for one in event_models()
    }


def decided_by(
    trained: Trainable, splits: Sequence[Split], path: Path
) -> Iterator[tuple[str, list[Decision]]]:
    """Yield each score of a training, and its decisions about all splits."""
    found: dict[str, list[Decision]] = {title: [] for title in trained.scores}
    for known, unseen in splits:
        pairs = [(one.label or "", one) for one in known]
        train_on(pairs, path, overrides=trained.training, replace=True)
        for title, overrides in trained.scores.items():
            found[title] += classify_all(load(path, overrides=overrides), unseen)
    yield from found.items()
