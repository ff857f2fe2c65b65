"""`nbtext check`: what it says of a model, and what it saves of a damaged one."""

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from nbtext.cli._report import size
from nbtext.store import open_model
from tests.build import SPAM, mail
from tests.waiting import PATIENCE

if TYPE_CHECKING:
    from tests.cli.conftest import Run


@pytest.fixture
def taught(run: "Run", model: Path) -> Path:
    """A model of three tables: sixteen documents, one more, and one forgotten."""
    known, new = mail(0, SPAM), mail(20, SPAM)
    for arguments, document in ((("learn", "spam"), new), (("forget",), known)):
        done = run(*arguments, "-q", "-m", model, stdin=document)
        assert done == (0, "", "")
    return model


def damage(model: Path, number: int) -> None:
    """Change a byte of the arrays of one table."""
    table = open_model(str(model)).tables[number]
    data = bytearray(model.read_bytes())
    longest = bytes(max(table.arrays.contents(), key=len))
    data[data.index(longest, table.offset)] ^= 1
    model.write_bytes(data)


def rows(out: str) -> list[list[str]]:
    return [line.split("\t") for line in out.splitlines()]


def test_a_sound_model_has_a_line_a_table(run: "Run", taught: Path) -> None:
    tables = open_model(str(taught)).tables

    status, out, err = run("check", "-m", taught)

    assert (status, err) == (0, "sound: ham 8, spam 8\n")
    documents = ["ham 8, spam 8", "spam 1", "spam -1"]
    assert rows(out) == [
        [str(table.offset), str(table.length), told, "sound"]
        for table, told in zip(tables, documents, strict=True)
    ]


def test_quiet_leaves_the_lines_alone(run: "Run", taught: Path) -> None:
    loud, quiet = run("check", "-m", taught), run("check", "-q", "-m", taught)

    assert quiet == (0, loud.out, "")


def test_a_damaged_model_says_what_would_be_lost(run: "Run", taught: Path) -> None:
    damage(taught, 1)

    status, out, err = run("check", "-m", taught)

    assert status == 65
    what = rows(out)[1][3]
    assert what.startswith(
        "damaged: the arrays are not as they were written (written 20"
    )
    assert [row[3] for row in rows(out)[::2]] == ["sound", "sound"]
    assert err.splitlines() == [
        f"{taught}: 1 of 3 parts is bad; with spam 1",
        f"`nbtext check --repair -m {taught}` writes what is sound to "
        f"{taught}.repaired: ham 8, spam 7",
    ]


def test_a_damaged_header_says_how_much_nobody_knows(run: "Run", taught: Path) -> None:
    data = bytearray(taught.read_bytes())
    _, table, following = open_model(str(taught)).tables
    data[table.offset + 99] ^= 1
    taught.write_bytes(data)

    status, out, err = run("check", "-q", "-m", taught)

    assert status == 65
    assert rows(out)[1][2] == "?"
    assert rows(out)[1][3].startswith("damaged: its header ")
    unknown = following.offset - table.offset
    assert err.startswith(
        f"{taught}: 1 of 3 parts is bad; {size(unknown)} do not say what was in "
    )


def test_check_tells_a_program(run: "Run", taught: Path) -> None:
    damage(taught, 1)

    status, out, _ = run("check", "--json", "-m", taught)

    assert status == 65
    said = json.loads(out)
    assert said["path"] == str(taught)
    assert said["bytes"] == taught.stat().st_size
    assert not said["sound"]
    assert [table["verdict"] for table in said["tables"]] == [
        "sound", "damaged", "sound",
    ]  # fmt: skip
    assert said["tables"][1]["classes"] == {"spam": 1}
    assert said["classes"] == {"ham": 8, "spam": 7}
    assert said["repaired"] is None


def test_a_repair_writes_what_is_sound_beside_the_model(
    run: "Run", taught: Path
) -> None:
    damage(taught, 1)
    damaged = taught.read_bytes()
    new = taught.with_name("mail.nbt.repaired")

    status, out, err = run("check", "--repair", "-m", taught)

    assert status == 0
    assert rows(out)[1][3].startswith("damaged: ")
    assert "1 of 3 parts is bad; with spam 1\n" in err
    assert f"wrote {new} (" in err
    assert f"`mv {new} {taught}` puts it in the model's place" in err
    assert taught.read_bytes() == damaged
    assert new.stat().st_mode & 0o777 == 0o600
    assert run("check", "-m", new).err == "sound: ham 8, spam 7\n"


def test_a_repair_goes_where_output_says_and_replaces_nothing(
    run: "Run", taught: Path
) -> None:
    damage(taught, 1)
    repair = ("check", "--repair", "-o", "new.nbt", "-m", taught)
    done = run(*repair, "--json")
    written = Path("new.nbt").read_bytes()

    status, out, err = run(*repair)

    assert done.status == 0
    assert json.loads(done.out)["repaired"] == "new.nbt"
    assert (status, out) == (73, "")
    assert err.startswith("Error: new.nbt: there is a file already; move it away")
    assert Path("new.nbt").read_bytes() == written


def test_a_sound_model_needs_no_repair(run: "Run", taught: Path) -> None:
    status, _, err = run("check", "--repair", "-m", taught)

    assert (status, err) == (0, "sound: ham 8, spam 8\n")
    assert not taught.with_name("mail.nbt.repaired").exists()


