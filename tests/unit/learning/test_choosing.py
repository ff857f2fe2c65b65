"""Text of two classes is scored by what its own documents say does better."""

import random
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from string import ascii_lowercase
from typing import Any

import pytest

from nbtext import load, train_on
from nbtext.document import Document
from nbtext.evaluation.cross_validation import cross_validate
from nbtext.learning import SettingsOverrides, train
from nbtext.learning.choosing import FEWEST, rival_scoring
from nbtext.learning.reading_once import LabelledSources
from nbtext.scoring.models.registry import default_scoring
from nbtext.settings.columns import UNWEIGHTED
from nbtext.settings.reading import default_settings
from tests.build import lettered

TEXT = default_settings("text", 2)
CLASSES = ("bad", "good")


def again(items: list[Document]) -> Callable[[], Iterable[Document]]:
    return partial(iter, items)


def texts(n: int, lean: float) -> list[Document]:
    """Draw texts of ten words, each of which leans to one of the classes."""
    choice = random.Random(n)  # noqa: S311  the same each time
    half = [[f"w{number}x" for number in range(side, 400, 2)] for side in (0, 1)]
    documents = []
    for place in range(n):
        class_ = place % 2
        words = [
            choice.choice(half[class_ if choice.random() < lean else 1 - class_])
            for _ in range(10)
        ]
        text = lettered(f"{place} {' '.join(words)}").encode()
        documents.append(Document(str(place), (text,), CLASSES[class_]))
    return documents


@pytest.mark.parametrize(
    ("document_format", "changes", "settings"),
    [
        ("mail", {}, default_settings("mail", 2)),
        ("text", {"score": "weighted"}, TEXT),
        ("text", {"counting": "once"}, TEXT),
        ("text", {}, TEXT.counting(UNWEIGHTED)),
    ],
    ids=["mail", "named", "once", "no weights"],
)
def test_there_is_no_rival_for_others(
    document_format: Any, changes: Any, settings: Any
) -> None:
    overrides = SettingsOverrides(**changes)
    scoring = overrides.scoring(default_scoring(document_format, 2))

    assert rival_scoring(scoring, settings, CLASSES, overrides) is None


def test_the_rival_has_a_smoothing_of_its_own() -> None:
    scoring = default_scoring("text", 2)

    for smoothing, expected in ((None, 0.03), (0.5, 0.5)):
        overrides = SettingsOverrides(smoothing=smoothing)
        rival = rival_scoring(scoring, TEXT, CLASSES, overrides)
        assert rival is not None
        assert (rival.score, rival.smoothing) == ("contrast", expected)


@pytest.mark.parametrize(
    ("n", "lean", "tried", "score"),
    [
        (600, 0.7, 2, "contrast"),
        (600, 0.98, 1, "weighted"),
        (FEWEST - 1, 0.7, 1, "weighted"),
    ],
    ids=["hard", "easy", "few"],
)
def test_training_chooses_and_so_does_cross_validation(
    n: int, lean: float, tried: int, score: str
) -> None:
    items = texts(n, lean)

    trained = train(again(items))
    found = cross_validate(LabelledSources(again(items), 1000), 3)

    assert trained.contents.scoring.score == score
    assert len(trained.losses) == tried
    assert found.scoring.score == score


def test_a_rival_that_loses_a_little_more_is_not_chosen() -> None:
    trained = train(again(texts(840, 0.63)))

    loss, of_rival = trained.losses["weighted"], trained.losses["contrast"]
    assert 1 < of_rival / loss < 1.05
    assert trained.contents.scoring.score == "weighted"


def test_who_names_a_score_gets_it() -> None:
    trained = train(
        again(texts(600, 0.7)), overrides=SettingsOverrides(score="weighted")
    )

    assert trained.contents.scoring.score == "weighted"


def test_byte_ngrams_may_weigh_more_than_words(tmp_path: Path) -> None:
    choice = random.Random(1)  # noqa: S311  the same each time
    parts = {"one": "lampen", "two": "heizung", "three": "fenster"}

    def letters(n: int) -> str:
        return "".join(choice.choices(ascii_lowercase, k=n))

    texts = [
        (class_, f"{letters(3)} {letters(4)}{part}{letters(3)} {letters(4)}")
        for _ in range(100)
        for class_, part in parts.items()
    ]
    train_on(texts, tmp_path / "m.nbt")

    assert load(tmp_path / "m.nbt").model.scoring.parameter("ngrams") == 2.0
