"""`nbtext undo`: the last `learn` or `forget` is taken back, all of it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from nbtext.learning import stream
from nbtext.scoring import batches
from nbtext.store import appending, open_model

if TYPE_CHECKING:
    from tests.cli.conftest import Run


def test_what_was_learnt_forgotten_or_moved_is_taken_back(
    run: "Run", model: Path
) -> None:
    trained = model.read_bytes()
    before = [trained]
    for command in (
        ("learn", "spam", "ham/1.eml"),
        ("forget", "spam"),
        ("learn", "ham", "ham"),
    ):
        assert run(*command, "-m", model).status == 0
        before.append(model.read_bytes())
    shown = json.loads(run("info", "--json", model).out)["undo"]

    outcomes = []
    for wanted in reversed(before[:-1]):
        outcomes.append(run("undo", model))
        assert model.read_bytes() == wanted
    nothing = run("undo", model)

    assert shown["documents"] == 1
    assert [outcome.status for outcome in outcomes] == [0, 0, 0]
    assert [outcome.err.partition(" at ")[0] for outcome in outcomes] == [
        "took back 1 document, learnt as ham",
        "took back 8 documents, forgotten",
        "took back 1 document, learnt as spam",
    ]  # fmt: skip
    assert nothing.status == 64
    assert "there is nothing to take back" in nothing.err
    assert model.read_bytes() == trained


def test_a_command_of_many_tables_is_taken_back_whole(
    run: "Run", model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(6):
        Path(f"{number}.eml").write_bytes(b"Subject: x\n\nword%d money" % number)
    new = [f"{number}.eml" for number in range(6)]
    assert run("learn", "ham", new[0], "-m", model).status == 0
    before = model.read_bytes()
    monkeypatch.setattr(stream, "MANY", 2)

    learnt = run("learn", "spam", *new[1:], "-m", model)
    tables = len(open_model(str(model)).tables)
    dry = run("undo", "--dry-run", "--json", "-q", model)
    done = run("undo", "-q", model)

    assert learnt.status == 0
    assert tables == 5
    said = json.loads(dry.out)
    assert (said["documents"], said["tables"], said["done"]) == (5, 3, False)
    assert done == (0, "", "")
    assert model.read_bytes() == before


def test_what_others_have_learnt_in_the_midst_is_not_lost(
    run: "Run", model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(4):
        Path(f"{number}.eml").write_bytes(b"Subject: x\n\nword%d money" % number)

    monkeypatch.setattr(stream, "MANY", 1)

    def batches_with_a_pause(*arguments: Any, **options: Any) -> Iterator[Any]:
        monkeypatch.setattr(stream, "batches", batches)
        for batch in batches(*arguments, **options):
            yield batch
            run("learn", "-q", "ham", "3.eml", "-m", model)

    monkeypatch.setattr(stream, "batches", batches_with_a_pause)
    assert run("learn", "-q", "spam", "0.eml", "1.eml", "-m", model).status == 0
    before = model.read_bytes()

    status, _, err = run("undo", model)

    assert status == 64
    assert "another command has learnt or compacted in the midst" in err
    assert model.read_bytes() == before


def test_a_tail_that_learning_has_compacted_is_said_to_be_one_table(
    run: "Run", model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(appending, "TAIL", 3)
    long = b"Subject: x\n\n" + b" ".join(b"long%d" % number for number in range(9000))
    assert run("learn", "-q", "ham", "-m", model, stdin=long).status == 0
    assert run("compact", "-q", model).status == 0  # so that a tail is short
    for number in range(4):
        mail = b"Subject: x\n\nword%d money" % number
        assert run("learn", "-q", "spam", "-m", model, stdin=mail).status == 0
    tables = len(open_model(str(model)).tables)

    assert run("undo", "-q", model).status == 0
    before = model.read_bytes()
    status, out, err = run("undo", model)
    again = run("learn", "-q", "spam", "-m", model, stdin=b"Subject: x\n\nword0 money")

    assert tables == 3  # the first, the tail in one, and the last
    assert (status, out) == (64, "")
    assert "made one table" in err
    assert "cannot be taken back one by one" in err
    assert "`nbtext forget DOCUMENTS`" in err
    assert "the model is as good as before" in err
    assert "restore" not in err
    assert "joined" not in err
    assert again.status == 0
    assert model.read_bytes() == before


@pytest.mark.parametrize("command", ["compact", "prune"])
def test_what_was_learnt_and_compacted_is_not_said_never_to_have_been(
    command: str, run: "Run", model: Path
) -> None:
    assert run("learn", "-q", "spam", "ham/1.eml", "-m", model).status == 0
    assert run(command, "-q", model).status == 0

    status, _, err = run("undo", model)

    assert status == 64
    assert "cannot be taken back one by one" in err
    assert "nothing was learnt" not in err


def test_a_model_that_learning_began_is_its_first_table(run: "Run") -> None:
    learnt = run("learn", "--create", "-q", "spam", "-m", "new.nbt", stdin=b"money")

    status, _, err = run("undo", "new.nbt")

    assert learnt.status == 0
    assert status == 64
    assert "its first table, without which there would be no model" in err


def test_a_command_that_began_a_model_is_not_taken_back_in_part(
    run: "Run", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "MANY", 2)
    new = [f"{number}.eml" for number in range(6)]
    for name in new:
        Path(name).write_bytes(b"Subject: x\n\nmoney of " + name.encode())
    learnt = run("learn", "--create", "-q", "spam", *new, "-m", "new.nbt")
    begun = Path("new.nbt").read_bytes()

    status, _, err = run("undo", "new.nbt")

    assert learnt.status == 0
    assert len(open_model("new.nbt").tables) > 1
    assert status == 64
    assert "its first table, without which there would be no model" in err
    assert Path("new.nbt").read_bytes() == begun
    assert run("learn", "-q", "spam", "-m", "new.nbt", stdin=b"gold").status == 0
    assert run("undo", "-q", "new.nbt").status == 0
    assert Path("new.nbt").read_bytes() == begun


def test_a_file_that_was_joined_is_said_to_be(run: "Run", model: Path) -> None:
    trained = model.read_bytes()
    assert run("learn", "-q", "spam", "ham/1.eml", "-m", model).status == 0
    taught = model.read_bytes()
    Path("behind.nbt").write_bytes(trained + taught)
    Path("before.nbt").write_bytes(taught + trained)

    outcomes = [run("undo", name) for name in ("behind.nbt", "before.nbt")]

    assert [outcome.status for outcome in outcomes] == [64, 64]
    assert all("joined of those of several models" in one.err for one in outcomes)


def test_compacted_models_have_nothing_to_take_back(run: "Run", model: Path) -> None:
    assert run("learn", "spam", "ham/1.eml", "-m", model).status == 0
    joined = model.read_bytes() * 2
    Path("joined.nbt").write_bytes(joined)
    assert run("compact", "-q", model).status == 0

    assert run("undo", model).status == 64
    assert run("undo", "joined.nbt").status == 64
    assert Path("joined.nbt").read_bytes() == joined


def test_a_long_tail_is_compacted_before_the_next_command(
    run: "Run", model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(appending, "LEAST_TAIL", 0)
    for number in range(9):
        Path(f"{number}.eml").write_bytes(b"Subject: x\n\nword%d money" % number)
    most = 0

    for number in range(9):
        assert run("learn", "-q", "spam", f"{number}.eml", "-m", model).status == 0
        file = open_model(str(model))
        assert file.is_in_order
        most = max(most, len(file.tables))
        assert len(file.tables) > 1  # so that it can be taken back
    counts = json.loads(run("info", "--json", model).out)["classes"]

    assert most < 9
    assert counts["spam"]["documents"] == 17
    assert run("check", "-q", model).status == 0
    assert run("undo", "-q", model).status == 0
