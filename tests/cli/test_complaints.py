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
    assert "rows.jsonl: 9,999 more records (2, 3, 4, ... 10000): no column text" in err


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
