"""`nbtext prune`: fewer terms, and what that means for forgetting."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Run


def test_a_dry_run_says_what_would_be_left_and_changes_nothing(
    run: "Run", model: Path
) -> None:
    before = model.read_bytes()

    status, out, err = run("prune", "-m", model, "--dry-run")

    assert (status, out) == (0, "")
    assert err.startswith("would leave ")
    assert model.read_bytes() == before


def test_prune_does_what_the_dry_run_said(run: "Run", model: Path) -> None:
    would = json.loads(run("prune", "-q", "-m", model, "-n", "--json").out)

    status, out, err = run("prune", "-q", "-m", model, "--json")

    assert (status, err) == (0, "")
    did = json.loads(out)
    assert (would["done"], did["done"]) == (False, True)
    for name in ("terms", "tokens"):
        assert would[name] == did[name]
    assert did["terms"]["after"] < did["terms"]["before"]
    assert did["bytes"]["after"] == model.stat().st_size < did["bytes"]["before"]
    info = json.loads(run("info", "--json", "-m", model).out)
    assert info["terms"] == did["terms"]["after"]


def test_pruning_again_does_nothing(run: "Run", model: Path) -> None:
    assert run("prune", "-q", "-m", model).status == 0
    before = model.read_bytes()

    status, out, err = run("prune", "-m", model)

    assert (status, out) == (0, "")
    assert err.endswith("terms are in enough documents: nothing to do\n")
    assert model.read_bytes() == before


def test_after_pruning_forgetting_wants_leave(run: "Run", model: Path) -> None:
    mail = sorted(Path("spam").iterdir())[0]
    told = run("prune", "-m", model)
    assert "counted before is forgotten or corrected with --approximate" in told.err

    refused = run("forget", "-m", model, mail)
    done = run("forget", "-m", model, "--approximate", mail)

    assert refused.status == 65
    assert refused.err.splitlines() == [
        f"refused: {mail}: it was learnt as spam before the model was pruned, and what "
        "it left is not known any more; take away what there is with --approximate",
        "refused 1 document",
    ]
    assert done == (0, "", "forgot 1 document\n")


def test_one_document_is_no_bound(run: "Run", model: Path) -> None:
    status, out, err = run("prune", "-m", model, "--min-documents", "1")

    assert (status, out) == (64, "")
    assert "--min-documents" in err


@pytest.mark.usefixtures("model")
def test_probabilities_are_fitted_anew_where_documents_are_given(run: "Run") -> None:
    prune = ("prune", "-m", "mail.nbt", "-n")

    still = run(*prune)
    anew = run(*prune, "--counted", "spam", "--counted", "ham")
    strange = run(*prune, "--counted", "mail.nbt", "--format", "text")

    assert "probabilities still fitted to what documents scored with all" in still.err
    assert "probabilities fitted anew to 16 documents with the terms that" in anew.err
    assert "WARNING: the model has counted none of these documents" in strange.err
