"""
Tables with columns of categories and numbers that are not as they should be.

What is wrong is told with its row and column, what is unusual has a defined answer,
and the model that was there stays as it was.
"""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Run

COLUMNS = (
    "--label-column", "class", "--categorical-column", "city",
    "--numeric-column", "age",
)  # fmt: skip
HEADING = "class,city,age\n"
GOOD = "y,Rome,30\nn,Oslo,31\ny,Rome,40\nn,Paris,22\n"


def write(text: str, encoding: str = "utf-8") -> None:
    Path("rows.csv").write_text(text, encoding=encoding, newline="")


@pytest.fixture
def old(run: "Run") -> bytes:
    """The bytes of a model that is there already, as m.nbt."""
    write(HEADING + GOOD)
    assert run("train", "-q", "-m", "m.nbt", *COLUMNS, "rows.csv") == (0, "", "")
    return Path("m.nbt").read_bytes()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("class;city;age\ny;Rome;30,5\nn;Oslo;31,2\n", "column age, and '30,5' found"),
        (HEADING + "y,Rome,NaN\nn,Oslo,inf\n", "column age, and 'NaN' found"),
        (HEADING + "y,Rome,30\nn,Oslo\n", "rows.csv:2: the row ends before column age"),
        ("class,city,city\n" + GOOD, "no column age (there are class, city, city)"),
        (HEADING, "there is no document to learn from; name sources"),
        (HEADING + "y,Rome,30\ny,Oslo,31\n", "only the class 'y'"),
    ],
)
def test_a_table_that_cannot_be_trained_leaves_the_model_there(
    run: "Run", old: bytes, text: str, told: str
) -> None:
    write(text)

    refused = run("train", "-m", "m.nbt", *COLUMNS, "rows.csv")

    assert refused.status != 0
    assert told in refused.err
    assert Path("m.nbt").read_bytes() == old


@pytest.mark.parametrize("value", ["old", "NaN", "inf", "1e309", "31 years", "1,5"])
def test_a_row_whose_number_is_none_is_told_and_left_out(
    run: "Run", old: bytes, value: str
) -> None:
    write(f'{HEADING}y,Rome,30\nn,Oslo,"{value}"\n')

    status, out, err = run("classify", "-m", "m.nbt", "rows.csv")

    assert status == 65
    assert out.count("\n") == 1
    assert err == (
        "skipped: rows.csv:2: a finite number was expected in column age, and "
        f"{value!r} found; mend it, or leave it empty if it is not known\n"
    )
    assert run("learn", "n", "-m", "m.nbt", "rows.csv").status == 65
    assert Path("m.nbt").read_bytes()[: len(old)] == old


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (HEADING + GOOD, "utf-8-sig"),
        (HEADING + GOOD, "utf-16"),
        ((HEADING + GOOD).replace(",", ";"), "utf-8"),
        ((HEADING + GOOD).replace("\n", "\r\n"), "utf-8"),
    ],
    ids=["BOM", "UTF-16", "semicolons", "CRLF"],
)
def test_other_ways_to_write_a_table_make_the_same_model(
    run: "Run", old: bytes, text: str, encoding: str
) -> None:
    write(text, encoding)

    assert run("train", "-q", "-m", "m.nbt", *COLUMNS, "rows.csv") == (0, "", "")

    assert counts(run, "m.nbt") == counts(run, "m.nbt", old)


def counts(run: "Run", path: str, data: bytes | None = None) -> object:
    """Return what a model has counted: its classes and terms, without its ledger."""
    if data is not None:
        path = "old.nbt"
        Path(path).write_bytes(data)
    head, *lines = map(json.loads, run("dump", "-m", path).out.splitlines())
    return head["classes"], [line for line in lines if "term" in line]


@pytest.mark.parametrize(
    "rows",
    [
        "1,Rome,30\n0,Oslo,31\n1,Rome,40\n0,Paris,22\n",
        "y,Rome,\nn,Oslo,\ny,Rome,\n",
        "y,,30\nn,,31\ny,,33\n",
        "y,Rome,30\nn,Oslo,31\n",
        "y,Rome,30\ny,Rome,30\nn,Oslo,30\nn,Oslo,30\n",
        "y,Rome,1e308\nn,Oslo,-1e308\ny,Rome,1.5e308\nn,Oslo,1e308\n",
        "y,Rome,5e-324\nn,Oslo,-5e-324\ny,Rome,0\nn,Oslo,-0.0\n",
        f"y,{'x' * 1_000_000},30\nn,Oslo,31\n",
    ],
    ids=[
        "a label that is a number", "no number", "no category", "one value a class",
        "no variance", "1e308", "smallest", "a category of a megabyte",
    ],
)  # fmt: skip
def test_what_is_unusual_has_a_defined_answer(run: "Run", rows: str) -> None:
    write(HEADING + rows)
    trained = run("train", "-m", "m.nbt", *COLUMNS, "rows.csv")
    assert trained.status == 0
    assert "skipped, " not in trained.err.replace("0 skipped, ", "")

    status, out, err = run("classify", "--json", "-m", "m.nbt", "rows.csv")

    assert (status, err) == (0, "")
    decisions = [*map(json.loads, out.splitlines())]
    assert len(decisions) == rows.count("\n")
    for decision in decisions:
        shares = decision["posterior"].values()
        assert sum(shares) == pytest.approx(1)
        assert all(0 <= share <= 1 for share in shares)
