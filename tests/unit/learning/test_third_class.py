"""A third class is learnt into a model of two where its views allow it."""

from pathlib import Path

import pytest

import nbtext
from nbtext.errors import TrainingError
from nbtext.learning import SettingsOverrides
from nbtext.scoring.stored import FEW
from nbtext.store.file import open_model

TWO = [("ham", f"lunch in the garden {n}") for n in range(6)]
TWO += [("spam", f"cheap pills for money {n}") for n in range(6)]
THIRD = [f"the judge heard the court on {n}" for n in range(FEW + 8)]


@pytest.fixture
def path(tmp_path: Path) -> str:
    path = str(tmp_path / "model.nbt")
    nbtext.train_on(TWO, path)
    return path


@pytest.mark.parametrize("n_documents", [3, FEW + 8], ids=["one by one", "in bulk"])
def test_a_third_class_is_learnt_into_a_model_of_two_of_text(
    path: str, n_documents: int
) -> None:
    assert open_model(path).scoring.score == "weighted"

    outcomes = nbtext.learn(path, "law", THIRD[:n_documents])

    assert {one.outcome for one in outcomes} == {"learnt"}
    model = nbtext.load(path)
    assert model.model.classes == ("ham", "law", "spam")
    assert model.model.scoring.score == "contrast"
    assert model.model.notes == ()
    for label, text in (("law", "the court"), ("ham", "garden"), ("spam", "pills")):
        assert nbtext.classify(model, text).label == label


def test_it_goes_on_learning_all_of_them(path: str) -> None:
    nbtext.learn(path, "law", THIRD[:3])
    nbtext.learn(path, "ham", ["a walk in the park"])
    nbtext.learn(path, "law", THIRD[3:])

    model = nbtext.load(path)

    assert nbtext.classify(model, "a walk").label == "ham"
    assert nbtext.classify(model, "judge").label == "law"


def test_it_can_be_forgotten_again(path: str) -> None:
    nbtext.learn(path, "law", THIRD)
    nbtext.forget(path, THIRD)

    model = nbtext.load(path)

    assert model.model.classes == ("ham", "spam")
    assert nbtext.classify(model, "garden").label == "ham"


def test_it_is_refused_where_weights_were_not_counted(tmp_path: Path) -> None:
    path = str(tmp_path / "model.nbt")
    mail = "From: {0}@x.example\nMessage-ID: <{0}@x>\nMIME-Version: 1.0\n"
    mail += "Date: Mon, 1 Jan 2024 10:00:00 +0000\n\n{0}\n"
    pairs = [(label, mail.format(label)) for label in ("ham", "spam")]
    nbtext.train_on(pairs, path)
    before = Path(path).read_bytes()

    with pytest.raises(TrainingError, match=r"run `nbtext train ham=.* law="):
        nbtext.learn(path, "law", [mail.format("law")])

    assert Path(path).read_bytes() == before


def test_a_score_of_any_number_of_classes_stays(tmp_path: Path) -> None:
    path = str(tmp_path / "model.nbt")
    nbtext.train_on(TWO, path, overrides=SettingsOverrides(score="sum"))

    nbtext.learn(path, "law", THIRD)

    assert open_model(path).scoring.score == "sum"
