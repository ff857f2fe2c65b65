"""No name drives the terminal that it is printed on."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from tests.build import maildir

if TYPE_CHECKING:
    from tests.cli.conftest import Run

EVIL: Final = "\x9b31m\u202eliame\u2066\x7f\x1b]0;x\x07"
"""A C1 control, an override and an isolate of direction, DEL, and an OSC sequence."""

MODEL: Final = ("-m", f"{EVIL}.nbt")


def assert_harmless(text: str) -> None:
    assert all(line.replace("\t", "").isprintable() for line in text.split("\n"))


@pytest.fixture
def folders(corpus: Path) -> tuple[str, str]:
    """Two folders and a model whose names, and names inside, are evil."""
    names = (f"spam{EVIL}", f"ham{EVIL}")
    for name in names:
        folder = (corpus / name.partition(EVIL)[0]).rename(corpus / name)
        (folder / "0.eml").rename(folder / f"{EVIL}.eml")
        (folder / f"gone{EVIL}").symlink_to("nowhere")
    return names


def commands(folders: tuple[str, str]) -> list[list[str]]:
    spam, ham = folders
    return [
        ["train", *MODEL, "--json", spam, ham],
        ["info", *MODEL],
        ["info", *MODEL, "--json"],
        ["classify", *MODEL, spam],
        ["classify", *MODEL, "--json", spam],
        ["classify", *MODEL, "--is", EVIL, spam],
        ["eval", *MODEL, spam, ham],
        ["eval", *MODEL, "--json", spam, ham],
        ["top", *MODEL, "--from", spam],
        ["top", *MODEL, "--json", "--from", spam, "--from", ham],
        ["why", *MODEL, spam],
        ["why", *MODEL, "--json", spam],
        ["why", *MODEL, f"{spam}/1.eml", "--against", f"{ham}/1.eml"],
        ["tokens", *MODEL, spam],
        ["tokens", *MODEL, "--json", spam],
        ["learn", *MODEL, "-v", "--json", spam, ham],
        ["forget", *MODEL, "-v", "--json", f"{ham}/1.eml"],
        ["filter", *MODEL, "-v", "--json", "-n", "--move", f"{spam}=to{EVIL}", "box"],
        ["compact", *MODEL, "--json"],
        ["check", *MODEL],
        ["check", *MODEL, "--json"],
        ["dump", *MODEL],
        ["merge", "--json", "-o", f"merged{EVIL}", MODEL[1], MODEL[1]],
        ["prune", "--json", "-m", MODEL[1], "-o", f"pruned{EVIL}"],
        ["load", *MODEL, "--json", f"{EVIL}.txt"],
        ["bogofilter", "-v", "-B", spam],
        [f"{EVIL}"],
        ["classify", f"-{EVIL}"],
        ["classify", "-m", f"none{EVIL}", spam],
    ]


def test_no_command_prints_what_a_terminal_obeys(
    folders: tuple[str, str], run: "Run", corpus: Path
) -> None:
    mail = (corpus / folders[0] / "1.eml").read_bytes()
    maildir(corpus / "box", {f"cur/1{EVIL}": mail})

    for command in commands(folders):
        _, out, err = run(*command)

        assert out or err, command
        assert_harmless(out)
        assert_harmless(err)


def test_escaped_json_has_the_same_values(
    folders: tuple[str, str], process: "Run", corpus: Path
) -> None:
    cwd = str(corpus)
    process("train", *MODEL, *folders, cwd=cwd)

    _, out, _ = process("info", *MODEL, "--json", cwd=cwd)
    assert list(json.loads(out)["classes"]) == sorted(folders)

    _, out, _ = process("classify", *MODEL, "--json", folders[0], cwd=cwd)
    found = [json.loads(line) for line in out.splitlines()]
    assert f"{folders[0]}/{EVIL}.eml" in [decision["name"] for decision in found]
    assert {decision["label"] for decision in found} == {folders[0]}


def test_bytes_that_are_not_utf_8_are_written_in_one_way(
    process: "Run", model: Path, tmp_path: Path
) -> None:
    odd = tmp_path / "m\udce4.nbt"
    model.rename(odd)
    said = process("info", "--json", "-m", odd)
    assert r"m\\xe4.nbt" in said.out
    assert json.loads(said.out)["path"] == rf"{tmp_path}/m\xe4.nbt"

    for command, told in (
        (["classify", "-m", odd, "a\udcff\udcfeb"], r"skipped: a\xff\xfeb: "),
        (["info", "-m", "x\udce4"], r"Error: x\xe4: "),
        (["learn", "new\udce4", "-m", odd, "spam"], r"no class 'new\xe4'"),
        (["eval", "-m", odd, "new\udce4=spam"], r"has no class 'new\xe4' (8 "),
        (["eval", "--report", "r\udce4.txt", "spam"], r"'r\xe4.txt' is not a file"),
        (["train", "-m", "n\udce4.nbt", "spam", "ham"], r"wrote n\xe4.nbt "),
        (["classify", "-m", odd, "-m", "b\udce4", "spam"], r"Error: b\xe4: "),
    ):
        err = process(*command).err

        assert told in err
        assert "udc" not in err
