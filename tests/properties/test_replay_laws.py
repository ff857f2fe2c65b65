"""
A replay says what `classify` would have said after `learn` of the documents so far.

The other side of each comparison is the real thing: model files that are trained, or
taught one document at a time, and opened anew for every document.
"""

from pathlib import Path

import numpy as np
import pytest

from nbtext import SettingsOverrides, evaluate_replay, learn, load, train_on
from nbtext.document import Document
from nbtext.errors import TrainingError
from nbtext.evaluation import Evaluation
from nbtext.scoring import Classifier
from nbtext.scoring.models.registry import event_models

WORDS = {
    "ham": "meeting lunch report thanks agenda friday notes project the a we",
    "spam": "offer free click winner pills money now the a we",
    "news": "vote storm minister match goal bank the a we",
}


def texts(classes: list[str], n: int, seed: int = 5) -> list[tuple[str, str]]:
    """Labels and texts, in the order of the stream; no two are alike."""
    random = np.random.default_rng(seed)
    found = []
    for number in range(n):
        label = classes[int(random.integers(len(classes)))]
        other = classes[int(random.integers(len(classes)))]
        words = [
            *random.choice(WORDS[label].split(), 6),
            *random.choice(WORDS[other].split(), 3),
            f"word{number}",
        ]
        found.append((label, " ".join(words)))
    return found


def as_mail(text: str) -> str:
    """A text as a message."""
    fields = "Received: from a.example\nMessage-ID: <1@a.example>\nMIME-Version: 1.0\n"
    return f"{fields}From: a@example.org\nSubject: {text[:20]}\n\n{text}\n"


def written(folder: Path, stream: list[tuple[str, str]]) -> list[str]:
    """Files, whose names are in order; their sources."""
    for number, (label, text) in enumerate(stream):
        (folder / label).mkdir(exist_ok=True)
        (folder / label / f"{number}.txt").write_text(text)
    return sorted({f"{folder / label}" for label, _ in stream})


def log_posterior(model: Classifier, text: str) -> dict[str, float]:
    """What `classify` says of each class."""
    (decision,) = model.classify([Document("x", (text.encode(),))])
    return dict(zip(decision.classes, decision.printed, strict=True))


def told(result: Evaluation, step: int) -> dict[str, float]:
    """What a replay has said of each class that it knew."""
    assert result.rows is not None
    row = result.rows.printed[step].tolist()
    return {
        name: value
        for name, value in zip(result.classes, row, strict=True)
        if value > -600
    }


@pytest.mark.parametrize("is_mail", [False, True], ids=["text", "mail"])
def test_it_is_what_classify_says_after_learn(tmp_path: Path, is_mail: bool) -> None:
    """From nothing: the model begins with its first document."""
    stream = texts(["ham", "spam"], 25)
    stream = [(label, as_mail(text) if is_mail else text) for label, text in stream]
    result = evaluate_replay(written(tmp_path, stream))

    path = tmp_path / "m.nbt"
    n_compared = 0
    for step, (label, text) in enumerate(stream):
        if len({one for one, _ in stream[:step]}) == 2:
            assert told(result, step) == pytest.approx(
                log_posterior(load(path), text), abs=1e-9
            )
            n_compared += 1
        learn(path, label, [text], create=True)
    assert load(path).model.settings.format == ("mail" if is_mail else "text")
    assert n_compared >= 20


LEARNING = [one.name for one in event_models() if one.name not in ("tfidf", "wcnb")]
"""The event models by which documents can be learnt one after the other."""


@pytest.mark.parametrize("score", LEARNING)
def test_so_it_is_from_a_model_by_every_score(tmp_path: Path, score: str) -> None:
    stream = texts(["ham", "spam"], 30)
    path = tmp_path / "m.nbt"
    overrides = SettingsOverrides(score=score)
    train_on(stream[:14], path, overrides=overrides)
    sources = written(tmp_path, stream[14:])
    result = evaluate_replay(sources, model=load(path))

    for step, (label, text) in enumerate(stream[14:]):
        assert told(result, step) == pytest.approx(
            log_posterior(load(path), text), abs=1e-9
        ), step
        learn(path, label, [text])


@pytest.mark.parametrize("classes", [["ham", "spam"], ["ham", "news", "spam"]])
@pytest.mark.parametrize("score", ["sum", "bernoulli"])
def test_a_textbook_model_is_that_of_training(
    tmp_path: Path, score: str, classes: list[str]
) -> None:
    """Its probabilities are of counts alone, so training on the first k is the same."""
    stream = texts(classes, 30)
    overrides = SettingsOverrides(score=score)
    result = evaluate_replay(written(tmp_path, stream), overrides=overrides)

    path = tmp_path / "m.nbt"
    for step in range(1, len(stream)):
        try:
            train_on(stream[:step], path, overrides=overrides, replace=True)
        except TrainingError:
            continue
        wanted = log_posterior(load(path), stream[step][1])
        assert told(result, step) == pytest.approx(wanted, abs=1e-9), step
