"""`nbtext load`: a model of its text form."""

import bz2
import gzip
import json
import lzma
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.conftest import PROGRAM, on_a_terminal
from tests.waiting import PATIENCE

if TYPE_CHECKING:
    from tests.cli.conftest import Run

MISSING = "no such file or folder; check how the path is spelt"


@pytest.fixture
def text(run: "Run", model: Path) -> bytes:
    """The text form of a model that was taught one document."""
    assert run("learn", "-q", "-m", model, "spam", "ham/1.eml").status == 0
    dumped = run("dump", "-m", model)

    assert (dumped.status, dumped.err) == (0, "")
    return dumped.out.encode()


def test_load_makes_the_model_that_was_dumped(run: "Run", text: bytes) -> None:
    status, out, err = run("load", "-m", "new/m.nbt", stdin=text)

    assert (status, out) == (0, "")
    said = err.splitlines()
    assert said[0] == "loaded 16 documents of mail: ham 7, spam 9"
    assert said[1].endswith(" terms, 1 undo record")
    assert said[2].startswith("wrote new/m.nbt (")
    assert run("dump", "-m", "new/m.nbt").out.encode() == text
    assert Path("new/m.nbt").stat().st_mode & 0o777 == 0o600


def test_dump_and_load_go_through_a_pipe(model: Path, text: bytes) -> None:
    program = shlex.join(PROGRAM)
    line = f"{program} dump -m {model} | {program} load -m new.nbt"

    done = subprocess.run(
        ["sh", "-c", line], capture_output=True, check=False, timeout=PATIENCE
    )

    assert (done.returncode, done.stdout) == (0, b"")
    dumped = subprocess.run(
        [*PROGRAM, "dump", "-m", "new.nbt"],
        capture_output=True,
        check=True,
        timeout=PATIENCE,
    )
    assert dumped.stdout == text


@pytest.mark.parametrize("name", ["m.jsonl", "-"])
def test_load_reads_a_file_or_standard_input(
    run: "Run", text: bytes, name: str
) -> None:
    Path("m.jsonl").write_bytes(text)

    status, out, err = run("load", "-q", "-m", "new.nbt", name, stdin=text)

    assert (status, out, err) == (0, "", "")
    assert run("dump", "-m", "new.nbt").out.encode() == text


def test_load_tells_a_program_what_it_read(run: "Run", text: bytes) -> None:
    status, out, err = run("load", "-q", "--json", "-m", "new.nbt", stdin=text)

    assert (status, err) == (0, "")
    said = json.loads(out)
    known = json.loads(run("info", "--json", "-m", "new.nbt").out)
    assert said == {
        "documents": 16,
        "classes": {"ham": 7, "spam": 9},
        "format": "mail",
        "terms": known["terms"],
        "undo": 1,
        "lines": text.count(b"\n"),
        "path": "new.nbt",
        "size": known["bytes"],
    }


def test_a_model_that_was_loaded_classifies_as_before(
    run: "Run", model: Path, text: bytes
) -> None:
    assert run("load", "-q", "-m", "new.nbt", stdin=text).status == 0

    before = run("classify", "--json", "-m", model, "spam", "ham")

    assert run("classify", "--json", "-m", "new.nbt", "spam", "ham") == before
    assert before.status == 0


def test_what_was_learnt_before_can_be_forgotten_after(run: "Run", text: bytes) -> None:
    assert run("load", "-q", "-m", "new.nbt", stdin=text).status == 0
    # with other tokens, so that the record is needed
    again = b"Received: from elsewhere\n" + Path("ham/1.eml").read_bytes()

    status, _, err = run("forget", "-m", "new.nbt", stdin=again)

    assert (status, err) == (0, "forgot 1 document\n")


def test_load_replaces_a_model_that_was_taught_only_if_told_to(
    run: "Run", model: Path, text: bytes
) -> None:
    before = model.read_bytes()

    status, out, err = run("load", "-m", model, stdin=text)

    assert (status, out) == (73, "")
    assert err.startswith(f"Error: {model}: 1 document was learnt, moved or forgotten")
    assert "--replace" in err
    assert model.read_bytes() == before
    assert run("load", "-q", "-m", model, "--replace", stdin=text) == (0, "", "")
    assert run("dump", "-m", model).out.encode() == text


