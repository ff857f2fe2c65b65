"""`nbtext eval --replay`: documents in the order of time."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.properties.test_replay_laws import as_mail, texts, written


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Two folders, ham and spam, of forty texts whose names are in their order."""
    monkeypatch.chdir(tmp_path)
    written(tmp_path, texts(["ham", "spam"], 40))
    return ["spam", "ham"]


def parts(out: str) -> list[list[list[str]]]:
    """The tables of an output."""
    return [
        [line.split("\t") for line in part.splitlines()] for part in out.split("\n\n")
    ]


def test_it_prints_figures_what_was_learnt_and_a_curve(
    run: Run, sources: list[str]
) -> None:
    status, out, err = run("eval", "--replay", *sources)

    assert (status, err) == (0, "")
    figures, _, _, _, replay, curve = parts(out)
    names = [row[0] for row in figures]
    assert {"accuracy", "1-AUC %", "lam %", "missed at 0.1 % fpr"} <= {*names}
    assert [row for row in replay if row[0] != "before two classes were known"] == [
        ["order", "name"], ["feedback", "immediate"], ["regime", "everything"],
        ["learnt", "40"],
    ]  # fmt: skip
    assert curve[0] == ["documents", "learnt", "error", "error in between", "1-AUC %"]
    assert [row[0] for row in curve[1:]] == [f"{4 * n}" for n in range(1, 11)]
    last = dict(zip(curve[0], curve[-1], strict=True))
    printed = {row[0]: row[1] for row in figures}
    assert last["1-AUC %"] == printed["1-AUC %"]
    assert float(last["error"]) == pytest.approx(1 - float(printed["accuracy"]))


def test_a_model_is_named_in_front_as_well_as_behind(
    run: Run, sources: list[str]
) -> None:
    for label in sources:
        Path(f"{label}.txt").write_text(f"of {label} alone")
    run("train", "-q", "-m", "begun.nbt", "spam=spam.txt", "ham=ham.txt")

    behind = run("eval", "-m", "begun.nbt", "--replay", *sources)
    in_front = run("-m", "begun.nbt", "eval", "--replay", *sources)

    assert behind.status == 0
    assert in_front == behind
    assert run("eval", "--replay", *sources).out != behind.out


def test_errors_in_between_are_those_since_the_last_row(
    run: Run, sources: list[str]
) -> None:
    rows = parts(run("eval", "--replay", *sources).out)[-1][1:]

    wrong = sum(4 * float(row[3]) for row in rows)
    assert wrong == pytest.approx(40 * float(rows[-1][2]))


def test_of_three_classes_the_curve_has_macro_f1(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path, texts(["ham", "news", "spam"], 30))

    status, out, _ = run("eval", "--replay", "ham", "news", "spam")

    assert status == 0
    assert parts(out)[-1][0][-1] == "macro F1"


def test_json_and_reports_have_the_curve(
    run: Run, sources: list[str], tmp_path: Path
) -> None:
    reports = [f"r.{suffix}" for suffix in ("html", "md", "csv")]
    named = [part for name in reports for part in ("--report", name)]
    status, out, _ = run("eval", "--replay", "--json", *named, *sources)

    assert status == 0
    replay = json.loads(out)["replay"]
    assert replay["learnt"] == 40
    assert len(replay["curve"]) == 40
    page, markdown, table = ((tmp_path / name).read_text() for name in reports)
    assert "Running error" in page
    assert "Running 1-AUC" in page
    assert "## Figures along the stream" in markdown
    assert "\ncurve,40,learnt,40\n" in table


def test_it_begins_with_the_model_that_is_named(run: Run, sources: list[str]) -> None:
    Path("old").mkdir()
    for label in sources:
        for path in sorted(Path(label).iterdir())[:8]:
            folder = Path("old") / label
            folder.mkdir(exist_ok=True)
            path.rename(folder / path.name)
    run("train", "-m", "m.nbt", "old/spam", "old/ham")
    before = Path("m.nbt").read_bytes()

    _, out, err = run("eval", "--replay", "-m", "m.nbt", *sources)

    assert err == ""
    assert parts(out)[-2][0] == ["known before", "16"]
    assert Path("m.nbt").read_bytes() == before
    _, _, err = run("eval", "--replay", "-m", "m.nbt", *sources, "old/spam", "old/ham")
    assert "the model has counted 16 of 40 documents; they are left out" in err


