"""`nbtext train`: what it makes, what it says, and what it leaves alone."""

import bz2
import errno
import gzip
import json
import lzma
import mailbox
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgpack
import pytest

from nbtext.store import open_model
from nbtext.store.lock import locked
from tests.waiting import PATIENCE

if TYPE_CHECKING:
    from tests.cli.conftest import Run

FROM_LINE = b"From a@example.org Tue Jun 14 19:52:09 2005\n"


def names() -> list[str]:
    return sorted(path.name for path in Path().iterdir())


def info(run: "Run", path: object) -> Any:
    return json.loads(run("info", "--json", "-m", path).out)


def documents(run: "Run", path: object) -> dict[str, int]:
    classes = info(run, path)["classes"]
    return {name: counts["documents"] for name, counts in classes.items()}


@pytest.mark.usefixtures("corpus")
def test_train_makes_a_model_and_says_what_it_read(run: "Run") -> None:
    status, out, err = run("train", "-m", "new/folder/m.nbt", "spam/", "ham/")

    assert (status, out) == (0, "")
    assert re.fullmatch(
        r"read 16 documents of mail \([\d.]+ kB\) in \d+\.\d s: ham 8, spam 8\n"
        r"[\d,]+ tokens, [\d,]+ terms, 0 skipped, 0 copies of other documents\n"
        r"wrote new/folder/m\.nbt \([\d.]+ kB\)\n",
        err,
    )
    assert documents(run, "new/folder/m.nbt") == {"ham": 8, "spam": 8}


def test_a_class_that_is_a_number_is_told_from_its_documents(run: "Run") -> None:
    Path("rows.csv").write_text("label,text\n0,goal match\n1,novel stage\n1,an opera\n")

    _, _, trained = run("train", "-m", "m.nbt", "rows.csv")
    _, info, _ = run("info", "-m", "m.nbt")

    assert ": 0: 1, 1: 2\n" in trained
    assert "documents: 0: 1, 1: 2" in info


@pytest.mark.usefixtures("corpus")
def test_train_lets_only_its_owner_read_the_model(run: "Run") -> None:
    assert run("train", "-q", "-m", "m.nbt", "spam", "ham") == (0, "", "")

    assert Path("m.nbt").stat().st_mode & 0o777 == 0o600
    assert names() == ["ham", "m.nbt", "spam"]


@pytest.mark.usefixtures("corpus")
def test_train_tells_a_program_what_it_read(run: "Run") -> None:
    status, out, err = run("train", "-q", "--json", "-m", "m.nbt", "spam", "ham")

    assert (status, err) == (0, "")
    said = json.loads(out)
    known = info(run, "m.nbt")
    assert said["documents"] == 16
    assert said["classes"] == {"ham": 8, "spam": 8}
    assert said["format"] == "mail"
    assert said["tokens"] == sum(one["tokens"] for one in known["classes"].values())
    assert said["bytes"] == sum(
        path.stat().st_size for path in Path().glob("*am/*.eml")
    )
    assert said["seconds"] >= 0
    assert (said["skipped"], said["truncated"]) == (0, 0)
    assert (said["repeats"], said["conflicts"]) == (0, 0)
    assert (said["path"], said["size"]) == ("m.nbt", known["bytes"])


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.usefixtures("corpus")
def test_train_reads_each_message_of_mailboxes_in_a_folder(
    run: "Run", jobs: int
) -> None:
    Path("mail").mkdir()
    messages = [path.read_bytes() for path in sorted(Path("spam").iterdir())]
    for name in ("inbox", "sent"):
        whole = b"".join(FROM_LINE + message + b"\n" for message in messages)
        Path("mail", name).write_bytes(whole)

    status, _, err = run("train", "-m", "m.nbt", "-j", jobs, "mail", "ham")

    assert status == 0
    assert err.startswith("read 24 documents of mail ")
    assert documents(run, "m.nbt") == {"ham": 8, "mail": 16}
    assert run("classify", "-m", "m.nbt", "mail").out.count("\tmail/sent:") == 8


@pytest.mark.usefixtures("corpus")
def test_a_note_behind_a_mailbox_that_begins_the_sources_is_not_lost(
    run: "Run",
) -> None:
    message = FROM_LINE + Path("ham/1.eml").read_bytes() + b"\n"
    for part in ("cur", "new", ".Junk/cur", ".Junk/new"):
        Path("mail/later", part).mkdir(parents=True)
    Path("mail/inbox").write_bytes(message * 40)

    status, _, err = run("train", "-m", "m.nbt", "mail", "spam")

    assert status == 0
    assert err.count("name one to read it: mail/later/.Junk\n") == 1


def test_train_takes_more_than_two_classes(run: "Run", tmp_path: Path) -> None:
    for label in ("art", "law", "sea"):
        (tmp_path / "all" / label).mkdir(parents=True)
        (tmp_path / "all" / label / "1").write_text(f"words of {label}")

    assert run("train", "-q", "-m", "m.nbt", "all") == (0, "", "")
    assert documents(run, "m.nbt") == {"art": 1, "law": 1, "sea": 1}
    assert info(run, "m.nbt")["scoring"]["score"] == "contrast"


