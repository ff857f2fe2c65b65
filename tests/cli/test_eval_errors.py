"""`nbtext eval --errors`: each misjudged document, and why."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.build import HAM, SPAM, mail

if TYPE_CHECKING:
    from tests.cli.conftest import Run


@pytest.fixture
def mislabelled(corpus: Path, model: Path) -> Path:
    """Folders of unseen mail, each with one message of the other class."""
    del model
    for label, words in (("spam", SPAM), ("ham", HAM)):
        folder = corpus / "new" / label
        folder.mkdir(parents=True)
        for number in range(20, 24):
            (folder / f"{number}.eml").write_bytes(mail(number, words))
    (corpus / "new/ham/evil\x9b31m.eml").write_bytes(mail(30, SPAM))
    (corpus / "new/spam/lunch.eml").write_bytes(mail(31, HAM))
    return corpus / "new"


def errors(run: "Run", *arguments: str) -> Any:
    status, out, _ = run("eval", "-m", "mail.nbt", "--json", "--errors", *arguments)
    assert status == 0
    return json.loads(out)["errors"]


@pytest.mark.usefixtures("mislabelled")
def test_each_misjudged_document_has_its_reasons(run: "Run") -> None:
    found = errors(run, "new/spam", "new/ham")

    pairs = [(Path(one["name"]).name[:4], one["truth"], one["label"]) for one in found]
    assert sorted(pairs) == [("evil", "ham", "spam"), ("lunc", "spam", "ham")]
    for one in found:
        assert len(one["reasons"]) == 3
    strengths = [one["probability"] for one in found]
    assert strengths == sorted(strengths, reverse=True)
    lunch = next(one for one in found if one["truth"] == "spam")
    explained = json.loads(
        run("why", "-m", "mail.nbt", "--json", "--top", 99, "new/spam/lunch.eml").out
    )
    assert explained["probability"] == pytest.approx(lunch["probability"], rel=1e-9)
    said = {
        (term["term"], term["view"]): term["contribution"]
        for row in explained["terms"]
        for term in row.get("joined", [row])
    }
    strongest = lunch["reasons"][0]
    if (strongest["text"], strongest["view"]) in said:  # which is not joined
        contribution = said[strongest["text"], strongest["view"]]
        assert strongest["contribution"] == pytest.approx(contribution)


@pytest.mark.usefixtures("mislabelled")
def test_they_are_the_same_in_several_processes(run: "Run") -> None:
    one = errors(run, "new/spam", "new/ham")
    two = errors(run, "--jobs", "2", "new/spam", "new/ham")

    assert one == two


@pytest.mark.usefixtures("mislabelled")
def test_as_lines_they_are_the_last_part(run: "Run") -> None:
    status, out, _ = run("eval", "-m", "mail.nbt", "--errors", "new/spam", "new/ham")

    lines = out.rstrip("\n").split("\n\n")[-1].splitlines()
    assert status == 0
    assert lines[0] == "truth\tdecision\tprobability\tdocument\treasons"
    rows = [line.split("\t") for line in lines[1:]]
    assert sorted(row[:2] for row in rows) == [["ham", "spam"], ["spam", "ham"]]
    assert all(len(row) == 7 for row in rows)
    assert all("".join(row).isprintable() for row in rows)


@pytest.mark.usefixtures("mislabelled")
def test_without_errors_the_list_is_empty_and_unasked_there_is_none(run: "Run") -> None:
    (Path("new/ham") / "evil\x9b31m.eml").unlink()
    (Path("new/spam") / "lunch.eml").unlink()

    assert errors(run, "new/spam", "new/ham") == []
    plain = json.loads(
        run("eval", "-m", "mail.nbt", "--json", "new/spam", "new/ham").out
    )
    assert "errors" not in plain


@pytest.fixture
def folded(corpus: Path) -> Path:
    """Folders of mail, one message of which is in the wrong one."""
    (corpus / "ham/evil\x9b31m.eml").write_bytes(mail(30, SPAM))
    return corpus


@pytest.mark.usefixtures("folded")
def test_of_folds_each_misjudged_document_has_the_reasons_of_its_model(
    run: "Run",
) -> None:
    status, out, _ = run("eval", "--folds", 3, "--errors", "--json", "spam", "ham")

    whole = json.loads(out)
    assert status == 0
    found = whole["errors"]
    assert len(found) == whole["documents"] - whole["correct"]
    evil = next(one for one in found if "evil" in one["name"])
    assert (evil["truth"], evil["label"]) == ("ham", "spam")
    assert len(evil["reasons"]) == 3
    assert all(one["contribution"] for one in evil["reasons"])
    # the model of its fold has it not counted for ham, as one of all documents has
    assert sum(one["contribution"] for one in evil["reasons"]) > 0
    surest = [one["probability"] for one in found if one["label"]]
    assert surest == sorted(surest, reverse=True)
    *_, table = run("eval", "--folds", 3, "--errors", "spam", "ham").out.split("\n\n")
    assert table.startswith("truth\tdecision\tprobability\tdocument\treasons\n")
    assert len(table.splitlines()) == 1 + len(found)
    assert table.replace("\t", "").replace("\n", "").isprintable()


@pytest.mark.usefixtures("folded")
def test_of_folds_they_are_the_same_in_several_processes(run: "Run") -> None:
    command = ("eval", "--folds", 3, "--errors", "--json", "spam", "ham")

    assert run(*command, "--jobs", 2).out == run(*command).out


@pytest.mark.usefixtures("folded")
def test_a_report_of_folds_has_errors_and_the_terms_of_all_documents(
    run: "Run",
) -> None:
    report = Path("report.md")
    status, out, _ = run("eval", "--folds", 3, "--report", report, "spam", "ham")

    assert status == 0
    assert "decision\tprobability" not in out
    text = report.read_text()
    assert "Worst errors" in text
    run("train", "-m", "all.nbt", "spam", "ham")
    top = run("top", "-m", "all.nbt", "--json", "--from", "spam", "spam").out
    terms = [json.loads(line) for line in top.splitlines()]
    assert terms[0]["documents"] > 1
    assert terms[0]["term"] in text


def test_classify_tells_what_a_row_says_of_itself(run: "Run", tmp_path: Path) -> None:
    rows = [f'{{"label": "a", "text": "{word}"}}' for word in HAM]
    rows += [f'{{"label": "b", "text": "{word}"}}' for word in SPAM]
    (tmp_path / "rows.jsonl").write_text("\n".join(rows))
    run("train", "-q", "-m", "rows.nbt", "rows.jsonl")
    (tmp_path / "new.jsonl").write_text(
        '{"id": 7, "label": "b", "text": "cash"}\n'
        '{"id": "x", "text": "lunch"}\n'
        '{"id": 8, "label": ["a", "b"], "text": "cash"}\n'
    )

    status, out, err = run(
        "classify", "-m", "rows.nbt", "--json", "--id-column", "id", "new.jsonl"
    )

    assert (status, err) == (0, "")
    found = [json.loads(line) for line in out.splitlines()]
    assert [(one["id"], one.get("truth")) for one in found] == [
        ("7", "b"), ("x", None), ("8", None),
    ]  # fmt: skip
    assert [one["label"] for one in found] == ["b", "a", "b"]
    lines = run("classify", "-m", "rows.nbt", "--id-column", "id", "new.jsonl").out
    assert [line.split("\t")[2:] for line in lines.splitlines()] == [
        ["new.jsonl:1", "7"], ["new.jsonl:2", "x"], ["new.jsonl:3", "8"],
    ]  # fmt: skip


def test_all_classes_that_are_too_small_are_named_at_once(run: "Run") -> None:
    rows = [f"c{n % 2}\twords of {n}" for n in range(40)]
    rows += [f"rare{n}\tother {n}" for n in range(6)]
    Path("rows.tsv").write_text("\n".join(rows))

    status, out, err = run("eval", "--json", "--folds", "5", "rows.tsv")
    refused, _, of_tune = run("tune", "rows.tsv")

    found = json.loads(out)
    assert (status, found["documents"], found["unknown_label"]) == (0, 46, 6)
    assert found["classes"] == ["c0", "c1"]
    named = ", ".join(f"rare{n} (1)" for n in range(6))
    assert err.startswith("WARNING: 5 folds need two different documents")
    assert f"and all documents of {named} are in one fold; they count as" in err
    assert refused == 65  # it has to know all classes
    assert f"and all documents of {named} are in one fold; mend these labels" in of_tune
