"""`--files-from` and `-0`: sources that are named in a file or a pipe."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Run

COMMANDS = {
    "classify": ["-m", "mail.nbt"],
    "tokens": ["-m", "mail.nbt"],
    "learn": ["spam", "-v", "-m", "mail.nbt"],
    "forget": ["-v", "-m", "mail.nbt"],
    "eval": ["-m", "mail.nbt"],
    "train": ["-m", "new.nbt"],
}
"""Commands with sources, and what else they take."""


@pytest.fixture
def names(model: Path) -> list[str]:
    """Sources with labels, one of a strange name."""
    os.rename("spam/0.eml", b"spam/a\nb \xff.eml")  # noqa: PTH104  bytes
    found = sorted(Path("spam").iterdir()) + sorted(Path("ham").iterdir())
    assert model.exists()
    return [f"{path.parent.name}={path}" for path in found]


@pytest.mark.parametrize("command", COMMANDS)
def test_names_in_a_file_are_sources(
    run: "Run", names: list[str], command: str
) -> None:
    arguments = COMMANDS[command]
    model = Path("mail.nbt").read_bytes()
    null = b"".join(os.fsencode(name) + b"\0" for name in names)

    plain = run(command, *arguments, *names)
    Path("mail.nbt").write_bytes(model)
    piped = run(
        command, *arguments, "-0", "--files-from", "-", *replaced(command), stdin=null
    )

    assert plain.status == 0
    assert (piped.status, piped.out) == (0, plain.out)
    if command != "train":  # which tells how long it took
        assert piped.err == plain.err


def replaced(command: str) -> list[str]:
    return ["--replace"] if command == "train" else []


@pytest.mark.parametrize("command", [["classify"], ["learn", "spam"]])
def test_names_where_a_document_belongs_are_told(
    run: "Run", process: "Run", model: Path, command: list[str]
) -> None:
    for path in Path("spam").iterdir():
        path.rename(f"spam/{path.stem}:2,S")  # in a list, it looks like mail
    listed = "".join(f"{path}\n" for path in Path("spam").iterdir()).encode()
    command = [*command, "-m", str(model)]

    Path("list.txt").write_bytes(listed)
    for anyhow in (run, process):  # with click, and without
        assert "from list.txt" in anyhow(*command, "list.txt").err
        names = anyhow(*command, stdin=listed)
        more = anyhow(*command, stdin=listed + b"and so on\n")

        assert (names.status, more.status) == (0, 0)
        assert "every line is the name of a file; --files-from - " in names.err
        assert "--files-from" not in more.err


def test_of_a_mail_nobody_is_asked_whether_it_is_a_list(
    run: "Run", process: "Run", model: Path
) -> None:
    Path("Subject: x").touch()

    for anyhow in (run, process):
        assert anyhow("classify", "-m", model, stdin=b"Subject: x\n").err == ""


def test_a_file_of_names_may_have_a_label(run: "Run", model: Path) -> None:
    assert model.exists()
    for label in ("spam", "ham"):
        paths = [f"{path}\n" for path in sorted(Path(label).iterdir())]
        Path(f"{label}.txt").write_text("".join(paths) + "\n")

    lists = ("--files-from", "junk=spam.txt", "--files-from=ham=ham.txt")
    trained = run("train", "-m", "new.nbt", *lists)
    mixed = run("train", "--replace", "-m", "new.nbt", *lists[:2], "ham")

    assert trained.status == 0
    assert "ham 8, junk 8" in trained.err
    assert "ham 8, junk 8" in mixed.err


@pytest.mark.usefixtures("model")
def test_lines_may_end_as_on_windows(run: "Run") -> None:
    done = run(
        "classify", "-m", "mail.nbt", "--files-from", "-",
        stdin=b"spam/1.eml\r\nham/2.eml\r\n\r\n",
    )  # fmt: skip

    assert (done.status, done.err) == (0, "")
    assert [line.split("\t")[2] for line in done.out.splitlines()] == [
        "spam/1.eml",
        "ham/2.eml",
    ]


@pytest.mark.parametrize("command", ["classify", "learn", "forget", "tokens"])
@pytest.mark.usefixtures("model")
def test_no_name_is_nothing_to_do(run: "Run", command: str) -> None:
    done = run(command, *COMMANDS[command], "-0", "--files-from", "-")

    assert done.status == 0
    assert done.out == ""
    assert done.err == "note: --files-from names no source; there is nothing to do\n"


@pytest.mark.parametrize(
    ("arguments", "status", "complaint"),
    [
        (["--files-from", "none.txt"], 66, "none.txt: no such file or folder"),
        (["--files-from", "-", "--files-from", "-"], 64, "name it once"),
        (["--files-from", "-", "-"], 64, "cannot be a source, too"),
        (["-0"], 64, "--null is for --files-from"),
        (["--files-from", "long.txt"], 64, "a name has over 65,536 bytes"),
        (["--files-from", "/dev/zero"], 64, "/dev/zero: a name has over 65,536"),
        (["-0", "--files-from", "/dev/zero"], 64, "65,536 names in turn are empty"),
        (["--files-from", "null.txt"], 64, "a line has a NUL byte; list files, one a"),
    ],
)
@pytest.mark.usefixtures("model")
def test_what_makes_no_sense_is_refused(
    run: "Run", arguments: list[str], status: int, complaint: str
) -> None:
    Path("long.txt").write_bytes(b"a" * 70_000)
    Path("null.txt").write_bytes(b"spam/0.eml\0ham/0.eml\0")

    done = run("classify", "-m", "mail.nbt", *arguments)

    assert (done.status, done.out) == (status, "")
    assert complaint in done.err


@pytest.mark.usefixtures("model")
def test_train_without_a_name_is_a_usage_error(run: "Run") -> None:
    done = run("train", "-m", "new.nbt", "--files-from", "/dev/null")

    assert done.status == 64
    assert "Missing argument 'SOURCES...'" in done.err


@pytest.mark.usefixtures("model")
def test_twenty_thousand_names_are_read(process: "Run") -> None:
    names = b"spam/1.eml\nham/2.eml\n" * 10_000

    done = process("classify", "-m", "mail.nbt", "--files-from", "-", stdin=names)

    assert (done.status, done.err) == (0, "")
    lines = done.out.splitlines()
    assert len(lines) == 20_000
    assert lines[0].endswith("\tspam/1.eml")
    assert lines[-1].endswith("\tham/2.eml")


@pytest.mark.usefixtures("model")
def test_classify_says_that_a_table_is_read_as_one_document(run: "Run") -> None:
    Path("rows").write_text("spam\tmoney now\nham\tlunch at one\nham\tmeeting\n")
    Path("index").write_text("spam spam/1.eml\nham ham/1.eml\n")
    Path("plain").write_text("word\ttext\nno label in this line\n")

    table = run("classify", "-m", "mail.nbt", "rows")
    piped = run("classify", "-m", "mail.nbt", stdin=Path("rows").read_bytes())
    index = run("classify", "-m", "mail.nbt", "index")
    plain = run("classify", "-m", "mail.nbt", "plain", "spam/1.eml")

    assert table.err == (
        "note: rows: read as one document, but every line begins with a word and a "
        "tab; with --format tsv each line is one\n"
    )
    assert piped.err == table.err.replace("rows:", "-:")
    assert index.err.endswith("--format index reads these\n")
    assert plain.err == ""
    rows = run("classify", "-m", "mail.nbt", "--format", "tsv", "rows")
    assert (rows.status, len(rows.out.splitlines())) == (0, 3)


def test_an_option_for_columns_with_what_is_no_table_is_told_of(run: "Run") -> None:
    Path("rows").write_text("label,text\nspam,money now\nham,lunch at one\n")
    line = ["train", "-m", "x.nbt", "--label-column", "label"]

    whole = run(*line, "rows")
    table = run(*line, "--format", "csv", "rows")

    assert whole.status == os.EX_DATAERR
    assert whole.err.startswith(
        "note: rows: read as one document, though an option for columns is given; "
        "--format csv reads it as a table\n"
    )
    assert (table.status, "note:" in table.err) == (0, False)


def test_semicolons_and_other_delimiters(run: "Run") -> None:
    lines = [f"c{n % 2};text {n}, with a comma" for n in range(9)]
    Path("a.csv").write_text("\n".join(["label;text", *lines, ""]))
    Path("b.txt").write_text("\n".join(lines).replace(";", "~") + "\n")

    guessed = run("train", "-m", "m.nbt", "a.csv")
    told = run("train", "-m", "n.nbt", "--format", "csv", "--delimiter", "~", "b.txt")
    wrong = run("train", "-m", "n.nbt", "--delimiter", ";;", "a.csv")

    assert "c0: 5, c1: 4" in guessed.err
    assert "c0: 5, c1: 4" in told.err
    assert wrong.status == 64
    assert "';;' is not one ASCII character, such as ';', nor 'tab'." in wrong.err


@pytest.mark.parametrize(
    "arguments", [("-:2",), ("--", "-:2"), ("ham=-:2",)], ids=" ".join
)
def test_a_document_of_standard_input_has_no_number(
    run: "Run", model: Path, arguments: tuple[str, ...]
) -> None:
    assert model.exists()
    said = run("classify", "-m", "mail.nbt", *arguments, stdin=b"Subject: x\n\nhello")

    assert (said.status, said.out) == (64, "")
    assert "put it into a file, and name FILE:17" in said.err
