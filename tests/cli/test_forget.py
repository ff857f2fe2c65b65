"""`nbtext forget`: what it takes away, exactly, and what it refuses."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from nbtext.learning import stream

if TYPE_CHECKING:
    from tests.cli.conftest import Run
    from tests.conftest import Truth

NEW = b"From: a@x.example\nSubject: new cash prize\n\nmoney for the winner\n"
DELIVERED = (
    b"Received: from relay.example by inbox.example; Tue, 6 Feb 2024 10:00:00\n"
    b"X-Spam-Status: Yes, score=7.1\n"
    b"X-NBText: spam 0.98\n"
    b"Status: RO\n"
) + NEW


@pytest.mark.parametrize("is_compacted", [False, True])
def test_what_is_forgotten_was_never_there(
    process: "Run", model: Path, truth: "Truth", is_compacted: bool
) -> None:
    before = truth.stored(model)
    process("learn", "spam", "-m", model, stdin=NEW)
    if is_compacted:
        process("compact", "-m", model)

    forgotten = process("forget", "-m", model, stdin=NEW)

    assert forgotten == (0, "", "forgot 1 document\n")
    assert truth.stored(model) == before


@pytest.mark.parametrize("line_end", [b"\n", b"\r\n"], ids=["LF", "CRLF"])
@pytest.mark.parametrize("is_compacted", [False, True])
def test_what_was_delivered_since_is_forgotten_as_it_was(
    run: "Run", model: Path, truth: "Truth", is_compacted: bool, line_end: bytes
) -> None:
    before = truth.stored(model)
    run("learn", "spam", "-m", model, stdin=NEW)
    if is_compacted:
        run("compact", "-m", model)

    forgotten = run("forget", "-m", model, stdin=DELIVERED.replace(b"\n", line_end))

    assert forgotten == (0, "", "forgot 1 document\n")
    assert truth.stored(model) == before


def test_what_was_never_learnt_is_refused_by_name(run: "Run", model: Path) -> None:
    before = model.read_bytes()
    Path("new.eml").write_bytes(NEW)

    refused = run("forget", "-m", model, "new.eml")

    assert refused == (
        65,
        "",
        "refused: new.eml: it is not in the model: it was never learnt, or is "
        "forgotten\nrefused 1 document\n",
    )
    assert model.read_bytes() == before


def test_other_tokens_are_refused_where_no_record_is_kept(
    run: "Run", model: Path
) -> None:
    run("learn", "spam", "--undo", "0", "-m", model, "-", stdin=NEW)
    run("compact", "-q", "-m", model)
    before = model.read_bytes()

    refused = run("forget", "-m", model, stdin=DELIVERED)
    moved = run("learn", "ham", "-m", model, stdin=DELIVERED)
    forgotten = run("forget", "-m", model, stdin=NEW)

    assert (refused.status, moved.status) == (65, 65)
    assert refused.err.startswith(
        "refused: -: it was learnt as spam with other tokens than it has now, and no "
        "record of them is kept (--undo)"
    )
    assert moved.err == refused.err
    assert (forgotten.status, before != model.read_bytes()) == (0, True)


def test_what_was_trained_twice_with_other_tokens_is_refused_by_what_to_do(
    run: "Run", corpus: Path
) -> None:
    (corpus / "spam" / "new.eml").write_bytes(NEW)
    (corpus / "spam" / "delivered.eml").write_bytes(DELIVERED)
    assert run("train", "-m", "twice.nbt", "spam", "ham").status == 0

    for brought in (NEW, DELIVERED):
        refused = run("forget", "-m", "twice.nbt", stdin=brought)
        assert refused.status == 65
        assert refused.err.startswith("refused: -: it was learnt more than once, as ")
        assert "or nothing: train again without it\n" in refused.err


def test_forget_tells_a_program_what_it_did(run: "Run", model: Path) -> None:
    Path("new.eml").write_bytes(NEW)

    status, out, err = run(
        "forget", "-q", "--json", "-m", model, "spam/1.eml", "ham/1.eml", "new.eml"
    )

    assert status == 65
    assert json.loads(out) == {
        "class": None, "forgotten": 2, "known": 0, "refused": 1, "empty": 0,
        "skipped": 0, "path": str(model),
    }  # fmt: skip
    assert err.startswith("refused: new.eml: ")


@pytest.mark.parametrize("many", [4096, 1])
def test_copies_of_what_is_forgotten_are_no_errors(
    run: "Run", model: Path, monkeypatch: pytest.MonkeyPatch, many: int
) -> None:
    """In one batch or in several: what was learnt from a folder is forgotten by it."""
    monkeypatch.setattr(stream, "MANY", many)
    Path("box").mkdir()
    for name in ("1.eml", "2.eml", "3.eml"):
        Path("box", name).write_bytes(NEW)
    assert run("learn", "spam", "-m", model, "box").status == 0

    told = run("forget", "-v", "-m", model, "box")
    again = run("forget", "--json", "-m", model, "box")

    assert told.status == 0
    lines = told.err.splitlines()[1:]
    assert lines == [
        "box/1.eml: forgotten as spam",
        "box/2.eml: a copy, forgotten already",
        "box/3.eml: a copy, forgotten already",
        "forgot 1 document, passed over 2 documents forgotten with a copy",
    ]
    facts = json.loads(again.out)
    assert (again.status, facts["forgotten"], facts["refused"]) == (65, 0, 3)


def test_forget_says_which_model_it_used_and_what_each_was(
    run: "Run", model: Path
) -> None:
    forgotten = run("forget", "-v", "-m", model, "spam/1.eml")

    assert forgotten == (
        0,
        "",
        f"model: {model}\nspam/1.eml: forgotten as spam\nforgot 1 document\n",
    )


def test_a_class_that_loses_its_last_document_is_gone(run: "Run", model: Path) -> None:
    forgotten = run("forget", "-m", model, "spam")

    classified = run("classify", "-m", model, "ham/1.eml")
    classes = json.loads(run("info", "--json", "-m", model).out)["classes"]
    assert forgotten == (0, "", "forgot 8 documents\n")
    assert list(classes) == ["ham"]
    assert classified == (
        65,
        "",
        f"Error: {model}: the model knows only the class 'ham', and two are needed; "
        "teach it another with `nbtext learn CLASS`\n",
    )


def test_a_model_that_has_forgotten_everything_can_begin_again(
    run: "Run", model: Path
) -> None:
    run("forget", "-q", "-m", model, "spam", "ham")
    empty = run("classify", "-m", model, "ham/1.eml")
    run("compact", "-q", "-m", model)
    for label in ("spam", "ham"):
        assert run("learn", label, "-q", "-m", model, label).status == 0

    classified = run("classify", "-m", model, "ham/1.eml")

    assert (empty.status, empty.out) == (65, "")
    assert "the model knows no class" in empty.err
    assert classified.status == 0
    assert classified.out.startswith("ham\t")


def test_there_is_nothing_to_forget_without_a_model(run: "Run") -> None:
    assert run("forget", "-m", "none.nbt", stdin=NEW) == (
        66,
        "",
        "Error: none.nbt: no model there; make one with `nbtext train`, or name "
        "another\n",
    )


def test_what_is_empty_is_passed_over_by_learn_and_forget(
    run: "Run", model: Path
) -> None:
    Path("none.eml").touch()
    before = model.read_bytes()

    alone = [
        run(*verb, "-m", model, stdin=b"") for verb in (["learn", "spam"], ["forget"])
    ]
    beside = run("forget", "-m", model, "none.eml", "spam/1.eml")

    said = "passed over 1 document without a byte\n"
    assert alone == [(65, "", said)] * 2
    assert beside == (0, "", f"forgot 1 document, {said}")
    assert model.read_bytes().startswith(before)