def test_load_replaces_what_is_no_model_only_if_told_to(
    run: "Run", text: bytes
) -> None:
    Path("new.nbt").write_bytes(b"something else")

    refused = run("load", "-q", "-m", "new.nbt", stdin=text)

    assert (refused.status, refused.out) == (73, "")
    assert Path("new.nbt").read_bytes() == b"something else"
    loaded = run("load", "-q", "-m", "new.nbt", "--replace", stdin=text)
    assert loaded == (0, "", "")
    assert run("dump", "-m", "new.nbt").out.encode() == text


@pytest.mark.parametrize(
    ("damage", "line"),
    [
        (lambda text: text[: len(text) // 2], None),
        (lambda text: text[:-13], None),
        (lambda text: text.replace(b'"count":1}', b'"count":2}', 1), 1),
        (lambda text: text.replace(b'{"ham":[1,1]}', b'{"ham":[2,1]}', 1), 1),
        (lambda text: b"hello\n" + text, 1),
        (lambda _: b"", 1),
    ],
    ids=["half", "cut", "document", "count", "before", "empty"],
)
def test_load_names_the_line_that_is_damaged_and_writes_nothing(
    run: "Run", text: bytes, damage: Callable[[bytes], bytes], line: int | None
) -> None:
    damaged = damage(text)
    number = line or damaged.count(b"\n") + 1

    status, out, err = run("load", "-m", "new.nbt", stdin=damaged)

    assert (status, out) == (65, "")
    assert err.startswith(f"Error: -: line {number}: expected ")
    assert err.count("\n") == 1
    assert not Path("new.nbt").exists()


def test_load_leaves_the_old_model_if_the_text_is_damaged(
    run: "Run", model: Path, text: bytes
) -> None:
    before = model.read_bytes()

    status, _, _ = run("load", "-m", model, "--replace", stdin=text[:-1000])

    assert status == 65
    assert model.read_bytes() == before
    assert sorted(path.name for path in Path().iterdir()) == ["ham", "mail.nbt", "spam"]


def test_load_says_that_there_is_no_such_file(run: "Run") -> None:
    status, out, err = run("load", "-m", "new.nbt", "nowhere.jsonl")

    assert (status, out, err) == (66, "", f"Error: nowhere.jsonl: {MISSING}\n")


def test_load_says_that_a_folder_is_no_text(run: "Run") -> None:
    Path("folder").mkdir()

    status, out, err = run("load", "-m", "new.nbt", "folder")

    assert (status, out) == (65, "")
    assert (
        err == "Error: folder: a file was expected, and a folder found; name a file\n"
    )


def test_load_says_that_the_model_cannot_be_written(run: "Run", text: bytes) -> None:
    status, out, err = run("load", "-m", "/proc/nbtext/m.nbt", stdin=text)

    assert (status, out) == (73, "")
    assert err.startswith("Error: /proc/nbtext/m.nbt: the model cannot be written: ")


@pytest.mark.usefixtures("text")
def test_load_needs_no_standard_input(process: "Run") -> None:
    status, out, err = process("load", "-m", "new.nbt", wrap='"$@" <&-')

    assert (status, out) == (65, "")
    assert err.startswith("Error: -: line 1: expected ")


def test_load_does_not_wait_for_somebody_to_type_a_model() -> None:
    status, out, err = on_a_terminal("load", "-m", "new.nbt")

    assert (status, out) == (64, "")
    assert err.startswith("Usage: nbtext load [OPTIONS] [FILE]")
    assert err.endswith("Error: Name a source, or pipe a dump in.\n")


@pytest.mark.parametrize("suffix", ["gz", "bz2", "xz"])
@pytest.mark.usefixtures("model")
def test_a_compressed_dump_is_loaded(run: "Run", process: "Run", suffix: str) -> None:
    text = run("dump", "-m", "mail.nbt").out.encode()
    packed = {
        "gz": gzip.compress(text),
        "bz2": bz2.compress(text),
        "xz": lzma.compress(text),
    }[suffix]
    Path(f"dump.{suffix}").write_bytes(packed)
    Path(f"cut.{suffix}").write_bytes(packed[:-9])

    named = run("load", "-m", "a.nbt", f"dump.{suffix}")
    piped = process("load", "-m", "b.nbt", stdin=packed)
    cut = run("load", "-m", "c.nbt", f"cut.{suffix}")

    assert (named.status, piped.status) == (0, 0)
    for model in ("a.nbt", "b.nbt"):
        assert run("dump", "-m", model).out.encode() == text
    assert cut.status == 65
    assert cut.err.startswith(f"Error: cut.{suffix}")
    assert not Path("c.nbt").exists()
