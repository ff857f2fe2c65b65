"""`nbtext dump`: a model as text."""

import gzip
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from nbtext.store import open_model
from tests.cli.conftest import read_once

if TYPE_CHECKING:
    from tests.cli.conftest import Run


def test_dump_writes_one_object_a_line(run: "Run", model: Path) -> None:
    status, out, err = run("dump", "-m", model)

    assert (status, err) == (0, "")
    first, *middle, last = [json.loads(line) for line in out.splitlines()]
    known = json.loads(run("info", "--json", "-m", model).out)
    assert first["format"] == "nbtext model as text"
    assert first["settings"] == known["settings"]
    assert first["classes"]["spam"]["documents"] == 8
    assert sum("term" in line for line in middle) == known["terms"]
    assert sum("document" in line for line in middle) == 16
    assert last == {"lines": len(middle) + 2}


def test_dump_is_the_same_for_the_same_sums(run: "Run", model: Path) -> None:
    assert run("learn", "-q", "-m", model, "spam", "ham/1.eml").status == 0
    before = run("dump", "-m", model)
    assert run("compact", "-q", "-m", model).status == 0

    assert run("dump", "-m", model) == before
    assert before.status == 0


def test_dump_says_what_it_passes_over(run: "Run", model: Path) -> None:
    whole = run("dump", "-m", model).out
    begun = b"\0" + model.read_bytes()[1:100]  # as a crash leaves it
    model.write_bytes(model.read_bytes() + begun)

    status, out, err = run("dump", "-m", model)

    assert (status, out) == (0, whole)
    assert err.startswith("note: ")
    assert "the last 100 bytes" in err


def test_dump_refuses_a_model_that_is_damaged(run: "Run", model: Path) -> None:
    damaged = bytearray(model.read_bytes())
    longest = max(open_model(str(model)).tables[0].arrays.contents(), key=len)
    changed = damaged.index(bytes(longest))  # and not a byte of the padding
    damaged[changed] ^= 1
    model.write_bytes(damaged)

    status, out, err = run("dump", "-m", model)

    assert (status, out) == (65, "")
    place = int(err.split("damaged at byte ")[1].split(":")[0])  # that of its block
    assert place <= changed < place + 1024


def test_dump_says_that_there_is_no_model(run: "Run") -> None:
    status, out, err = run("dump", "-m", "nowhere.nbt")

    assert (status, out) == (66, "")
    assert err.startswith("Error: nowhere.nbt: no model there; ")


@pytest.mark.parametrize("unbuffered", ["", "1"], ids=["buffered", "unbuffered"])
def test_a_closed_pipe_ends_dump_quietly(
    run: "Run", corpus: Path, unbuffered: str
) -> None:
    text = " ".join(f"word{number}" for number in range(20_000))
    (corpus / "spam" / "long.txt").write_text(text)
    assert run("train", "-q", "-m", "m.nbt", "spam", "ham").status == 0

    status, first, complaints = read_once("dump", "-m", "m.nbt", unbuffered=unbuffered)

    assert first.startswith(b'{"format":')
    assert (status, complaints) == (141, b"")


def test_dump_says_that_the_disk_is_full(process: "Run", model: Path) -> None:
    status, _, err = process("dump", "-m", model, wrap='"$@" >/dev/full')

    assert (status, err) == (74, "Error: standard output: No space left on device\n")


def test_dump_can_be_compressed_and_loaded_again(process: "Run", model: Path) -> None:
    packed = process("dump", "-m", model, wrap='"$@" | gzip > m.jsonl.gz')
    assert packed == (0, "", "")
    text = gzip.decompress(Path("m.jsonl.gz").read_bytes())

    status, out, _ = process("load", "-q", "-m", "new.nbt", stdin=text)

    assert (status, out) == (0, "")
    assert process("dump", "-m", "new.nbt").out.encode() == text
