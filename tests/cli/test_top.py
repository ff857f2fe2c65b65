"""`nbtext top`: the terms that most speak for a class."""

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.build import HAM, SPAM

if TYPE_CHECKING:
    from tests.cli.conftest import Run


def objects(out: str) -> list[Any]:
    return [json.loads(line) for line in out.splitlines()]


@pytest.fixture
def rows(tmp_path: "Path", run: "Run") -> str:
    """Rows of two classes, and a model of them: `cash` is in most of the spam."""
    lines = [f"spam,win cash {word}" for word in SPAM]
    lines += [f"spam,a {word} {word}" for word in SPAM[:2]]
    lines += [f"ham,about the {word}" for word in HAM]
    lines += ["ham,no cash today"]
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(["label,text", *lines]))
    run("train", "-q", "--no-byte-ngrams", "-m", "rows.nbt", path)
    return str(path)


def test_the_strongest_is_what_most_documents_of_a_class_have(
    run: "Run", rows: str
) -> None:
    status, out, err = run(
        "top", "-m", "rows.nbt", "--json", "--top", 50, "spam", "--from", rows
    )

    assert (status, err) == (0, "")
    terms = {one["term"]: one for one in objects(out)}
    counts = (len(SPAM) + 2, len(HAM) + 1)
    cash = terms["win cash"]
    assert (cash["documents"], cash["elsewhere"]) == (len(SPAM), 0)
    assert (cash["of"], cash["of_elsewhere"]) == counts
    # G2 by hand: 8 of 10 documents, and 0 of 9
    n1, n2 = counts
    share = 8 / (n1 + n2)
    expected = 2 * (
        8 * math.log(8 / (n1 * share))
        + (n1 - 8) * math.log((n1 - 8) / (n1 * (1 - share)))
        + n2 * math.log(n2 / (n2 * (1 - share)))
    )
    assert cash["strength"] == pytest.approx(expected)
    odds = math.log(8.5 / (n1 - 8 + 0.5)) - math.log(0.5 / (n2 + 0.5))
    assert cash["log_odds"] == pytest.approx(odds)
    first = objects(out)[0]
    assert first["strength"] == max(one["strength"] for one in objects(out))
    assert {first["term"] for first in objects(out)[:2]} == {"win", "win cash"}
    # what speaks for ham is not among them
    assert not {"about", "the", "no", "today"} & terms.keys()


def test_without_texts_terms_are_keys_and_a_note_says_why(
    run: "Run", rows: str
) -> None:
    run("train", "-q", "--no-byte-ngrams", "--no-texts", "-m", "rows.nbt", rows)
    status, out, err = run("top", "-m", "rows.nbt", "--top", 2)

    lines = [line.split("\t") for line in out.splitlines()]
    assert status == 0
    assert [line[0] for line in lines] == ["ham", "ham", "spam", "spam"]
    assert err.startswith("note: the model keeps no texts of terms")
    dumped = run("dump", "-m", "rows.nbt").out
    assert all(f'"term":"{line[-1]}"' in dumped for line in lines)
    quiet = run("top", "-q", "-m", "rows.nbt", "--top", 2)
    assert (quiet.out, quiet.err) == (out, "")
    texts = run("top", "-m", "rows.nbt", "--top", 2, "--from", rows).out
    named = [line.split("\t") for line in texts.splitlines()]
    assert [line[:-2] for line in named] == [line[:-2] for line in lines]
    assert all(line[-2] == "text" for line in named)


def test_more_classes_each_have_their_terms(run: "Run", tmp_path: "Path") -> None:
    words = {"a": "apple ant", "b": "bear bee", "c": "cat cow"}
    lines = [f"{label},{text} {n}" for label, text in words.items() for n in range(6)]
    (tmp_path / "rows.csv").write_text("\n".join(["label,text", *lines]))
    run("train", "-q", "--no-byte-ngrams", "-m", "rows.nbt", "rows.csv")

    out = run("top", "-m", "rows.nbt", "--json", "--top", 2, "--from", "rows.csv").out

    found = objects(out)
    assert [one["class"] for one in found] == ["a", "a", "b", "b", "c", "c"]
    for one in found:
        assert one["term"].split()[0] in words[one["class"]].split()
        assert (one["documents"], one["elsewhere"]) == (6, 0)


@pytest.mark.usefixtures("model")
def test_terms_of_mail_are_found_in_their_fields(run: "Run") -> None:
    out = run("top", "-m", "mail.nbt", "--json", "spam", "--from", "spam").out

    found = objects(out)
    assert all(one["term"] for one in found)
    assert {one["field"] for one in found if one["view"] == "headers"}


@pytest.mark.usefixtures("model")
def test_a_class_that_is_not_there_is_named(run: "Run") -> None:
    status, out, err = run("top", "-m", "mail.nbt", "sapm")

    assert status != 0
    assert out == ""
    assert "did you mean 'spam'" in err


def test_a_record_that_cannot_be_read_stops_no_others(run: "Run") -> None:
    """A number that is none is named; the page, the terms and the reasons come."""
    rows = [f"{'ab'[n % 2]},word{n % 3} {'xy'[n % 2]},{n % 5}" for n in range(40)]
    rows[0] = "a,word1 x,old"
    Path("rows.csv").write_text("\n".join(["label,text,age", *rows, ""]))
    columns = ("--text-column", "text", "--numeric-column", "age")
    options = ("-q", "--no-texts", *columns, "-m", "m.nbt")
    assert run("train", *options, "rows.csv").status == 65

    done = [
        run("top", "-m", "m.nbt", "--from", "rows.csv"),
        run("why", "-m", "m.nbt", "rows.csv"),
        run("eval", "--seen", "--report", "r.html", "-m", "m.nbt", "rows.csv"),
    ]

    for status, out, err in done:
        assert status == 65
        assert err.count("rows.csv:1: a finite number was expected") == 1
        assert out
    assert "\tx\n" in done[0].out
    assert done[1].out.count("probability of") == 39
    assert "Terms that most speak" in Path("r.html").read_text()