def test_of_many_classes_the_summary_names_the_largest(run: "Run") -> None:
    rows = [f"{n:02}\tword{n} document" for n in range(23)]
    Path("many.tsv").write_text("\n".join([*rows, *rows[3:]]) + "\n")

    _, out, err = run("train", "-m", "m.nbt", "many.tsv")

    named = ", ".join(f"{n:02}: 2" for n in range(3, 23))
    assert out == ""
    told, summary = err.splitlines()[:2]
    assert told.startswith("WARNING: 23 classes are many for 43 documents; ")
    assert summary.endswith(f" s: {named} and 3 more")
    said = json.loads(run("train", "--json", "-m", "n.nbt", "many.tsv").out)
    assert len(said["classes"]) == 23


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["news/train", "news/test/"], id="two folders"),
        pytest.param(["news"], id="the folder above"),
    ],
)
def test_train_refuses_parts_of_a_corpus_and_says_what_to_type(
    run: "Run", arguments: list[str]
) -> None:
    for folder in ("train/art", "train/law", "test/art", "test/law"):
        Path("news", folder).mkdir(parents=True)
        Path("news", folder, "1").write_text(f"words of {folder}")

    status, _, err = run("train", "-m", "m.nbt", *arguments)

    assert status == 64
    assert "parts of a corpus found, which have the same folders (art, law);" in err
    command = re.search("`nbtext (train [^`]*)`; `nbtext (eval [^`]*)` measures", err)
    assert command
    assert run(*command[1].split(), "-m", "m.nbt").status == 0
    assert documents(run, "m.nbt") == {"art": 1, "law": 1}
    assert run(*command[2].split(), "-m", "m.nbt").status == 0
    assert run("train", "-m", "n.nbt", *(f"{a}=news/{a}" for a in ("train", "test")))\
        .status == 0  # fmt: skip


@pytest.mark.parametrize(
    "command",
    ["train -m m.nbt", "eval --folds 2", "doctor", "tune", "learn --labelled -m m.nbt"],
)
def test_parts_of_a_corpus_are_refused_by_the_command_that_runs(
    run: "Run", command: str
) -> None:
    for folder in ("-1 train/art", "-1 train/law", "-2 test/art", "-2 test/law"):
        Path("news", folder).mkdir(parents=True)
        for name in "123456":
            Path("news", folder, name).write_text(f"{name} words of {folder[-3:]}")
    os.chdir("news")
    assert run("train", "-m", "m.nbt", "--", "-1 train").status == 0

    status, _, err = run(*command.split(), "--", "-1 train", "-2 test")

    asked = command.removesuffix(" -m m.nbt")
    advised = f"`nbtext {asked} -- '-1 train'`; `nbtext eval -- '-2 test'` measures"
    assert status == 64
    assert advised in err
    assert run(*command.split(), "--", "-1 train").status == 0


def test_parts_of_a_corpus_may_have_more_than_classes(run: "Run") -> None:
    for folder in ("Train/neg", "Train/pos", "Train/unsup", "Test/neg", "Test/pos"):
        Path("aclImdb", folder).mkdir(parents=True)
        Path("aclImdb", folder, "1").write_text(f"words of {folder}")
    Path("aclImdb/Test/urls.txt").write_text("http://example.org")

    err = run("train", "-m", "m.nbt", "aclImdb").err

    assert "`nbtext train aclImdb/Train/neg aclImdb/Train/pos`; to have a part" in err


@pytest.mark.usefixtures("corpus")
def test_train_refuses_files_of_one_message_and_names_their_folders(
    run: "Run",
) -> None:
    files = [*map(str, sorted(Path("spam").iterdir())), "ham/1.eml", "ham/2.eml"]

    status, out, err = run("train", "-m", "m.nbt", *files)
    alone = run("train", "-m", "m.nbt", *files[:3]).err

    assert (status, out) == (64, "")
    assert "files of one document each found, of which each would be a class" in err
    assert "name the folder of each class: `nbtext train spam ham`, or write" in err
    assert "name the folder of each class: `nbtext train spam/ ham/`, or wri" in alone
    labelled = [f"{Path(file).parent}={file}" for file in files]
    assert run("train", "-q", "-m", "m.nbt", *labelled).status == 0


@pytest.mark.usefixtures("corpus")
@pytest.mark.parametrize("command", ["eval", "doctor", "tune", "learn --labelled"])
def test_other_commands_that_refuse_them_name_themselves(
    run: "Run", command: str
) -> None:
    run("train", "-q", "-m", "m.nbt", "spam", "ham")
    files = [*map(str, sorted(Path("spam").iterdir())), "ham/1.eml", "ham/2.eml"]
    model = () if command in ("doctor", "tune") else ("-m", "m.nbt")

    status, _, err = run(*command.split(), *model, *files)

    assert status == 64
    assert f"folder of each class: `nbtext {command} spam ham`, or write" in err


def test_files_of_one_text_may_be_classes(run: "Run") -> None:
    Path("books").mkdir()
    for author in ("austen", "defoe", "swift"):
        Path("books", f"{author}.txt").write_text(f"words of {author}")
        Path(author).write_text("From a@b Tue Jun 14 19:52:09 2005\nTo: b\n\nwords\n")

    assert run("train", "-m", "m.nbt", *map(str, Path("books").iterdir())).status == 0
    assert run("train", "-m", "m.nbt", "austen", "defoe", "swift").status == 0


def test_tables_that_only_the_user_knows_are_not_taken_for_messages(run: "Run") -> None:
    names = ["old/one.txt", "old/two.txt", "new/one.txt"]
    for name in names:
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(f"{name} is it;joy\n{name} is not;fear\n")
    table = ("--format", "csv", "--delimiter", ";", "--label-column", "2")

    status = run("train", *table, "-m", "m.nbt", *names).status

    assert (status, run("train", "-m", "n.nbt", *names).status) == (0, 64)
    assert documents(run, "m.nbt") == {"fear": 3, "joy": 3}