def test_where_nothing_is_sound_nothing_is_written(run: "Run", model: Path) -> None:
    damage(model, 0)

    checked = run("check", "-m", model)
    status, out, err = run("check", "--repair", "-m", model)

    assert checked.status == 65
    assert "nothing of it is sound; restore a copy or train again\n" in checked.err
    assert (status, out) == (65, "")
    assert err.startswith(f"Error: {model}: no document is left in what is sound")
    assert not model.with_name("mail.nbt.repaired").exists()


def test_output_is_for_repairs(run: "Run", model: Path) -> None:
    status, out, err = run("check", "-o", "new.nbt", "-m", model)

    assert (status, out) == (64, "")
    assert "--output is for --repair." in err


def test_what_a_crash_cut_off_is_reported_and_no_damage(
    run: "Run", taught: Path
) -> None:
    taught.write_bytes(taught.read_bytes() + bytes(100))

    status, out, err = run("check", "-m", taught)

    assert status == 0
    assert rows(out)[-1][3].startswith("cut off: it was not written whole")
    assert "a table that was not written whole; they are passed over\n" in err


def test_a_copy_that_ended_early_is_damaged(run: "Run", taught: Path) -> None:
    taught.write_bytes(taught.read_bytes()[:-100])

    status, out, err = run("check", "-m", taught)

    assert status == 65
    assert rows(out)[-1][3].startswith("damaged: its end is missing")
    assert f"`nbtext check --repair -m {taught}` writes what is sound to " in err


def test_what_check_advises_can_be_typed_whatever_the_name(
    run: "Run", taught: Path
) -> None:
    damage(taught, 1)
    Path("here").mkdir()
    model = taught.rename("here/-the model\n\udcff.nbt")
    os.chdir("here")

    told = run("check", "-m", model.name).err
    (line,) = re.findall(r"`nbtext (check .*)` writes what is sound", told)
    words = subprocess.run(
        ["bash", "-c", f"printf '%s\\0' {line}"], check=True, capture_output=True
    ).stdout.split(b"\0")[:-1]
    told = run(*map(os.fsdecode, words)).err
    (line,) = re.findall(r"`(mv .*)` puts it", told)
    subprocess.run(["bash", "-c", line], check=True)

    assert run("check", "-m", model.name).status == 0


@pytest.mark.parametrize(
    ("contents", "message"),
    [
        (b"", "a model was expected, and an empty or special file"),
        (b"Dear Sir,\n", "not an nbtext model, or nothing is left of one"),
        (bytes(10_000), "not an nbtext model, or nothing is left of one"),
        (b"\x8f\xa6for", "not an nbtext model, or nothing is left of one"),
    ],
)
def test_what_is_no_model_is_refused(run: "Run", contents: bytes, message: str) -> None:
    Path("m.nbt").write_bytes(contents)

    status, out, err = run("check", "-m", "m.nbt")

    assert (status, out) == (65, "")
    assert err.startswith(f"Error: m.nbt: {message}")


def test_there_is_nothing_to_check(run: "Run", corpus: Path) -> None:
    missing, folder = run("check", "-m", "none.nbt"), run("check", "-m", corpus)

    assert (missing.status, missing.out) == (66, "")
    assert missing.err.startswith("Error: none.nbt: no model there; ")
    assert (folder.status, folder.out) == (74, "")
    assert folder.err.startswith(f"Error: {corpus}: the model cannot be read: ")


def test_what_other_commands_call_damaged_check_explains(
    run: "Run", taught: Path
) -> None:
    damage(taught, 1)

    refused = run("classify", "-m", taught, stdin=mail(3, SPAM))
    checked = run("check", "-m", taught)

    assert refused.status == checked.status == 65
    assert "see what is still good with `nbtext check`" in refused.err
    place = int(refused.err.split("at byte ")[1].split(":")[0])
    (damaged,) = [row for row in rows(checked.out) if "damaged" in row[3]]
    assert int(damaged[0]) <= place < int(damaged[0]) + int(damaged[1])


def test_the_names_of_classes_are_escaped(run: "Run") -> None:
    for label in ("a\tb", "c\nd"):
        Path(label).mkdir()
        Path(label, "1").write_text(f"words of {label[0]}")
    assert run("train", "-q", "-m", "m.nbt", "a\tb", "c\nd") == (0, "", "")

    status, out, err = run("check", "-m", "m.nbt")

    assert (status, err) == (0, "sound: a\\tb 1, c\\nd 1\n")
    assert rows(out)[0][2:] == ["a\\tb 1, c\\nd 1", "sound"]


def test_a_person_sees_a_table(model: Path) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "nbtext", "check", "-m", str(model)]

    subprocess.run(
        command, stdout=theirs, stderr=subprocess.DEVNULL, check=True, timeout=PATIENCE,
        env=os.environ | {"TERM": "xterm", "COLUMNS": "80"},
    )  # fmt: skip
    os.close(theirs)
    seen = os.read(ours, 10_000).decode()
    os.close(ours)

    assert "documents" in seen.splitlines()[0]
    assert "ham 8, spam 8" in seen
