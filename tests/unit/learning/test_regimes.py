"""Regimes: which documents `learn` and `train` learn, and what becomes of others."""

from pathlib import Path

import pytest

from nbtext import (
    SettingsOverrides,
    evaluate_replay,
    forget,
    learn,
    load,
    set_policy,
    train,
    train_on,
)
from nbtext.errors import SettingsError
from nbtext.learning.regimes import EVERYTHING, MARGIN, Regime, regime_of
from nbtext.policy import Policy
from nbtext.store import open_model
from nbtext.store.calibrations import calibrations_of
from nbtext.store.packing import unpack
from tests.build import documents_of
from tests.properties.test_replay_laws import log_posterior, texts, written

ERRORS = Regime("errors")
PLAIN = SettingsOverrides(correction=False)


def observed(path: Path) -> int:
    """How many documents a model's calibration rests on."""
    file = open_model(str(path))
    kept = calibrations_of(file.tables)
    return sum(kept[0].documents.values())


@pytest.mark.parametrize(
    ("regime", "lead", "is_learnt"),
    [
        (EVERYTHING, 50.0, True),
        (ERRORS, 0.1, False),
        (ERRORS, -0.1, True),
        (Regime("near-errors", 2.0), 1.9, True),
        (Regime("near-errors", 2.0), 2.1, False),
        (Regime("near-errors", 2.0), -9.0, True),
    ],
)
def test_a_regime_learns(regime: Regime, lead: float, is_learnt: bool) -> None:
    log_posterior = [-9.0, -1.0, -1.0 - lead]
    decided = 1 if lead > 0 else 2

    assert regime.learns(log_posterior, decided, 1) is is_learnt
    assert regime.learns(log_posterior, None, 1)  # unsure is an error


def test_regimes_by_their_names() -> None:
    assert regime_of(None, None) == EVERYTHING
    assert regime_of("errors", MARGIN) == ERRORS
    assert regime_of("near-errors", 0.0) == Regime("near-errors", 0.0)
    for name, margin in (("all", None), ("errors", 1.0), ("near-errors", -1.0)):
        with pytest.raises(SettingsError):
            regime_of(name, margin)


@pytest.mark.parametrize("regime", [ERRORS, Regime("near-errors", 1.0)])
def test_learn_is_what_a_replay_learns(tmp_path: Path, regime: Regime) -> None:
    """One document after the other, and the same by a replay from the same model."""
    stream, path = texts(["ham", "spam"], 60), tmp_path / "m.nbt"
    train_on(stream[:20], path)
    sources = written(tmp_path, stream[20:])
    replay = evaluate_replay(sources, model=load(path), regime=regime).replay

    outcomes = [
        learn(path, label, [text], regime=regime)[0].outcome
        for label, text in stream[20:]
    ]

    assert replay is not None
    assert {*outcomes} == {"learnt", "left out"}
    assert outcomes.count("learnt") == replay.learnt
    assert outcomes.count("left out") == replay.left_out
    assert sum(documents_of(path).values()) == 20 + replay.learnt


@pytest.mark.parametrize("n", [10, 40], ids=["few", "many"])
def test_a_batch_is_judged_one_by_one(tmp_path: Path, n: int) -> None:
    """What a batch learns is what its documents learn that are told one at a time."""
    stream, batch = texts(["ham", "spam"], 20), texts(["spam", "ham"], 2 * n, seed=8)
    spam = [text for label, text in batch if label == "spam"][:n]
    one_by_one, at_once = tmp_path / "one.nbt", tmp_path / "all.nbt"
    for path in (one_by_one, at_once):
        train_on(stream, path)

    singly = [learn(one_by_one, "spam", [text], regime=ERRORS)[0] for text in spam]
    together = learn(at_once, "spam", spam, regime=ERRORS)

    assert [one.outcome for one in together] == [one.outcome for one in singly]
    assert {one.outcome for one in together} == {"learnt", "left out"}
    probe = "free meeting pills thanks"
    assert log_posterior(load(at_once), probe) == pytest.approx(
        log_posterior(load(one_by_one), probe), abs=1e-9
    )


def test_what_is_left_out_is_in_no_ledger(tmp_path: Path) -> None:
    """So it can be learnt later, and there is nothing to forget."""
    path, text = tmp_path / "m.nbt", "offer free click winner pills money"
    train_on(texts(["ham", "spam"], 30), path)
    before = path.read_bytes()

    (result,) = learn(path, "spam", [text, text], regime=ERRORS)[:1]

    assert result.outcome == "left out"
    assert path.read_bytes() == before
    assert forget(path, [text])[0].outcome == "refused"
    assert learn(path, "spam", [text])[0].outcome == "learnt"
    assert learn(path, "spam", [text], regime=ERRORS)[0].outcome == "known"


def test_a_correction_moves_a_document_whatever_the_model_says(tmp_path: Path) -> None:
    path, text = tmp_path / "m.nbt", "offer free click winner pills money"
    train_on([*texts(["ham", "spam"], 30), ("ham", text)], path)

    assert learn(path, "spam", [text], regime=ERRORS)[0].outcome == "moved"
    assert learn(path, "ham", [text], regime=ERRORS)[0].outcome == "moved"


