"""A model without one of its documents is the model that never counted it."""

from pathlib import Path

import pytest

from nbtext.counts import Fit
from nbtext.document import Document
from nbtext.scoring.explaining import explain
from nbtext.scoring.model import load_model
from nbtext.scoring.models.registry import event_model, scoring_of
from nbtext.scoring.without import without
from nbtext.settings.columns import COLUMNS
from nbtext.settings.reading import default_settings
from nbtext.settings.scoring import SKIP, UNK
from nbtext.tokens.bag import bag_of
from nbtext.tokens.reading import read
from tests.build import counted, packed

TEXTS = [
    ("ham", "lunch on friday"),
    ("ham", "the minutes of the meeting"),
    ("spam", "cheap cheap pills"),
    ("spam", "cheap lunch, cash and pills"),
]


@pytest.mark.parametrize("score", ["mean", "weighted"])
@pytest.mark.parametrize("place", range(len(TEXTS)))
def test_what_is_said_is_what_the_smaller_model_says(
    score: str, place: int, tmp_path: Path
) -> None:
    settings = default_settings("text", 2)
    how = scoring_of(score)
    rest = [text for number, text in enumerate(TEXTS) if number != place]
    for name, texts in (("whole", TEXTS), ("rest", rest)):
        (tmp_path / name).write_bytes(packed(counted(texts, settings), how))
    label, text = TEXTS[place]
    document = Document("1", (text.encode(),))
    reading = read(document, settings)
    whole = load_model(str(tmp_path / "whole"))

    left = without(whole, bag_of(reading, settings), whole.classes.index(label))
    found = explain(left, reading, Fit(), document=document)

    smaller = load_model(str(tmp_path / "rest"))
    assert found == explain(smaller, reading, Fit(), document=document)


@pytest.mark.parametrize(
    ("score", "unknown"),
    [("bernoulli", SKIP), ("kary", SKIP), ("poisson", UNK), ("sum", UNK)],
)
@pytest.mark.parametrize("place", range(len(TEXTS)))
def test_absent_and_unknown_terms_go_with_the_document(
    score: str, unknown: str, place: int, tmp_path: Path
) -> None:
    event = event_model(score)
    settings = default_settings("text", 2).counting(COLUMNS)
    how = scoring_of(score)._replace(unknown=unknown)
    rest = [text for number, text in enumerate(TEXTS) if number != place]
    for name, texts in (("whole", TEXTS), ("rest", rest)):
        (tmp_path / name).write_bytes(packed(counted(texts, settings), how))
    label, text = TEXTS[place]
    bag = bag_of(read(Document("1", (text.encode(),)), settings), settings)
    whole = load_model(str(tmp_path / "whole"))

    left = without(whole, bag, whole.classes.index(label))

    smaller = load_model(str(tmp_path / "rest"))
    expected = event.joint_log_likelihood(smaller, bag)
    assert event.joint_log_likelihood(left, bag) == pytest.approx(expected, rel=1e-9)