def test_train_warns_of_classes_that_have_the_same_folders(run: "Run") -> None:
    for folder in ("spam/2019", "spam/2020", "ham/2019", "ham/2020"):
        Path(folder).mkdir(parents=True)
        Path(folder, "1").write_text(f"words of {folder}")

    status, _, err = run("train", "-m", "m.nbt", "spam", "ham")

    assert status == 0
    assert documents(run, "m.nbt") == {"ham": 2, "spam": 2}
    (warning,) = (line for line in err.splitlines() if line.startswith("WARNING: "))
    assert "and each of them holds the folders 2019, 2020; if those are " in warning
    assert "spam/*" in warning
    assert run("train", "-q", "-m", "m.nbt", "spam", "ham").err == f"{warning}\n"


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["a=news/train", "b=news/test"], id="labels"),
        pytest.param(["news/train/art", "news/test/law"], id="files"),
        pytest.param(["news/train", "news/other"], id="other folders"),
    ],
)
def test_train_warns_of_nothing_else(run: "Run", arguments: list[str]) -> None:
    for folder in ("train/art", "train/law", "test/art", "test/law", "other/art"):
        Path("news", folder).mkdir(parents=True)
        Path("news", folder, "1").write_text(f"words of {folder}")

    assert "WARNING" not in run("train", "-m", "m.nbt", *arguments).err


@pytest.mark.usefixtures("corpus")
def test_a_special_file_is_no_place_for_a_model(run: "Run") -> None:
    assert run("train", "-m", "/dev/null", "spam", "ham") == (
        73,
        "",
        "Error: /dev/null: the model cannot be written: a file was expected, and a "
        "folder or device found; name another file\n",
    )
    assert run("info", "-m", "/proc/self/status") == (
        65,
        "",
        "Error: /proc/self/status: a model was expected, and an empty or special file "
        "found; make one with `nbtext train`, or name another\n",
    )
    status, _, err = run("train", "-m", "/proc/self/status", "spam", "ham")
    assert status == 73
    assert ".tmp" not in err


@pytest.mark.usefixtures("corpus")
def test_models_that_do_not_add_up_say_which_setting_differs(run: "Run") -> None:
    run("train", "-q", "-m", "a.nbt", "spam", "ham")
    run("train", "-q", "-m", "b.nbt", "--alphabet", "words", "spam", "ham")
    Path("c.nbt").write_bytes(Path("a.nbt").read_bytes() + Path("b.nbt").read_bytes())

    status, out, err = run("info", "-m", "c.nbt")

    assert (status, out) == (65, "")
    assert "(--alphabet) of the view body: marks in one, words in the other" in err


def test_train_refuses_one_class_and_leaves_the_old_model(
    run: "Run", model: Path
) -> None:
    before = model.read_bytes()

    status, out, err = run("train", "-m", model, "spam")

    assert (status, out) == (65, "")
    assert err.startswith("Error: the documents have only the class 'spam'")
    assert model.read_bytes() == before
    assert names() == ["ham", "mail.nbt", "spam"]


def test_train_refuses_documents_without_a_token(run: "Run", model: Path) -> None:
    before = model.read_bytes()
    Path("a.txt").write_bytes(b"")
    Path("b.txt").write_bytes(b" \n\t")

    status, out, err = run("train", "-m", model, "a=a.txt", "b=b.txt")

    assert (status, out) == (65, "")
    assert err.startswith("Error: the documents have not one token")
    assert model.read_bytes() == before


def test_texts_of_emoji_alone_are_of_three_classes(run: "Run") -> None:
    drawn = {"good": "😀👍🎉", "bad": "😡👎💩", "meh": "😐🤷😶"}
    rows = [
        f"{label}\t{signs[n % 3]}{signs[n // 3 % 3]}"
        for n in range(9)
        for label, signs in drawn.items()
    ]
    Path("t.tsv").write_text("\n".join(rows), "utf-8")
    assert run("train", "-q", "-m", "e.nbt", "t.tsv").status == 0

    for label, signs in drawn.items():
        found = run("classify", "-m", "e.nbt", stdin=signs[2].encode())
        assert found.out.startswith(f"{label}\t")


def test_train_names_the_one_source_that_is_missing_once(run: "Run") -> None:
    status, out, err = run("train", "-m", "m.nbt", "nowhere")

    assert (status, out) == (66, "")
    assert err == (
        "Error: nowhere: no such file or folder; check how the path is spelt\n"
    )


def test_train_needs_sources(run: "Run") -> None:
    status, out, err = run("train")

    assert (status, out) == (64, "")
    assert "Usage: nbtext train" in err
    assert "Error: Missing argument 'SOURCES...'" in err


@pytest.mark.usefixtures("corpus")
def test_train_goes_on_without_a_source_that_is_missing(run: "Run") -> None:
    status, out, err = run("train", "-m", "m.nbt", "spam", "ham", "nowhere")

    assert (status, out) == (66, "")
    assert err.startswith("skipped: nowhere: no such file or folder; ")
    assert ", 1 skipped, " in err
    assert documents(run, "m.nbt") == {"ham": 8, "spam": 8}


@pytest.mark.usefixtures("corpus")
def test_train_goes_on_without_what_it_cannot_read(run: "Run") -> None:
    Path("spam/9.eml").symlink_to("nothing")
    Path("ham/9.eml.gz").write_bytes(gzip.compress(b"hello" * 99)[:-9])

    status, out, err = run("train", "-m", "m.nbt", "spam", "ham")

    assert (status, out) == (65, "")
    assert "skipped: spam/9.eml: the link leads nowhere; " in err
    assert re.search(r"^skipped: ham/9\.eml\.gz: .", err, re.MULTILINE)
    assert ", 2 skipped, " in err
    assert documents(run, "m.nbt") == {"ham": 8, "spam": 8}


