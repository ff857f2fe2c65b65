"""A model without one of its documents is the model that never counted it."""

from pathlib import Path

import pytest

from nbtext.counts import Fit
from nbtext.document import Document
from nbtext.scoring.explaining import explain
from nbtext.scoring.model import Model
from nbtext.scoring.models.registry import event_model, scoring_of
from nbtext.scoring.without import without
from nbtext.settings.columns import COLUMNS
from nbtext.settings.reading import Settings, default_settings
from nbtext.settings.scoring import SKIP, UNK, Scoring
from nbtext.tokens.bag import bag_of
from nbtext.tokens.reading import read
from tests.build import counted, model_of

TEXTS = [
    ("ham", "lunch on friday"),
    ("ham", "the minutes of the meeting"),
    ("spam", "cheap cheap pills"),
    ("spam", "cheap lunch, cash and pills"),
]


def models(
    folder: Path, settings: Settings, how: Scoring, place: int
) -> tuple[Model, Model]:
    """Return the model of all texts, and the one that never counted one of them."""
    rest = [text for number, text in enumerate(TEXTS) if number != place]
    whole = model_of(folder / "whole.nbt", counted(TEXTS, settings), how)
    return whole, model_of(folder / "rest.nbt", counted(rest, settings), how)


@pytest.mark.parametrize("score", ["mean", "weighted"])
@pytest.mark.parametrize("place", range(len(TEXTS)))
def test_what_is_said_is_what_the_smaller_model_says(
    score: str, place: int, tmp_path: Path
) -> None:
    settings = default_settings("text", 2)
    whole, smaller = models(tmp_path, settings, scoring_of(score), place)
    label, text = TEXTS[place]
    document = Document("1", (text.encode(),))
    reading = read(document, settings)

    left = without(whole, bag_of(reading, settings), whole.classes.index(label))
    found = explain(left, reading, Fit(), document=document)

    assert found == explain(smaller, reading, Fit(), document=document)


@pytest.mark.parametrize(
    ("score", "unknown"),
    [
        *(("bernoulli", SKIP), ("kary", SKIP), ("poisson", UNK), ("sum", UNK)),
        *(("sum", SKIP), ("complement", SKIP), ("wcnb", SKIP), ("contrast", SKIP)),
    ],
)
@pytest.mark.parametrize("place", range(len(TEXTS)))
def test_terms_that_no_other_document_has_go_with_it(
    score: str, unknown: str, place: int, tmp_path: Path
) -> None:
    event = event_model(score)
    settings = default_settings("text", 2).counting(COLUMNS)
    how = scoring_of(score)._replace(unknown=unknown)
    whole, smaller = models(tmp_path, settings, how, place)
    label, text = TEXTS[place]
    bag = bag_of(read(Document("1", (text.encode(),)), settings), settings)

    left = without(whole, bag, whole.classes.index(label))

    expected = event.joint_log_likelihood(smaller, bag)
    assert event.joint_log_likelihood(left, bag) == pytest.approx(expected, rel=1e-9)
