"""The columns that a model was trained on are its settings: all commands read them."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Run

ROWS = [
    ("spam", "cash now", "claim the prize today"),
    ("spam", "winner", "the lottery pays you"),
    ("ham", "lunch", "shall we meet at noon"),
    ("ham", "minutes", "of the meeting are here"),
]
TITLE_AND_BODY = ("--text-column", "title", "--text-column", "body")

CARRIED = (
    "note: 2 documents carried another label (spam 2) than ham; --labelled, in place "
    "of a class, learns each as its own\n"
)
"""What is said of rows of spam that are learnt as ham."""


def table(path: str, *columns: str) -> None:
    """Write the rows as CSV, with these columns in this order."""
    places = [("label", "title", "body").index(column) for column in columns]
    lines = [",".join(row[place] for place in places) for row in ROWS]
    Path(path).write_text("\n".join([",".join(columns), *lines, ""]))


@pytest.fixture
def model(run: "Run") -> str:
    """A model of titles and bodies."""
    table("rows.csv", "label", "title", "body")
    assert run("train", "-q", "-m", "m.nbt", *TITLE_AND_BODY, "rows.csv")[0] == 0
    return "m.nbt"


def decisions(run: "Run", *arguments: str) -> list[object]:
    """What `classify` says of each document, but for its name."""
    status, out, err = run("classify", "--json", *arguments)

    assert (status, err) == (0, "")
    lines = [json.loads(line) for line in out.splitlines()]
    return [{**line, "name": ""} for line in lines]


def test_classify_reads_the_columns_of_the_model_in_any_order(
    run: "Run", model: str
) -> None:
    table("turned.csv", "body", "label", "title")
    rows = [dict(zip(("label", "title", "body"), row, strict=True)) for row in ROWS]
    Path("rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    expected = decisions(run, "-m", model, *TITLE_AND_BODY, "rows.csv")

    assert decisions(run, "-m", model, "rows.csv") == expected
    assert decisions(run, "-m", model, "turned.csv") == expected
    assert decisions(run, "-m", model, "rows.jsonl") == expected
    assert decisions(run, "-m", model, "-j", "2", "turned.csv") == expected
    turned = ("--text-column", "body", "--text-column", "title")
    assert decisions(run, "-m", model, *turned, "rows.csv") == expected


def test_classify_counts_the_tokens_of_all_columns(run: "Run", model: str) -> None:
    (first, *_) = decisions(run, "-m", model, "rows.csv")

    # cash, now and their pair; four words and three pairs; 26 n-grams of 30 letters
    assert isinstance(first, dict)
    assert first["tokens"] == {"known": 44, "total": 44}


@pytest.mark.parametrize(
    "command", [("classify",), ("eval",), ("learn", "spam"), ("forget",)]
)
def test_a_missing_column_is_an_error_that_says_what_is_there(
    run: "Run", model: str, command: tuple[str, ...]
) -> None:
    table("less.csv", "label", "body")

    status, out, err = run(*command, "-m", model, "less.csv")

    assert (status, out) == (65, "")
    assert (
        "less.csv: no column title (there are label, body); the model reads columns by "
        "their names; if the first line is no heading, put one before it\n"
    ) in err


@pytest.mark.parametrize(
    "command", [("classify",), ("eval",), ("learn", "spam"), ("forget",)]
)
@pytest.mark.parametrize(
    "asked", [("body",), ("label", "title")], ids=["less", "others"]
)
def test_other_columns_than_the_model_reads_are_refused(
    run: "Run", model: str, command: tuple[str, ...], asked: tuple[str, ...]
) -> None:
    options = [part for column in asked for part in ("--text-column", column)]

    status, out, err = run(*command, "-m", model, *options, "rows.csv")

    assert (status, out) == (64, "")
    wanted = ", ".join(f"{column} as text" for column in asked)
    assert f"reads the columns title as text, body as text, and {wanted} was" in err


def test_what_was_trained_can_be_forgotten_and_learnt_again(
    run: "Run", model: str
) -> None:
    table("turned.csv", "title", "label", "body")
    _, _, forgotten = run("forget", "-m", model, "turned.csv")
    _, _, learnt = run("learn", "ham", "-m", model, "rows.csv")

    assert forgotten == "forgot 4 documents\n"
    assert learnt == f"learnt 4 documents as ham\n{CARRIED}"


def test_a_model_that_is_begun_has_the_columns(run: "Run") -> None:
    table("rows.csv", "label", "title", "body")

    run("learn", "-q", "ham", "-m", "m.nbt", "--create", *TITLE_AND_BODY, "rows.csv")

    status, out, _ = run("info", "--json", "-m", "m.nbt")
    assert status == 0
    assert json.loads(out)["settings"]["fields"] == {"title": "text", "body": "text"}
    assert run("learn", "-m", "m.nbt", "ham", "rows.csv")[2] == (
        f"4 documents known as ham already\n{CARRIED}"
    )


def test_a_model_without_columns_reads_those_that_are_asked_for(run: "Run") -> None:
    for label, title, _ in ROWS:
        Path(label).mkdir(exist_ok=True)
        Path(label, title).write_text(title)
    table("rows.csv", "title")
    run("train", "-q", "-m", "m.nbt", "spam", "ham")

    found = decisions(run, "-m", "m.nbt", "--text-column", "title", "rows.csv")

    assert [one["label"] for one in found if isinstance(one, dict)] == [
        label for label, _, _ in ROWS
    ]


def test_a_text_that_is_no_table_is_read_whole(run: "Run", model: str) -> None:
    status, out, _ = run("classify", "-m", model, stdin=b"claim the lottery prize")

    assert status == 0
    assert out.startswith("spam\t")


def test_the_documents_of_a_merge_are_read_by_the_columns(
    run: "Run", model: str
) -> None:
    run("train", "-q", "-m", "n.nbt", *TITLE_AND_BODY, "rows.csv")

    status, _, err = run("merge", model, "n.nbt", "-o", "o", "--documents", "rows.csv")

    assert status == 0
    assert "took away what 4 documents left twice" in err


def test_models_of_other_columns_are_not_merged(run: "Run", model: str) -> None:
    run("train", "-q", "-m", "n.nbt", "--text-column", "title", "rows.csv")

    status, _, err = run("merge", model, "n.nbt", "-o", "both.nbt")

    assert status == 65
    assert "--numeric-column): title, body in one, title in the other" in err


def test_info_and_tokens_name_the_columns(run: "Run", model: str) -> None:
    assert "columns\ttitle, body\n" in run("info", "-m", model)[1]

    shown = run("tokens", "-m", model, "rows.csv")[1]

    assert "body\ttitle\t1\tcash\n" in shown
    assert "body\tbody\t1\tprize\n" in shown


def test_the_text_form_keeps_the_columns(run: "Run", model: str) -> None:
    Path("m.jsonl").write_text(run("dump", "-m", model)[1])

    assert run("load", "-q", "-m", "copy.nbt", "m.jsonl")[0] == 0
    assert Path("copy.nbt").stat().st_size
    assert decisions(run, "-m", "copy.nbt", "rows.csv") == decisions(
        run, "-m", model, "rows.csv"
    )


def test_the_only_column_may_be_a_category_whose_values_are_several_words(
    run: "Run",
) -> None:
    rows = ["a,New York", "b,Bonn am Rhein"] * 3
    Path("c.csv").write_text("\n".join(["label,city", *rows]))

    run("train", "-q", "--categorical-column", "city", "-m", "c.nbt", "c.csv")

    assert "terms\t2\n" in run("info", "-m", "c.nbt").out


def test_eval_of_a_table_without_labels_says_how_to_name_their_column(
    run: "Run",
) -> None:
    table("people.csv", "label", "title", "body")
    text = Path("people.csv").read_text().replace("label,", "outcome,")
    Path("people.csv").write_text(text)
    asked = ("--label-column", "outcome")
    run("train", "-q", "-m", "m.nbt", *asked, *TITLE_AND_BODY, "people.csv")
    assert run("eval", "-m", "m.nbt", "--seen", "people.csv").status == 0  # one may be
    lines = [f"{line.split(',')[0]},{line}" for line in text.splitlines()]
    lines[0] = f"before,{text.splitlines()[0]}"
    Path("people.csv").write_text("\n".join([*lines, ""]))

    status, out, err = run("eval", "-m", "m.nbt", "people.csv")

    assert (status, out) == (64, "")
    assert err == (
        "Error: the model has no class 'people' (4 documents); its classes are ham, "
        "spam; name the column of a table that holds the labels: "
        "nbtext eval --label-column COLUMN people.csv\n"
    )
    line = err.split("nbtext ")[1].replace("COLUMN", "outcome")
    assert run(*line.split(), "-m", "m.nbt", "--seen").status == 0
    Path("good").mkdir()
    Path("good/1.txt").write_text("lunch")
    mixed = run("eval", "-m", "m.nbt", "people.csv", "good").err
    assert mixed.endswith(
        "--label-column COLUMN people.csv; name the class of each source: "
        "nbtext eval people.csv CLASS=good\n"
    )
    given = run("eval", "-m", "m.nbt", "folk=people.csv").err
    assert given.endswith("of each source: nbtext eval CLASS=people.csv\n")


def test_eval_of_a_table_with_wrong_labels_gives_no_class_to_all_its_rows(
    run: "Run",
) -> None:
    table("people.csv", "label", "title", "body")
    run("train", "-q", "-m", "m.nbt", *TITLE_AND_BODY, "people.csv")
    text = Path("people.csv").read_text()
    Path("people.csv").write_text(
        text.replace("spam,", "spma,").replace("ham,", "hma,")
    )

    status, out, err = run("eval", "-m", "m.nbt", "people.csv")

    assert (status, out) == (64, "")
    assert err == (
        "Error: the model has no class 'spma' (2 documents), 'hma' (2 documents); its "
        "classes are ham, spam; mend the labels in people.csv, or name the column that "
        "holds them (--label-column COLUMN)\n"
    )


@pytest.mark.parametrize(
    "option", ["--text-column", "--categorical-column", "--numeric-column"]
)
def test_a_name_of_a_column_that_no_model_could_hold_is_refused_at_once(
    run: "Run", option: str
) -> None:
    status, out, err = run("train", "-m", "n.nbt", option, "t\udcff", "rows.csv")

    assert (status, out) == (64, "")
    assert err == "Error: the name of the column 't\\udcff' is not UTF-8; rename it\n"
    assert not Path("n.nbt").exists()


def test_a_table_whose_label_is_last_is_read_alike_by_all_commands(run: "Run") -> None:
    """Nothing but the classes of the model tells which column is the label."""
    rows = [
        f"{label},{text} {number}"
        for number in range(6)
        for label, text in (("sport", "a goal of the team"), ("arts", "a painter sang"))
    ]
    Path("rows.csv").write_text("\n".join(rows))
    Path("new.csv").write_text("late goal of a team,sport\npainter on a stage,arts\n")
    for name in ("a.nbt", "b.nbt"):
        run("train", "-q", "-m", name, "rows.csv")
    model, quiet = ("-m", "a.nbt"), "-q"

    lines = run("classify", *model, "new.csv").out.splitlines()
    why = run("why", *model, "new.csv").out.splitlines()
    learnt = [
        run("learn", "-m", name, "--labelled", "new.csv") for name in ("a.nbt", "b.nbt")
    ]

    assert [line.split("\t")[0] for line in lines] == ["sport", "arts"]
    assert {*lines} <= {*why}
    assert "\tlate goal\n" in run("tokens", *model, "new.csv").out
    assert {one.err for one in learnt} == {
        "learnt 2 documents as labelled: arts 1, sport 1\n"
    }
    again = run("learn", *model, "sport", "new.csv:1")
    assert again.err == "1 document known as sport already\n"
    told = run("prune", quiet, "--json", "--dry-run", "a.nbt", "--counted", "new.csv")
    assert json.loads(told.out)["scored"] == 2
    both = ("a.nbt", "b.nbt", "-o", "c.nbt", "--documents", "new.csv")
    assert json.loads(run("merge", quiet, "--json", *both).out)["taken"] == 2
    assert run("forget", *model, "new.csv").err == "forgot 2 documents\n"
    Path("begun.csv").write_text("rain in the north,weather\nsun,weather\n")
    begun = run("learn", *model, "--create", "weather", "begun.csv")
    assert begun.err.startswith("learnt 2 documents as weather\n")
    assert "carried another label" not in begun.err