@pytest.mark.usefixtures("corpus")
def test_train_names_what_it_skipped_when_it_fails(run: "Run") -> None:
    status, out, err = run("train", "-m", "m.nbt", "spam", "hma")

    assert (status, out) == (65, "")
    skipped, error = err.splitlines()
    assert skipped.startswith("skipped: hma: no such file or folder; ")
    assert error.startswith("Error: the documents have only the class 'spam'")


def test_train_reports_repeats_and_conflicts(run: "Run", tmp_path: Path) -> None:
    Path("rows.tsv").write_text(
        "one two\tx\nalpha beta\tx\nalpha beta\tx\nalpha beta\ty\ngamma\ty\n"
    )

    status, out, err = run(
        "train", "-m", "m.nbt", "--label-column", 2, "--text-column", 1, "rows.tsv"
    )

    assert (status, out) == (0, "")
    assert ", 0 skipped, 1 copy of another document\n" in err
    assert "WARNING: 1 document stood under two labels or more; " in err
    assert documents(run, "m.nbt") == {"x": 3, "y": 2}
    columns = ("--label-column", 2, "--text-column", 1)
    quiet = run("train", "-q", "-m", "m.nbt", *columns, "rows.tsv").err
    assert quiet.startswith("WARNING: 1 document stood under two labels or more; ")
    assert len(quiet.splitlines()) == 1


@pytest.mark.parametrize("regime", ["everything", "errors"])
def test_train_refuses_a_column_that_it_took_for_labels_and_that_is_another(
    run: "Run", regime: str
) -> None:
    lines = [f"{number}\tthe text {number} of it\n" for number in range(40)]
    Path("sentences.tsv").write_text("index\tsentence\n" + "".join(lines))
    command = ("train", "-m", "m.nbt", "--regime", regime)

    status, out, err = run(*command, "sentences.tsv")

    assert (status, out) == (65, "")
    assert "41 classes found for 41 documents, where labels that repeat were ex" in err
    assert "WARNING" not in err
    assert "name the column of the labels (--label-column COLUMN; without a" in err
    assert not Path("m.nbt").exists()
    columns = ("--label-column", "index", "--text-column", "sentence")
    assert run(*command, *columns, "sentences.tsv").status == 0


def test_rows_without_a_column_are_not_said_to_suggest_any(run: "Run") -> None:
    Path("rows.jsonl").write_text("{}\n{}\n")

    status, out, err = run("train", "-m", "m.nbt", "rows.jsonl")

    assert (status, out) == (65, "")
    assert "no column text, body, content or message" in err
    assert "suggest" not in err


@pytest.mark.parametrize(("rows", "is_told"), [(21, True), (20, False)])
def test_train_warns_of_a_column_of_labels_that_is_another(
    run: "Run", rows: int, is_told: bool
) -> None:
    lines = [f"{number},text {number} of it\n" for number in range(rows)]
    Path("rows.csv").write_text("id,text\n" + "".join(lines))
    columns = ("--label-column", "id", "--text-column", "text")

    for regime in ("everything", "errors"):
        given = (*columns, "--regime", regime)
        status, _, err = run("train", "-q", "-m", "m.nbt", *given, "rows.csv")

        assert status == 0
        assert err == (
            "WARNING: 21 classes are many for 21 documents; are these the labels "
            "(--label-column), and not texts or numbers of rows?\n"
            if is_told
            else ""
        )


def test_train_warns_of_labels_that_look_the_same(run: "Run") -> None:
    Path("rows.csv").write_text(
        "label,text\né,one\nx,two\nz,five\ne\u0301,three\nX ,four\n", "utf-8"
    )

    status, _, err = run("train", "-q", "-m", "m.nbt", "rows.csv")

    assert (status, err) == (
        0,
        "WARNING: the labels 'X' and 'x' (and 1 pair more) are the same but for case, "
        "blanks, or how their characters are composed; if they are one class, write "
        "them in one way\n",
    )
    assert documents(run, "m.nbt") == {"X": 1, "e\u0301": 1, "x": 1, "z": 1, "é": 1}


@pytest.mark.parametrize("command", ["train", "doctor", "eval"])
def test_a_table_without_a_known_column_of_labels_is_told_what_to_name(
    run: "Run", command: str
) -> None:
    Path("rows.csv").write_text("topic,text\narts,a play\nsport,a match\n")
    options = {"train": ["-m", "m.nbt"], "doctor": [], "eval": ["--folds", "2"]}

    status, out, err = run(command, *options[command], "rows.csv")

    assert (status, out) == (65, "")
    assert err == (
        "Error: the documents have only the class 'rows', and two are needed; name the "
        "column of the table that holds the labels (--label-column COLUMN; without a "
        "heading its number, from 1), or a table for each class (LABEL=PATH)\n"
    )


def test_a_table_without_a_heading_is_read_by_the_numbers_of_its_columns(
    run: "Run",
) -> None:
    rows = '"arts","a play","of three acts"\n"sport","a match","in the cup"\n'
    Path("rows.csv").write_text(rows)

    refused = run("train", "-m", "m.nbt", "rows.csv")

    assert "without a heading its number" in refused.err
    asked = ("--label-column", "1", "--text-column", "2", "--text-column", "3")
    assert run("train", "-q", "-m", "m.nbt", *asked, "rows.csv").status == 0
    assert "documents\t2 of text\n" in run("info", "-m", "m.nbt").out
    assert run("classify", "-m", "m.nbt", "rows.csv").out.count("\n") == 2


