"""`nbtext info`: what it says of a model."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import nbtext
from tests.build import confusing

if TYPE_CHECKING:
    from tests.cli.conftest import Run


def test_info_says_what_a_model_knows(run: "Run", model: Path) -> None:
    status, out, err = run("info", "-m", model)

    assert (status, err) == (0, "")
    said = [line.split("\t") for line in out.splitlines()]
    assert [row[0] for row in said] == [
        "model", "size", "trained", "taught", "to compact", "to undo", "written",
        "documents", "terms", "texts", "reads", "score", "calibration", "at most",
        "policy", "tokenizer", "class", "class",
    ]  # fmt: skip
    assert said[0] == ["model", str(model)]
    assert said[1][1].endswith(" kB in 1 table")
    assert said[3:6] == [
        ["taught", "0 documents since"],
        ["to compact", "0 tables, 0 bytes"],
        ["to undo", "0 documents of the last command; 0 undo records"],
    ]
    assert said[7] == ["documents", "16 of mail"]
    assert said[10] == ["reads", "headers, raw, body"]
    assert said[12:14] == [
        [
            "calibration",
            "16 held-out documents: ham 8, spam 8; so few that what is usual counts, "
            "too",
        ],
        ["at most", "ham 0.9, spam 0.9, by the documents of other classes"],
    ]
    assert said[11] == ["score", "mean, smoothing 0.01, counting every occurrence"]
    assert [row[1:3] for row in said[-2:]] == [["ham", "8"], ["spam", "8"]]


def test_info_tells_a_program(run: "Run", model: Path) -> None:
    status, out, err = run("info", "--json", "-m", model)

    assert (status, err) == (0, "")
    said = json.loads(out)
    assert {"classes", "terms", "tables", "bytes", "settings", "path"} <= set(said)
    assert set(said["classes"]) == {"ham", "spam"}
    for counts in said["classes"].values():
        assert counts["documents"] == 8
        assert counts["tokens"] > 0
    assert said["path"] == str(model)
    assert said["bytes"] == model.stat().st_size
    assert said["tables"] == 1
    assert said["terms"] > 50
    assert said["settings"]["format"] == "mail"
    assert [view["name"] for view in said["settings"]["views"]] == [
        "headers", "raw", "body",
    ]  # fmt: skip
    assert said["scoring"]["score"] == "mean"


def test_info_says_that_unknown_words_count(run: "Run", tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text("label,text\na,one two\nb,two three\n")
    model = tmp_path / "m.nbt"
    how = ("--score", "sum", "--unknown", "unk")
    assert run("train", "-m", model, *how, rows)[0] == 0

    _, out, _ = run("info", "-m", model)

    assert "counting every occurrence, unknown words as one term" in out


def test_info_tells_two_classes_from_more(run: "Run") -> None:
    for label in "abc":
        Path(label).write_text(f"{label}{label} words")
    two = ("train", "-q", "-m", "2.nbt", "a=a", "b=b")
    three = ("train", "-q", "-m", "3.nbt", "a=a", "b=b", "c=c")
    assert run(*two) == run(*three) == (0, "", "")

    assert "\nscore\tweighted, " in run("info", "-m", "2.nbt").out
    assert "\nscore\tcontrast, " in run("info", "-m", "3.nbt").out


def test_info_escapes_the_names_of_classes(run: "Run") -> None:
    for label in ("a\tb", "c\nd"):
        Path(label).mkdir()
        Path(label, "1").write_text(f"words of {label[0]}")
    assert run("train", "-q", "-m", "m.nbt", "a\tb", "c\nd") == (0, "", "")

    status, out, err = run("info", "-m", "m.nbt")
    known = json.loads(run("info", "--json", "-m", "m.nbt").out)

    assert (status, err) == (0, "")
    names = [line.split("\t")[1] for line in out.splitlines()[-2:]]
    assert names == [r"a\tb", r"c\nd"]
    assert list(known["classes"]) == ["a\tb", "c\nd"]


def test_info_says_that_there_is_no_model(run: "Run") -> None:
    status, out, err = run("info", "-m", "nowhere.nbt")

    assert (status, out) == (66, "")
    assert err.startswith("Error: nowhere.nbt: no model there; ")


@pytest.mark.parametrize("contents", [b"", b"hello", b"\x80" * 4096])
def test_info_refuses_a_file_that_is_not_a_model(run: "Run", contents: bytes) -> None:
    Path("m.nbt").write_bytes(contents)

    status, out, err = run("info", "-m", "m.nbt")

    assert (status, out) == (65, "")
    assert err.startswith("Error: m.nbt: ")


def test_info_refuses_a_damaged_model(run: "Run", model: Path) -> None:
    data = bytearray(model.read_bytes())
    data[40] ^= 0xFF
    model.write_bytes(data)

    status, out, err = run("info", "-m", model)

    assert (status, out) == (65, "")
    assert err.startswith(f"Error: {model}: ")


def test_info_refuses_a_folder(run: "Run", corpus: Path) -> None:
    status, out, err = run("info", "-m", corpus)

    assert (status, out) == (74, "")
    assert err.startswith(f"Error: {corpus}: ")


def test_info_takes_no_sources(run: "Run", model: Path) -> None:
    status, out, err = run("info", "-m", model, "spam")

    assert (status, out) == (64, "")
    assert "'spam' is a second model" in err


def test_info_tells_what_was_taught_since(run: "Run", model: Path) -> None:
    mail = sorted(Path("spam").iterdir())[0]
    assert run("learn", "-q", "-m", model, "ham", mail).status == 0
    assert run("forget", "-q", "-m", model, mail).status == 0

    said = json.loads(run("info", "--json", "-m", model).out)

    assert (said["taught"], said["tables"], said["tail"]["tables"]) == (2, 3, 2)
    assert 0 < said["tail"]["bytes"] < said["bytes"]
    assert said["classes"]["ham"]["learnt"] >= said["trained"]
    assert said["classes"]["spam"]["learnt"] is None


def test_info_says_in_words_what_probabilities_rest_on(run: "Run") -> None:
    rows = [{"label": "ab"[n % 2], "text": f"word{n % 7} more {n}"} for n in range(120)]
    Path("rows.jsonl").write_text("".join(map(json.dumps, rows)).replace("}{", "}\n{"))
    for score in ("mean", "sum"):
        trained = run("train", "-q", "-m", score, "--score", score, "rows.jsonl")
        assert trained == (0, "", "")

    mean, textbook = (run("info", "-m", score).out for score in ("mean", "sum"))

    assert "\ncalibration\t120 held-out documents: a 60, b 60\n" in mean
    assert "\nat most\ta 0.9839, b 0.9839, by the documents of other" in mean
    assert "\ncalibration\tnone: the textbook's own probabilities, not capped\n" in (
        textbook
    )
    found = json.loads(run("info", "-m", "mean", "--json").out)["calibration"]
    assert found["by_class"] == {"a": 60, "b": 60}
    assert found["caps"] == pytest.approx({"a": 61 / 62, "b": 61 / 62})


@pytest.mark.parametrize(
    ("n", "said"),
    [
        (120, "121 held-out documents: 1 to 60 of each class"),
        (20, "21 held-out documents: 1 to 10 of each class; so few that what is usual"),
    ],
)
def test_of_many_classes_one_that_is_rare_does_not_make_held_out_documents_few(
    run: "Run", n: int, said: str
) -> None:
    rows = [f"{'ab'[place % 2]}\tword{place % 7} more {place}\n" for place in range(n)]
    Path("rows.tsv").write_text("".join([*rows, "c\tanother\n"]))
    trained = run("train", "-q", "-m", "m.nbt", "--score", "complement", "rows.tsv")
    assert trained == (0, "", "")

    assert f"\ncalibration\t{said}" in run("info", "-m", "m.nbt").out


def test_what_a_correction_rests_on_and_what_was_learnt_since(
    run: "Run", tmp_path: Path
) -> None:
    path = str(tmp_path / "model.nbt")
    nbtext.train_on(confusing(), path)
    nbtext.learn(path, "west", ["topicd commonb echoa", "topicd commonc choirb"])

    printed = run("info", "-m", path)
    said = json.loads(run("info", "-m", path, "--json").out)
    facts, calibration = said["correction"], said["calibration"]

    assert (facts["documents"], facts["held_out"], facts["parts"]) == (240, 240, 4)
    assert (facts["share"], facts["doubt"]) == (0.5, 0.5)
    (line,) = [row for row in printed.out.splitlines() if row.startswith("correction")]
    assert line == (
        "correction\tlearnt from 240 documents, beside 0.5 of what the counts say, "
        "labels doubted where others are likelier; "
        "log-loss of 240 held out "
        f"{facts['loss_without']:.3f} without it, {facts['loss_with']:.3f} with it; "
        "2 documents learnt or forgotten since"
    )
    # how many it was learnt from is told with it, and not where classes are counted
    assert calibration["documents"] == sum(calibration["by_class"].values()) > 0
    assert f"{calibration['documents']} held-out documents" in printed.out


@pytest.mark.parametrize("score", ["sum", "mean"])
@pytest.mark.usefixtures("corpus")
def test_a_model_that_has_forgotten_all_is_told(run: "Run", score: str) -> None:
    run("train", "-q", "-m", "m.nbt", "--score", score, "spam", "ham")
    run("forget", "-q", "-m", "m.nbt", "spam", "ham")

    info, policy = run("info", "-m", "m.nbt"), run("policy", "-m", "m.nbt")

    assert (info.status, policy.status) == (0, 0)
    assert "documents\t0 of mail" in info.out
    assert policy.out == "policy\tdecides for the most probable class\n"


def test_a_correction_that_a_third_class_has_left_behind_is_none(
    run: "Run", tmp_path: Path
) -> None:
    path = tmp_path / "two.nbt"
    rows = [row for row in confusing(500) if row[0] in ("east", "west")]
    overrides = nbtext.SettingsOverrides(score="weighted")
    nbtext.train_on(rows, path, overrides=overrides)
    assert "\ncorrection\t" in run("info", "-m", path).out

    nbtext.learn(path, "news", ["it came today"], create=True)

    assert "\ncorrection\t" not in run("info", "-m", path).out