def test_what_is_to_be_known_of_its_model_is_said(run: Run, sources: list[str]) -> None:
    for label in sources:
        Path(f"{label}.txt").write_text(f"of {label} alone")
    run("train", "-q", "-m", "m.nbt", "spam=spam.txt", "ham=ham.txt")
    run(
        "learn",
        "-q",
        "-m",
        "m.nbt",
        "spam",
        f"spam/{next(Path('spam').iterdir()).name}",
    )
    Path("m.nbt").write_bytes(Path("m.nbt").read_bytes()[:-20])
    options = ("-m", "m.nbt", "--class-prior", "uniform")

    _, _, err = run("eval", "--replay", *options, *sources)

    assert "WARNING: m.nbt: the table at byte" in err
    assert "note: --class-prior changes nothing" in err
    assert run("eval", *options, *sources).err == err


def test_an_index_gives_order_and_labels(run: Run, sources: list[str]) -> None:
    """As the TREC corpora have it: a label and a path a line."""
    Path("full").mkdir()
    paths = [path for label in sources for path in sorted(Path(label).iterdir())]
    lines = [f"{path.parent.name} ../{path}\n" for path in paths]
    Path("full/index").write_text("".join(lines))

    status, out, _ = run("eval", "--replay", "--order", "index", "full/index")

    # all spam comes first, so that no class is known but this
    n_spam = len([*Path("spam").iterdir()])
    assert status == 0
    assert ["before two classes were known", f"{n_spam + 1}"] in parts(out)[-2]


def test_mail_may_be_ordered_by_date(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    stream = texts(["ham", "spam"], 20)
    dated = [
        (label, f"Date: Mon, {28 - number} Jan 2002 10:00:00 +0000\n{as_mail(text)}")
        for number, (label, text) in enumerate(stream)
    ]
    written(tmp_path, [*dated, ("ham", as_mail("no date at all"))])

    backwards = json.loads(
        run("eval", "--replay", "--json", "--order", "date", "ham", "spam").out
    )
    _, _, err = run("eval", "--replay", "--order", "date", "ham", "spam")
    straight = json.loads(run("eval", "--replay", "--json", "ham", "spam").out)

    assert err == (
        "note: 1 of 21 documents have no date; they come last, in order of their "
        "names\n"
    )
    assert backwards["replay"]["learnt"] == straight["replay"]["learnt"] == 21
    assert backwards["log_loss"] != straight["log_loss"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--folds", "3"], "--folds does not go with --replay: each document is"),
        (["--seen"], "--seen does not go with --replay: what the model has counted"),
        (["--against", "x.nbt"], "as McNemar's test wants"),
        (["--errors"], "--errors does not go with --replay"),
        (["--jobs", "2"], "each document waits for the one before it"),
        (["--prior", "estimate"], "most are still to come"),
        (["-m", "a.nbt", "-m", "b.nbt"], "begins with one model"),
        (["--margin", "4"], "--margin is of near errors"),
        (["--feedback", "soon"], "expected immediate, delay:N or first:N"),
        (["--order", "size"], "'size' is not one of"),
    ],
)
def test_what_has_no_meaning_in_it_is_refused(
    run: Run, sources: list[str], options: list[str], message: str
) -> None:
    status, out, err = run("eval", "--replay", *options, *sources)

    assert out == ""
    assert message in " ".join(err.split())
    assert status in (64, 65, 78)


@pytest.mark.parametrize("option", ["order", "feedback", "regime", "margin"])
def test_its_options_are_about_a_replay(
    run: Run, sources: list[str], option: str
) -> None:
    values = {"order": "date", "feedback": "delay:2", "regime": "errors", "margin": "4"}
    status, _, err = run("eval", f"--{option}", values[option], *sources)

    assert status == 64
    assert f"--{option} is about a replay; add --replay." in err


def test_texts_have_no_dates(run: Run, sources: list[str]) -> None:
    status, _, err = run("eval", "--replay", "--order", "date", *sources)

    assert status == 64
    assert "not one document has a date" in err


def test_the_prior_that_is_expected_is_told(run: Run, sources: list[str]) -> None:
    _, out, _ = run("eval", "--replay", "--json", "--prior", "spam=20%", *sources)

    assert json.loads(out)["prior"] == {"ham": 0.8, "spam": 0.2}


def test_an_option_that_changes_nothing_is_said(run: Run, sources: list[str]) -> None:
    options = ("--replay", "--score", "mean", "--class-prior", "uniform", *sources)

    assert "note: --class-prior changes nothing: the mean" in run("eval", *options).err
    assert run("eval", "-q", *options).err == ""


def test_it_decides_by_a_policy(run: Run, sources: list[str]) -> None:
    """A document that is unsure is no right decision, and costs what unsure does."""
    prices = ("--cost", "ham:spam=9", "--cost", "spam:unsure=0.1")

    status, out, err = run("eval", "--replay", "--json", *prices, *sources)

    assert (status, err) == (0, "")
    found = json.loads(out)
    assert found["unsure"] > 5
    assert found["mean_cost"] is not None
