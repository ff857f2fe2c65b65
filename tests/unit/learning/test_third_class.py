"""A third class is learnt into a model of two where its views allow it."""

from pathlib import Path

import pytest

import nbtext
from nbtext import cli
from nbtext.errors import TrainingError
from nbtext.learning import SettingsOverrides
from nbtext.learning.scored_afterwards import LEAST
from nbtext.scoring import event_model, fitted, load_model
from nbtext.scoring.held_out import held_out
from nbtext.scoring.models.registry import default_scoring
from nbtext.scoring.stored import FEW
from nbtext.store.file import open_model

TWO = [("ham", f"lunch in the garden {n}") for n in range(6)]
TWO += [("spam", f"cheap pills for money {n}") for n in range(6)]
THIRD = [f"the judge heard the court on {n}" for n in range(FEW + 8)]

CONTRAST = event_model("contrast")


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


@pytest.mark.parametrize("n_documents", [1, LEAST - 1, LEAST])
def test_the_first_of_it_say_nothing_of_the_scores_of_others(
    path: str, n_documents: int
) -> None:
    nbtext.learn(path, "law", THIRD[:n_documents])

    model = load_model(path)

    found = held_out(model).documents
    few = n_documents < LEAST
    assert found == ({} if few else {"law": n_documents})
    if few:  # as expected of such scores, and by the parameters of none
        assert model.scoring == default_scoring(model.settings.format, 3)
        assert fitted(model).slope == CONTRAST.prior(3).slope


def test_who_teaches_it_is_told_what_becomes_of_probabilities(
    path: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, label in (("one", "law"), ("two", "law"), ("three", "ham")):
        (tmp_path / name).write_text(f"{THIRD[0]} {name}")
        with pytest.raises(SystemExit):
            cli.main(["learn", "-m", path, label, str(tmp_path / name)])

    told = capsys.readouterr().err.splitlines()

    assert [line.partition(" ")[0] for line in told] == [
        "learnt",
        "note:",
        *["learnt"] * 2,
    ]
    assert "3 classes" in told[1]


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


@pytest.mark.parametrize("n_documents", [3, FEW + 8], ids=["one by one", "in bulk"])
@pytest.mark.parametrize("is_moved", [False, True])
def test_without_it_the_model_scores_as_it_did_before(
    path: str, n_documents: int, is_moved: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    before = load_model(path)
    nbtext.learn(path, "law", THIRD[:n_documents])

    if is_moved:
        nbtext.learn(path, "ham", THIRD[:n_documents])
    else:
        folder = Path(path).with_name("third")
        folder.mkdir()
        for number, text in enumerate(THIRD[:n_documents]):
            (folder / str(number)).write_text(text)
        with pytest.raises(SystemExit):
            cli.main(["forget", "-m", path, str(folder)])
        assert "2 classes the model scores by weighted again" in capsys.readouterr().err

    after = load_model(path)
    assert after.scoring == before.scoring
    assert held_out(after) == held_out(before)
    assert fitted(after).slope == fitted(before).slope
    assert after.notes == ()


def test_two_other_classes_are_scored_as_those_of_more_were(path: str) -> None:
    nbtext.learn(path, "law", THIRD)

    nbtext.forget(path, [text for label, text in TWO if label == "ham"])

    assert load_model(path).classes == ("law", "spam")
    assert load_model(path).scoring.score == "contrast"


def test_it_is_refused_where_weights_were_not_counted(tmp_path: Path) -> None:
    path = str(tmp_path / "model.nbt")
    mail = "From: {0}@x.example\nMessage-ID: <{0}@x>\nMIME-Version: 1.0\n"
    mail += "Date: Mon, 1 Jan 2024 10:00:00 +0000\n\n{0}\n"
    pairs = [(label, mail.format(label)) for label in ("ham", "spam")]
    nbtext.train_on(pairs, path)
    before = Path(path).read_bytes()

    with pytest.raises(
        TrainingError, match=r"run `nbtext\.train\(sources=\['ham=.*', 'law="
    ):
        nbtext.learn(path, "law", [mail.format("law")])

    assert Path(path).read_bytes() == before


def test_a_score_of_any_number_of_classes_stays(tmp_path: Path) -> None:
    path = str(tmp_path / "model.nbt")
    nbtext.train_on(TWO, path, overrides=SettingsOverrides(score="sum"))

    nbtext.learn(path, "law", THIRD)

    assert open_model(path).scoring.score == "sum"
