"""A model without its rare terms."""

from pathlib import Path

import numpy as np
import pytest

from nbtext import classify, forget, learn, load, train_on
from nbtext.store import open_model, read_contents
from nbtext.store.packing import unpack
from nbtext.store.writing import replace_file
from nbtext.upkeep.pruning import prune
from tests.build import FEW_TERMS, key_of

PAIRS: list[tuple[str, bytes | str]] = [
    ("spam", "win a prize"),
    ("spam", "win a prize now"),
    ("ham", "win lunch"),
]


@pytest.fixture
def path(tmp_path: Path) -> str:
    train_on(PAIRS, str(tmp_path / "m.nbt"), overrides=FEW_TERMS)
    return str(tmp_path / "m.nbt")


def pruned(path: str, min_documents: int = 2) -> None:
    contents = read_contents(open_model(path))
    replace_file(path, prune(contents, min_documents).contents.pack())


def keys(path: str) -> set[int]:
    (runs,) = unpack(open_model(path)).runs
    return set(np.concatenate([run.keys for run in runs]).tolist())


def approximately_forgotten(path: str, text: str) -> list[str]:
    return [one.outcome for one in forget(path, [text], approximate=True)]


def test_terms_in_enough_documents_over_all_classes_stay(path: str) -> None:
    win, a, prize = map(key_of, ("win", "a", "prize"))

    pruned(path)

    assert keys(path) == {win, a, prize, key_of("win", "a"), key_of("a", "prize")}


def test_what_would_be_left_is_said(path: str) -> None:
    outcome = prune(read_contents(open_model(path)), 2)

    assert outcome.terms == (9, 5)
    assert outcome.tokens == (15, 11)


def test_documents_and_ledger_stay_but_for_the_fingerprints(path: str) -> None:
    before = unpack(open_model(path))

    pruned(path)

    after = unpack(open_model(path))
    assert after.documents == before.documents
    for one, other in zip(before.ledger, after.ledger, strict=True):
        assert one.entries[:, :2].tolist() == other.entries[:, :2].tolist()
        assert not other.entries[:, 2].any()


def test_a_pruned_model_classifies(path: str) -> None:
    pruned(path)

    assert classify(load(path), "a prize to win").label == "spam"


def test_older_documents_are_refused_and_younger_ones_are_not(path: str) -> None:
    learn(path, "spam", ["older"])
    pruned(path)
    learn(path, "spam", ["younger"])

    older, younger = forget(path, ["win lunch", "younger"])
    (record,) = forget(path, ["older"])

    assert (older.outcome, younger.outcome) == ("refused", "forgotten")
    assert "before the model was pruned" in older.reason
    assert record.outcome == "refused"


def test_what_is_known_is_not_learnt_again(path: str) -> None:
    pruned(path)

    assert [one.outcome for one in learn(path, "ham", ["win lunch"])] == ["known"]


def test_what_is_left_of_a_document_is_taken_away_if_asked_for(path: str) -> None:
    pruned(path)

    assert approximately_forgotten(path, "win lunch") == ["forgotten"]

    table = unpack(open_model(path))
    assert (table.classes, table.documents) == (("spam",), (2,))
    assert len(open_model(path).tables) == 2


def test_several_that_share_terms_never_take_more_than_there_is(path: str) -> None:
    pruned(path, 3)  # only "win" is left

    results = forget(path, [text for _, text in PAIRS], approximate=True)

    assert [one.outcome for one in results] == ["forgotten"] * 3
    table = unpack(open_model(path))
    assert (table.classes, table.n_rows) == ((), 0)
