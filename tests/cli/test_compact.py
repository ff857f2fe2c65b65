"""`nbtext compact`: one table of many, with the same sums."""

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

from nbtext.store import open_model

if TYPE_CHECKING:
    from tests.cli.conftest import Run
    from tests.conftest import Truth

NEW = b"From: a@x.example\nSubject: new cash prize\n\nmoney for the winner %d\n"


def teach(run: "Run", model: Path) -> None:
    for number in range(5):
        assert run("learn", "spam", "-q", "-m", model, stdin=NEW % number).status == 0


def test_compact_makes_one_table_with_the_same_sums(
    run: "Run", model: Path, truth: "Truth"
) -> None:
    teach(run, model)
    before = truth.stored(model)

    status, out, err = run("compact", "-m", model)

    assert (status, out) == (0, "")
    assert re.fullmatch(r"compacted 6 tables, [\d.]+ kB, to one of [\d.]+ kB\n", err)
    assert len(open_model(str(model)).tables) == 1
    assert truth.stored(model) == before


def test_compact_tells_a_program_what_it_did(run: "Run", model: Path) -> None:
    teach(run, model)
    before = model.stat().st_size

    status, out, err = run("compact", "-q", "--json", "-m", model)

    assert (status, err) == (0, "")
    assert json.loads(out) == {
        "tables": 6, "before": before, "after": model.stat().st_size,
        "path": str(model),
    }  # fmt: skip


def test_compact_scores_as_before(run: "Run", model: Path) -> None:
    teach(run, model)
    before = run("classify", "-m", model, "spam", "ham")
    run("compact", "-q", "-m", model)

    assert run("classify", "-m", model, "spam", "ham") == before


def test_compact_removes_a_table_that_was_not_written_whole(
    run: "Run", model: Path
) -> None:
    whole = model.read_bytes()
    model.write_bytes(whole + b"\0" + whole[1:1000])  # as a crash leaves it

    compacted = run("compact", "-q", "-m", model)

    assert compacted == (0, "", "")
    assert open_model(str(model)).notes == ()


def test_compact_leaves_a_model_as_it_is_if_the_disk_is_full(
    process: "Run", run: "Run", model: Path
) -> None:
    teach(run, model)
    before = model.read_bytes()

    failed = process("compact", "-m", model, wrap='ulimit -f 2; exec "$@"')

    assert failed == (
        73,
        "",
        f"Error: {model}: the model cannot be written: File too large; what was there "
        "before is unchanged; allow larger files (`ulimit -f`), or put it on another "
        "disk\n",
    )
    assert model.read_bytes() == before
    assert sorted(path.name for path in model.parent.glob(".*")) == []


def test_compact_needs_a_model(run: "Run") -> None:
    assert run("compact", "-m", "none.nbt") == (
        66,
        "",
        "Error: none.nbt: no model there; make one with `nbtext train`, or name "
        "another\n",
    )