def test_what_is_chosen_for_an_error_says_nothing_of_calibration(
    tmp_path: Path,
) -> None:
    path = tmp_path / "m.nbt"
    train_on(texts(["ham", "spam"], 30), path)
    before = observed(path)

    outcomes = learn(path, "spam", ["meeting lunch report", "we"], regime=ERRORS)

    assert "learnt" in {one.outcome for one in outcomes}
    assert observed(path) == before
    learn(path, "spam", ["agenda friday notes"])
    assert observed(path) == before + 1


def test_a_model_that_begins_learns_until_it_can_judge(tmp_path: Path) -> None:
    path = tmp_path / "m.nbt"
    first = learn(path, "spam", ["offer free", "winner"], create=True, regime=ERRORS)
    other = learn(path, "ham", ["meeting lunch"], create=True, regime=ERRORS)

    assert [one.outcome for one in (*first, *other)] == ["learnt"] * 3


def test_unsure_is_an_error_by_the_policy_of_the_model(tmp_path: Path) -> None:
    path, text = tmp_path / "m.nbt", "offer free click winner pills money"
    train_on(texts(["ham", "spam"], 30), path)
    set_policy(str(path), Policy(threshold=0.9999))

    assert learn(path, "spam", [text], regime=ERRORS)[0].outcome == "learnt"


def test_training_learns_some_and_tells_of_the_others(tmp_path: Path) -> None:
    sources = written(tmp_path, texts(["ham", "spam"], 120))
    path = tmp_path / "m.nbt"

    trained = train(sources, path, regime=ERRORS)

    n_learnt = sum(documents_of(path).values())
    assert 0 < n_learnt < 60
    assert n_learnt + trained.left_out + trained.repeats == 120
    assert sum(map(len, unpack(open_model(str(path))).ledger)) == n_learnt
    # calibration rests on all of them
    assert observed(path) == 120
    # and what was left out is found
    assert log_posterior(load(path), "offer free click winner")["spam"] > -0.6


def test_neither_sources_nor_files_have_an_order(tmp_path: Path) -> None:
    stream = texts(["ham", "spam"], 80)
    for name, pairs in (("a", stream), ("b", stream[::-1])):
        (tmp_path / name).mkdir()
        sources = written(tmp_path / name, pairs)
        ordered = sources if name == "a" else sources[::-1]
        train(ordered, tmp_path / f"{name}.nbt", regime=ERRORS)

    one, other = (unpack(open_model(str(tmp_path / f"{n}.nbt"))) for n in "ab")
    assert one.documents == other.documents
    for ours, theirs in zip(one.ledger, other.ledger, strict=True):
        assert (ours.entries == theirs.entries).all()
    probe = "free meeting pills thanks"
    assert log_posterior(load(tmp_path / "a.nbt"), probe) == log_posterior(
        load(tmp_path / "b.nbt"), probe
    )


def test_a_margin_wide_enough_is_everything(tmp_path: Path) -> None:
    """The same model but for its date: counts, calibration and score."""
    sources = written(tmp_path, texts(["ham", "spam"], 60))
    wide, plain = tmp_path / "wide.nbt", tmp_path / "plain.nbt"

    trained = train(sources, wide, regime=Regime("near-errors", 1e9))
    train(sources, plain, overrides=PLAIN._replace(score="weighted"))

    assert trained.left_out == 0
    ours, theirs = (open_model(str(path)) for path in (wide, plain))
    assert ours.tables[0].header.totals == theirs.tables[0].header.totals
    kept = [calibrations_of(file.tables) for file in (ours, theirs)]
    assert kept[0] == kept[1]
    assert ours.scoring == theirs.scoring


def test_copies_are_learnt_once(tmp_path: Path) -> None:
    """Also under another label: the first by digest and label stands."""
    stream = texts(["ham", "spam"], 40)
    (tmp_path / "once").mkdir()
    (tmp_path / "twice").mkdir()
    regime = Regime("near-errors", 1e9)
    train(written(tmp_path / "once", stream), tmp_path / "a.nbt", regime=regime)
    doubled = written(tmp_path / "twice", [*stream, *stream])
    trained = train(doubled, tmp_path / "b.nbt", regime=regime)

    assert trained.repeats == 40
    assert documents_of(tmp_path / "a.nbt") == documents_of(tmp_path / "b.nbt")


@pytest.mark.parametrize("score", ["tfidf", "wcnb"])
def test_what_weighs_by_all_documents_is_refused(tmp_path: Path, score: str) -> None:
    sources = written(tmp_path, texts(["ham", "spam"], 20))
    overrides = SettingsOverrides(score=score)

    with pytest.raises(SettingsError, match=f"the {score} score"):
        train(sources, tmp_path / "m.nbt", overrides=overrides, regime=ERRORS)
    assert not (tmp_path / "m.nbt").exists()


def test_several_processes_do_not_go_with_it(tmp_path: Path) -> None:
    sources = written(tmp_path, texts(["ham", "spam"], 20))

    with pytest.raises(SettingsError, match="leave out jobs"):
        train(sources, tmp_path / "m.nbt", regime=ERRORS, jobs=2)


def test_a_document_of_three_classes_is_judged_too(tmp_path: Path) -> None:
    path = tmp_path / "m.nbt"
    trained = train(
        written(tmp_path, texts(["ham", "news", "spam"], 90)), path, regime=ERRORS
    )

    assert trained.left_out > 20
    assert len(load(path).classes) == 3