@pytest.mark.parametrize("jobs", [1, 2])
def test_train_tells_of_documents_without_a_byte(run: "Run", jobs: int) -> None:
    rows = [f"{label},{text}" for label in "ab" for text in ("some words", "", "", "x")]
    Path("rows.csv").write_text("\n".join(["label,text", *rows]))
    said = (
        "WARNING: 4 documents without a byte, of which nothing is learnt but how often "
        "a class occurs\n"
    )

    told = run("train", "-m", "m.nbt", "--jobs", str(jobs), "rows.csv")
    facts = run("train", "-q", "-m", "m.nbt", "--json", "rows.csv")

    assert said in told.err
    assert facts.err.startswith(said)
    assert told.err.count("WARNING: ") == len(facts.err.splitlines()) == 2
    assert json.loads(facts.out)["empty"] == 4


def test_train_without_a_ledger_cannot_tell_repeats(run: "Run") -> None:
    Path("rows.jsonl").write_text('{"text": "a b", "label": "x"}\n' * 2)
    arguments = ("train", "-m", "m.nbt", "--no-ledger", "rows.jsonl", "y=y.txt")
    Path("y.txt").write_text("c d")

    status, out, err = run(*arguments)

    assert (status, out) == (0, "")
    assert ", 0 skipped, 0 copies of other documents\n" in err
    assert info(run, "m.nbt")["settings"]["ledger"] is False


@pytest.mark.usefixtures("corpus")
def test_train_says_which_documents_it_cut(run: "Run") -> None:
    Path("spam/long.eml").write_bytes(Path("spam/0.eml").read_bytes() + b"x " * 9000)

    status, out, err = run(
        "train", "-m", "m.nbt", "--json", "--max-bytes", "2k", "spam", "ham"
    )

    assert status == 0
    assert json.loads(out)["truncated"] == 1
    line = "cut short: spam/long.eml is longer than --max-bytes; its rest was not read"
    assert line in err.splitlines()


def write_mbox(folder: Path) -> list[str]:
    for path in list(folder.glob("*am")):
        messages = [FROM_LINE + one.read_bytes() + b"\n" for one in path.iterdir()]
        (folder / f"{path.name}.mbox").write_bytes(b"".join(messages))
    return ["spam.mbox", "ham.mbox"]


def write_maildir(folder: Path) -> list[str]:
    for path in list(folder.glob("*am")):
        box = mailbox.Maildir(folder / f"Box.{path.name}")
        for one in path.iterdir():
            box.add(one.read_bytes())
    return ["spam=Box.spam", "ham=Box.ham"]


def write_mh(folder: Path) -> list[str]:
    for path in list(folder.glob("*am")):
        box = mailbox.MH(folder / f"mh.{path.name}")
        for one in path.iterdir():
            box.add(one.read_bytes())
        (folder / f"mh.{path.name}" / ".mh_sequences").touch()
    return ["spam=mh.spam", "ham=mh.ham"]


def write_labels(_: Path) -> list[str]:
    return ["good=ham", "bad=spam"]


def write_one_folder(folder: Path) -> list[str]:
    (folder / "both").mkdir()
    for label in ("spam", "ham"):
        (folder / label).rename(folder / "both" / label)
    return ["both"]


def write_rows(folder: Path) -> list[dict[str, str]]:
    return [
        {"label": path.parent.name, "text": path.read_text()}
        for path in sorted(folder.glob("*am/*.eml"))
    ]


def write_jsonl(folder: Path) -> list[str]:
    rows = "".join(json.dumps(row) + "\n" for row in write_rows(folder))
    (folder / "rows.jsonl").write_text(rows)
    return ["rows.jsonl"]


def write_csv(folder: Path) -> list[str]:
    rows = [f'{row["label"]},"{row["text"]}"\r\n' for row in write_rows(folder)]
    (folder / "rows.csv").write_text("".join(["label,text\r\n", *rows]))
    return ["rows.csv"]


def write_tsv(folder: Path) -> list[str]:
    rows = [
        "\t".join((row["label"], *row["text"].split())) + "\n"
        for row in write_rows(folder)
    ]
    (folder / "rows.tsv").write_text("".join(["label\ttext\n", *rows]))
    return ["rows.tsv"]


def write_index(folder: Path) -> list[str]:
    (folder / "full").mkdir()
    rows = [
        f"{path.parent.name} ../{path.parent.name}/{path.name}\n"
        for path in sorted(folder.glob("*am/*.eml"))
    ]
    (folder / "full" / "index").write_text("".join(rows))
    return ["full/index"]


def compressed(suffix: str, compress: Callable[[bytes], bytes]) -> Any:
    def write(folder: Path) -> list[str]:
        names = [f"{name}{suffix}" for name in write_mbox(folder)]
        for name in names:
            plain = folder / name.removesuffix(suffix)
            (folder / name).write_bytes(compress(plain.read_bytes()))
        return names

    return write


@pytest.mark.parametrize(
    "write",
    [
        pytest.param(write_labels, id="LABEL=PATH"),
        pytest.param(write_one_folder, id="a folder of folders"),
        pytest.param(write_mbox, id="mbox"),
        pytest.param(write_maildir, id="Maildir"),
        pytest.param(write_mh, id="MH"),
        pytest.param(write_jsonl, id="JSON lines"),
        pytest.param(write_csv, id="CSV"),
        pytest.param(write_tsv, id="TSV"),
        pytest.param(write_index, id="index"),
        pytest.param(compressed(".gz", gzip.compress), id="gz"),
        pytest.param(compressed(".bz2", bz2.compress), id="bz2"),
        pytest.param(compressed(".xz", lzma.compress), id="xz"),
    ],
)
def test_train_reads_every_kind_of_source(
    run: "Run", corpus: Path, write: Callable[[Path], list[str]]
) -> None:
    sources = write(corpus)

    status, out, err = run("train", "-m", "m.nbt", *sources)

    assert (status, out) == (0, "")
    assert err.startswith("read 16 documents of ")
    assert list(documents(run, "m.nbt").values()) == [8, 8]


