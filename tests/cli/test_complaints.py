"""However many documents cannot be read, what is said of them stays short."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from nbtext.document import MOST_NAMED

if TYPE_CHECKING:
    from tests.cli.conftest import Run


@pytest.mark.usefixtures("model")
@pytest.mark.parametrize(
    "command",
    [["classify"], ["learn", "spam"], ["tokens"], ["train"], ["eval"]],
)
def test_a_table_without_texts_is_a_short_complaint(
    run: "Run", command: list[str]
) -> None:
    Path("rows.jsonl").write_text('{"label": "spam"}\n' * 10_000)

    status, _, err = run(*command, "-m", "mail.nbt", "rows.jsonl")

    assert status == 65
    assert len(err) < 1000
    assert "rows.jsonl:1: no column text, body, content or message (there" in err
    assert "rows.jsonl: 9,998 more records (3, 4, 5, ... 10000): no column text" in err


@pytest.mark.usefixtures("model")
def test_files_that_are_not_there_are_named_up_to_a_number(run: "Run") -> None:
    Path("index").write_text("spam gone\n" * (MOST_NAMED + 500))

    status, _, err = run("classify", "-m", "mail.nbt", "--format", "index", "index")

    assert status == 66
    assert len(err.splitlines()) == MOST_NAMED + 1
    assert err.endswith("\nskipped: 500 more that do not exist\n")

    status, out, err = run(
        "learn", "spam", "--json", "-m", "mail.nbt", "--format", "index", "index"
    )
    assert json.loads(out)["skipped"] == MOST_NAMED + 500
    assert "skipped: 500 more that do not exist\n" in err


@pytest.mark.usefixtures("model")
def test_documents_that_are_refused_or_cut_are_named_up_to_a_number(run: "Run") -> None:
    names = [f"row {number:04}" for number in range(MOST_NAMED + 50)]
    rows = [json.dumps({"text": name}) for name in names]
    Path("rows.jsonl").write_text("\n".join(rows))

    status, _, err = run("forget", "-m", "mail.nbt", "rows.jsonl")
    assert (status, len(err.splitlines())) == (65, MOST_NAMED + 2)
    assert "\nrefused: 50 more\nrefused 1,050 documents\n" in err

    for command in (["classify"], ["tokens"], ["learn", "spam"]):
        options = ("-m", "mail.nbt", "--max-bytes", "5", "rows.jsonl")
        status, _, err = run(*command, *options)
        assert status == 0
        assert err.count("cut short: rows.jsonl:") == MOST_NAMED
        assert "\ncut short: 50 more\n" in err


ROWS = "".join(f"{'yn'[n % 2]},word{n},x{n}\n" for n in range(2500))
NUMBERS = "a finite number was expected in column age"
MEND = "mend it, or leave it empty if it is not known"


@pytest.mark.parametrize(
    "command",
    [["classify"], ["classify", "-j", "2"], ["learn", "y"], ["tokens"], ["eval"]],
)
def test_rows_whose_number_is_none_are_one_complaint(
    run: "Run", command: list[str]
) -> None:
    good = "class,city,age\ny,Rome,30\nn,Oslo,31\ny,Rome,40\nn,Paris,22\n"
    columns = ("--categorical-column", "city", "--numeric-column", "age")
    Path("good.csv").write_text(good)
    assert run("train", "-m", "m.nbt", *columns, "good.csv").status == 0
    Path("rows.csv").write_text(good + ROWS + "y,Rome,30\nn\n")

    status, _, err = run(*command, "-m", "m.nbt", "rows.csv")

    assert status == 65
    skipped = [line for line in err.splitlines() if line.startswith("skipped: ")]
    assert skipped == [
        f"skipped: rows.csv:5: {NUMBERS}, and 'x0' found; {MEND}",
        "skipped: rows.csv:2506: the row ends before column city; "
        "fill it in or remove it",
        f"skipped: rows.csv: 2,499 more records (6, 7, 8, ... 2504): {NUMBERS}; {MEND}",
    ]


def test_where_nothing_is_left_to_train_on_it_is_said_why(run: "Run") -> None:
    Path("rows.csv").write_text(f"class,city,age\n{ROWS}y,Rome,\nn,Oslo,\n")

    for columns, left in (
        (("--numeric-column", "age"), "2,500 documents were skipped, and those that "),
        (("--numeric-column", "age", "--jobs", "2"), "2,500 documents were skipped"),
    ):
        status, _, err = run("train", "-m", "m.nbt", *columns, "rows.csv")

        assert status == 65
        assert len(err.splitlines()) == 3
        assert err.splitlines()[-1].startswith(f"Error: {left}")
        found = f"the first was rows.csv:1: {NUMBERS}, and 'x0' found; {MEND}\n"
        assert err.endswith(found)


def test_the_columns_that_are_guessed_are_looked_at_in_order_too(run: "Run") -> None:
    good = "".join(f"{'yn'[n % 2]},Rome,{n * n}\n" for n in range(1200))
    rest = "y,Rome,old\nn,Rome,new\ny,Rome,3\n"
    Path("rows.csv").write_text(f"class,city,size\n{good}{rest}")

    status, _, err = run("train", "-m", "m.nbt", "rows.csv")

    assert status == 65
    skipped = [line for line in err.splitlines() if line.startswith("skipped: ")]
    assert [line.split(" in column")[0] for line in skipped] == [
        "skipped: rows.csv:1201: a finite number was expected",
        "skipped: rows.csv: 1 more record (1202): a finite number was expected",
    ]
