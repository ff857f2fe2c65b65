"""`nbtext learn --regime` and `nbtext train --regime`: what is told of them."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.properties.test_replay_laws import texts, written


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Two folders, ham and spam, of texts."""
    monkeypatch.chdir(tmp_path)
    written(tmp_path, texts(["ham", "spam"], 80))
    return ["spam", "ham"]


def test_train_says_how_many_it_left_out(run: Run, folders: list[str]) -> None:
    status, out, err = run("train", "-m", "m.nbt", "--regime", "errors", *folders)

    assert (status, out) == (0, "")
    classes = json.loads(run("info", "-m", "m.nbt", "--json").out)["classes"]
    learnt = sum(facts["documents"] for facts in classes.values())
    line = f"learnt {learnt} documents, left out {80 - learnt} that the model judges"
    assert line in err
    assert run("check", "-m", "m.nbt").status == 0


def test_learn_says_how_many_it_left_out(run: Run, folders: list[str]) -> None:
    run("train", "-m", "m.nbt", *folders)
    Path("more").mkdir()
    Path("more/1").write_text("offer free click winner pills money now")
    Path("more/2").write_text("meeting lunch report thanks agenda")

    status, out, err = run(
        "learn", "-m", "m.nbt", "--regime", "errors", "--verbose", "spam", "more"
    )

    assert (status, out) == (0, "")
    assert "more/1: left out; the model finds spam" in err
    assert "more/2: learnt as spam" in err
    assert err.splitlines()[-1] == (
        "learnt 1 document as spam, left out 1 document that it finds to be spam"
    )
    run("forget", "-q", "-m", "m.nbt", "more/2")
    told = run("learn", "-m", "m.nbt", "--regime", "errors", "--json", "spam", "more")
    facts = json.loads(told.out)
    assert (facts["learnt"], facts["left_out"]) == (1, 1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--regime", "some"], "'some' is not one of"),
        (["--regime", "errors", "--margin", "2"], "--margin is of near errors"),
        (["--margin", "-1", "--regime", "near-errors"], "is not in the range"),
        (["--regime", "errors", "--jobs", "2"], "leave out --jobs"),
        (["--regime", "errors", "--score", "tfidf"], "the tfidf score"),
    ],
)
def test_what_does_not_go_together_is_refused(
    run: Run, folders: list[str], options: list[str], message: str
) -> None:
    status, out, err = run("train", "-m", "m.nbt", *options, *folders)

    assert (status, out) == (64, "")
    assert message in " ".join(err.split())
    assert not Path("m.nbt").exists()