@pytest.mark.usefixtures("corpus")
def test_train_reads_a_class_from_standard_input(process: "Run", run: "Run") -> None:
    mbox = b"".join(FROM_LINE + p.read_bytes() + b"\n" for p in Path("spam").iterdir())

    status, out, err = process("train", "-m", "m.nbt", "spam=-", "ham", stdin=mbox)

    assert (status, out) == (0, "")
    assert err.startswith("read 16 documents of mail ")
    assert documents(run, "m.nbt") == {"ham": 8, "spam": 8}


@pytest.mark.usefixtures("corpus")
def test_train_decides_by_most_documents_whether_they_are_mail(run: "Run") -> None:
    Path("spam/note.txt").write_text("no mail at all")
    for number in range(9):
        for label in ("x", "y"):
            Path(label).mkdir(exist_ok=True)
            Path(label, str(number)).write_text(f"words {label} {number}")

    assert run("train", "-q", "-m", "mail.nbt", "spam", "ham") == (0, "", "")
    assert run("train", "-q", "-m", "text.nbt", "x", "y", "x=ham") == (0, "", "")

    assert info(run, "mail.nbt")["settings"]["format"] == "mail"
    assert info(run, "text.nbt")["settings"]["format"] == "text"


@pytest.mark.usefixtures("corpus")
def test_train_reads_mail_as_text_if_told_to(run: "Run") -> None:
    arguments = ("train", "-q", "-m", "m.nbt", "--format", "text", "spam", "ham")

    assert run(*arguments) == (0, "", "")
    assert info(run, "m.nbt")["settings"]["format"] == "text"


@pytest.mark.parametrize(
    "options",
    [
        ("--score", "best"),
        ("--smoothing", "0"),
        ("--smoothing", "nan"),
        ("--smoothing", "x"),
        ("--ngrams", "3"),
        ("--alphabet", "runes"),
        ("--jobs", "0"),
        ("--format", "word"),
        ("--max-bytes", "0"),
        ("--max-bytes", "-1"),
        ("--max-bytes", "12x"),
        ("--max-bytes", ""),
        ("--nonsense",),
    ],
    ids=" ".join,
)
@pytest.mark.usefixtures("corpus")
def test_train_refuses_bad_options(run: "Run", options: tuple[str, ...]) -> None:
    status, out, err = run("train", "-m", "m.nbt", *options, "spam", "ham")

    assert (status, out) == (64, "")
    assert "Error: " in err
    assert not Path("m.nbt").exists()


@pytest.mark.usefixtures("corpus")
def test_train_refuses_a_score_that_the_classes_rule_out(run: "Run") -> None:
    sources = ("spam", "ham", "news=ham/1.eml")

    status, out, err = run("train", "-m", "m.nbt", "--score", "mean", *sources)

    assert (status, out) == (64, "")
    assert err.startswith("Error: the mean score is for two classes, the model has 3")
    assert not Path("m.nbt").exists()


def test_train_smooths_as_told_whatever_the_number_of_classes(run: "Run") -> None:
    rows = [f'{{"text": "t{label} w", "label": "{label}"}}\n' for label in "abc"]
    Path("rows.jsonl").write_text("".join(rows))

    status, _, _ = run("train", "-m", "m.nbt", "--smoothing", "0.5", "rows.jsonl")

    assert status == 0
    assert info(run, "m.nbt")["scoring"]["score"] == "contrast"


@pytest.mark.usefixtures("corpus")
def test_train_says_that_a_model_cannot_be_written(run: "Run") -> None:
    status, out, err = run("train", "-m", "/proc/nbtext/m.nbt", "spam", "ham")

    assert (status, out) == (73, "")
    assert err.startswith("Error: /proc/nbtext/m.nbt: the model cannot be written: ")


def test_train_needs_no_writable_current_folder(
    process: "Run", corpus: Path, run: "Run"
) -> None:
    arguments = ("train", "-q", "-m", corpus / "m.nbt", corpus / "spam", corpus / "ham")

    assert process(*arguments, cwd="/proc") == (0, "", "")
    assert documents(run, corpus / "m.nbt") == {"ham": 8, "spam": 8}


def without_time(path: Path) -> tuple[dict[str, Any], bytes]:
    data = path.read_bytes()
    unpacker = msgpack.Unpacker()
    unpacker.feed(data)
    header = unpacker.unpack()
    del header["written"], header["header_checksum"]
    return header, data[unpacker.tell() :]


def test_train_makes_the_same_file_in_any_number_of_processes(
    process: "Run", tmp_path: Path
) -> None:
    for label in ("spam", "ham"):
        (tmp_path / label).mkdir()
        for number in range(12):  # several chunks of work
            words = [f"{label}{number * n % 9973}" for n in range(20_000)]
            (tmp_path / label / str(number)).write_text(" ".join(words))

    assert process("train", "-q", "-m", "1.nbt", "spam", "ham") == (0, "", "")
    assert process("train", "-q", "-m", "2.nbt", "-j2", "spam", "ham") == (0, "", "")

    assert without_time(tmp_path / "1.nbt") == without_time(tmp_path / "2.nbt")


@pytest.mark.usefixtures("corpus")
def test_quiet_training_does_not_say_what_was_cut_short(run: "Run") -> None:
    arguments = ("train", "--max-bytes", "100", "-m", "m.nbt", "spam", "ham")

    assert "cut short: " in run(*arguments).err
    (warning,) = run(*arguments, "-q").err.splitlines()
    assert warning.startswith("WARNING: 8 documents stood under two labels or more; ")


@pytest.mark.usefixtures("corpus")
def test_a_class_cannot_be_called_what_unsure_is(run: "Run") -> None:
    status, out, err = run("train", "-m", "m.nbt", "?=spam", "ham")

    assert (status, out) == (65, "")
    assert "'?'" in err
    assert not Path("m.nbt").exists()


def test_damage_in_the_first_table_is_seen_by_info(model: Path, run: "Run") -> None:
    damaged = bytearray(model.read_bytes())
    keys = open_model(str(model)).tables[0].arrays["body.keys"].tobytes()
    damaged[damaged.index(keys)] ^= 1
    Path("damaged.nbt").write_bytes(damaged)

    status, out, err = run("info", "-m", "damaged.nbt")

    assert (status, out) == (65, "")
    assert "the arrays are not as they were written" in err


@pytest.mark.parametrize("signalled", [signal.SIGTERM, signal.SIGHUP])
def test_train_cleans_up_when_it_is_asked_to_end(
    model: Path, signalled: signal.Signals
) -> None:
    before = model.read_bytes()
    os.mkfifo("pipe.jsonl")
    arguments = ["train", "-j2", "-m", str(model), "ham", "spam=pipe.jsonl"]

    with (
        subprocess.Popen(
            [sys.executable, "-m", "nbtext", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as program,
        Path("pipe.jsonl").open("wb") as pipe,
    ):
        for number in range(200):  # more than a pipe holds, so it is being read
            text = f"words {number} " * 100
            pipe.write(json.dumps({"text": text}).encode() + b"\n")
        pipe.flush()
        program.send_signal(signalled)
        # until the last worker has closed them too
        out, err = program.communicate(timeout=PATIENCE)

    assert (program.returncode, out, err) == (128 + signalled, b"", b"")
    assert model.read_bytes() == before
    assert names() == ["ham", "mail.nbt", "pipe.jsonl", "spam"]


@pytest.mark.parametrize("jobs", [1, 2])
def test_train_stops_at_ctrl_c_and_leaves_nothing_behind(
    model: Path, jobs: int
) -> None:
    before = model.read_bytes()
    os.mkfifo("pipe.jsonl")
    arguments = ["train", "-j", str(jobs), "-m", str(model), "ham", "spam=pipe.jsonl"]

    with (
        subprocess.Popen(
            [sys.executable, "-m", "nbtext", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # a terminal, too, interrupts the whole group
        ) as program,
        Path("pipe.jsonl").open("wb") as pipe,
    ):
        for number in range(200):  # more than a pipe holds, so it is being read
            text = f"words {number} " * 100
            pipe.write(json.dumps({"text": text}).encode() + b"\n")
        pipe.flush()
        os.killpg(program.pid, signal.SIGINT)
        out, err = program.communicate(timeout=PATIENCE)

    assert (program.returncode, out) == (130, b"")
    assert b"Traceback" not in err
    assert model.read_bytes() == before
    assert names() == ["ham", "mail.nbt", "pipe.jsonl", "spam"]


def test_train_replaces_a_model_that_was_taught_only_if_told_to(
    run: "Run", model: Path
) -> None:
    mail = sorted(Path("spam").iterdir())[0]
    assert run("learn", "-q", "-m", model, "ham", mail).status == 0
    before = model.read_bytes()

    refused = run("train", "-m", model, "spam", "ham")

    assert (refused.status, refused.out) == (73, "")
    assert "1 document was learnt, moved or forgotten since" in refused.err
    assert "--replace" in refused.err
    assert model.read_bytes() == before
    assert run("train", "-q", "-m", model, "--replace", "spam", "ham").status == 0
    assert run("train", "-q", "-m", model, "spam", "ham").status == 0


def test_train_waits_for_another_writer_and_then_gives_up(
    process: "Run", model: Path
) -> None:
    with locked(str(model)):
        status, out, err = process(
            "train", "-q", "-m", model, "--wait", "0.1", "spam", "ham"
        )

    assert (status, out) == (75, "")
    assert " has been writing the model for 0.1 s; try again" in err


@pytest.mark.parametrize("size", ["1234567890123", "1048576G", "16M"])
@pytest.mark.usefixtures("corpus")
def test_a_large_size_is_honoured(run: "Run", size: str) -> None:
    assert run("train", "-q", "--max-bytes", size, "spam", "ham") == (0, "", "")


@pytest.mark.parametrize("size", ["1048577G", "1" * 5000, "0", "-1", "1.5M", "٣"])
@pytest.mark.usefixtures("corpus")
def test_a_size_that_is_none_or_too_large_is_refused(run: "Run", size: str) -> None:
    status, out, err = run("train", "-q", "--max-bytes", size, "spam", "ham")

    assert (status, out) == (64, "")
    assert "'--max-bytes'" in err


@pytest.mark.usefixtures("corpus")
def test_a_pattern_says_what_a_token_is(run: "Run") -> None:
    status, _, err = run("train", "-m", "p.nbt", "--pattern", r"\w{4,}", "spam", "ham")
    assert (status, err.count("skipped:")) == (0, 0)

    _, info, _ = run("info", "-m", "p.nbt")
    _, tokens, _ = run("tokens", "-m", "p.nbt", stdin=b"To: me\n\nsome short-ish of it")
    status, decided, err = run("classify", "-m", "p.nbt", "spam")

    assert "pattern\t\\\\w{4,} (regex " in info
    assert [line for line in tokens.splitlines() if line.startswith("body")] == [
        "body\tbody\t1\tsome",
        "body\tbody\t1\tshort",
        "body\tbody\t1\tsome short",
    ]
    assert (status, err) == (0, "")
    assert decided.startswith("spam\t")


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--pattern", "("], "missing )"),
        (["--pattern", ""], "not 1 to 1000 characters"),
        (["--pattern", "x", "--alphabet", "words"], "in place of --alphabet"),
    ],
)
@pytest.mark.usefixtures("corpus")
def test_a_pattern_that_cannot_be_used_is_an_error(
    run: "Run", options: list[str], reason: str
) -> None:
    status, _, err = run("train", "-m", "p.nbt", *options, "spam", "ham")

    assert status == 64
    assert reason in err
    assert not Path("p.nbt").exists()


def test_a_document_that_a_pattern_cannot_search_is_skipped(
    run: "Run", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nbtext.tokens.pattern.SECONDS", 0.1)
    for name, text in (("spam", "a"), ("spam", "a" * 80 + "!"), ("ham", "b")):
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        folder.joinpath(str(len(text))).write_text(f"{text}\n")
    options = ["-m", "p.nbt", "--format", "text", "--pattern", r"(?:\w|\w\w)+$"]

    status, _, err = run(
        "train", *options, str(tmp_path / "spam"), str(tmp_path / "ham")
    )
    assert status == 65
    assert f"skipped: {tmp_path}/spam/81: the pattern" in err
    assert "read 2 documents" in err

    status, out, err = run("classify", "-m", "p.nbt", str(tmp_path / "spam"))
    assert status == 65
    assert f"skipped: {tmp_path}/spam/81: the pattern" in err
    assert out.count("\n") == 1

    status, out, err = run("learn", "-m", "p.nbt", "ham", str(tmp_path / "spam"))
    assert status == 65
    assert "spam/81: the pattern" in err

    status, out, err = run(
        "eval", "--folds", "2", "--format", "text", *options[-2:],
        f"spam={tmp_path}/spam/1", f"spam={tmp_path}/spam/81",
        f"ham={tmp_path}/ham", f"ham={tmp_path}/spam/81",
    )  # fmt: skip
    assert "spam/81: the pattern" in err


@pytest.mark.usefixtures("corpus")
def test_the_memory_of_counts_can_be_bounded(run: "Run") -> None:
    """A model is the same, but for its date, whatever the bound and the jobs."""
    models = {"a.nbt": (), "b.nbt": ("--memory", "1k", "--jobs", "2")}
    dumped = []
    for model, options in models.items():
        status, _, _ = run("train", "-q", "-m", model, *options, "spam", "ham")
        assert status == 0
        dumped.append(re.sub('"trained":"[^"]+"', "", run("dump", "-m", model).out))

    assert dumped[0] == dumped[1]
    assert dumped[0].count("\n") > 100
    refused = run("train", "-m", "c.nbt", "--memory", "lots", "spam", "ham")
    assert refused.status == 64
    assert "'lots' is not a size such as 500k" in refused.err


@pytest.mark.usefixtures("corpus")
def test_a_full_temporary_folder_leaves_the_old_model(
    run: "Run", monkeypatch: pytest.MonkeyPatch
) -> None:
    run("train", "-q", "-m", "mail.nbt", "spam", "ham")
    before = Path("mail.nbt").read_bytes()

    def full(*_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", full)
    monkeypatch.setattr("nbtext.counts.room.LEAST_BOUND", 1024)
    status, _, err = run("train", "-m", "mail.nbt", "--memory", "1k", "spam", "ham")

    assert status == 74
    assert "No space left on device; make room there" in err
    assert Path("mail.nbt").read_bytes() == before


@pytest.mark.parametrize(
    "command",
    [
        ("train", "-m", "m.nbt"),
        ("train", "-m", "m.nbt", "--regime", "errors"),
        ("tune",),
        ("doctor",),
        ("eval", "--folds", "2"),
    ],
    ids=["train", "regime", "tune", "doctor", "folds"],
)
def test_a_class_with_the_name_of_unsure_is_refused_where_it_stands(
    run: "Run", command: tuple[str, ...]
) -> None:
    rows = [("spam", "money"), ("ham", "lunch"), ("?", "prize"), ("ham", "a walk")]
    text = "".join(f"{label},{text} {n}\n" for n, (label, text) in enumerate(2 * rows))
    Path("rows.csv").write_text(f"label,text\n{text}")

    status, out, err = run(*command, "rows.csv")

    assert (status, out) == (65, "")
    assert (
        "Error: rows.csv:3: a class cannot be called '?', which means unsure; " in err
    )
    assert not Path("m.nbt").exists()


@pytest.mark.usefixtures("corpus")
def test_a_folder_with_the_name_of_unsure_is_refused_by_its_first_file(
    run: "Run",
) -> None:
    Path("spam").rename("?")

    status, _, err = run("train", "-m", "m.nbt", "?", "ham")

    assert status == 65
    assert err.startswith(
        f"Error: {min(Path('?').iterdir())}: a class cannot be called"
    )


def test_a_label_as_long_as_a_text_is_not_shown_whole(run: "Run") -> None:
    long = "L" * 100_000
    Path("rows.csv").write_text(f"label,text\n{long},money\nham,lunch\n")
    Path("one.csv").write_text(f"label,text\n{long},money\n")

    status, _, err = run("train", "-m", "m.nbt", "rows.csv")
    assert (status, len(err) < 1000) == (0, True)
    assert f"{'L' * 40}... 1" in err

    for refused in (
        run("train", "-m", "one.nbt", "one.csv"),
        run("classify", "--is", "spam", "-m", "m.nbt", "rows.csv:2"),
    ):
        assert refused.status in (64, 65)
        assert f"{'L' * 40}..." in refused.err
        assert len(refused.err) < 1000
